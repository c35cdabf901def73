"""One who follows a session: every numbered event after the last he has, in order, none twice; and volatile ones."""

import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from negotiator.caller import Caller
from negotiator.edge.guard import Guard
from negotiator.errors import NotFound, Unauthorized
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.teleprompter.sessions import rows
from negotiator.teleprompter.sessions.rows import Event
from negotiator.teleprompter.sessions.telling import Told
from negotiator.teleprompter.streams.bus import LOOK_AGAIN, Bus, topic_of

AT_ONCE: Final = 200
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
    guard: Guard
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
        self, caller: Caller, session: str, seq: int, *, limit: int, seconds: float
    ) -> tuple[rows.Session, list[Event]]:
        """The same, once there is an event or the session is over, or after so many seconds.

        401 as soon as the caller's credential ends, 404.
        """
        until = time.monotonic() + seconds
        with self.bus.following(session, *await self.topics(caller)) as ears:
            while True:
                found, events = await self._look(caller, session, seq, limit)
                left = until - time.monotonic()
                if events or found.state == "ended" or left <= 0:
                    return found, events
                await ears.listen(min(left, LOOK_AGAIN))

    async def stands(self, caller: Caller) -> bool:
        """Whether the caller's credential would be believed now."""
        return await self.store.read(lambda tx: self.guard.stands(tx, caller))

    async def topics(self, caller: Caller) -> list[str]:
        """The names on the bus under which the end of the caller's credential is told."""
        subjects = await self.store.read(lambda tx: self.guard.subjects(tx, caller))
        return [topic_of(subject) for subject in subjects]

    async def follow(
        self, caller: Caller, session: str, seq: int, *, quiet: float = 15.0
    ) -> AsyncGenerator[Batch]:
        """What happens after this number, as it does; an empty batch after `quiet` seconds without anything.

        Ends after the session's last event, when the session is gone, and when the caller's credential ends: the
        credential is checked together with every look at the events.
        """
        spoke = time.monotonic()
        known: tuple[str, str] | None = None
        with self.bus.following(session, *await self.topics(caller)) as ears:
            volatile: list[bytes] = []
            while True:
                try:
                    found, events = await self._look(caller, session, seq, AT_ONCE)
                except Unauthorized:
                    yield Batch(over="expired")
                    return
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

    async def _look(
        self, caller: Caller, session: str, seq: int, limit: int
    ) -> tuple[rows.Session, list[Event]]:
        """The session and its events, 401 and 404 as in `wait`.

        The credential is checked after the events are read: an event later than a revocation is never among them.
        """

        def unit(tx: Transaction) -> tuple[rows.Session, list[Event]]:
            try:
                found = rows.find(tx, caller.principal, session)
                events = rows.after(tx, session, seq, limit)
            finally:
                self.guard.check(tx, caller)
            return found, events

        found, events = await self.store.read(unit)
        remembered = self.unkept(session)
        return found, [remembered.get(event.seq, event) for event in events]
