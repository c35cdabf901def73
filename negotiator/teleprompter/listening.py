"""One way in for what is said, whoever brings it: a request, a socket, a recogniser."""

from dataclasses import dataclass
from typing import Any

from negotiator import values
from negotiator.caller import Caller
from negotiator.errors import NotFound
from negotiator.negotiations import sessions as negotiations
from negotiator.negotiations.routes import read_settled
from negotiator.negotiations.session import Session as Negotiation
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.teleprompter.cues.policy import Heard
from negotiator.teleprompter.hearing.ear import Ear, held_cards
from negotiator.teleprompter.sessions import moving, rows
from negotiator.teleprompter.sessions.moving import Change, Outcome, Piece
from negotiator.teleprompter.sessions.schemas import Utterance
from negotiator.teleprompter.streams.following import Log


@dataclass(frozen=True, slots=True)
class Listening:
    """Takes what was said into a session, and tells those who follow."""

    store: Store
    ear: Ear
    log: Log

    async def hear(
        self, caller: Caller, said: Utterance, *, confidence: float | None = None
    ) -> Any:
        """Take one utterance in; answers what it led to. 404, 409.

        What it may mean is found before the transaction; limits are read with the session, memories are asked.
        """
        owner = caller.principal
        session = await self.store.read(lambda tx: rows.find(tx, owner, said.id))
        bound = await self._bound(caller, session)
        ahead = await self.ear.listen(
            owner,
            said.text,
            said.speaker,
            final=said.final,
            role=session.given["role"] or (bound.body.role if bound else None),
            session=bound,
        )
        heard = Heard(said.utterance_id, said.speaker, ahead.text, said.final, values.now() / 1000)
        piece = Piece(
            said.utterance_id,
            said.speaker,
            ahead.text,
            said.final,
            matches=ahead.matches,
            cards=held_cards(ahead, bound, heard, catalogue=self.ear.catalogue),
            start_ms=said.start_ms,
            end_ms=said.end_ms,
            confidence=confidence,
        )
        return await self.change(
            owner,
            said.id,
            lambda tx, current: moving.hear(tx, current, piece, catalogue=self.ear.catalogue),
        )

    async def change(self, owner: str, session: str, change: Change) -> Any:
        """Apply a change to the owner's session and tell those who follow; answers the change's answer."""

        def unit(tx: Transaction) -> Outcome:
            return change(tx, rows.find(tx, owner, session))

        outcome = await self.store.write(unit)
        after = outcome.session
        self.log.told(
            session,
            outcome.told,
            silent=after.given["keep"] == "none",
            over=after.state == "ended",
        )
        return outcome.session if outcome.answer is None else outcome.answer

    async def _bound(self, caller: Caller, session: rows.Session) -> Negotiation | None:
        """The negotiation that the session is bound to, if it is still there and the caller may read it."""
        named, owner = session.negotiation, caller.principal
        if named is None or "negotiations:read" not in caller.scopes:
            return None
        try:
            return await read_settled(
                self.store, owner, lambda tx: negotiations.read(tx, owner, named)
            )
        except NotFound:
            return None
