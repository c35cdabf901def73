"""Queues for the database: bounded by time for requests, patient for everything else."""

import asyncio
import fcntl
import threading
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from negotiator.base.errors import Unavailable
from negotiator.store import waiting
from negotiator.store.sqlite import SqliteStore
from negotiator.store.statement import Transaction
from negotiator.store.waiting import ConnectionQueue, Priority, QueuePace, request_priority

pytestmark = pytest.mark.asyncio


async def test_urgent_requests_get_the_reserved_connections_and_come_first() -> None:
    queue, order = ConnectionQueue(2, 1, lambda: None), list[Priority]()

    async def use(priority: Priority) -> None:
        request_priority.set(priority)
        async with queue.turn():
            order.append(priority)

    async with AsyncExitStack() as held:
        request_priority.set(Priority.READ)
        await held.enter_async_context(queue.turn())
        request_priority.set(Priority.URGENT)
        await held.enter_async_context(queue.turn())
        async with asyncio.TaskGroup() as group:
            for each in (Priority.CHANGE, Priority.READ, Priority.URGENT):
                group.create_task(use(each))
            await asyncio.sleep(0)
            assert order == []
            await held.aclose()
    assert order == sorted(order)
    assert queue.expected_wait(Priority.CHANGE) == 0


async def test_a_request_waits_for_a_connection_for_a_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "LONGEST_WAIT", 0.02)
    refused: list[int] = []
    queue = ConnectionQueue(1, 0, lambda: refused.append(1))
    request_priority.set(Priority.READ)
    async with queue.turn():
        with pytest.raises(Unavailable) as raised:
            async with queue.turn():
                pytest.fail("there was no connection")
        assert raised.value.retry_after == 1
    assert refused == [1]
    async with queue.turn():
        assert queue.expected_wait(Priority.URGENT) < 0.02


async def test_a_request_is_refused_while_the_writer_hangs_and_other_work_waits(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "LONGEST_WAIT", 0.02)
    monkeypatch.setattr(waiting, "_LATE_EVERY", 0.01)
    goes_on, done = threading.Event(), list[str]()

    def hang(_tx: Transaction) -> None:
        goes_on.wait(10)

    hung = asyncio.create_task(store.write(hang))
    await asyncio.sleep(0)
    patient = asyncio.create_task(store.write(lambda _tx: done.append("patient")))
    await asyncio.sleep(0)
    request_priority.set(Priority.CHANGE)
    for _ in range(2):  # the first after its wait, the second at once
        with pytest.raises(Unavailable):
            await store.write(lambda _tx: done.append("request"))
    assert store.expected_wait(Priority.CHANGE) > 0.02
    assert store.expected_wait(Priority.READ) == 0
    goes_on.set()
    await asyncio.gather(hung, patient)
    assert done == ["patient"]


async def test_the_turn_of_another_process_says_nothing_about_the_pace_of_changes(
    store: SqliteStore, tmp_path: Path
) -> None:
    """Each waits for the turn once with its whole batch, so it is no time that each change needs."""
    waits, goes_on = threading.Event(), threading.Event()

    def hang(_tx: Transaction) -> None:
        waits.set()
        goes_on.wait(10)

    with (tmp_path / "store.db.turn").open() as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        behind = asyncio.create_task(store.write(lambda _tx: None))
        await asyncio.sleep(0.3)
        fcntl.flock(other, fcntl.LOCK_UN)
    await behind
    hung = asyncio.create_task(store.write(hang))
    await asyncio.to_thread(waits.wait)
    assert 0 < store.expected_wait(Priority.CHANGE) < 0.02
    goes_on.set()
    await hung


async def test_the_first_request_of_a_process_is_no_measure_of_the_next() -> None:
    pace = QueuePace()
    pace.moved(1, 0.4)
    assert pace.each < 0.05
    pace.moved(1, 30)
    assert pace.each < 0.05
    for _ in range(100):
        pace.moved(4, 0.4)
    assert pace.each == pytest.approx(0.1, rel=0.01)


async def test_urgent_changes_come_before_others(store: SqliteStore) -> None:
    goes_on, order = threading.Event(), list[str]()

    async def change(priority: Priority, name: str) -> None:
        request_priority.set(priority)
        await store.write(lambda _tx: order.append(name))

    hung = asyncio.create_task(store.write(lambda _tx: goes_on.wait(10)))
    await asyncio.sleep(0.01)
    async with asyncio.TaskGroup() as group:
        group.create_task(change(Priority.CHANGE, "registration"))
        group.create_task(change(Priority.URGENT, "revocation"))
        await asyncio.sleep(0)
        goes_on.set()
    await hung
    assert order == ["revocation", "registration"]
