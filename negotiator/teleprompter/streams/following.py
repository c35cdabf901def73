"""One who follows a session: every numbered event after the last he has, in order, none twice; and volatile ones."""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from negotiator.errors import NotFound
from negotiator.store.store import Store
from negotiator.teleprompter.sessions import rows
from negotiator.teleprompter.sessions.rows import Event
from negotiator.teleprompter.sessions.telling import Told
from negotiator.teleprompter.streams.bus import LOOK_AGAIN, Bus

AT_ONCE: Final = 200
BELIEVED_FOR: Final = 5.0
_UNKEPT: Final = 512


@dataclass(frozen=True, slots=True)
class Batch:
    """What a follower is told at one moment, nothing after a while without news. `over` is why it is the last.

    `state` and `producer` are the session's own at that moment; a change of them is news too.
    """

    events: Sequence[Event] = ()
    volatile: Sequence[bytes] = ()
    state: str = ""
    producer: str = ""
    over: Literal["", "ended", "expired"] = ""


@dataclass(slots=True)
class Log:
    """The numbered events as this process has them to tell.

    Where nothing said is kept, the words of the last events are in this process's memory only, and go with it.
    """

    store: Store
    bus: Bus
    _unkept: dict[str, dict[int, Event]] = field(default_factory=dict[str, dict[int, Event]])

    def told(self, session: str, told: Sequence[Told], *, silent: bool, over: bool) -> None:
        """Wake those who follow; remember for a while what is not kept."""
        if silent and not over:
            remembered = self._unkept.setdefault(session, {})
            for each in told:
                remembered[each.live.seq] = each.live
            while len(remembered) > _UNKEPT:
                del remembered[next(iter(remembered))]
        elif over:
            self._unkept.pop(session, None)
        if told:
            self.bus.tell(session)

    def unkept(self, session: str) -> dict[int, Event]:
        """The events of a session whose words are in this process's memory only, by number."""
        return self._unkept.get(session, {})

    async def after(
        self, owner: str, session: str, seq: int, limit: int
    ) -> tuple[rows.Session, list[Event]]:
        """The session and up to `limit` of its events after this number; 404."""
        found, events = await self.store.read(
            lambda tx: (
                rows.find(tx, owner, session),
                rows.after(tx, session, seq, limit),
            )
        )
        remembered = self.unkept(session)
        return found, [remembered.get(event.seq, event) for event in events]

    async def wait(
        self, owner: str, session: str, seq: int, *, limit: int, seconds: float
    ) -> tuple[rows.Session, list[Event]]:
        """The same, once there is an event or the session is over, or after so many seconds; 404."""
        until = time.monotonic() + seconds
        with self.bus.following(session) as ears:
            while True:
                found, events = await self.after(owner, session, seq, limit)
                left = until - time.monotonic()
                if events or found.state == "ended" or left <= 0:
                    return found, events
                await ears.listen(min(left, LOOK_AGAIN))

    async def follow(
        self,
        owner: str,
        session: str,
        seq: int,
        *,
        stands: Callable[[], Awaitable[bool]],
        quiet: float = 15.0,
    ) -> AsyncGenerator[Batch]:
        """What happens after this number, as it does; an empty batch after `quiet` seconds without anything.

        Ends after the session's last event, when the session is gone, and once `stands` says that the follower is
        not believed any more.
        """
        believed = time.monotonic()
        spoke = believed
        known: tuple[str, str] | None = None
        with self.bus.following(session) as ears:
            volatile: list[bytes] = []
            while True:
                if time.monotonic() - believed >= BELIEVED_FOR:
                    if not await stands():
                        yield Batch(over="expired")
                        return
                    believed = time.monotonic()
                try:
                    found, events = await self.after(owner, session, seq, AT_ONCE)
                except NotFound:
                    return
                more = len(events) == AT_ONCE
                over = "ended" if found.state == "ended" and not more else ""
                stands_so = (found.state, found.producer)
                news = events or volatile or over or stands_so != known
                if news or time.monotonic() - spoke >= quiet:
                    yield Batch(events, volatile, *stands_so, over)
                    known, spoke = stands_so, time.monotonic()
                if over:
                    return
                if events:
                    seq = events[-1].seq
                volatile = [] if more else await ears.listen(LOOK_AGAIN)
