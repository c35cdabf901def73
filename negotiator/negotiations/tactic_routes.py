"""The operations of `/api/tactics`, and `/api/negotiations/{id}/suggestions`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from negotiator.advice.advisor import Advisor
from negotiator.advice.leverage.concessions import LedgerOffer
from negotiator.advice.tactics.catalogue import built_in_catalogue
from negotiator.advice.tactics.facts import TacticSituation
from negotiator.advice.tactics.ranking import TacticResult
from negotiator.advice.tactics.tactic import Tactic
from negotiator.base import values
from negotiator.base.scopes import AI_TACTICS, MEMORIES_WRITE, NEGOTIATIONS_READ
from negotiator.http.cursors import Cursors
from negotiator.http.operation import Answer, Call, Operation, ToolOffer
from negotiator.negotiations import offer_history, tactic_queries, tactic_views
from negotiator.negotiations.advisor_case import case_request
from negotiator.negotiations.past_evidence import PastEvidenceReader
from negotiator.negotiations.queries import load_with_offers, read_current
from negotiator.negotiations.schemas_advice import MAX_BODY_BYTES
from negotiator.negotiations.schemas_tactics import (
    EditTactic,
    ListTactics,
    MatchTactics,
    NewTactic,
    SuggestionsView,
    SuggestTactics,
    TacticId,
    TacticList,
    TacticView,
)
from negotiator.negotiations.tactic_queries import StoredTactic
from negotiator.negotiations.tactic_recogniser import HeardTactics, TacticRecogniser
from negotiator.runtime import thread_pools
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.terms.terms import Terms

OWN_TACTICS_SCOPES: Final = frozenset({MEMORIES_WRITE})
TACTICS_PATH: Final = "/api/tactics"
TACTIC_PATH: Final = "/api/tactics/{id}"
SUGGESTION_SECONDS: Final = 5.0
"""The longest wait for the wording of suggestions: the talk goes on."""


@dataclass(frozen=True, slots=True)
class Tactics:
    """Operations on tactics, built-in ones and the user's own, and on suggestions."""

    store: Store
    cursors: Cursors
    advisor: Advisor
    past: PastEvidenceReader
    recogniser: TacticRecogniser

    def operations(self) -> list[Operation]:
        return [*self._suggesting(), *self._reading(), *self._writing()]

    def _suggesting(self) -> list[Operation]:
        return [
            Operation(
                name="suggest_tactics",
                method="POST",
                path="/api/negotiations/{id}/suggestions",
                summary="Tactics that fit a negotiation now, and the moves recognised in what the other side said",
                run=self.suggest,
                input=SuggestTactics,
                output=SuggestionsView,
                scopes=frozenset({AI_TACTICS}),
                refusals=(404, 422),
                tool=ToolOffer(
                    "Suggest tactics",
                    hint=(
                        "Use it for what to say, above all to answer pressure or a trick in their words, which are "
                        "`utterance`. For figures use next_move."
                    ),
                    leave_out=("phase",),
                    reads=True,
                ),
                tag="tactics",
            ),
            Operation(
                name="match_tactics",
                method="POST",
                path="/api/tactics/suggest",
                summary="Tactics that fit a described negotiation; nothing is stored",
                run=self.match,
                input=MatchTactics,
                output=SuggestionsView,
                scopes=frozenset({AI_TACTICS}),
                refusals=(400, 422),
                body_limit=MAX_BODY_BYTES,
                tag="tactics",
            ),
        ]

    def _reading(self) -> list[Operation]:
        return [
            Operation(
                name="list_tactics",
                method="GET",
                path=TACTICS_PATH,
                summary="List tactics: your own, then the built-in ones",
                run=self.list,
                input=ListTactics,
                output=TacticList,
                scopes=frozenset({NEGOTIATIONS_READ}),
                refusals=(400, 422),
                tool=ToolOffer(
                    "List tactics",
                    hint="Use it to browse; suggest_tactics picks for a negotiation.",
                    leave_out=("role", "owner", "phase", "family"),
                    brief=(
                        *("next_cursor", "items.id", "items.name", "items.family", "items.summary", "items.owner"),
                        *("items.ethics", "items.risk", "items.phases"),
                    ),
                ),
                tag="tactics",
            ),
            Operation(
                name="get_tactic",
                method="GET",
                path=TACTIC_PATH,
                summary="Read one tactic",
                run=self.get,
                input=TacticId,
                output=TacticView,
                scopes=frozenset({NEGOTIATIONS_READ}),
                refusals=(404,),
                tag="tactics",
            ),
        ]

    def _writing(self) -> list[Operation]:
        return [
            Operation(
                name="add_tactic",
                method="POST",
                path=TACTICS_PATH,
                summary="Add a tactic of your own",
                run=self.add,
                input=NewTactic,
                output=TacticView,
                status=201,
                scopes=OWN_TACTICS_SCOPES,
                creates=True,
                refusals=(400, 409, 422),
                tool=ToolOffer(
                    "Add a tactic",
                    hint="Use it when the user has a move that suggest_tactics should know.",
                    leave_out=(
                        *("steps", "ethics"),
                        *("aliases", "preconditions", "counter_to", "countered_by", "legality_notes"),
                        *("roles", "seen_in", "sources", "risk", "phases", "avoid_when", "idempotency_key"),
                    ),
                ),
                tag="tactics",
            ),
            Operation(
                name="edit_tactic",
                method="PATCH",
                path=TACTIC_PATH,
                summary="Change a tactic of your own by a JSON merge patch",
                run=self.edit,
                input=EditTactic,
                output=TacticView,
                scopes=OWN_TACTICS_SCOPES,
                refusals=(400, 403, 404, 412, 422),
                tag="tactics",
            ),
            Operation(
                name="delete_tactic",
                method="DELETE",
                path=TACTIC_PATH,
                summary="Delete a tactic of your own",
                run=self.delete,
                input=TacticId,
                status=204,
                scopes=OWN_TACTICS_SCOPES,
                refusals=(403, 404, 412),
                tag="tactics",
            ),
        ]

    async def suggest(self, call: Call[SuggestTactics]) -> SuggestionsView:
        owner, request = call.caller.principal, call.input

        def unit(tx: Transaction) -> Any:
            return *load_with_offers(tx, owner, request.id), tactic_queries.own_tactics(tx, owner)

        session, rows, mine = await read_current(self.store, owner, unit)
        results = await self.past.results_by_tactic(owner)
        heard = await self._heard(request.utterance)

        def work() -> SuggestionsView:
            from negotiator.negotiations import tactic_input  # it loads numpy

            terms, now = session.terms, values.now()
            situation = tactic_input.stored_tactic_situation(
                terms,
                tactic_input.known_leverage(terms, offers, now=now),
                offers,
                now=now,
                phase=request.phase,
                utterance=request.utterance,
            )
            return _suggestions(situation, heard, mine, request.limit, results)

        offers = offer_history.ledger_offers(rows)
        found = await thread_pools.ADVICE.run(work)
        return await self._worded(found, session.terms, request.utterance, offers)

    async def match(self, call: Call[MatchTactics]) -> SuggestionsView:
        """Suggestions for a described negotiation; the caller's own tactics are included."""
        owner, request = call.caller.principal, call.input
        from negotiator.negotiations.tactic_input import described_tactic_situation

        mine = await self.store.read(lambda tx: tactic_queries.own_tactics(tx, owner))
        results = await self.past.results_by_tactic(owner)
        terms, situation = await thread_pools.ADVICE.run(described_tactic_situation, request, values.now())
        heard = await self._heard(request.utterance)
        found = await thread_pools.ADVICE.run(_suggestions, situation, heard, mine, request.limit, results)
        return await self._worded(found, terms, request.utterance)

    async def _heard(self, utterance: str | None) -> HeardTactics | None:
        return None if utterance is None else await self.recogniser.recognise(utterance)

    async def list(self, call: Call[ListTactics]) -> TacticList:
        """A page of tactics; the cursor contains the id of the last one."""
        request, owner = call.input, call.caller.principal
        bound = ("tactics", owner, request.family, request.role, request.phase, request.query, request.owner)
        last = self.cursors.open(request.cursor, *bound) if request.cursor else None
        mine = await self.store.read(lambda tx: tactic_queries.list_own_tactics(tx, owner))
        found = tactic_views.selected_tactics(mine, request)
        keys = [view["id"] for view in found]
        start = keys.index(last) + 1 if last in keys else 0
        tactics, cursor = self.cursors.page(found[start:], request.limit, lambda view: view["id"], *bound)
        return {"items": [*tactics], "next_cursor": cursor}

    async def get(self, call: Call[TacticId]) -> TacticView:
        """A built-in tactic or one of the caller's, with its counters both ways."""
        owner, key = call.caller.principal, call.input.id

        def unit(tx: Transaction) -> list[StoredTactic]:
            if built_in_catalogue().get(key) is None:
                tactic_queries.find(tx, owner, key)
            return tactic_queries.list_own_tactics(tx, owner)

        mine = {one.tactic.id: one for one in await self.store.read(unit)}
        whole = built_in_catalogue().with_own(one.tactic for one in mine.values())
        return tactic_views.tactic_view(whole.by_id[key], mine.get(key))

    async def add(self, call: Call[NewTactic]) -> TacticView:
        owner = call.caller.principal

        def unit(tx: Transaction) -> TacticView:
            added = tactic_queries.add(tx, owner, call.input)
            return tactic_views.tactic_view(added.tactic, added)

        view: TacticView = await self.store.write(call.once(unit))
        return view

    async def edit(self, call: Call[EditTactic]) -> TacticView:
        owner, expected = call.caller.principal, call.expected
        found = await self.store.write(lambda tx: tactic_queries.edit(tx, owner, call.input, expected=expected))
        return tactic_views.tactic_view(found.tactic, found)

    async def delete(self, call: Call[TacticId]) -> Answer:
        owner, expected = call.caller.principal, call.expected
        await self.store.write(lambda tx: tactic_queries.remove(tx, owner, call.input.id, expected=expected))
        return Answer(None, 204)

    async def _worded(
        self, found: SuggestionsView, terms: Terms | None, utterance: str | None, offers: Sequence[LedgerOffer] = ()
    ) -> SuggestionsView:
        """The suggestions with their sentences reworded by the advisor, where it succeeds."""
        if not self.advisor.is_on:
            return found
        texts = {str(n): item["say"] for n, item in enumerate(found["items"]) if item["say"]}
        request = case_request(
            terms, texts, tactic_views.LINE_PURPOSE, offers=offers, utterance=utterance, seconds=SUGGESTION_SECONDS
        )
        worded = await self.advisor.word(request)
        return tactic_views.with_words(found, worded.texts, worded.by)


def _suggestions(
    situation: TacticSituation,
    heard: HeardTactics | None,
    own: tuple[Tactic, ...],
    limit: int,
    results: Mapping[str, TacticResult],
) -> SuggestionsView:
    if heard is None:
        return tactic_views.suggestions_view(situation, own, limit, results=results)
    return tactic_views.suggestions_view(
        replace(situation, recognised=heard.moves),
        own,
        limit,
        results=results,
        recognised_by="phrases_and_meaning" if heard.by_meaning else "phrases",
    )
