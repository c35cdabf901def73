"""The bus over six servers of a Redis Cluster: by shard, through a lost server, a moved slot and lost connections."""

import asyncio
import signal
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

from negotiator.teleprompter import bus_connection, redis_cluster_bus
from negotiator.teleprompter.bus import BusSubscription
from negotiator.teleprompter.bus_servers import make_bus
from negotiator.teleprompter.redis_cluster_bus import RedisClusterBus
from tests.conftest import make_settings
from tests.helpers.redis_cluster import RedisCluster, running_redis_cluster

_SOON: Final = 10.0
"""Seconds for what takes less than one on a machine that does nothing else."""
_FAILOVER: Final = 30.0
_SESSIONS: Final = [f"tps_{number}" for number in range(24)]


@asynccontextmanager
async def _buses(cluster: RedisCluster) -> AsyncGenerator[tuple[RedisClusterBus, RedisClusterBus]]:
    """As of two machines that know different servers."""
    one, other = (RedisClusterBus(f"redis://127.0.0.1:{port}") for port in cluster.ports[:2])
    try:
        yield one, other
    finally:
        await one.close()
        await other.close()


def _channel(session: str) -> str:
    return f"negotiator:teleprompter:{session}"


async def _hears(told: RedisClusterBus, subscription: BusSubscription, session: str) -> None:
    """Tell until the follower hears, and return when it has heard all that was told."""
    until = time.monotonic() + _FAILOVER
    while b"word" not in await subscription.listen(0.05):
        told.tell(session, b"word")
        assert time.monotonic() < until, "the follower hears nothing"
    told.tell(session, b"last word")
    while b"last word" not in await subscription.listen(0.05):
        assert time.monotonic() < until, "the follower does not hear the last word"


async def _is_woken(subscription: BusSubscription) -> None:
    began = time.monotonic()
    await subscription.listen(_SOON)
    assert time.monotonic() - began < _SOON, "nobody woke the follower"


@pytest.mark.asyncio
async def test_a_message_goes_to_one_shard_and_to_the_followers_of_its_session(redis_cluster: RedisCluster) -> None:
    session = _SESSIONS[0]
    owner = redis_cluster.owner(_channel(session))
    async with _buses(redis_cluster) as (one, other):
        with other.following(session) as subscription, one.following("tps_another") as back:
            await _hears(one, subscription, session)
            await _hears(other, back, "tps_another")
            before = [_shard_messages(redis_cluster, number) for number in range(6)]
            heard = 0
            for number in range(200):
                one.tell(session, b"%d" % number)
                heard += len(await subscription.listen(_SOON))
            assert heard == 200
            client = redis_cluster.client(owner)
            channels = client.execute_command("PUBSUB", "SHARDNUMSUB", _channel(session))
            client.close()
            assert channels == [_channel(session).encode(), 1], "only its follower's process listens"

        def passed_on() -> list[int]:
            return [_shard_messages(redis_cluster, n) - before[n] for n in range(6)]

        await _eventually(lambda: sum(passed_on()) >= 200)
        assert sorted(passed_on())[-2] < 100, "servers of other shards get beats only"


def _shard_messages(cluster: RedisCluster, number: int) -> int:
    """How many messages of pub/sub a server has got from others."""
    client = cluster.client(number)
    counts = client.execute_command("CLUSTER INFO")
    client.close()
    assert "cluster_stats_messages_publish_received" not in counts, "none goes to every server"
    return int(counts.get("cluster_stats_messages_publishshard_received", 0))


@pytest.mark.asyncio
async def test_a_follower_is_woken_when_its_subscription_begins(redis_cluster: RedisCluster) -> None:
    async with _buses(redis_cluster) as (one, other):
        for session in _SESSIONS:
            with other.following(session) as subscription:
                await _is_woken(subscription)
                await _hears(one, subscription, session)


@pytest.mark.asyncio
async def test_nothing_is_followed_when_its_last_follower_has_gone(redis_cluster: RedisCluster) -> None:
    async with _buses(redis_cluster) as (one, other):
        for session in _SESSIONS[:6]:
            with other.following(session) as subscription, other.following(session):
                await _hears(one, subscription, session)
        channels = [_channel(session) for session in _SESSIONS[:6]]
        clients = [redis_cluster.client(number) for number in range(3)]
        until = time.monotonic() + _SOON
        while any(
            client.execute_command("PUBSUB", "SHARDCHANNELS", channel) for client in clients for channel in channels
        ):
            assert time.monotonic() < until
            await asyncio.sleep(0.05)
        for client in clients:
            client.close()


@pytest.mark.asyncio
async def test_a_session_whose_slot_has_moved_is_followed_at_its_new_server(redis_cluster: RedisCluster) -> None:
    session = "tps_that_moves"
    owner = redis_cluster.owner(_channel(session))
    async with _buses(redis_cluster) as (one, other):
        for number in ((owner + 1) % 3, owner):
            with other.following(session) as subscription:
                await _hears(one, subscription, session)
                redis_cluster.move_slot(_channel(session), number)
                await _is_woken(subscription)
                # The first word finds the old server, which refuses it: it comes as a wake-up only.
                one.tell(session, b"refused")
                await _is_woken(subscription)
                await _hears(one, subscription, session)


@pytest.mark.asyncio
async def test_dropped_connections_are_made_again(redis_cluster: RedisCluster) -> None:
    async with _buses(redis_cluster) as (one, other):
        session = _SESSIONS[0]
        with other.following(*_SESSIONS[:6]) as subscription:
            await _hears(one, subscription, session)
            for number in range(6):
                client = redis_cluster.client(number)
                client.client_kill_filter(_type="pubsub")
                client.close()
            await _is_woken(subscription)
            for session in _SESSIONS[:6]:
                await _hears(one, subscription, session)


class _Load:
    """Tells every session something every 20 ms, and counts what is heard of it at the other machine."""

    def __init__(self, told: RedisClusterBus, follower: RedisClusterBus) -> None:
        self._told = told
        self._follower = follower
        self._number = 0
        self._heard: dict[str, list[int]] = defaultdict(list)
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> "_Load":
        self._tasks = [asyncio.create_task(self._tell())]
        self._tasks += [asyncio.create_task(self._listen(session)) for session in _SESSIONS]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def since(self, moment: int) -> dict[str, int]:
        """How many messages of each session were heard that were told after this number."""
        return {s: sum(each > moment for each in self._heard[s]) for s in _SESSIONS}

    @property
    def moment(self) -> int:
        return self._number

    async def all_heard(self, sessions: Sequence[str], moment: int) -> None:
        await _eventually(lambda: all(self.since(moment)[session] for session in sessions))

    def is_in_order(self) -> bool:
        """Whether no message came twice or after a later one."""
        return all(numbers == sorted(set(numbers)) for numbers in self._heard.values())

    async def _tell(self) -> None:
        while True:
            self._number += 1
            for session in _SESSIONS:
                self._told.tell(session, b"%d" % self._number)
            await asyncio.sleep(0.02)

    async def _listen(self, session: str) -> None:
        with self._follower.following(session) as subscription:
            while True:
                heard = await subscription.listen(1)
                self._heard[session] += map(int, heard)


async def _eventually(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + _FAILOVER
    while not holds():
        assert time.monotonic() < until
        await asyncio.sleep(0.02)


@pytest.mark.asyncio
async def test_under_load_a_lost_server_delays_its_own_sessions_only_and_may_come_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bus_connection, "_BEAT_SECONDS", 0.5)
    with running_redis_cluster() as cluster:
        lost = cluster.owner(_channel(_SESSIONS[0]))
        its_own = [s for s in _SESSIONS if cluster.owner(_channel(s)) == lost]
        others = [s for s in _SESSIONS if s not in its_own]
        async with _buses(cluster) as (one, other), _Load(one, other) as load:
            await load.all_heard(_SESSIONS, load.moment)
            cluster.kill(lost)
            moment = load.moment
            await _eventually(lambda: any(load.since(moment)[session] for session in its_own))
            meanwhile = load.since(moment)
            assert all(meanwhile[session] >= 5 for session in others), meanwhile
            await load.all_heard(_SESSIONS, moment)

            await asyncio.to_thread(cluster.restart, lost)
            await load.all_heard(_SESSIONS, load.moment)
            # Back to the server that was lost first, from the replica that has replaced it.
            cluster.kill(lost + 3)
            await load.all_heard(_SESSIONS, load.moment)
            assert load.is_in_order()


@pytest.mark.asyncio
async def test_a_server_that_hangs_is_replaced_and_its_followers_are_woken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bus_connection, "_BEAT_SECONDS", 0.1)
    for module in (bus_connection, redis_cluster_bus):
        monkeypatch.setattr(module, "PATIENCE", 1.0)
    with running_redis_cluster() as cluster:
        session = _SESSIONS[0]
        hanging = cluster.processes[cluster.owner(_channel(session))]
        async with _buses(cluster) as (one, other):
            with other.following(session) as subscription:
                await _hears(one, subscription, session)
                hanging.send_signal(signal.SIGSTOP)
                await _is_woken(subscription)
                await _hears(one, subscription, session)


def test_a_cluster_has_the_bus_by_shards(tmp_path: Path) -> None:
    settings = make_settings(tmp_path, tmp_path, redis_url="redis+cluster://redis.example:6379")
    assert isinstance(make_bus(settings), RedisClusterBus)
