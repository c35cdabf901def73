"""Takes utterances from requests, sockets and recognisers into sessions, and runs the silence timers."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial as partial_of
from typing import Any

from negotiator.base import values
from negotiator.base.caller import Caller
from negotiator.base.errors import NotFound, Refusal
from negotiator.base.scopes import MEMORIES_READ, NEGOTIATIONS_READ, NEGOTIATIONS_WRITE
from negotiator.negotiations import offer_queries
from negotiator.negotiations import queries as negotiations
from negotiator.negotiations.event_queries import actor_of_caller
from negotiator.negotiations.offer_history import advised_terms
from negotiator.negotiations.queries import read_current
from negotiator.negotiations.session import NegotiationSession as Negotiation
from negotiator.store.statement import Transaction, write_condition
from negotiator.store.store import Store
from negotiator.teleprompter import detected_offers, queries, session_transitions
from negotiator.teleprompter.cards import newest_plan
from negotiator.teleprompter.cues.matcher import SILENCE_SECONDS
from negotiator.teleprompter.cues.policy import HeardUtterance, restore_screen
from negotiator.teleprompter.event_log import EventLog
from negotiator.teleprompter.figures import ComparedFigure, EarlierFigure, read_figures, remembered_figures
from negotiator.teleprompter.schemas import Utterance
from negotiator.teleprompter.session_transitions import AnalysedUtterance, Transition, TransitionResult
from negotiator.teleprompter.utterance_analyser import UtteranceAnalyser, UtteranceAnalysis, cards_beyond_phrases
from negotiator.teleprompter.websocket_messages import message


class SilenceTimers:
    """The timers of this process, one for each session. A timer that is lost with its process costs one card."""

    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Task[None]] = {}

    def broken(self, session: str) -> None:
        if (waiting := self._waiting.pop(session, None)) is not None:
            waiting.cancel()

    def begun(self, session: str, tell: Callable[[], Awaitable[object]]) -> None:
        """Start a timer that calls `tell` after `SILENCE_SECONDS` without speech."""
        self.broken(session)

        async def wait() -> None:
            await asyncio.sleep(SILENCE_SECONDS)
            self._waiting.pop(session, None)
            await tell()

        self._waiting[session] = asyncio.create_task(wait())

    async def close(self) -> None:
        waiting = list(self._waiting.values())
        for session in list(self._waiting):
            self.broken(session)
        await asyncio.gather(*waiting, return_exceptions=True)


@dataclass(frozen=True, slots=True)
class BoundNegotiation:
    """The negotiation that a session is bound to, with its newest plan and the figures of its ledger."""

    negotiation: Negotiation
    plan: dict[str, Any] | None
    offered: tuple[EarlierFigure, ...] = ()


@dataclass(frozen=True, slots=True)
class UtteranceService:
    """Takes utterances into a session and wakes the session's followers."""

    store: Store
    analyser: UtteranceAnalyser
    log: EventLog
    silence_timers: SilenceTimers = field(default_factory=SilenceTimers)

    async def hear(self, caller: Caller, said: Utterance, *, confidence: float | None = None) -> Any:
        """Take one utterance in; return the view of its cards and offer. 404 for an unknown session, 409 for an ended
        one.

        The utterance is analysed before the transaction. Cards of limits need the scope to read negotiations, offers
        the scope to write them, and memories the scope to read memories.
        """
        owner = caller.principal
        session = await self.store.read(lambda tx: queries.find(tx, owner, said.id))
        session_transitions.check_may_hear(session, said.speaker)  # before any engine, local or remote, gets the text
        bound = await self._bound(caller, session) if said.final else None
        talk = bound and bound.negotiation
        ahead = await self.analyser.listen(
            owner,
            said.text,
            said.speaker,
            final=said.final,
            role=session.given["role"],
            session=talk,
            plan=bound and bound.plan,
            remembers=MEMORIES_READ in caller.scopes,
            raises_cards=session.raises_cards,
        )
        if bound is not None:
            ahead = replace(ahead, earlier=(*bound.offered, *remembered_figures(session.screen.get("figures", ()))))
        read = read_figures(ahead.figures, talk.terms, said.speaker, ahead.earlier) if talk else ()
        at = values.now() / 1000
        heard = HeardUtterance(said.utterance_id, said.speaker, ahead.text, said.final, at, ahead.asks)
        cards = cards_beyond_phrases(
            ahead, read, heard, screen=restore_screen(session.screen), role=session.given["role"]
        )
        piece = AnalysedUtterance(
            heard,
            matches=ahead.matches,
            cards=cards,
            start_ms=said.start_ms,
            end_ms=said.end_ms,
            confidence=confidence,
            figures=read,
            tactics=ahead.tactics,
        )
        note = _noting(caller, session, bound, heard=heard, read=read)
        change = partial_of(session_transitions.hear_utterance, piece=piece, note=note)
        answer = await self.change(caller, said.id, change)
        await self._attend(caller, said, ahead, raises_cards=session.raises_cards)
        return answer

    async def _attend(self, caller: Caller, said: Utterance, ahead: UtteranceAnalysis, *, raises_cards: bool) -> None:
        """Publish a redacted partial utterance; start the silence timer after a figure of the user."""
        self.silence_timers.broken(said.id)
        if not said.final:
            about = said.model_dump(include={"utterance_id", "speaker", "start_ms", "end_ms"})
            self.log.bus.tell(said.id, message("transcript.partial", **about, text=ahead.text))
        is_waiting = raises_cards and said.speaker == "me"
        if not is_waiting or not any(one.sure for one in ahead.figures):
            return
        owner = caller.principal
        since = (await self.store.read(lambda tx: queries.find(tx, owner, said.id))).active_at

        async def tell() -> None:
            with contextlib.suppress(Refusal):
                await self.change(caller, said.id, partial_of(session_transitions.show_silence_card, since=since))

        self.silence_timers.begun(said.id, tell)

    async def change(self, caller: Caller, session: str, change: Transition) -> Any:
        """Apply a change to the caller's session and wake its followers; return the result of the change.

        404 for an unknown session; 401 when the caller's credential has ended, checked in the transaction of the
        change.
        """
        owner = caller.principal

        def unit(tx: Transaction) -> TransitionResult:
            return change(tx, queries.find(tx, owner, session))

        with write_condition(partial_of(self.log.guard.check, caller=caller)):
            outcome = await self.store.write(unit)
        after = outcome.session
        self.log.told(session, outcome.told, silent=after.given["keep"] == "none", over=after.state == "ended")
        return outcome.session if outcome.answer is None else outcome.answer

    async def _bound(self, caller: Caller, session: queries.LiveSession) -> BoundNegotiation | None:
        """The bound negotiation, if it exists and the caller may read it; practice begins without its offers.

        Its limits go as far as an offer that the user allowed beyond them.
        """
        named, owner = session.negotiation, caller.principal
        if named is None or NEGOTIATIONS_READ not in caller.scopes:
            return None

        def unit(tx: Transaction) -> BoundNegotiation:
            offers = () if session.is_practice else offer_queries.list_offers(tx, named)
            found = negotiations.load_for_reading(tx, owner, named)
            return BoundNegotiation(
                replace(found, terms=advised_terms(found.terms, offers, values.now())),
                newest_plan(tx, owner, named),
                detected_offers.earlier_figures(offers),
            )

        try:
            return await read_current(self.store, owner, unit)
        except NotFound:
            return None


def _noting(
    caller: Caller,
    session: queries.LiveSession,
    bound: BoundNegotiation | None,
    *,
    heard: HeardUtterance,
    read: Sequence[ComparedFigure],
) -> Callable[[Transaction], str | None]:
    """A function that records the figures of a final as an unconfirmed offer and returns the offer's id, or None.

    Figures of practice are never recorded.
    """
    may_record = NEGOTIATIONS_WRITE in caller.scopes and not session.is_practice
    if bound is None or not read or not may_record:
        return lambda _tx: None
    offer = detected_offers.detected_offer(
        bound.negotiation,
        read,
        speaker=heard.speaker,
        utterance_id=heard.utterance_id,
        quoted=session.given["keep"] != "none",
    )
    if offer is None:
        return lambda _tx: None

    def enter(tx: Transaction) -> str | None:
        row = detected_offers.record_detected_offer(tx, caller.principal, offer, actor=actor_of_caller(caller))
        return None if row is None else str(row["id"])

    return enter
