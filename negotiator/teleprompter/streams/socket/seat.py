"""What the parts of one open socket share: who sits there, what he was told, what waits for him."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from negotiator.caller import Caller
from negotiator.teleprompter.sessions.moving import Change
from negotiator.teleprompter.sessions.view import LIMITS
from negotiator.teleprompter.streams import protocol
from negotiator.teleprompter.streams.outbox import Outbox
from negotiator.teleprompter.streams.socket.floor import Floor


@dataclass(slots=True)
class Seat:
    """One socket's place at a session.

    `after` is the number up to which it was told (None before it follows at all), `producer` its token once it is the
    one that sends sound, `alive_at` when something last came from it. `believed` is not set while its credential has
    ended and no other has come.
    """

    floor: Floor
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

    async def change(self, change: Change) -> Any:
        """Apply a change to the session; its refusals."""
        return await self.floor.listening.change(self.caller, self.session, change)

    async def begin(self, after: int, audio_ms: dict[str, int]) -> None:
        """Follow from this number on, unless it does already; `ready` says where the session stands."""
        log = self.floor.listening.log
        found, _ = await log.after(self.owner, self.session, after, 1)
        if self.after is None:
            self.after = after
            self.begun.set()
        ready = protocol.ready(
            seq=found.seq, replay_from=self.after + 1, audio_ms=audio_ms, limits=LIMITS
        )
        await self.say(ready)

    def view(self) -> None:
        """Count as a viewer; `Closing` when there are too many."""
        if not self.viewing:
            self.floor.crowd.view(self.session)
            self.viewing = True

    def unview(self) -> None:
        """Count as none."""
        if self.viewing:
            self.floor.crowd.leave(self.session)
            self.viewing = False
