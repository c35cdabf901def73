"""A neighbour that keeps failing costs its callers nothing, and is used again soon after it is back."""

import asyncio

import pytest
from structlog.testing import capture_logs

from negotiator.base.errors import Unavailable
from negotiator.runtime import circuit_breaker, fault_log
from negotiator.runtime.circuit_breaker import COOL_DOWN_SECONDS, FAILURES, CircuitBreaker

pytestmark = pytest.mark.asyncio


class Neighbour:
    """Answers, fails, or hangs; counts the calls that reached it."""

    def __init__(self, *, at_once: int = 4) -> None:
        self.breaker = CircuitBreaker("the neighbour is away", "Not now.", seconds=0.01, at_once=at_once)
        self.calls = 0
        self.fault: Exception | None = None
        self.answers = asyncio.Event()
        self.answers.set()

    async def ask(self) -> str:
        """The outcome in a word, or the seconds to wait."""
        try:
            async with self.breaker.call():
                self.calls += 1
                await self.answers.wait()
                if self.fault:
                    raise self.fault
        except Unavailable as refused:
            return f"wait {refused.retry_after}"
        except TimeoutError:
            return "late"
        except (OSError, KeyError):
            return "failed"
        return "ok"

    async def fail(self) -> None:
        self.fault = ConnectionError("no route")
        assert [await self.ask() for _ in range(FAILURES)] == ["failed"] * FAILURES


class Seconds:
    now = 1000.0


@pytest.fixture(autouse=True)
def seconds(monkeypatch: pytest.MonkeyPatch) -> Seconds:
    clock = Seconds()
    monkeypatch.setattr(circuit_breaker, "monotonic", lambda: clock.now)
    # The loggers of the application were made by other tests with their own output.
    monkeypatch.setattr(fault_log, "log", fault_log.logger(fault_log.__name__))
    return clock


async def test_after_failures_in_a_row_calls_are_refused_until_the_cool_down_is_over(seconds: Seconds) -> None:
    neighbour = Neighbour()
    await neighbour.fail()
    assert await neighbour.ask() == f"wait {COOL_DOWN_SECONDS:.0f}"
    assert neighbour.calls == FAILURES
    seconds.now += COOL_DOWN_SECONDS
    neighbour.fault = None
    assert [await neighbour.ask(), await neighbour.ask()] == ["ok", "ok"]


async def test_a_success_between_failures_keeps_the_calls_going() -> None:
    neighbour = Neighbour()
    for _ in range(FAILURES):
        neighbour.fault = ConnectionError()
        assert [await neighbour.ask() for _ in range(FAILURES - 1)] == ["failed"] * (FAILURES - 1)
        neighbour.fault = None
        assert await neighbour.ask() == "ok"


async def test_one_trial_at_a_time_follows_the_cool_down_and_its_failure_begins_another(seconds: Seconds) -> None:
    neighbour = Neighbour()
    await neighbour.fail()
    seconds.now += COOL_DOWN_SECONDS
    neighbour.answers.clear()
    assert await asyncio.gather(*(neighbour.ask() for _ in range(3))) == ["late", "wait 1", "wait 1"]
    assert await neighbour.ask() == f"wait {COOL_DOWN_SECONDS:.0f}"
    assert neighbour.calls == FAILURES + 1


async def test_a_trial_that_is_cancelled_leaves_the_next_one_free(seconds: Seconds) -> None:
    neighbour = Neighbour()
    await neighbour.fail()
    seconds.now += COOL_DOWN_SECONDS
    neighbour.answers.clear()
    trial = asyncio.create_task(neighbour.ask())
    await asyncio.sleep(0)
    trial.cancel()
    await asyncio.wait([trial])
    neighbour.answers.set()
    neighbour.fault = None
    assert await neighbour.ask() == "ok"


async def test_calls_beyond_the_bound_are_refused_at_once_and_count_as_no_failure() -> None:
    neighbour = Neighbour(at_once=2)
    neighbour.answers.clear()
    assert await asyncio.gather(*(neighbour.ask() for _ in range(9))) == ["late"] * 2 + ["wait 1"] * 7
    neighbour.answers.set()
    assert await neighbour.ask() == "ok"


async def test_an_error_that_is_no_fault_of_the_neighbour_opens_nothing() -> None:
    neighbour = Neighbour()
    neighbour.fault = KeyError("ours")
    assert [await neighbour.ask() for _ in range(FAILURES + 1)] == ["failed"] * (FAILURES + 1)


async def test_the_log_has_a_line_when_calls_are_refused_and_one_when_they_work_again(seconds: Seconds) -> None:
    neighbour = Neighbour()
    with capture_logs() as lines:
        await neighbour.fail()
        assert neighbour.breaker.error == "no route"
        for _ in range(20):
            await neighbour.ask()
        seconds.now += COOL_DOWN_SECONDS
        neighbour.fault = None
        await neighbour.ask()
    assert [line["event"] for line in lines] == ["the neighbour is away", "the neighbour is away: over"]
    assert lines[1]["failures"] == 21
    assert neighbour.breaker.error == ""
