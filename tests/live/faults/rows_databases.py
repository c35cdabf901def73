"""PostgreSQL and Redis that crash, restart, hang or forget."""

import asyncio
import signal
from collections.abc import Callable
from typing import Final

from tests.live.faults.load import Load
from tests.live.faults.row import Bounds, Finding, Row, observed
from tests.live.faults.site import Machine, PostgresServer, RedisServer, Site

_AWAY: Final = 3.0
_DATABASE_BOUNDS: Final = Bounds(reads=False, slowest=12)
"""Without its database nothing can be answered; the statement time-out bounds how long that takes to say."""
_REDIS_BOUNDS: Final = Bounds(slowest=5)
_HANG: Final = 30.0
_REDIS_HANG: Final = 20.0


async def _neighbours(site: Site) -> tuple[Machine, PostgresServer, RedisServer]:
    postgres, redis = await site.postgres(), await site.redis()
    url = await site.database(postgres)
    machine = await site.machine(workers=4, database_url=url, redis_url=redis.url)
    return machine, postgres, redis


async def _away(
    machine: Machine, fault: str, bounds: Bounds, end: Callable[[], None], begin: Callable[[], None], seconds: float
) -> Finding:
    load = Load([machine], 16)
    async with observed(fault, [machine], bounds, load, after=6) as seen, seen.fault():
        await asyncio.to_thread(end)
        await asyncio.sleep(seconds)
        await asyncio.to_thread(begin)
    return seen.finding


async def postgres_crash(site: Site) -> list[Finding]:
    """Every process of PostgreSQL gets SIGKILL and is away three seconds."""
    machine, postgres, _ = await _neighbours(site)
    fault = f"PostgreSQL: SIGKILL, {_AWAY:.0f} s away"
    return [await _away(machine, fault, _DATABASE_BOUNDS, postgres.crash, postgres.start, _AWAY)]


async def postgres_restart(site: Site) -> list[Finding]:
    """PostgreSQL is restarted as an operator does it."""
    machine, postgres, _ = await _neighbours(site)
    return [await _away(machine, "PostgreSQL: fast restart", _DATABASE_BOUNDS, postgres.shut_down, postgres.start, 0)]


async def postgres_hang(site: Site) -> list[Finding]:
    """Every process of PostgreSQL is stopped, and goes on later."""
    machine, postgres, _ = await _neighbours(site)
    seconds = 6 if site.small else _HANG
    return [
        await _away(
            machine,
            f"PostgreSQL: SIGSTOP {seconds:.0f} s",
            _DATABASE_BOUNDS,
            lambda: postgres.signal_all(signal.SIGSTOP),
            lambda: postgres.signal_all(signal.SIGCONT),
            seconds,
        )
    ]


async def redis_crash(site: Site) -> list[Finding]:
    """Redis gets SIGKILL and is away three seconds."""
    machine, _, redis = await _neighbours(site)
    return [
        await _away(
            machine,
            f"Redis: SIGKILL, {_AWAY:.0f} s away",
            _REDIS_BOUNDS,
            lambda: redis.signal(signal.SIGKILL),
            redis.start,
            _AWAY,
        )
    ]


async def redis_hang(site: Site) -> list[Finding]:
    """Redis is stopped, and goes on later."""
    machine, _, redis = await _neighbours(site)
    seconds = 4 if site.small else _REDIS_HANG
    return [
        await _away(
            machine,
            f"Redis: SIGSTOP {seconds:.0f} s",
            _REDIS_BOUNDS,
            lambda: redis.signal(signal.SIGSTOP),
            lambda: redis.signal(signal.SIGCONT),
            seconds,
        )
    ]


async def redis_flush(site: Site) -> list[Finding]:
    """Redis forgets everything."""
    machine, _, redis = await _neighbours(site)
    return [await _away(machine, "Redis: flushed", Bounds(), redis.flush, lambda: None, 0)]


ROWS: Final = (
    Row("postgres-crash", "PostgreSQL crashes and is away 3 s", postgres_crash),
    Row("postgres-restart", "PostgreSQL restarts", postgres_restart),
    Row("postgres-hang", "PostgreSQL hangs 30 s", postgres_hang),
    Row("redis-crash", "Redis crashes and is away 3 s", redis_crash),
    Row("redis-hang", "Redis hangs 20 s", redis_hang),
    Row("redis-flush", "Redis forgets everything", redis_flush),
)
