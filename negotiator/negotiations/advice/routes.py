"""Leverage and the next move over HTTP and MCP."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from negotiator import values
from negotiator.edge.operation import Call, Operation, Tool
from negotiator.errors import Conflict
from negotiator.negotiations import sessions
from negotiator.negotiations.advice import situations, turns
from negotiator.negotiations.advice.turns import Turn
from negotiator.negotiations.ledger import rows as ledger
from negotiator.negotiations.ledger.rows import Row
from negotiator.negotiations.life import states
from negotiator.negotiations.routes import ONE, read_settled
from negotiator.negotiations.schemas.advice import (
    LeverageBody,
    LeverageView,
    NextMoveBody,
    NextMoveView,
    StoredNextMove,
)
from negotiator.negotiations.schemas.session import NegotiationId
from negotiator.negotiations.session import Session
from negotiator.store.statement import Transaction
from negotiator.store.store import Store

TACTICS: Final = frozenset({"ai:tactics"})
BODY: Final = 1024 * 1024
"""A described turn carries every value and the whole history: more than the 64 KiB of other bodies."""


@dataclass(frozen=True, slots=True)
class Advice:
    """Where you stand and what to do next."""

    store: Store

    def operations(self) -> list[Operation]:
        """What this slice offers."""
        return [
            Operation(
                name="get_leverage",
                method="POST",
                path=f"{ONE}/leverage",
                summary="Where a negotiation stands: room for a deal, split of power, fair points",
                run=self.leverage,
                input=NegotiationId,
                output=LeverageView,
                scopes=TACTICS,
                refusals=(404, 409, 422),
                tool=Tool(
                    "Leverage",
                    hint=(
                        "Use it when the user asks how strong they are, whether a deal is possible or what is fair. "
                        "Each issue needs its range. It does not say what to do: next_move does."
                    ),
                    reads=True,
                ),
                tag="advice",
            ),
            Operation(
                name="calculate_leverage",
                method="POST",
                path="/api/leverage",
                summary="The same for a described negotiation, nothing kept",
                run=self.calculate_leverage,
                input=LeverageBody,
                output=LeverageView,
                scopes=TACTICS,
                refusals=(400, 422),
                body_limit=BODY,
                tag="advice",
            ),
            Operation(
                name="next_move",
                method="POST",
                path=f"{ONE}/next-move",
                summary="What to do now in a negotiation: accept, counter or walk away, never below the walk-away",
                run=self.next_move,
                input=StoredNextMove,
                output=NextMoveView,
                scopes=TACTICS,
                refusals=(404, 409, 422),
                tool=Tool(
                    "Next move",
                    hint=(
                        "Use it on every turn, once their latest move is in record_offer. Needs a walk-away, or an "
                        "alternative with its value. Answers a package and the words for it; record it when it is made."
                    ),
                    reads=True,
                ),
                tag="advice",
            ),
            Operation(
                name="calculate_next_move",
                method="POST",
                path="/api/next-move",
                summary="The same for one described turn, nothing kept",
                run=self.calculate_next_move,
                input=NextMoveBody,
                output=NextMoveView,
                scopes=TACTICS,
                refusals=(400, 422),
                body_limit=BODY,
                tag="advice",
            ),
        ]

    async def leverage(self, call: Call[NegotiationId]) -> dict[str, Any]:
        """Leverage of one of the caller's negotiations."""
        session, rows = await self._stand(call.caller.principal, call.input.id)

        def work() -> dict[str, Any]:
            situation = situations.stored(session.terms, rows, values.now())
            return situations.answer(situation, session.terms.currency)

        return await asyncio.to_thread(work)

    async def calculate_leverage(self, call: Call[LeverageBody]) -> dict[str, Any]:
        """Leverage of a described negotiation."""

        def work() -> dict[str, Any]:
            terms, situation = situations.described(call.input, values.now())
            return situations.answer(situation, terms.currency)

        return await asyncio.to_thread(work)

    async def next_move(self, call: Call[StoredNextMove]) -> dict[str, Any]:
        """The next move in one of the caller's negotiations."""
        session, rows = await self._stand(call.caller.principal, call.input.id)
        if session.state not in states.LIVE:
            raise Conflict(
                f"The negotiation is {session.state}.",
                error="not_active",
                members={"state": session.state, "allowed": states.allowed(session.state)},
            )
        turn = Turn(session.terms, rows, session.created_at, values.now(), call.input.style)
        return await asyncio.to_thread(lambda: turns.answer(turns.stored(turn), session.terms))

    async def calculate_next_move(self, call: Call[NextMoveBody]) -> dict[str, Any]:
        """The next move of a described turn."""
        return await asyncio.to_thread(lambda: turns.answer(turns.described(call.input)))

    async def _stand(self, owner: str, negotiation: str) -> tuple[Session, list[Row]]:
        return await read_settled(self.store, owner, with_ledger(owner, negotiation))


def with_ledger(owner: str, negotiation: str) -> Callable[[Transaction], tuple[Session, list[Row]]]:
    """The unit that reads a negotiation together with its ledger, oldest row first."""

    def unit(tx: Transaction) -> tuple[Session, list[Row]]:
        session = sessions.read(tx, owner, negotiation)
        return session, ledger.every(tx, negotiation)

    return unit
