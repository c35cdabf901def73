"""An engine is built once, whoever asks first, and away from the event loop."""

import asyncio
import threading
import time

import pytest

from negotiator.runtime.thread_pools import BuiltOnce


@pytest.mark.asyncio
async def test_many_first_uses_build_one_engine_on_a_thread() -> None:
    builders: list[int] = []

    def build() -> object:
        builders.append(threading.get_ident())
        time.sleep(0.01)
        return object()

    engine = BuiltOnce(build)
    found = await asyncio.gather(*(engine.get() for _ in range(8)))
    assert len({id(each) for each in [*found, engine.now()]}) == 1
    assert len(builders) == 1
    assert builders[0] != threading.get_ident()


@pytest.mark.asyncio
async def test_a_failed_build_is_tried_again() -> None:
    faults = [ValueError("broken")]

    def build() -> int:
        if faults:
            raise faults.pop()
        return 7

    engine = BuiltOnce(build)
    with pytest.raises(ValueError, match="broken"):
        await engine.get()
    assert await engine.get() == 7
