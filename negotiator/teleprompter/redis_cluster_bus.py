"""The bus over a Redis Cluster: sharded pub/sub, with a channel for each session and each topic.

A message goes to the server that has the channel's slot, and from there to the processes that follow the session.
"""

import asyncio
import itertools
import random
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from contextvars import Context
from typing import Any, Final
from urllib.parse import urlsplit

from negotiator.runtime.fault_log import FaultLog
from negotiator.teleprompter.bus import BusSubscription, LocalBus
from negotiator.teleprompter.bus_connection import (
    MAX_WAITING,
    PATIENCE,
    RETRY_SECONDS,
    TOLD_AFTER,
    ServerConnection,
    end_task,
    make_redis_client,
)

_PREFIX: Final = "negotiator:teleprompter:"
_POLL_SECONDS: Final = 5.0
_ANSWER_SECONDS: Final = 1.0
"""Seconds that one server has to say which server has which slot; then another is asked."""


def _channel(name: str) -> str:
    return f"{_PREFIX}{name}"


def _slot(name: str) -> int:
    from redis.crc import key_slot

    return key_slot(_channel(name).encode())


class RedisShard(ServerConnection):
    """A server of the cluster. This process subscribes there to what it follows, where the server has its slot.

    When a subscription begins, its followers are woken: they read what came before it. `moved` is called with
    the sessions whose messages the server refused, and without one when it has lost a slot or is away.
    """

    def __init__(self, url: str, *, local: LocalBus, moved: Callable[[Sequence[str]], None]) -> None:
        where = urlsplit(url).netloc.rpartition("@")[2]
        super().__init__(local, f"live events by {where} come up to two seconds late")
        self._client = make_redis_client(url)
        self._moved = moved
        self._wanted: set[str] = set()
        self._subscribed: set[str] = set()
        self._leaving: set[str] = set()
        self._changed = asyncio.Event()

    def assign(self, names: Iterable[str], slots: Collection[int]) -> None:
        """Follow these names and no others; the server has these slots."""
        if _slot(self._beat_topic) not in slots:
            topics = (f"beat-{self._codec.me}-{number}" for number in itertools.count())
            self._beat_topic = next(topic for topic in topics if _slot(topic) in slots)
        self._wanted = {self._beat_topic, *names}
        self._changed.set()

    def set_followed(self, name: str, *, followed: bool) -> None:
        """Follow a name, or no longer."""
        if followed:
            self._wanted.add(name)
        else:
            self._wanted.discard(name)
        self._changed.set()

    async def retire(self) -> None:
        """Close: other servers have its slots."""
        self._faults.worked()
        await self.close()

    async def _run_connection(self) -> None:
        try:
            async with self._client.pubsub() as subscription:
                self._leaving.clear()
                self._subscribed = {self._beat_topic}
                async with asyncio.timeout(PATIENCE):
                    await subscription.ssubscribe(_channel(self._beat_topic))
                    await subscription.get_message(timeout=PATIENCE)
                self._changed.set()
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(self._send_and_beat())
                    tasks.create_task(self._listen(subscription))
                    tasks.create_task(self._subscribe(subscription))
        except Exception:
            self._moved(())
            raise

    async def _subscribe(self, subscription: Any) -> None:
        """Subscribe to what is wanted, one at a time: one command takes channels of one slot only."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            for name in self._subscribed - self._wanted:
                self._subscribed.discard(name)
                self._leaving.add(name)
                await subscription.sunsubscribe(_channel(name))
                await asyncio.sleep(0)
            for name in self._wanted - self._subscribed:
                self._subscribed.add(name)
                await subscription.ssubscribe(_channel(name))
                await asyncio.sleep(0)

    async def _listen(self, subscription: Any) -> None:
        from redis.exceptions import MovedError

        while True:
            try:
                message = await subscription.get_message(timeout=_POLL_SECONDS)
            except MovedError as moved:
                known = self._subscribed | self._leaving
                self._lost([name for name in known if _slot(name) == moved.slot_id])
                continue
            if message is None:
                continue
            name = message["channel"].decode().removeprefix(_PREFIX)
            if message["type"] == "smessage":
                self._receive(message["data"])
            elif message["type"] == "ssubscribe":
                self._local.tell(name)
            elif name in self._leaving:
                self._leaving.discard(name)
            else:
                # The server ends subscriptions to a slot that it no longer has.
                self._lost((name,))

    def _lost(self, names: Collection[str]) -> None:
        self._subscribed.difference_update(names)
        self._leaving.difference_update(names)
        self._moved(())

    async def _send(self, lines: Sequence[bytes]) -> None:
        from redis.exceptions import MovedError

        sessions = [self._codec.session(line) for line in lines]
        async with self._client.pipeline(transaction=False) as pipe:
            for session, line in zip(sessions, lines, strict=True):
                pipe.spublish(_channel(session), line)
            answers = await pipe.execute(raise_on_error=False)
        for fault in answers:
            if isinstance(fault, Exception) and not isinstance(fault, MovedError):
                raise fault
        if refused := [
            session for session, answer in zip(sessions, answers, strict=True) if isinstance(answer, MovedError)
        ]:
            self._moved(refused)

    async def _disconnect(self) -> None:
        await self._client.aclose()


class RedisClusterBus:
    """A bus over the shards of a Redis Cluster; `url` names one of its servers.

    While a shard is away, only its sessions are followed by reading every two seconds. Which server has which slot is
    asked again when a server fails, refuses a message or ends a subscription; a session whose message was refused then
    gets a wake-up.
    """

    def __init__(self, url: str, local: LocalBus | None = None) -> None:
        self._url = url
        self._named = urlsplit(url).netloc.rpartition("@")[2]
        self._servers = {self._named}
        self._local = local or LocalBus()
        self._codec = self._local.codec
        self._shards: dict[str, RedisShard] = {}
        self._by_slot: Mapping[int, RedisShard] = {}
        self._unsent: set[str] = set()
        self._outdated = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._faults = FaultLog("no server says which of the Redis Cluster has which slot", patience=TOLD_AFTER)

    def tell(self, session: str, message: bytes = b"") -> None:
        self._local.tell(session, message)
        self._start()
        if shard := self._by_slot.get(_slot(session)):
            shard.send(self._codec.write(session, message))
        else:
            self._wake_later((session,))

    @contextmanager
    def following(self, *names: str) -> Generator[BusSubscription]:
        self._start()
        try:
            with self._local.following(*names) as subscription:
                self._follow(names)
                yield subscription
        finally:
            self._follow(names)

    async def close(self) -> None:
        """Send what waits, then close the connections."""
        if self._task is not None:
            await end_task(self._task)
            self._task = None
        await asyncio.gather(*(shard.close() for shard in self._shards.values()))

    def _start(self) -> None:
        if self._task is None:
            # An empty context: the task outlives the request that happens to start it.
            self._task = asyncio.create_task(self._follow_slots(), context=Context())

    def _follow(self, names: Iterable[str]) -> None:
        """Subscribe to those of the names that have a follower, and end the subscriptions to the others."""
        for name in names:
            if shard := self._by_slot.get(_slot(name)):
                shard.set_followed(name, followed=self._local.count(name) > 0)

    def _moved(self, refused: Sequence[str]) -> None:
        self._wake_later(refused)
        self._outdated.set()

    def _wake_later(self, sessions: Sequence[str]) -> None:
        """Send wake-ups once the servers are known: a message without a number would be out of date by then."""
        if len(self._unsent) < MAX_WAITING:
            self._unsent.update(sessions)

    async def _follow_slots(self) -> None:
        while True:
            self._outdated.clear()
            try:
                await self._read_slots()
            except Exception as fault:
                self._faults.failed(repr(fault))
                self._outdated.set()
            else:
                self._faults.worked()
            await asyncio.sleep(RETRY_SECONDS)
            if not any(shard.is_away for shard in self._shards.values()):
                await self._outdated.wait()

    async def _read_slots(self) -> None:
        """Ask which server has which slot, and move the subscriptions there."""
        servers = await self._ask_servers()
        for server in set(servers.values()) - self._shards.keys():
            self._shards[server] = self._make_shard(server)
        self._by_slot = {slot: self._shards[server] for slot, server in servers.items()}
        slots: dict[RedisShard, set[int]] = {shard: set() for shard in self._shards.values()}
        names: dict[RedisShard, set[str]] = {shard: set() for shard in self._shards.values()}
        for slot, shard in self._by_slot.items():
            slots[shard].add(slot)
        for name in self._local.followed:
            if shard := self._by_slot.get(_slot(name)):
                names[shard].add(name)
        for shard in slots:
            if slots[shard]:
                shard.assign(names[shard], slots[shard])
                shard.start()
        unsent, self._unsent = self._unsent, set()
        for session in unsent:
            if shard := self._by_slot.get(_slot(session)):
                shard.send(self._codec.write(session, b""))
        for server in self._shards.keys() - servers.values():
            await self._shards[server].retire()
            del self._shards[server]

    async def _ask_servers(self) -> dict[int, str]:
        """The host and port that has each slot, by the first server that answers."""
        fault: Exception = ConnectionError("no server of the cluster is known")
        for server in random.sample(tuple(self._servers), len(self._servers)):
            client = make_redis_client(self._url_of(server))
            try:
                async with asyncio.timeout(_ANSWER_SECONDS):
                    ranges = await client.execute_command("CLUSTER SLOTS")
            except Exception as reason:
                fault = reason
                continue
            finally:
                await client.aclose()
            found = {
                slot: [_address(node, server) for node in nodes]
                for first, last, *nodes in ranges
                for slot in range(first, last + 1)
            }
            if found:
                known = {each for nodes in found.values() for each in nodes}
                self._servers = {self._named, *known}
                return {slot: nodes[0] for slot, nodes in found.items()}
            fault = ConnectionError(f"{server} knows no slots")
        raise fault

    def _make_shard(self, server: str) -> RedisShard:
        return RedisShard(self._url_of(server), local=self._local, moved=self._moved)

    def _url_of(self, server: str) -> str:
        parts = urlsplit(self._url)
        user, at, _ = parts.netloc.rpartition("@")
        return parts._replace(netloc=f"{user}{at}{server}").geturl()


def _address(node: Sequence[Any], asked: str) -> str:
    """The host and port of a server in an answer; it may leave the host out for its own."""
    host = (node[0] or b"").decode() or urlsplit(f"//{asked}").hostname or ""
    return f"[{host}]:{node[1]}" if ":" in host else f"{host}:{node[1]}"
