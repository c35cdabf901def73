"""Housekeeping: one process at a time, short units, and a clock that is wrong deletes nothing."""

from dataclasses import dataclass
from itertools import pairwise

import pytest

from negotiator.base import values
from negotiator.compose.housekeeping import (
    APART_REFUSED,
    APART_WARNED,
    FEWEST,
    LEASE_LIFE,
    MOST,
    STEP_PAUSE,
    UNIT_SECONDS,
    ClockComparison,
    Housekeeping,
    fitting_limit,
)
from negotiator.store import atomic_updates
from negotiator.store.ownership import Chore, current_walk
from negotiator.store.sqlite import SqliteStore
from negotiator.store.statement import Transaction

HOUR = 3600


@dataclass
class Clocks:
    """A wall clock in milliseconds and a clock that nobody sets, in seconds."""

    wall: int = 1_000_000_000
    elapsed: float = 0.0

    def now(self) -> int:
        return self.wall

    def since_start(self) -> float:
        return self.elapsed

    def pass_seconds(self, seconds: float) -> None:
        self.wall += round(seconds * 1000)
        self.elapsed += seconds


def compared(clocks: Clocks) -> ClockComparison:
    return ClockComparison(clocks.now, clocks.since_start)


@pytest.mark.parametrize("hours", [1, -1])
def test_after_the_clock_was_set_nothing_is_deleted_for_an_hour(hours: int) -> None:
    clocks = Clocks()
    comparison = compared(clocks)
    clocks.pass_seconds(60)
    assert comparison.look(clocks.wall)
    clocks.pass_seconds(60)
    clocks.wall += hours * HOUR * 1000
    assert not comparison.look(clocks.wall)
    assert comparison.state() == f"lesser: set by {hours * HOUR} s within the last hour"
    clocks.pass_seconds(STEP_PAUSE - 1)
    assert not comparison.look(clocks.wall)
    clocks.pass_seconds(1)
    assert comparison.look(clocks.wall)
    assert comparison.state() == "ok"


@pytest.mark.parametrize(
    ("apart", "deletes", "state"),
    [
        (APART_WARNED, True, "ok"),
        (-APART_WARNED - 1000, True, "lesser: 6 s from the database's"),
        (APART_REFUSED, True, "lesser: 60 s from the database's"),
        (APART_REFUSED + 1, False, "lesser: 60 s from the database's"),
    ],
)
def test_a_machine_whose_clock_differs_from_the_database_s_says_so_and_stops_deleting(
    apart: int, deletes: bool, state: str
) -> None:
    clocks = Clocks()
    comparison = compared(clocks)
    assert comparison.look(clocks.wall + apart) is deletes
    assert comparison.state() == state


@pytest.mark.asyncio
async def test_of_two_processes_one_does_the_chores_until_its_lease_ends(store: SqliteStore) -> None:
    def take(holder: str, now: int) -> bool | None:
        return atomic_updates.take_lease(tx, "job", holder, now=now, life=LEASE_LIFE)

    def unit(given: Transaction) -> list[bool | None]:
        nonlocal tx
        tx = given
        return [
            take("a", 0),
            take("b", 1),
            take("a", 2),
            take("b", LEASE_LIFE + 1),
            take("b", LEASE_LIFE + 2),
            take("a", LEASE_LIFE + 3),
        ]

    tx: Transaction
    assert await store.write(unit) == [True, False, True, False, True, False]


@pytest.mark.asyncio
async def test_a_lease_that_was_taken_before_the_clock_was_set_back_is_no_bar(store: SqliteStore) -> None:
    ahead = values.now() + values.HOUR
    await store.write(lambda tx: atomic_updates.take_lease(tx, "job", "a", now=ahead, life=LEASE_LIFE))
    now = values.now()
    assert await store.write(lambda tx: atomic_updates.take_lease(tx, "job", "b", now=now, life=LEASE_LIFE))


@pytest.mark.asyncio
async def test_a_chore_runs_in_units_until_nothing_is_left_and_only_in_one_process(store: SqliteStore) -> None:
    left, units = 1000, list[int]()

    def run(_tx: Transaction, _now: int, limit: int) -> int:
        nonlocal left
        done = min(left, limit)
        left -= done
        units.append(limit)
        return done

    chores = [Chore("many", run)]
    await Housekeeping(store, chores, ClockComparison()).run()
    assert left == 0
    assert units[0] == FEWEST
    assert all(FEWEST <= then <= min(MOST, 2 * before) for before, then in pairwise(units))
    done = len(units)
    await Housekeeping(store, chores, ClockComparison()).run()
    assert len(units) == done, "another process holds the lease"


def test_the_rows_of_a_unit_are_fitted_to_its_time() -> None:
    assert fitting_limit(100, 100, UNIT_SECONDS) == 100
    assert fitting_limit(100, 100, UNIT_SECONDS * 4) == 25
    assert fitting_limit(100, 100, UNIT_SECONDS / 50) == 200
    assert fitting_limit(400, 400, UNIT_SECONDS / 50) == MOST
    assert fitting_limit(100, 100, 10.0) == FEWEST
    assert fitting_limit(100, 0, 0.0) == 100


@pytest.mark.asyncio
async def test_what_was_used_once_stays_used_for_a_day_after_its_end(store: SqliteStore) -> None:
    [chore] = [each for each in current_walk().expiries if each.name == "spent.expires_at"]
    end = values.now()

    def spend(tx: Transaction) -> bool:
        return atomic_updates.spend(tx, "assertion", "jti", expires_at=end)

    assert await store.write(spend)
    for at in (end + 1, end + values.HOUR, end + values.DAY - 1):
        assert await store.write(lambda tx, at=at: chore.run(tx, at, 10)) == 0
    assert not await store.write(spend)
    assert await store.write(lambda tx: chore.run(tx, end + values.DAY, 10)) == 1


@pytest.mark.asyncio
async def test_a_budget_is_not_locked_by_a_clock_that_was_set_back(store: SqliteStore) -> None:
    now, minute = values.now() * 1000, 60_000_000

    def take(at: int) -> int | None:
        return atomic_updates.charge_budget(tx, "key", now=at, interval=minute // 10, burst=10)

    def unit(given: Transaction) -> list[bool]:
        nonlocal tx
        tx = given
        ahead = [take(now + 60 * minute) for _ in range(10)]
        return [*(each is not None for each in ahead), take(now) is not None]

    tx: Transaction
    assert await store.write(unit) == [True] * 11
