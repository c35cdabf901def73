"""What all sockets of one process share, and how many of them there may be."""

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from negotiator.caller import Caller
from negotiator.edge.steps import Doorway, Left
from negotiator.errors import Refusal
from negotiator.teleprompter.listening import Listening
from negotiator.teleprompter.routes import BUDGET
from negotiator.teleprompter.sessions.view import VIEWERS
from negotiator.teleprompter.streams import protocol
from negotiator.teleprompter.streams.bus import LOOK_AGAIN
from negotiator.teleprompter.streams.entry.tickets import Tickets
from negotiator.teleprompter.streams.protocol import Code
from negotiator.teleprompter.streams.socket.wire import Closing
from negotiator.teleprompter.streams.sound.voices import Stage

MOST: Final = 2000
"""Sockets of one process."""
_AGAIN: Final = 5


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a socket waits for what; seconds."""

    auth: float = 5.0
    idle: float = 60.0
    renewal: float = 30.0
    believed: float = LOOK_AGAIN
    look: float = 1.0
    goodbye: float = 2.0


@dataclass(slots=True)
class Crowd:
    """Who is here: sockets of this process, and viewers of each session."""

    most: int = MOST
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
        if self._viewers[session] >= VIEWERS:
            raise _full(f"{VIEWERS} viewers follow this session here already.")
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
class Floor:
    """The shared objects of the sockets."""

    doorway: Doorway
    listening: Listening
    tickets: Tickets
    stage: Stage
    crowd: Crowd = field(default_factory=Crowd)
    patience: Patience = field(default_factory=Patience)

    async def charge(self, caller: Caller) -> None:
        """Charge a message like a request for the same; 429."""
        await self.doorway.charge(caller, BUDGET, Left())

    async def said(self, refusal: Refusal, **about: Any) -> bytes:
        """A refusal as a message."""
        answer = await self.doorway.refused(refusal)
        told: dict[str, Any] = dict(answer.body)
        code, description = told.pop("error"), told.pop("error_description")
        if wait := answer.headers.get("retry-after"):
            told["retry_after"] = int(wait)
        return protocol.error(code, description, **about, **told)

    def crash(self, fault: Exception) -> bytes:
        """A fault of ours as a message; the log has the rest."""
        told: dict[str, Any] = dict(self.doorway.refusals.crash(fault).body)
        return protocol.error(
            told["error"], told["error_description"], request_id=told["request_id"]
        )


def _full(description: str) -> Closing:
    return Closing(Code.FULL, "full", protocol.error("full", description, retry_after=_AGAIN))
