"""One conformance for the places where budgets are kept: exact, by whoever and however many at once."""

import asyncio
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio

from negotiator.base import values
from negotiator.http.limit_stores import DatabaseLimitStore, FileLimitStore, RedisLimitStore
from negotiator.http.limits import LimitStore, RateBudget
from negotiator.store import atomic_updates
from negotiator.store.store import make_store
from tests.conftest import Change
from tests.contract.requirements import covers

SLOW: Final = RateBudget("slow", 10, 36_000, 10)
QUICK: Final = RateBudget("quick", 20, 1, 1)

Make = Callable[[], LimitStore]


@pytest_asyncio.fixture(params=["shared", "redis", "sqlite", "postgresql"])
async def make(request: pytest.FixtureRequest, tmp_path: Path, migrated: Path) -> AsyncGenerator[Make]:
    """Makes limiters that share one place, as the workers of one service would."""
    opened: list[LimitStore] = []
    url = _url(request, tmp_path, migrated)
    stores = [make_store(url) for _ in range(3)] if "sql" in request.param else []
    for store in stores:
        await store.start()
    free = iter(stores)

    def one() -> LimitStore:
        if request.param == "shared":
            limiter: LimitStore = FileLimitStore(tmp_path / "limits", b"pepper")
        elif request.param == "redis":
            limiter = RedisLimitStore(url, FileLimitStore(tmp_path / f"machine{len(opened)}", b"pepper"))
        else:
            limiter = DatabaseLimitStore(next(free))
        opened.append(limiter)
        return limiter

    yield one
    for limiter in opened:
        await limiter.close()
    for store in stores:
        await store.close()


def _url(request: pytest.FixtureRequest, tmp_path: Path, migrated: Path) -> str:
    if request.param == "redis":
        return request.getfixturevalue("redis_url")
    if request.param == "postgresql":
        postgres: Callable[[], str] = request.getfixturevalue("postgres")
        return postgres()
    shutil.copy(migrated, tmp_path / "limits.db")
    return f"sqlite+aiosqlite:///{tmp_path / 'limits.db'}"


@pytest.mark.asyncio
async def test_a_burst_is_exact_and_a_refusal_costs_nothing(make: Make, request: pytest.FixtureRequest) -> None:
    key = request.node.name
    limiter = make()
    readings = [await limiter.take(SLOW, key) for _ in range(12)]
    assert [reading.taken for reading in readings] == [True] * 10 + [False] * 2
    assert [reading.remaining for reading in readings] == [*range(9, -1, -1), 0, 0]
    assert readings[0].arrival - readings[0].at == SLOW.interval
    assert abs(readings[0].at / 1_000_000 - time.time()) < 5
    waits = [reading.retry_after for reading in readings[10:]]
    assert all(3590 <= wait <= 3600 for wait in waits)
    assert (await limiter.take(SLOW, f"{key} of somebody else")).taken


@pytest.mark.asyncio
async def test_forty_at_once_through_three_doors_get_ten(make: Make, request: pytest.FixtureRequest) -> None:
    doors = [make() for _ in range(3)]
    takes = [doors[number % 3].take(SLOW, request.node.name) for number in range(40)]
    readings = await asyncio.gather(*takes)
    assert sum(reading.taken for reading in readings) == 10


@pytest.mark.asyncio
async def test_whose_clock_is_a_little_behind_still_gets_what_is_left(
    change: Change, request: pytest.FixtureRequest
) -> None:
    """Ten at once, read from clocks that run backwards: nobody is refused before the budget is empty."""
    now = values.now() * 1000
    taken = [
        await change(
            lambda tx, early=early: atomic_updates.charge_budget(
                tx, request.node.name, now=now - early, interval=SLOW.interval, burst=SLOW.burst
            )
        )
        for early in range(0, 110_000, 10_000)
    ]
    assert [arrival is not None for arrival in taken] == [True] * 10 + [False]


@pytest.mark.asyncio
@pytest.mark.parametrize("burst", [150, 1000])
async def test_six_hundred_at_once_on_one_key_are_exact_and_none_is_turned_away(
    make: Make, request: pytest.FixtureRequest, burst: int
) -> None:
    """A hot key in the database: serializable transactions would run again and again and end as a 503."""
    doors, budget = [make() for _ in range(3)], RateBudget("hot", burst, 36_000, burst)
    takes = [doors[number % 3].take(budget, request.node.name) for number in range(600)]
    readings = await asyncio.gather(*takes)
    arrivals = {reading.arrival for reading in readings if reading.taken}
    assert len(arrivals) == sum(reading.taken for reading in readings) == min(burst, 600)


@pytest.mark.asyncio
async def test_what_was_taken_comes_back_with_time(make: Make, request: pytest.FixtureRequest) -> None:
    limiter, key = make(), request.node.name
    taken = await limiter.take(QUICK, key)
    refusals = 0
    while not (again := await limiter.take(QUICK, key)).taken:
        refusals += 1
    assert taken.taken
    assert again.at - taken.at >= QUICK.interval * 3 // 4  # the database's leeway for other clocks
    assert again.at - taken.at < 20 * QUICK.interval


_PROCESS = """
import asyncio, sys
from pathlib import Path
from negotiator.http.limit_stores import FileLimitStore
from negotiator.http.limits import RateBudget

async def main():
    table = FileLimitStore(Path(sys.argv[1]), b"pepper")
    sys.stdin.readline()
    taken = [await table.take(RateBudget("b", 1000, 360_000, 1000), f"key{n % 3}") for n in range(4200)]
    await table.close()
    print(sum(reading.taken for reading in taken))

asyncio.run(main())
"""


@covers("1.10:workers")
def test_the_shared_table_is_exact_over_processes(tmp_path: Path) -> None:
    """Three processes, three keys, 1400 calls on each from everybody: 1000 a key pass, not one more or less."""
    root = str(Path(__file__).parents[3])
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _PROCESS, tmp_path / "limits"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"PYTHONPATH": root},
            text=True,
        )
        for _ in range(3)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    taken = [int(process.communicate(timeout=60)[0]) for process in processes]
    assert sum(taken) == 3000
    assert all(process.returncode == 0 for process in processes)
