"""A bus whose server drops its connections or hangs: followers are woken when it is back, and hear others again."""

import asyncio
import signal
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

import pytest
from redis.asyncio import Redis
from sqlalchemy.ext.asyncio import create_async_engine

from negotiator.teleprompter import bus_servers
from negotiator.teleprompter.bus_servers import PostgresBus, RedisBus, ServerBus
from tests.live.conftest import RedisServer

pytestmark = pytest.mark.asyncio

_SOON: Final = 3.0
"""Seconds for what takes half a second on a machine that does nothing else."""


@asynccontextmanager
async def _pair(kind: type[RedisBus] | type[PostgresBus], url: str) -> AsyncGenerator[tuple[ServerBus, ServerBus]]:
    """The buses of two processes over one server."""
    one, other = kind(url), kind(url)
    yield one, other
    await one.close()
    await other.close()


async def _first_word(told: ServerBus, follower: ServerBus) -> None:
    """Tell until the follower hears: the connections of both are open then."""
    with follower.following("session") as subscription:
        until = time.monotonic() + 10
        while b"word" not in await subscription.listen(0.05):
            told.tell("session", b"word")
            assert time.monotonic() < until


async def _is_woken_and_hears_again(one: ServerBus, other: ServerBus, disturb: Callable[[], Awaitable[None]]) -> None:
    await _first_word(one, other)
    with other.following("another session") as subscription:
        await subscription.listen(0.2)
        await disturb()
        began = time.monotonic()
        await subscription.listen(_SOON)
        assert time.monotonic() - began < _SOON, "nobody woke the follower"
    await _first_word(one, other)


async def test_redis_drops_the_connections(redis: RedisServer) -> None:
    client: Any = Redis.from_url(redis[0])  # pyright: ignore[reportUnknownMemberType]

    async def drop() -> None:
        assert await client.client_kill_filter(_type="pubsub") == 2

    async with _pair(RedisBus, redis[0]) as (one, other):
        await _is_woken_and_hears_again(one, other, drop)
    await client.aclose()


async def test_postgresql_drops_the_connections(postgres: Callable[[], str]) -> None:
    url = postgres()
    operator = create_async_engine(url, isolation_level="AUTOCOMMIT")

    async def drop() -> None:
        async with operator.connect() as connection:
            await connection.exec_driver_sql(
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where datname = current_database() and pid <> pg_backend_pid()"
            )

    async with _pair(PostgresBus, url) as (one, other):
        await _is_woken_and_hears_again(one, other, drop)
    await operator.dispose()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Buses that soon find out that a server hangs."""
    for name, seconds in (("_BEAT_SECONDS", 0.1), ("_RETRY_SECONDS", 0.05), ("_PATIENCE", 0.3)):
        monkeypatch.setattr(bus_servers, name, seconds)


@pytest.mark.usefixtures("impatient")
async def test_a_server_that_hangs_is_noticed_and_what_waited_is_not_sent_late(redis: RedisServer) -> None:
    async with _pair(RedisBus, redis[0]) as (one, other):
        await _first_word(one, other)
        with other.following("session") as subscription:
            await subscription.listen(0.2)
            redis[1].send_signal(signal.SIGSTOP)
            await asyncio.sleep(1)
            one.tell("session", b"half a sentence")
            redis[1].send_signal(signal.SIGCONT)
            assert await subscription.listen(_SOON) == []
        await _first_word(one, other)


@pytest.mark.usefixtures("impatient")
async def test_a_server_that_hangs_for_several_attempts_is_connected_again(redis: RedisServer) -> None:
    async with _pair(RedisBus, redis[0]) as (one, other):
        await _first_word(one, other)
        redis[1].send_signal(signal.SIGSTOP)
        await asyncio.sleep(2)
        redis[1].send_signal(signal.SIGCONT)
        await _first_word(one, other)
