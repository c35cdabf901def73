"""A synchronous unit whose statements wait for the event loop."""

import asyncio
from contextvars import ContextVar

import pytest

from negotiator.store.unit_greenlet import UnitGreenlet

pytestmark = pytest.mark.asyncio
word: ContextVar[str] = ContextVar("word", default="")


async def slowly(value: str) -> str:
    await asyncio.sleep(0)
    return value


async def failing() -> str:
    await asyncio.sleep(0)
    raise LookupError("on purpose")


async def test_a_unit_waits_for_what_it_asks_and_gives_its_result() -> None:
    units = UnitGreenlet()
    for _ in range(3):
        found = await units.run(lambda: [units.wait(slowly(each)) for each in "abc"])
        assert found == ["a", "b", "c"]
    assert await units.run(lambda: None) is None


async def test_what_a_unit_raises_reaches_the_caller_and_the_next_unit_runs() -> None:
    units = UnitGreenlet()
    with pytest.raises(LookupError, match="on purpose"):
        await units.run(lambda: units.wait(failing()))

    def caught() -> str:
        try:
            return units.wait(failing())
        except LookupError:
            return units.wait(slowly("caught"))

    assert await units.run(caught) == "caught"


async def test_a_unit_that_waits_can_be_cancelled() -> None:
    units, never = UnitGreenlet(), asyncio.Event()
    ended: list[str] = []

    def unit() -> None:
        try:
            units.wait(never.wait())
        finally:
            ended.append("cleaned up")

    task = asyncio.create_task(units.run(unit))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == ["cleaned up"]
    assert await units.run(lambda: units.wait(slowly("next"))) == "next"


async def test_a_unit_has_the_context_of_its_caller_and_changes_only_a_copy() -> None:
    units = UnitGreenlet()

    def unit() -> str:
        before = word.get()
        word.set("changed")
        return before

    word.set("given")
    assert await units.run(unit) == "given"
    assert word.get() == "given"
    assert await asyncio.create_task(units.run(unit)) == "given"
