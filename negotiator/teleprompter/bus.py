"""The bus between those who change a session and those who follow it.

A word on the bus is a wake-up, and may carry a volatile message (a growing utterance, a level). It may be lost: who
follows looks at the numbered events again every `LOOK_AGAIN` seconds.

A word as it goes from one process to the others: who says it, about which session, with which message. Pure.

Words that wait to be sent, and the task that sends them: whoever tells never waits for the network.
"""

import asyncio
import contextlib
import hashlib
import secrets
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import Context
from dataclasses import dataclass, field
from typing import Final, Protocol

from negotiator import telemetry

POLL_SECONDS: Final = 2.0
_VOLATILE: Final = 32


def revocation_topic(subject: str) -> str:
    """The name under which the revocation of a subject is told: ASCII without blanks, and no session's id."""
    return f"revoked-{hashlib.sha256(subject.encode()).hexdigest()[:32]}"


class BusSubscription:
    """One follower's ears: what was said on the bus since it last listened; the oldest is lost first."""

    def __init__(self) -> None:
        self._said: deque[bytes] = deque(maxlen=_VOLATILE)
        self._woken = asyncio.Event()

    def tell(self, message: bytes) -> None:
        """Wake it; an empty message is nothing but that."""
        if message:
            self._said.append(message)
        self._woken.set()

    async def listen(self, seconds: float) -> list[bytes]:
        """The volatile messages since the last time, waiting this long for the first word."""
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        except TimeoutError:
            return []
        self._woken.clear()
        said = list(self._said)
        self._said.clear()
        return said


class Bus(Protocol):
    """Reaches every follower of a session, in every process that shares the store."""

    def tell(self, session: str, message: bytes = b"") -> None:
        """Say that a session has news; never waits, never fails."""
        ...

    def following(self, *names: str) -> AbstractContextManager[BusSubscription]:
        """Ears for sessions and topics, as long as the block runs."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class LocalBus:
    """The bus of one process."""

    def __init__(self) -> None:
        self._ears: dict[str, set[BusSubscription]] = {}

    def tell(self, session: str, message: bytes = b"") -> None:
        for ears in self._ears.get(session, ()):
            ears.tell(message)

    @contextmanager
    def following(self, *names: str) -> Generator[BusSubscription]:
        ears = BusSubscription()
        for name in names:
            self._ears.setdefault(name, set()).add(ears)
        try:
            yield ears
        finally:
            for name in names:
                self._ears[name].discard(ears)
                if not self._ears[name]:
                    del self._ears[name]

    def count(self, session: str) -> int:
        """How many follow this session here."""
        return len(self._ears.get(session, ()))

    async def close(self) -> None:
        """Nothing to let go of."""


MAX_BUS_MESSAGE_BYTES: Final = 7_900
"""Bytes: PostgreSQL takes fewer than 8,000 in a NOTIFY. What is longer goes as a wake-up only."""


@dataclass(frozen=True, slots=True)
class BusMessageCodec:
    """Writes this process's words and reads those of others."""

    me: str = field(default_factory=lambda: secrets.token_hex(6))

    def write(self, session: str, message: bytes) -> bytes:
        """The word."""
        head = f"{self.me} {session} ".encode()
        return head if len(head) + len(message) > MAX_BUS_MESSAGE_BYTES else head + message

    def read(self, word: bytes) -> tuple[str, bytes] | None:
        """The session and the message of somebody else's word; None for one's own and for anything else."""
        parts = word.split(b" ", 2)
        if len(parts) < 3 or parts[0] == self.me.encode():
            return None
        try:
            return parts[1].decode("ascii"), parts[2]
        except UnicodeDecodeError:
            return None


_WAITING: Final = 1024
_AT_ONCE: Final = 64
_AGAIN: Final = 1.0
_SETTLED_WITHIN: Final = 2.0
_SETTLING: Final = 0.01
log = telemetry.logger(__name__)


class SendQueue:
    """Sends words by `send`, some at once; the oldest are lost when too many wait, all that wait while it fails."""

    def __init__(self, send: Callable[[Sequence[bytes]], Awaitable[None]]) -> None:
        self._send = send
        self._waiting: deque[bytes] = deque(maxlen=_WAITING)
        self._news = asyncio.Event()
        self._under_way = 0

    def tell(self, word: bytes) -> None:
        """One more."""
        self._waiting.append(word)
        self._news.set()

    async def settle(self) -> None:
        """Wait until all words are sent, at most `_SETTLED_WITHIN` seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SETTLED_WITHIN):
                while self._waiting or self._under_way:
                    await asyncio.sleep(_SETTLING)

    async def run(self) -> None:
        """Send, for ever."""
        while True:
            await self._news.wait()
            self._news.clear()
            while self._waiting:
                self._under_way = min(len(self._waiting), _AT_ONCE)
                await self._send([self._waiting.popleft() for _ in range(self._under_way)])
            self._under_way = 0


def keep_running(name: str, live: Callable[[], Awaitable[None]]) -> "asyncio.Task[None]":
    """Run `live` beside everything else, and again a moment after it failed, for ever."""
    # It belongs to no request, though one was the first to need it.
    return asyncio.create_task(_for_ever(name, live), context=Context())


async def _for_ever(name: str, live: Callable[[], Awaitable[None]]) -> None:
    while True:
        try:
            await live()
        except Exception as fault:
            log.warning("a bus is away", bus=name, detail=repr(fault))
        await asyncio.sleep(_AGAIN)


async def cancel_and_wait(task: "asyncio.Task[None] | None") -> None:
    """End a task that has no end of its own."""
    if task is not None:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
