"""GCRA's arithmetic: what is left, when it is back, what the headers say."""

import errno
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.base.caller import anonymous_caller
from negotiator.base.errors import Unavailable
from negotiator.compose.services import build_limits
from negotiator.discovery.health_routes import HEALTH_BUDGET
from negotiator.http import limit_stores
from negotiator.http.limit_stores import FileLimitStore
from negotiator.http.limits import BudgetState, RateBudget, too_many_requests
from negotiator.runtime.metrics import MetricRegistry
from negotiator.store.store import make_store
from tests.conftest import make_settings

START = 1_800_000_000_000_000
BUDGETS = st.builds(
    RateBudget, st.just("default"), st.integers(1, 5000), st.sampled_from([1, 60, 3600]), st.integers(1, 5000)
)


@given(BUDGETS, st.integers(0, 6000))
def test_remaining_falls_by_one_with_every_call_of_a_burst(budget: RateBudget, calls: int) -> None:
    taken = min(calls, budget.burst)
    reading = BudgetState(budget, START + taken * budget.interval, START, taken=True)
    assert reading.remaining == budget.burst - taken


@given(BUDGETS, st.integers(0, 10**9))
def test_waiting_as_long_as_retry_after_says_frees_a_call(budget: RateBudget, early: int) -> None:
    ahead = budget.interval * (budget.burst - 1)
    refused = BudgetState(budget, START + ahead + 1 + early % budget.interval, START, taken=False)
    assert refused.retry_after >= 1
    then = START + refused.retry_after * 1_000_000
    assert refused.arrival <= then + ahead
    assert too_many_requests(refused).retry_after == refused.retry_after


@given(BUDGETS, st.integers(0, 5000), st.integers(0, 10**8))
def test_the_headers_agree_with_each_other(budget: RateBudget, calls: int, later: int) -> None:
    ahead = min(calls, budget.burst) * budget.interval
    reading = BudgetState(budget, START + ahead, START + min(later, ahead), taken=True)
    headers = dict(line.split(": ") for line in reading.header_lines().decode().splitlines())
    assert int(headers["x-ratelimit-limit"]) == budget.quota
    assert int(headers["x-ratelimit-remaining"]) == reading.remaining
    assert 0 <= reading.remaining <= budget.burst
    assert headers["ratelimit-policy"] == f'"default";q={budget.quota};w={budget.window}'
    wait = 0 if reading.remaining else reading.retry_after
    assert headers["ratelimit"] == f'"default";r={reading.remaining};t={wait}'
    assert int(headers["x-ratelimit-reset"]) * 1_000_000 >= START + ahead


class Hand:
    """A clock in microseconds that a test turns."""

    def __init__(self) -> None:
        self.at = START

    def __call__(self) -> int:
        return self.at


@pytest.mark.asyncio
@given(st.integers(1, 6), st.integers(1, 20), st.lists(st.integers(0, 30), min_size=1, max_size=60))
async def test_no_window_ever_holds_more_than_the_burst_and_what_came_back(
    tmp_path_factory: pytest.TempPathFactory, burst: int, quota: int, gaps: list[int]
) -> None:
    hand = Hand()
    budget = RateBudget("default", quota, 60, burst)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limit_stores, "_microseconds", hand)
        table = FileLimitStore(tmp_path_factory.mktemp("limits") / "table", b"pepper")
        taken: list[int] = []
        for gap in gaps:
            hand.at += gap * 1_000_000
            reading = await table.take(budget, "somebody")
            if reading.taken:
                taken.append(hand.at)
            assert reading.taken or reading.remaining == 0
        await table.close()
    for first, start in enumerate(taken):
        for count, end in enumerate(taken[first:], 1):
            assert count <= burst + (end - start) // budget.interval


@pytest.mark.asyncio
async def test_keys_have_budgets_of_their_own(tmp_path: Path) -> None:
    table = FileLimitStore(tmp_path / "table", b"pepper")
    budget = RateBudget("default", 1, 60, 1)
    assert [(await table.take(budget, key)).taken for key in "abab"] == [True, True, False, False]
    await table.close()


@pytest.mark.asyncio
async def test_on_a_full_disk_a_worker_counts_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int, _size: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(limit_stores, "map_file", full)
    table = FileLimitStore(tmp_path / "table", b"pepper")
    budget = RateBudget("default", 1, 60, 1)
    assert [(await table.take(budget, key)).taken for key in "aba"] == [True, True, False]
    await table.close()


@pytest.mark.asyncio
async def test_a_clock_that_is_set_back_locks_nobody_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hand = Hand()
    monkeypatch.setattr(limit_stores, "_microseconds", hand)
    table = FileLimitStore(tmp_path / "table", b"pepper")
    budget = RateBudget("default", 2, 60, 2)
    hand.at += 3_600_000_000
    assert [(await table.take(budget, "key")).taken for _ in range(3)] == [True, True, False]
    hand.at -= 3_600_000_000
    assert [(await table.take(budget, "key")).taken for _ in range(3)] == [True, True, False]
    await table.close()


def test_a_quota_beyond_a_call_a_microsecond_still_divides_time() -> None:
    budget = RateBudget("default", 10**9, 60, 10**9)
    assert budget.interval == 1
    assert BudgetState(budget, START, START, taken=True).remaining == 10**9


@pytest.mark.asyncio
async def test_the_health_check_is_counted_without_the_database(tmp_path: Path) -> None:
    url = f"postgresql+asyncpg://nobody@/none?host={tmp_path}"
    settings = make_settings(tmp_path, tmp_path / "keys", database_url=url)
    store = make_store(url)
    limits = build_limits(settings, store, MetricRegistry(tmp_path / "metrics"), pepper=b"pepper")
    caller = anonymous_caller("192.0.2.1")
    assert (await limits.charge(caller, HEALTH_BUDGET)).taken
    with pytest.raises(Unavailable):
        await limits.charge(caller)
    await limits.close()
    await store.close()
