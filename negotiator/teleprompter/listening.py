"""One way in for what is said, whoever brings it: a request, a socket, a recogniser."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial as partial_of
from typing import Any, Final

from negotiator import values
from negotiator.caller import Caller
from negotiator.errors import NotFound, Refusal
from negotiator.negotiations import sessions as negotiations
from negotiator.negotiations.life.history import actor_of
from negotiator.negotiations.routes import read_settled
from negotiator.negotiations.session import Session as Negotiation
from negotiator.store.conditions import require
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.teleprompter.cues.policy import Heard
from negotiator.teleprompter.hearing import ledger
from negotiator.teleprompter.hearing.cards import newest_plan
from negotiator.teleprompter.hearing.ear import Ahead, Ear, held_cards
from negotiator.teleprompter.hearing.limits import held_of, limits_of
from negotiator.teleprompter.sessions import moving, rows
from negotiator.teleprompter.sessions.moving import Change, Outcome, Piece
from negotiator.teleprompter.sessions.schemas import Utterance
from negotiator.teleprompter.silences import Silences
from negotiator.teleprompter.streams.following import Log
from negotiator.teleprompter.streams.protocol import partial

READS: Final = "negotiations:read"
WRITES: Final = "negotiations:write"
REMEMBERS: Final = "memories:read"


@dataclass(frozen=True, slots=True)
class Bound:
    """The negotiation that a session is bound to, and its newest plan."""

    negotiation: Negotiation
    plan: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Listening:
    """Takes what was said into a session, and tells those who follow."""

    store: Store
    ear: Ear
    log: Log
    silences: Silences = field(default_factory=Silences)

    async def hear(
        self, caller: Caller, said: Utterance, *, confidence: float | None = None
    ) -> Any:
        """Take one utterance in; answers what it led to. 404, 409.

        What it may mean is found before the transaction. A caller who may not read negotiations gets no card of limits,
        one who may not write them notes no offer, one who may not read memories gets none of theirs.
        """
        owner = caller.principal
        session = await self.store.read(lambda tx: rows.find(tx, owner, said.id))
        moving.check(session, said.speaker)  # before any engine, here or elsewhere, sees a word
        bound = await self._bound(caller, session) if said.final else None
        talk = bound and bound.negotiation
        ahead = await self.ear.listen(
            owner,
            said.text,
            said.speaker,
            final=said.final,
            role=session.given["role"],
            session=talk,
            plan=bound and bound.plan,
            remembers=REMEMBERS in caller.scopes,
        )
        heard = Heard(said.utterance_id, said.speaker, ahead.text, said.final, values.now() / 1000)
        piece = Piece(
            heard,
            matches=ahead.matches,
            cards=held_cards(ahead, talk, heard, catalogue=self.ear.catalogue),
            start_ms=said.start_ms,
            end_ms=said.end_ms,
            confidence=confidence,
        )
        note = _noting(caller, session, bound, heard=heard, ahead=ahead)
        change = partial_of(moving.hear, piece=piece, catalogue=self.ear.catalogue, note=note)
        answer = await self.change(caller, said.id, change)
        await self._attend(caller, said, ahead)
        return answer

    async def _attend(self, caller: Caller, said: Utterance, ahead: Ahead) -> None:
        """Show what is still growing, redacted; begin to wait for their answer to a figure of mine."""
        self.silences.broken(said.id)
        if not said.final:
            about = said.model_dump(include={"utterance_id", "speaker", "start_ms", "end_ms"})
            self.log.bus.tell(said.id, partial(ahead.text, **about))
        if not (ahead.figures and said.speaker == "me"):
            return
        owner = caller.principal
        since = (await self.store.read(lambda tx: rows.find(tx, owner, said.id))).active_at

        async def tell() -> None:
            with contextlib.suppress(Refusal):
                await self.change(
                    caller,
                    said.id,
                    partial_of(moving.fall_silent, since=since, catalogue=self.ear.catalogue),
                )

        self.silences.begun(said.id, tell)

    async def change(self, caller: Caller, session: str, change: Change) -> Any:
        """Apply a change to the caller's session and tell those who follow; answers the change's answer.

        401 once the caller's credential has ended, checked in the transaction of the change; 404.
        """
        owner = caller.principal

        def unit(tx: Transaction) -> Outcome:
            return change(tx, rows.find(tx, owner, session))

        with require(partial_of(self.log.guard.check, caller=caller)):
            outcome = await self.store.write(unit)
        after = outcome.session
        self.log.told(
            session,
            outcome.told,
            silent=after.given["keep"] == "none",
            over=after.state == "ended",
        )
        return outcome.session if outcome.answer is None else outcome.answer

    async def _bound(self, caller: Caller, session: rows.Session) -> Bound | None:
        """The bound negotiation, if it is still there and the caller may read it."""
        named, owner = session.negotiation, caller.principal
        if named is None or READS not in caller.scopes:
            return None

        def unit(tx: Transaction) -> Bound:
            return Bound(negotiations.read(tx, owner, named), newest_plan(tx, owner, named))

        try:
            return await read_settled(self.store, owner, unit)
        except NotFound:
            return None


def _noting(
    caller: Caller, session: rows.Session, bound: Bound | None, *, heard: Heard, ahead: Ahead
) -> Callable[[Transaction], str | None]:
    """What enters the figures of a final into the ledger, unconfirmed; answers the row's id if there is one."""
    if bound is None or not ahead.figures or WRITES not in caller.scopes:
        return lambda _tx: None
    talk = bound.negotiation
    offer = ledger.heard_offer(
        talk,
        held_of(ahead.figures, limits_of(talk)),
        found=ahead.figures,
        speaker=heard.speaker,
        utterance_id=heard.utterance_id,
        quoted=session.given["keep"] != "none",
    )
    if offer is None:
        return lambda _tx: None

    def enter(tx: Transaction) -> str | None:
        row = ledger.enter(tx, caller.principal, offer, actor=actor_of(caller))
        return None if row is None else str(row["id"])

    return enter
