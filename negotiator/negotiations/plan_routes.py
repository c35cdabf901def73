"""The operations of `/api/negotiations/{id}/battle-plans`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from negotiator.advice.advisor import Advisor, WordingResult
from negotiator.advice.plans.evidence import LeadFinder, find_leads
from negotiator.advice.plans.markdown import plan_markdown
from negotiator.advice.tactics.tactic import Tactic
from negotiator.base import values
from negotiator.base.scopes import NEGOTIATIONS_READ, NEGOTIATIONS_WRITE
from negotiator.http.cursors import Cursors
from negotiator.http.operation import MARKDOWN, Answer, Call, Operation, ToolOffer
from negotiator.negotiations import plan_queries, queries, states, tactic_queries
from negotiator.negotiations.advisor_case import apply_wording
from negotiator.negotiations.event_queries import actor_of_caller
from negotiator.negotiations.offer_queries import OfferRow
from negotiator.negotiations.offers import enter_state
from negotiator.negotiations.past_evidence import PastEvidenceReader
from negotiator.negotiations.plan_queries import StoredPlan
from negotiator.negotiations.queries import load_with_offers, read_current
from negotiator.negotiations.schemas_negotiations import ListOf
from negotiator.negotiations.schemas_plans import (
    BattlePlanHead,
    BattlePlanId,
    BattlePlanList,
    BattlePlanView,
    MakeBattlePlan,
)
from negotiator.negotiations.session import NegotiationSession
from negotiator.runtime import thread_pools
from negotiator.store.statement import Transaction
from negotiator.store.store import Store

PLANS_PATH: Final = "/api/negotiations/{id}/battle-plans"


@dataclass(frozen=True, slots=True)
class BattlePlans:
    """Operations that make and read the battle plans of a negotiation."""

    store: Store
    cursors: Cursors
    advisor: Advisor
    lead_finder: LeadFinder
    past: PastEvidenceReader

    def operations(self) -> list[Operation]:
        return [
            Operation(
                name="make_battle_plan",
                method="POST",
                path=PLANS_PATH,
                summary="Make a battle plan; a draft becomes planned, a later plan is a new version",
                run=self.make,
                input=MakeBattlePlan,
                output=BattlePlanView,
                media_type=MARKDOWN,
                status=201,
                scopes=frozenset({NEGOTIATIONS_WRITE}),
                creates=True,
                refusals=(404, 409, 422),
                tool=ToolOffer(
                    "Make a battle plan",
                    hint=(
                        "Use it to prepare, after open_negotiation and before the first offer, and again when the plan "
                        "is stale. It covers opening, steps, questions and tactics; for one turn use next_move."
                    ),
                    leave_out=("idempotency_key",),
                ),
                tag="plans",
            ),
            Operation(
                name="list_battle_plans",
                method="GET",
                path=PLANS_PATH,
                summary="List the versions of a negotiation's plan, newest first",
                run=self.list,
                input=ListOf,
                output=BattlePlanList,
                scopes=frozenset({NEGOTIATIONS_READ}),
                refusals=(400, 404, 422),
                tool=ToolOffer("List battle plans", hint="Use it for the id of a plan.", leave_out=("limit", "cursor")),
                tag="plans",
            ),
            Operation(
                name="get_battle_plan",
                method="GET",
                path="/api/negotiations/{id}/battle-plans/{plan_id}",
                summary="Read one battle plan with all its sections",
                run=self.get,
                input=BattlePlanId,
                output=BattlePlanView,
                media_type=MARKDOWN,
                scopes=frozenset({NEGOTIATIONS_READ}),
                refusals=(404,),
                tool=ToolOffer("Read a battle plan", hint="Use it before talks; its id is in list_battle_plans."),
                tag="plans",
            ),
        ]

    async def make(self, call: Call[MakeBattlePlan]) -> Answer:
        """Make a new version from the present state of the negotiation, answered as JSON or as Markdown.

        The language model is called before the transaction starts.
        """
        owner, negotiation = call.caller.principal, call.input.id

        def read(tx: Transaction) -> tuple[NegotiationSession, list[OfferRow], tuple[Tactic, ...]]:
            return *load_with_offers(tx, owner, negotiation), tactic_queries.own_tactics(tx, owner)

        from negotiator.negotiations.plan_input import generate_plan  # it loads numpy

        session, rows, tactics = await read_current(self.store, owner, read)
        states.check_live(session.state)
        leads, past = (await find_leads(self.lead_finder, session.terms), await self.past.about(owner, session))
        plan, texts = await thread_pools.ADVICE.run(generate_plan, session, rows, tactics, leads=leads, past=past)
        worded = await self.advisor.word(texts)

        def unit(tx: Transaction) -> dict[str, Any]:
            return _store_plan(tx, call, session, plan=plan, worded=worded)

        return _plan_answer(await self.store.write(call.once(unit)), call.headers, status=201)

    async def list(self, call: Call[ListOf]) -> BattlePlanList:
        """A page of versions, newest first, without their sections."""
        request, owner = call.input, call.caller.principal
        bound = ("battle-plans", owner, request.id)
        before = self.cursors.open(request.cursor, *bound) if request.cursor else None

        def unit(tx: Transaction) -> tuple[NegotiationSession, list[StoredPlan]]:
            session = queries.load_for_reading(tx, owner, request.id)
            return session, plan_queries.page(tx, owner, request.id, before=before, limit=request.limit + 1)

        session, found = await read_current(self.store, owner, unit)
        plans, cursor = self.cursors.page(found, request.limit, lambda plan: plan.version, *bound)
        return {"items": [plan_head(plan, session) for plan in plans], "next_cursor": cursor}

    async def get(self, call: Call[BattlePlanId]) -> Answer:
        """One version, as JSON or as Markdown by the Accept header."""
        request, owner = call.input, call.caller.principal

        def unit(tx: Transaction) -> tuple[NegotiationSession, StoredPlan]:
            session = queries.load_for_reading(tx, owner, request.id)
            return session, plan_queries.find(tx, owner, request.id, request.plan_id)

        session, found = await read_current(self.store, owner, unit)
        return _plan_answer({**plan_head(found, session), **found.document}, call.headers)


def _plan_answer(view: dict[str, Any], headers: Mapping[str, str], status: int = 200) -> Answer:
    vary = {"vary": "Accept"}
    if prefers_markdown(headers.get("accept", "")):
        return Answer(plan_markdown(view).encode(), status, vary, f"{MARKDOWN}; charset=utf-8")
    return Answer(view, status, vary)


def plan_head(plan: StoredPlan, session: NegotiationSession) -> BattlePlanHead:
    """The members of a plan apart from its sections; it is stale once the negotiation has another revision."""
    return {
        "id": plan.id,
        "negotiation_id": session.id,
        "version": plan.version,
        "made_from_revision": plan.made_from,
        "stale": plan.made_from != session.revision,
        "worded_by": plan.worded_by,
        "created_at": values.timestamp(plan.created_at),
    }


def prefers_markdown(accept: str) -> bool:
    """Whether an Accept header names Markdown with a quality at least that of JSON (RFC 9110 §12.5.1)."""
    wanted: dict[str, float] = {}
    for part in accept.lower().split(","):
        kind, *parameters = (piece.strip() for piece in part.split(";"))
        quality = next((p[2:] for p in parameters if p.startswith("q=")), "1")
        try:
            wanted[kind] = float(quality)
        except ValueError:
            wanted[kind] = 0.0
    return wanted.get(MARKDOWN, 0.0) > 0 and wanted[MARKDOWN] >= wanted.get("application/json", 0.0)


def _store_plan(
    tx: Transaction,
    call: Call[MakeBattlePlan],
    seen: NegotiationSession,
    *,
    plan: dict[str, Any],
    worded: WordingResult,
) -> dict[str, Any]:
    """Store the plan and move a draft to planned; a change since the negotiation was read makes the plan stale."""
    owner = call.caller.principal
    session = queries.load_for_writing(tx, owner, seen.id)
    states.check_live(session.state)
    made_from = seen.revision
    if session.state == states.DRAFT:
        revision = session.revision
        moved = enter_state(tx, session, states.PLANNED, actor=actor_of_caller(call.caller))
        queries.save(tx, moved)
        session = queries.load_for_writing(tx, owner, seen.id)
        made_from = session.revision if revision == seen.revision else seen.revision
    document = apply_wording(plan, worded.texts)
    added = plan_queries.add(tx, owner, seen.id, document=document, made_from=made_from, worded_by=worded.by)
    return {**plan_head(added, session), **document}
