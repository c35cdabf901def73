"""A Redis that is away, hangs or was flushed: rate limits go on, and no machine lets more through than one budget."""

import asyncio
import signal
import time
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any, Final

import pytest
import pytest_asyncio
from redis.asyncio import Redis

from negotiator.http.limit_stores import FileLimitStore, RedisLimitStore
from negotiator.http.limits import BudgetState, RateBudget
from negotiator.runtime import fault_log
from tests.conftest import connect, make_settings, running
from tests.contract.requirements import covers
from tests.live.conftest import RedisServer

BUDGET: Final = RateBudget("default", 10, 36_000, 10)
ONCE: Final = 0.5
"""Seconds for what takes 0.1 on a machine that does nothing else."""


@pytest_asyncio.fixture
async def machine(redis: RedisServer, tmp_path: Path) -> AsyncGenerator[Callable[[], RedisLimitStore]]:
    """Makes the limits of a further machine."""
    opened: list[RedisLimitStore] = []

    def make() -> RedisLimitStore:
        file = FileLimitStore(tmp_path / f"limits{len(opened)}", b"pepper")
        opened.append(RedisLimitStore(redis[0], file))
        return opened[-1]

    yield make
    for each in opened:
        await each.close()


async def take(limits: RedisLimitStore, calls: int) -> list[BudgetState]:
    return list(await asyncio.gather(*(limits.take(BUDGET, "somebody") for _ in range(calls))))


def taken(readings: list[BudgetState]) -> int:
    return sum(reading.taken for reading in readings)


async def until_back(limits: RedisLimitStore) -> float:
    """The seconds until Redis counts again."""
    began = time.monotonic()
    while limits.state() != "ok":
        await asyncio.sleep(0.01)
        assert time.monotonic() < began + 10
    return time.monotonic() - began


@pytest.mark.asyncio
async def test_a_redis_that_hangs_delays_one_moment_and_counts_again_within_a_second(
    redis: RedisServer, machine: Callable[[], RedisLimitStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []

    def logged(line: str, **_detail: object) -> None:
        lines.append(line)

    for level in ("error", "warning"):
        monkeypatch.setattr(fault_log.log, level, logged)
    here, there = machine(), machine()
    assert taken(await take(here, 3)) == 3
    redis[1].send_signal(signal.SIGSTOP)
    began = time.monotonic()
    assert taken(await take(here, 3)) == 3
    noticed = time.monotonic()
    assert taken(await take(here, 9)) == 4, "the machine's file knows what Redis counted before"
    assert time.monotonic() - noticed < 0.1 < noticed - began < ONCE
    assert here.state().startswith("lesser: away")
    redis[1].send_signal(signal.SIGCONT)
    assert await until_back(here) < 1
    assert taken(await take(here, 1)) == 0
    assert taken(await take(there, 1)) == 0, "Redis is told what was counted without it"
    assert lines == [
        "Redis is away, each machine counts rate limits for itself",
        "Redis is away, each machine counts rate limits for itself: over",
    ]


@pytest.mark.asyncio
@covers("1.10:redis-away")
async def test_three_machines_without_redis_let_through_three_budgets_at_most(
    redis: RedisServer, machine: Callable[[], RedisLimitStore]
) -> None:
    machines = [machine() for _ in range(3)]
    through = [taken(await take(each, 2)) for each in machines]
    redis[1].kill()
    redis[1].wait()
    for number, each in enumerate(machines):
        through[number] += taken(await take(each, 20))
    assert max(through) <= BUDGET.burst
    assert sum(through) <= 3 * BUDGET.burst
    assert all(each.state().startswith("lesser: away") for each in machines)


@pytest.mark.asyncio
async def test_workers_of_one_machine_are_exact_without_redis(tmp_path: Path) -> None:
    workers = [
        RedisLimitStore(f"unix://{tmp_path}/none", FileLimitStore(tmp_path / "limits", b"pepper")) for _ in range(4)
    ]
    readings = await asyncio.gather(*(take(each, 10) for each in workers))
    assert sum(map(taken, readings)) == BUDGET.burst
    for each in workers:
        await each.close()


@pytest.mark.asyncio
async def test_a_flush_of_redis_fills_no_budget_again_on_a_machine_where_it_was_used(
    redis: RedisServer, machine: Callable[[], RedisLimitStore]
) -> None:
    limits = machine()
    assert taken(await take(limits, 10)) == 10
    client: Any = Redis.from_url(redis[0])  # pyright: ignore[reportUnknownMemberType]
    await client.flushall()
    await client.aclose()
    assert taken(await take(limits, 10)) == 0
    assert limits.state() == "ok"


@pytest.mark.smoke
@pytest.mark.asyncio
@covers("1.10:redis-away")
async def test_without_redis_requests_go_on_and_health_names_it(
    redis: RedisServer, tmp_path: Path, migrated: Path, signing_keys: Path
) -> None:
    (tmp_path / "negotiator.db").write_bytes(migrated.read_bytes())
    settings = make_settings(tmp_path, signing_keys, redis_url=redis[0], register_limit_anonymous=60)
    async with running(settings) as app, connect(app) as client:
        assert (await client.get("/api/health")).json()["checks"]["redis"] == "ok"
        redis[1].kill()
        redis[1].wait()
        began = time.monotonic()
        registered = await client.post("/api/agent/register", json={"type": "anonymous"})
        health = await client.get("/api/health")
        assert registered.status_code == 201, registered.text
        assert registered.headers["x-ratelimit-remaining"] == "59"
        assert health.status_code == 200
        assert health.json()["checks"]["redis"].startswith("lesser: away")
        assert time.monotonic() - began < 2
