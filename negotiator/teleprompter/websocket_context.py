"""What all sockets of one process share, and how many of them there may be.

What the parts of one open socket share: who sits there, what he was told, what waits for him.
"""

import asyncio
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from negotiator.caller import Caller
from negotiator.errors import Refusal
from negotiator.http.pipeline import Pipeline, ResponseContext
from negotiator.teleprompter import websocket_messages
from negotiator.teleprompter.audio_pipeline import AudioPipeline
from negotiator.teleprompter.bus import POLL_SECONDS
from negotiator.teleprompter.session_routes import TELEPROMPTER_BUDGET
from negotiator.teleprompter.session_transitions import Transition
from negotiator.teleprompter.session_view import MAX_VIEWERS, SESSION_LIMITS
from negotiator.teleprompter.tickets import Tickets
from negotiator.teleprompter.utterances import UtteranceService
from negotiator.teleprompter.websocket_messages import CloseCode, WebSocketClosing
from negotiator.teleprompter.websocket_outbox import Outbox

MAX_SOCKETS: Final = 2000
"""Sockets of one process."""
_AGAIN: Final = 5


@dataclass(frozen=True, slots=True)
class WebSocketTimeouts:
    """How long a socket waits for what; seconds."""

    auth: float = 5.0
    idle: float = 60.0
    renewal: float = 30.0
    believed: float = POLL_SECONDS
    look: float = 1.0
    goodbye: float = 2.0


@dataclass(slots=True)
class ConnectionLimits:
    """Who is here: sockets of this process, and viewers of each session."""

    most: int = MAX_SOCKETS
    _sockets: int = 0
    _viewers: Counter[str] = field(default_factory=Counter[str])

    @contextmanager
    def socket(self) -> Generator[None]:
        """Room for one more socket; `Closing` when there is none."""
        if self._sockets >= self.most:
            raise _full("This worker has no room for another socket.")
        self._sockets += 1
        try:
            yield
        finally:
            self._sockets -= 1

    def view(self, session: str) -> None:
        """One more viewer; `Closing` when the session has as many as it may."""
        if self._viewers[session] >= MAX_VIEWERS:
            raise _full(f"{MAX_VIEWERS} viewers follow this session here already.")
        self._viewers[session] += 1

    def leave(self, session: str) -> None:
        """One less."""
        self._viewers[session] -= 1
        if self._viewers[session] <= 0:
            del self._viewers[session]

    @property
    def count(self) -> int:
        """The sockets that are open."""
        return self._sockets


@dataclass(frozen=True, slots=True)
class SharedContext:
    """The shared objects of the sockets."""

    pipeline: Pipeline
    listening: UtteranceService
    tickets: Tickets
    stage: AudioPipeline
    connection_limits: ConnectionLimits = field(default_factory=ConnectionLimits)
    patience: WebSocketTimeouts = field(default_factory=WebSocketTimeouts)

    async def charge(self, caller: Caller) -> None:
        """Charge a message like a request for the same; 429."""
        await self.pipeline.charge(caller, TELEPROMPTER_BUDGET, ResponseContext())

    async def said(self, refusal: Refusal, **about: Any) -> bytes:
        """A refusal as a message."""
        answer = await self.pipeline.refused(refusal)
        told: dict[str, Any] = dict(answer.body)
        code, description = told.pop("error"), told.pop("error_description")
        if wait := answer.headers.get("retry-after"):
            told["retry_after"] = int(wait)
        return websocket_messages.error_message(code, description, **about, **told)

    def crash(self, fault: Exception) -> bytes:
        """A fault of ours as a message; the log has the rest."""
        told: dict[str, Any] = dict(self.pipeline.refusals.crash(fault).body)
        return websocket_messages.error_message(
            told["error"], told["error_description"], request_id=told["request_id"]
        )


def _full(description: str) -> WebSocketClosing:
    return WebSocketClosing(
        CloseCode.FULL,
        "full",
        websocket_messages.error_message("full", description, retry_after=_AGAIN),
    )


@dataclass(slots=True)
class ConnectionState:
    """One socket's place at a session.

    `after` is the number up to which it was told (None before it follows at all), `producer` its token once it is the
    one that sends sound, `alive_at` when something last came from it. `believed` is not set while its credential has
    ended and no other has come.
    """

    floor: SharedContext
    session: str
    origin: str
    caller: Caller
    alive_at: float
    outbox: Outbox = field(default_factory=Outbox)
    after: int | None = None
    producer: str = ""
    viewing: bool = False
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    believed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def owner(self) -> str:
        """Whose session it is."""
        return self.caller.principal

    async def say(self, message: bytes) -> None:
        """Have a message sent that has to arrive."""
        await self.outbox.put(message)

    async def change(self, change: Transition) -> Any:
        """Apply a change to the session; its refusals."""
        return await self.floor.listening.change(self.caller, self.session, change)

    async def begin(self, after: int, audio_ms: dict[str, int]) -> None:
        """Follow from this number on, unless it does already; `ready` says where the session stands."""
        log = self.floor.listening.log
        found, _ = await log.after(self.owner, self.session, after, 1)
        if self.after is None:
            self.after = after
            self.begun.set()
        ready = websocket_messages.ready_message(
            seq=found.seq, replay_from=self.after + 1, audio_ms=audio_ms, limits=SESSION_LIMITS
        )
        await self.say(ready)

    def view(self) -> None:
        """Count as a viewer; `Closing` when there are too many."""
        if not self.viewing:
            self.floor.connection_limits.view(self.session)
            self.viewing = True

    def stop_viewing(self) -> None:
        """Count as none."""
        if self.viewing:
            self.floor.connection_limits.leave(self.session)
            self.viewing = False
