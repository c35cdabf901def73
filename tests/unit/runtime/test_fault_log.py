"""A neighbour's fault is one line when it begins and one when it ends."""

import time
from unittest.mock import AsyncMock

import pytest
from structlog.testing import capture_logs

from negotiator.runtime import fault_log
from negotiator.runtime.fault_log import FaultLog, close_all


def test_a_fault_of_eight_hours_is_two_lines_and_its_end_says_how_long_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: seconds)
    monkeypatch.setattr(fault_log, "log", fault_log.logger(fault_log.__name__))
    faults = FaultLog("the neighbour is away")
    with capture_logs() as lines:
        faults.worked()
        for second in range(8 * 3600):
            seconds = float(second)
            faults.failed("no route")
        assert faults.error == "no route"
        faults.worked()
        faults.worked()
    assert [line["event"] for line in lines] == ["the neighbour is away", "the neighbour is away: over"]
    assert (lines[-1]["seconds"], lines[-1]["failures"]) == (8 * 3600 - 1, 8 * 3600)
    assert faults.error == ""


def test_a_short_fault_of_a_patient_log_has_no_line_and_a_long_one_has_two(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: seconds)
    monkeypatch.setattr(fault_log, "log", fault_log.logger(fault_log.__name__))
    faults = FaultLog("the bus is away", patience=60)
    with capture_logs() as lines:
        for lasting in (30, 90):
            for _ in range(lasting):
                seconds += 1
                faults.failed("no route")
            faults.worked()
    assert [line["event"] for line in lines] == ["the bus is away", "the bus is away: over"]


def test_a_fault_that_comes_and_goes_has_few_lines_and_one_that_stays_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: seconds)
    monkeypatch.setattr(fault_log, "log", fault_log.logger(fault_log.__name__))
    faults = FaultLog("the neighbour is away")
    with capture_logs() as lines:
        for _ in range(300):
            seconds += 0.1
            faults.failed("no route")
            faults.worked()
        assert [line["event"] for line in lines] == ["the neighbour is away", "the neighbour is away: over"]
        for _ in range(400):
            seconds += 0.1
            faults.failed("no route")
        assert [line["event"] for line in lines[2:]] == ["the neighbour is away"]
        faults.worked()
        seconds += 60
        faults.failed("no route")
    assert [line["event"] for line in lines[3:]] == ["the neighbour is away: over", "the neighbour is away"]


@pytest.mark.asyncio
async def test_what_cannot_be_closed_keeps_nothing_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fault_log, "log", fault_log.logger(fault_log.__name__))
    first, second, third = AsyncMock(), AsyncMock(side_effect=OSError("read-only")), AsyncMock()
    with capture_logs() as lines:
        await close_all(first, second, third)
    for each in (first, second, third):
        each.assert_awaited_once()
    assert [line["error"] for line in lines] == ["read-only"]
