"""Budgets in the memory of a lone worker: none is forgotten when workers come and go, whatever order they do it in."""

import asyncio
import fcntl
from pathlib import Path
from typing import Any

import pytest

from negotiator.http import limit_stores
from negotiator.http.limit_stores import FileLimitStore, LoneWorkerLimitStore
from negotiator.http.limits import RateBudget

QUICK = RateBudget("quick", 4, 36_000, 4)
KEPT = RateBudget("kept", 4, 36_000, 4)


def worker(folder: Path) -> LoneWorkerLimitStore:
    file = FileLimitStore(folder / "limits", b"pepper")
    return LoneWorkerLimitStore(file, folder / "limits.lock", {QUICK.name})


async def take(store: LoneWorkerLimitStore, budget: RateBudget, calls: int, of: str = "a") -> int:
    key = f"{budget.name}:{of}"
    return sum([(await store.take(budget, key)).taken for _ in range(calls)])


@pytest.mark.asyncio
async def test_a_lone_worker_writes_nothing_to_the_file(tmp_path: Path) -> None:
    store = worker(tmp_path)
    await store.start()
    states = [await store.take(QUICK, "quick:a") for _ in range(5)]
    assert [state.taken for state in states] == [True] * 4 + [False]
    assert [state.remaining for state in states] == [3, 2, 1, 0, 0]
    other = FileLimitStore(tmp_path / "limits", b"pepper")
    assert other.ahead(QUICK, "quick:a") == 0
    await other.close()
    await store.close()


@pytest.mark.asyncio
async def test_the_file_is_locked_while_others_may_use_it_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked: list[int] = []
    lockf = fcntl.lockf

    def counted(file: Any, kind: int, length: int, start: int) -> None:
        locked.append(kind)
        lockf(file, kind, length, start)

    monkeypatch.setattr(limit_stores.fcntl, "lockf", counted)
    first, second = worker(tmp_path), worker(tmp_path)
    await first.start()
    assert await take(first, KEPT, 1) == 1
    assert locked == []
    await second.start()
    assert [await take(each, KEPT, 2) for each in (first, second)] == [2, 1]
    assert locked == [fcntl.LOCK_EX, fcntl.LOCK_UN] * 4
    for store in (second, first):
        await store.close()


@pytest.mark.asyncio
async def test_a_worker_that_starts_later_finds_what_the_lone_one_has_counted(tmp_path: Path) -> None:
    first, second, third = worker(tmp_path), worker(tmp_path), worker(tmp_path)
    await first.start()
    assert await take(first, QUICK, 3) == 3
    await asyncio.gather(second.start(), third.start())
    assert [await take(each, QUICK, 2) for each in (second, first, third)] == [1, 0, 0]
    for store in (first, second, third):
        await store.close()


@pytest.mark.asyncio
async def test_a_worker_that_ends_leaves_its_counts_to_the_next_one(tmp_path: Path) -> None:
    for expected in (3, 1, 0):
        store = worker(tmp_path)
        await store.start()
        assert await take(store, QUICK, 3) == expected
        await store.close()


@pytest.mark.asyncio
async def test_a_crash_forgets_the_quick_budgets_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crashed = worker(tmp_path)
    await crashed.start()
    assert await take(crashed, QUICK, 4) == await take(crashed, KEPT, 4) == 4
    with monkeypatch.context() as patch:
        patch.setattr(crashed, "_move_counts", lambda: None)
        await crashed.close()
    store = worker(tmp_path)
    await store.start()
    assert await take(store, QUICK, 1) == 1
    assert await take(store, KEPT, 1) == 0
    await store.close()


@pytest.mark.asyncio
async def test_an_old_question_does_not_keep_a_worker_from_counting_alone(tmp_path: Path) -> None:
    (tmp_path / "limits.lock").write_text("shared")
    store = worker(tmp_path)
    await store.start()
    await take(store, QUICK, 1)
    other = FileLimitStore(tmp_path / "limits", b"pepper")
    assert other.ahead(QUICK, "quick:a") == 0
    await other.close()
    await store.close()


@pytest.mark.asyncio
async def test_keys_in_use_are_counted_however_many_others_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limit_stores, "_REMEMBERED", 8)
    store = worker(tmp_path)
    await store.start()
    taken = 0
    for number in range(30):
        taken += await take(store, QUICK, 1)
        for other in range(5):
            await take(store, QUICK, 1, f"{number}-{other}")
    assert taken == 4
    await store.close()


@pytest.mark.asyncio
async def test_a_worker_that_never_answers_does_not_keep_the_next_one_from_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limit_stores, "_ASKS", 3)
    stuck, store = worker(tmp_path), worker(tmp_path)
    monkeypatch.setattr(stuck, "_watch", asyncio.sleep)
    await stuck.start()
    await store.start()
    assert await take(store, QUICK, 4) == 4
    await store.close()
    await stuck.close()
