"""Messages waiting to be sent on one socket, bounded in number and bytes for clients that read slowly."""

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import Final

MAX_MESSAGES: Final = 256
MAX_BYTES: Final = 256 * 1024
STALL_SECONDS: Final = 10.0


class OutboxStalled(Exception):
    """The outbox was full and the client read nothing for too long."""


@dataclass(slots=True)
class Outbox:
    """Messages in order. Volatile ones are dropped first when there is no room; only the newest of a name waits.

    A message that must arrive waits for room, `patience` seconds long.
    """

    messages: int = MAX_MESSAGES
    size: int = MAX_BYTES
    patience: float = STALL_SECONDS
    _waiting: deque[tuple[bytes, str]] = field(default_factory=deque[tuple[bytes, str]])
    _held: int = 0
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _room: asyncio.Event = field(default_factory=asyncio.Event)

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def held(self) -> int:
        """The bytes waiting."""
        return self._held

    async def put(self, message: bytes) -> None:
        """Queue a message; `OutboxStalled` when there is no room in time."""
        if not self._makes_room(message):
            try:
                async with asyncio.timeout(self.patience):
                    while not self._makes_room(message):
                        self._room.clear()
                        await self._room.wait()
            except TimeoutError:
                raise OutboxStalled from None
        self._add(message, "")

    def offer(self, message: bytes, name: str) -> bool:
        """Queue a volatile message in place of an older one of this name; False when there is no room."""
        for entry in self._waiting:
            if entry[1] == name:
                self._drop(entry)
                break
        if not self._fits(message):
            return False
        self._add(message, name)
        return True

    async def take(self) -> bytes:
        """The next message, once there is one."""
        while not self._waiting:
            self._news.clear()
            await self._news.wait()
        return self.pop()

    def pop(self) -> bytes:
        """The next message; the outbox must not be empty."""
        message, _ = self._waiting.popleft()
        self._held -= len(message)
        self._room.set()
        return message

    def _makes_room(self, message: bytes) -> bool:
        while not self._fits(message):
            volatile = next((entry for entry in self._waiting if entry[1]), None)
            if volatile is None:
                return False
            self._drop(volatile)
        return True

    def _fits(self, message: bytes) -> bool:
        within = len(self._waiting) < self.messages and self._held + len(message) <= self.size
        return within or not self._waiting

    def _drop(self, entry: tuple[bytes, str]) -> None:
        self._waiting.remove(entry)
        self._held -= len(entry[0])

    def _add(self, message: bytes, name: str) -> None:
        self._waiting.append((message, name))
        self._held += len(message)
        self._news.set()
