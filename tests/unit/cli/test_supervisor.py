"""The supervisor says how each worker ended, and waits before it replaces one that dies at once."""

from typing import Any
from unittest.mock import Mock

import pytest
import uvicorn
from structlog.testing import capture_logs

from negotiator import telemetry
from negotiator.cli import supervisor
from negotiator.cli.supervisor import STARTUP_FAILURE, Supervisor


class ScriptedProcess:
    """A worker process that ends when the test says so."""

    made = 0

    def __init__(self, *_given: Any) -> None:
        ScriptedProcess.made += 1
        self.pid = ScriptedProcess.made
        self.exitcode: int | None = None
        self.answers = True
        self.process = Mock()

    def is_alive(self, timeout: float) -> bool:
        assert timeout
        return self.answers and self.exitcode is None

    def start(self) -> None: ...

    def join(self) -> None: ...

    def kill(self) -> None:
        self.exitcode = -9 if self.exitcode is None else self.exitcode


@pytest.fixture
def supervised(monkeypatch: pytest.MonkeyPatch) -> Supervisor:
    """A supervisor of one worker, whose clock is `clock`."""
    monkeypatch.setattr(supervisor, "Process", ScriptedProcess)
    monkeypatch.setattr("signal.signal", Mock())
    monkeypatch.setattr(telemetry, "configure", Mock())
    made = Supervisor(uvicorn.Config("app", workers=1), [], "json")
    made.processes = [ScriptedProcess()]  # pyright: ignore[reportAttributeAccessIssue]
    return made


def _now(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    monkeypatch.setattr("time.monotonic", lambda: seconds)


def _step(supervised: Supervisor) -> tuple[Any, list[Any]]:
    with capture_logs() as lines:
        supervised.keep_subprocess_alive()
    return supervised.processes[0], lines


def test_a_killed_worker_is_one_line_with_its_signal_and_replaced_at_once(
    supervised: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    _now(monkeypatch, 0)
    worker, lines = _step(supervised)
    assert lines == []
    worker.exitcode = -11
    _now(monkeypatch, 100)
    replaced, [line] = _step(supervised)
    assert replaced is not worker
    assert (line["event"], line["signal"], line["pid"]) == ("a worker died", "SIGSEGV", worker.pid)
    assert line["module"] == "negotiator.cli.supervisor"


def test_a_worker_that_does_not_answer_is_killed_and_said_so(
    supervised: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    _now(monkeypatch, 0)
    worker, _ = _step(supervised)
    worker.answers = False
    _now(monkeypatch, 100)
    replaced, [line] = _step(supervised)
    assert worker.exitcode == -9
    assert replaced is not worker
    assert line["event"] == "a worker did not answer and was killed"
    assert "signal" not in line


def test_a_worker_that_dies_at_once_is_replaced_after_pauses_that_double(
    supervised: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, pauses = 0.0, list[float]()
    for _ in range(9):
        _now(monkeypatch, now)
        worker, lines = _step(supervised)
        assert lines == []
        worker.exitcode = 1
        died, replaced = now, worker
        _, [line] = _step(supervised)
        assert line["code"] == 1
        while replaced is worker:
            now += 1
            _now(monkeypatch, now)
            replaced, lines = _step(supervised)
            assert lines == []
        pauses.append(now - died)
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_a_worker_that_cannot_start_stops_the_server(supervised: Supervisor) -> None:
    supervised.processes[0].exitcode = STARTUP_FAILURE  # pyright: ignore[reportAttributeAccessIssue]
    _, [line] = _step(supervised)
    assert line["event"] == "a worker cannot start, the server stops"
    assert supervised.should_exit.is_set()
    assert supervised.cannot_start
