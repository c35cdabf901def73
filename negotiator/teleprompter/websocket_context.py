"""What all sockets of a process share, how many there may be, and the waiting messages of one connection."""

import asyncio
from collections import Counter, deque
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from negotiator.base.caller import Caller
from negotiator.base.errors import Refusal
from negotiator.http.pipeline import Pipeline, ResponseContext
from negotiator.teleprompter import websocket_messages
from negotiator.teleprompter.audio_pipeline import AudioPipeline
from negotiator.teleprompter.bus import POLL_SECONDS
from negotiator.teleprompter.session_view import MAX_VIEWERS, TELEPROMPTER_BUDGET
from negotiator.teleprompter.tickets import Tickets
from negotiator.teleprompter.utterances import UtteranceService
from negotiator.teleprompter.websocket_messages import CloseCode, WebSocketClosing

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


MAX_SOCKETS: Final = 2000
"""Sockets of one process."""
_AGAIN: Final = 5


@dataclass(frozen=True, slots=True)
class WebSocketTimeouts:
    """Timeouts of a socket in seconds."""

    auth: float = 5.0
    idle: float = 60.0
    renewal: float = 30.0
    believed: float = POLL_SECONDS
    look: float = 1.0
    goodbye: float = 2.0


@dataclass(slots=True)
class ConnectionLimits:
    """Counts the sockets of this process and the viewers of each session."""

    _sockets: int = 0
    _viewers: Counter[str] = field(default_factory=Counter[str])

    @contextmanager
    def socket(self) -> Generator[None]:
        """Count a socket for the duration of the block; `WebSocketClosing` at the limit."""
        if self._sockets >= MAX_SOCKETS:
            raise _full("This worker has no room for another socket.")
        self._sockets += 1
        try:
            yield
        finally:
            self._sockets -= 1

    def view(self, session: str) -> None:
        """Count a viewer; `WebSocketClosing` at the limit of the session."""
        if self._viewers[session] >= MAX_VIEWERS:
            raise _full(f"{MAX_VIEWERS} viewers follow this session here already.")
        self._viewers[session] += 1

    def leave(self, session: str) -> None:
        self._viewers[session] -= 1
        if self._viewers[session] <= 0:
            del self._viewers[session]


@dataclass(frozen=True, slots=True)
class SharedContext:
    """What all sockets of a process share."""

    pipeline: Pipeline
    utterances: UtteranceService
    tickets: Tickets
    audio: AudioPipeline
    connection_limits: ConnectionLimits = field(default_factory=ConnectionLimits)
    patience: WebSocketTimeouts = field(default_factory=WebSocketTimeouts)

    async def charge(self, caller: Caller) -> None:
        """Charge a message to the same budget as a request; 429."""
        await self.pipeline.charge(caller, TELEPROMPTER_BUDGET, ResponseContext())

    async def said(self, refusal: Refusal, **about: Any) -> bytes:
        answer = await self.pipeline.refused(refusal)
        told: dict[str, Any] = dict(answer.body)
        code, description = told.pop("error"), told.pop("error_description")
        if wait := answer.headers.get("retry-after"):
            told["retry_after"] = int(wait)
        return websocket_messages.error_message(code, description, **about, **told)

    def crash(self, fault: Exception) -> bytes:
        """An internal error as an error message; the details are logged."""
        told: dict[str, Any] = dict(self.pipeline.refusals.crash(fault).body)
        return websocket_messages.error_message(told["error"], told["error_description"], request_id=told["request_id"])


def _full(description: str) -> WebSocketClosing:
    return WebSocketClosing(
        CloseCode.FULL, "full", websocket_messages.error_message("full", description, retry_after=_AGAIN)
    )
