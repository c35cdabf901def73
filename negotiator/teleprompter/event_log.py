"""Reading and following the events of a session: each numbered event in order and once, and volatile ones."""

import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from negotiator.base.caller import Caller
from negotiator.base.errors import NotFound, Unauthorized
from negotiator.http.guard import Guard
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.teleprompter import queries
from negotiator.teleprompter.bus import POLL_SECONDS, Bus, revocation_topic
from negotiator.teleprompter.queries import LiveSession, NumberedEvent
from negotiator.teleprompter.session_transitions import PublishedEvent

BATCH_SIZE: Final = 200
_UNKEPT: Final = 512
SessionEvents: TypeAlias = tuple[LiveSession, list[NumberedEvent]]


@dataclass(frozen=True, slots=True)
class EventBatch:
    """What a follower receives at once; empty after a while without news. `over` is why it is the last.

    `state` and `producer` are the session's own at that moment; a change of them is news too.
    """

    events: Sequence[NumberedEvent] = ()
    volatile: Sequence[bytes] = ()
    state: str = ""
    producer: str = ""
    over: Literal["", "ended", "expired"] = ""


@dataclass(slots=True)
class EventLog:
    """Reads and follows numbered events.

    If words may not be stored, those of the last events are in this process's memory only.
    """

    store: Store
    bus: Bus
    guard: Guard
    _unkept: dict[str, dict[int, NumberedEvent]] = field(default_factory=dict[str, dict[int, NumberedEvent]])

    def told(self, session: str, told: Sequence[PublishedEvent], *, silent: bool, over: bool) -> None:
        """Wake the followers; the words of a silent session stay in memory for a while."""
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

    def unkept(self, session: str) -> dict[int, NumberedEvent]:
        """The events of a session whose words are in this process's memory only, by number."""
        return self._unkept.get(session, {})

    async def after(
        self, owner: str, session: str, seq: int, limit: int, *, caller: Caller | None = None
    ) -> SessionEvents:
        """The session and up to `limit` of its events after this number; 404.

        401 when the credential of a `caller` has ended. It is checked after the events are read: an event later than
        a revocation is never among them.
        """

        def unit(tx: Transaction) -> SessionEvents:
            try:
                found = queries.find(tx, owner, session)
                return found, queries.events_after(tx, session, seq, limit)
            finally:
                if caller is not None:
                    self.guard.check(tx, caller)

        found, events = await self.store.read(unit)
        remembered = self.unkept(session)
        return found, [remembered.get(event.seq, event) for event in events]

    async def wait(self, caller: Caller, session: str, seq: int, *, limit: int, seconds: float) -> SessionEvents:
        """As `after`, once there is an event or the session has ended, at the latest after `seconds`.

        401 as soon as the caller's credential ends, 404.
        """
        until = time.monotonic() + seconds
        with self.bus.following(session, *await self.topics(caller)) as subscription:
            while True:
                found, events = await self.after(caller.principal, session, seq, limit, caller=caller)
                left = until - time.monotonic()
                if events or found.state == "ended" or left <= 0:
                    return found, events
                await subscription.listen(min(left, POLL_SECONDS))

    async def stands(self, caller: Caller) -> bool:
        return await self.store.read(lambda tx: self.guard.stands(tx, caller))

    async def topics(self, caller: Caller) -> list[str]:
        subjects = await self.store.read(lambda tx: self.guard.subjects(tx, caller))
        return [revocation_topic(subject) for subject in subjects]

    async def follow(
        self, caller: Caller, session: str, seq: int, *, quiet: float = 15.0
    ) -> AsyncGenerator[EventBatch]:
        """Batches of events after this number, as they come; an empty batch after `quiet` seconds without news.

        Ends after the session's last event, when the session is gone, and when the caller's credential ends: the
        credential is checked together with every look at the events.
        """
        spoke = time.monotonic()
        known: tuple[str, str] | None = None
        with self.bus.following(session, *await self.topics(caller)) as subscription:
            volatile: list[bytes] = []
            while True:
                try:
                    found, events = await self.after(caller.principal, session, seq, BATCH_SIZE, caller=caller)
                except Unauthorized:
                    yield EventBatch(over="expired")
                    return
                except NotFound:
                    return
                more = len(events) == BATCH_SIZE
                over = "ended" if found.state == "ended" and not more else ""
                stands_so = (found.state, found.producer)
                news = events or volatile or over or stands_so != known
                if news or time.monotonic() - spoke >= quiet:
                    yield EventBatch(events, volatile, *stands_so, over)
                    known, spoke = stands_so, time.monotonic()
                if over:
                    return
                if events:
                    seq = events[-1].seq
                volatile = [] if more else await subscription.listen(POLL_SECONDS)
