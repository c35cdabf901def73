"""The operations of `/api/negotiations/{id}/rehearsals`."""

import contextlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any, Final

from negotiator.advice.advisor import Advisor
from negotiator.advice.leverage.concessions import LedgerOffer
from negotiator.base import values
from negotiator.base.errors import Conflict, FieldError, Refusal, ValidationFailed
from negotiator.base.scopes import AI_TACTICS, NEGOTIATIONS_READ, NEGOTIATIONS_WRITE
from negotiator.http.cursors import Cursors
from negotiator.http.operation import Answer, Call, Operation, ToolOffer
from negotiator.negotiations import offer_queries as ledger
from negotiator.negotiations import queries as negotiations
from negotiator.negotiations.advisor_case import case_request
from negotiator.negotiations.offer_history import DETECTED_SOURCE, OFFER_KINDS, as_said
from negotiator.negotiations.offer_queries import OfferRow
from negotiator.negotiations.queries import read_current
from negotiator.negotiations.schemas_negotiations import ListOf
from negotiator.negotiations.session import NegotiationSession
from negotiator.rehearsals import queries
from negotiator.rehearsals.counterpart.person import Person
from negotiator.rehearsals.debrief import Debrief
from negotiator.rehearsals.debrief_words import DebriefWords
from negotiator.rehearsals.play import OwnTurn, last_offer, last_words, outcome, start_rehearsal, take_turn
from negotiator.rehearsals.schemas import (
    LARGEST_SEED,
    AttemptView,
    DebriefView,
    PlayTurn,
    RehearsalId,
    RehearsalList,
    RehearsalView,
    Rehearse,
    StartRehearsal,
)
from negotiator.rehearsals.stored import RehearsalTurn, StoredRehearsal, canonical_package
from negotiator.runtime import thread_pools
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.terms.issues import Package, Scalar, coordinate
from negotiator.terms.terms import Terms
from negotiator.terms.terms_view import package_view
from negotiator.terms.wording import Wording

REHEARSALS_PATH: Final = "/api/negotiations/{id}/rehearsals"
REHEARSAL_PATH: Final = "/api/negotiations/{id}/rehearsals/{rehearsal_id}"
_playing: Final = partial(Operation, scopes=frozenset({NEGOTIATIONS_WRITE, AI_TACTICS}), tag="rehearsals")
_looking: Final = partial(Operation, scopes=frozenset({NEGOTIATIONS_READ, AI_TACTICS}), tag="rehearsals")
PURPOSE: Final = "what the other side says in a talk that is practised"
WORDING_SECONDS: Final = 3.0


@dataclass(frozen=True, slots=True)
class Rehearsals:
    """Operations that practise a negotiation against a simulated counterpart. `pepper` keys the draw of the person."""

    store: Store
    cursors: Cursors
    advisor: Advisor
    pepper: bytes

    def operations(self) -> list[Operation]:
        return [
            _playing(
                name="rehearse",
                method="POST",
                path="/api/negotiations/{id}/rehearse",
                summary="Begin a rehearsal, or play its next turn; the last one brings the debrief",
                run=self.rehearse,
                input=Rehearse,
                output=RehearsalView,
                creates=True,
                refusals=(400, 404, 409, 422),
                tool=ToolOffer(
                    "Rehearse",
                    hint="Use it when the user wants to practise: `says` is their line, which the user answers.",
                    leave_out=("idempotency_key",),
                ),
            ),
            _playing(
                name="start_rehearsal",
                method="POST",
                path=REHEARSALS_PATH,
                summary="Begin a rehearsal against a simulated counterpart, who speaks first",
                run=self.start,
                input=StartRehearsal,
                output=RehearsalView,
                status=201,
                creates=True,
                refusals=(400, 404, 409, 422),
            ),
            _playing(
                name="play_turn",
                method="POST",
                path="/api/negotiations/{id}/rehearsals/{rehearsal_id}/turns",
                summary="Say or offer something in a rehearsal; the counterpart answers",
                run=self.play,
                input=PlayTurn,
                output=RehearsalView,
                creates=True,
                refusals=(400, 404, 409, 422),
            ),
            _looking(
                name="list_rehearsals",
                method="GET",
                path=REHEARSALS_PATH,
                summary="List the rehearsals of a negotiation, newest first, with their results",
                run=self.list,
                input=ListOf,
                output=RehearsalList,
                refusals=(400, 404, 422),
            ),
            _looking(
                name="get_rehearsal",
                method="GET",
                path=REHEARSAL_PATH,
                summary="Read one rehearsal with its turns",
                run=self.get,
                input=RehearsalId,
                output=RehearsalView,
                refusals=(404,),
            ),
            _looking(
                name="get_debrief",
                method="GET",
                path="/api/negotiations/{id}/rehearsals/{rehearsal_id}/debrief",
                summary="What a rehearsal that is over was worth, what it cost, and what to try next",
                run=self.debrief,
                input=RehearsalId,
                output=DebriefView,
                refusals=(404, 409),
            ),
            _playing(
                name="delete_rehearsal",
                method="DELETE",
                path=REHEARSAL_PATH,
                summary="Delete a rehearsal",
                run=self.delete,
                input=RehearsalId,
                status=204,
                refusals=(404,),
            ),
        ]

    async def start(self, call: Call[StartRehearsal]) -> Any:
        """Draw the counterpart and store the rehearsal with its first words."""
        return await self._begin(call, call.input)

    async def play(self, call: Call[PlayTurn]) -> Any:
        asked = call.input
        return await self._play(
            call, asked.id, asked.rehearsal_id, OwnTurn(asked.action, asked.package, asked.text or "")
        )

    async def rehearse(self, call: Call[Rehearse]) -> Any:
        """Begin one where none is named, else play a turn; the debrief is added to the last one."""
        asked = call.input
        if asked.rehearsal_id is None:
            if asked.action is not None:
                raise ValidationFailed([FieldError("/rehearsal_id", "A turn names the rehearsal that it belongs to.")])
            return await self._begin(call, asked)
        if asked.action is None:
            raise ValidationFailed([FieldError("/action", "A turn needs an action.")])
        turn = OwnTurn(asked.action, asked.package, asked.text or "")
        view = await self._play(call, asked.id, asked.rehearsal_id, turn)
        if view["state"] == "running":
            return view
        debrief = await self._debrief(call.caller.principal, asked.id, asked.rehearsal_id)
        return {**view, "debrief": debrief}

    async def list(self, call: Call[ListOf]) -> Any:
        """A page of rehearsals, newest first, without their turns."""
        request, owner = call.input, call.caller.principal
        bound = ("rehearsals", owner, request.id)
        before = self.cursors.open(request.cursor, *bound) if request.cursor else None

        def unit(tx: Transaction) -> list[StoredRehearsal]:
            negotiations.require_negotiation(tx, owner, request.id)
            return queries.page(tx, owner, request.id, before=before, limit=request.limit + 1)

        found = await self.store.read(unit)
        shown, cursor = self.cursors.page(found, request.limit, lambda one: one.id, *bound)
        return {"items": [rehearsal_head(one) for one in shown], "next_cursor": cursor}

    async def get(self, call: Call[RehearsalId]) -> Any:
        asked, owner = call.input, call.caller.principal
        found = await self.store.read(lambda tx: queries.find(tx, owner, asked.id, asked.rehearsal_id))
        return rehearsal_view(found)

    async def debrief(self, call: Call[RehearsalId]) -> Any:
        """The debrief; 409 `rehearsal_running` before the end."""
        return await self._debrief(call.caller.principal, call.input.id, call.input.rehearsal_id)

    async def delete(self, call: Call[RehearsalId]) -> Answer:
        asked, owner = call.input, call.caller.principal
        await self.store.write(lambda tx: queries.remove(tx, owner, asked.id, asked.rehearsal_id))
        return Answer(None, 204)

    async def _begin(self, call: Call[Any], asked: StartRehearsal | Rehearse) -> Any:
        owner = call.caller.principal

        def read(tx: Transaction) -> tuple[NegotiationSession, Package | None]:
            session = negotiations.load_for_reading(tx, owner, asked.id)
            return session, _really_offered(session.terms, ledger.list_offers(tx, asked.id))

        session, offered = await read_current(self.store, owner, read)
        seed = secrets.randbelow(LARGEST_SEED) if asked.seed is None else asked.seed
        begun = await thread_pools.ADVICE.run(
            start_rehearsal,
            asked.id,
            session.terms,
            kind=asked.kind,
            hardness=asked.hardness,
            seed=seed,
            key=values.keyed_digest(self.pepper, f"rehearsal:{owner}:{seed}"),
            offered=offered,
        )
        begun = await self._reworded(begun, "")

        def unit(tx: Transaction) -> Any:
            negotiations.require_negotiation(tx, owner, asked.id)
            queries.add(tx, owner, begun)
            return rehearsal_view(begun)

        return await self.store.write(call.once(unit))

    async def _play(self, call: Call[Any], negotiation: str, rehearsal: str, turn: OwnTurn) -> Any:
        """Play a turn. What it leads to is worked out and worded before the transaction starts."""
        owner = call.caller.principal
        seen = await self.store.read(lambda tx: queries.find(tx, owner, negotiation, rehearsal))
        after: StoredRehearsal | None = None
        with contextlib.suppress(Refusal):  # raised in the unit, unless a key repeats an answer
            after = await thread_pools.ADVICE.run(_after_turn, seen, turn)
            after = await self._reworded(after, turn.text)

        def unit(tx: Transaction) -> Any:
            found = queries.find(tx, owner, negotiation, rehearsal)
            if after is None:
                take_turn(found, turn)
            queries.save(tx, owner, after or found)
            return rehearsal_view(after or found)

        return await self.store.write(call.once(unit))

    async def _reworded(self, rehearsal: StoredRehearsal, utterance: str) -> StoredRehearsal:
        """The rehearsal with the counterpart's last sentence worded by the model, where that succeeds in time.

        The model gets the sentence and the offers that were made; the floor is among the numbers that it never sees.
        """
        last = rehearsal.turns[-1]
        if not self.advisor.is_on or last.by != "them":
            return rehearsal
        request = case_request(
            rehearsal.terms,
            {"/says": last.said},
            PURPOSE,
            offers=[
                LedgerOffer(turn.number, turn.by, turn.package)
                for turn in rehearsal.turns
                if turn.action == "offer" and turn.package is not None
            ],
            utterance=utterance or None,
            seconds=WORDING_SECONDS,
        )
        secret = frozenset(request.secrets) | _floor_numbers(rehearsal.person)
        worded = await self.advisor.word(replace(request, secrets=secret))
        said = replace(last, said=worded.texts["/says"])
        return replace(rehearsal, turns=(*rehearsal.turns[:-1], said), worded_by=worded.by)

    async def _debrief(self, owner: str, negotiation: str, rehearsal: str) -> DebriefView:
        def read(tx: Transaction) -> tuple[StoredRehearsal, list[StoredRehearsal]]:
            found = queries.find(tx, owner, negotiation, rehearsal)
            return found, queries.attempts(tx, owner, found)

        found, attempts = await self.store.read(read)
        if found.state == "running":
            raise Conflict("The debrief follows the end: agree, leave, or play on.", error="rehearsal_running")
        return await thread_pools.ADVICE.run(debrief_answer, found, attempts)


def _after_turn(seen: StoredRehearsal, turn: OwnTurn) -> StoredRehearsal:
    """The rehearsal after the turn, with its result where that ended it."""
    after = take_turn(seen, turn)
    return after if after.state == "running" else replace(after, result=result_of(after))


def _really_offered(terms: Terms, rows: Sequence[OfferRow]) -> Package | None:
    """What the other side has named in the negotiation itself, its last value of each issue."""
    found: dict[str, Scalar] = {}
    for row in as_said(rows):
        if row.side == "them" and row.kind in OFFER_KINDS and row.source != DETECTED_SOURCE:
            found.update(row.package or {})
    return canonical_package(terms, {name: value for name, value in found.items() if terms.issue(name)}) or None


def _floor_numbers(person: Person) -> frozenset[Decimal]:
    found = {coordinate(stake.issue.type, stake.floor) for stake in person.interests.stakes}
    return frozenset(at for at in found if at is not None)


def rehearsal_head(rehearsal: StoredRehearsal) -> dict[str, Any]:
    return {
        "id": rehearsal.id,
        "negotiation_id": rehearsal.negotiation,
        "rehearsal": True,
        "kind": rehearsal.person.kind,
        "hardness": rehearsal.person.hardness,
        "seed": rehearsal.seed,
        "state": rehearsal.state,
        "rounds": sum(turn.by == "me" and turn.action == "offer" for turn in rehearsal.turns),
        "result": rehearsal.result or None,
        "created_at": values.timestamp(rehearsal.created_at),
        "updated_at": values.timestamp(rehearsal.updated_at),
    }


def rehearsal_view(rehearsal: StoredRehearsal) -> dict[str, Any]:
    terms = rehearsal.terms
    return {
        **rehearsal_head(rehearsal),
        "turns": [_turn_view(terms, turn) for turn in rehearsal.turns],
        "says": last_words(rehearsal),
        "worded_by": rehearsal.worded_by,
        "their_offer": in_words(terms, last_offer(rehearsal, "them")),
        "my_offer": in_words(terms, last_offer(rehearsal, "me")),
        "outcome": in_words(terms, outcome(rehearsal)),
    }


def in_words(terms: Terms, package: Package | None) -> dict[str, Any] | None:
    """A package with how it is said."""
    if package is None:
        return None
    return {"package": package_view(terms, package), "words": Wording(terms).package(package)}


def result_of(rehearsal: StoredRehearsal) -> dict[str, Any]:
    """The head of the debrief, which lists show."""
    found = debrief_answer(rehearsal, [])
    left = found["left_on_table"]
    return {"score": found["score"], "deal": found["deal"], "left_on_table": left["words"], "money": left["money"]}


def debrief_answer(rehearsal: StoredRehearsal, attempts: Sequence[StoredRehearsal]) -> DebriefView:
    """The debrief of a rehearsal that is over, with the other rehearsals that met the same person."""
    found = Debrief(rehearsal.terms, rehearsal.person, rehearsal.turns, rehearsal.state)
    others = [_attempt(one) for one in attempts if one.id != rehearsal.id and one.state != "running"]
    return DebriefWords(found).view(rehearsal_id=rehearsal.id, seed=rehearsal.seed, attempts=others)


def _attempt(rehearsal: StoredRehearsal) -> AttemptView:
    return {
        "id": rehearsal.id,
        "created_at": values.timestamp(rehearsal.created_at),
        "score": rehearsal.result["score"],
        "money": rehearsal.result["money"],
        "state": rehearsal.state,
    }


def _turn_view(terms: Terms, turn: RehearsalTurn) -> dict[str, Any]:
    shown = in_words(terms, turn.package)
    return {
        "number": turn.number,
        "at": values.timestamp(turn.at),
        "by": turn.by,
        "action": turn.action,
        "package": shown and shown["package"],
        "words": shown and shown["words"],
        "said": turn.said,
        "heard": list(turn.remarks),
        "final": turn.final,
        "withdraws": turn.withdraws,
    }
