"""`/api/negotiations/{id}/battle-plans`."""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from negotiator import values
from negotiator.cursors import Cursors
from negotiator.edge.operation import Answer, Call, Operation, Tool
from negotiator.errors import Conflict
from negotiator.negotiations import sessions
from negotiator.negotiations.advice.routes import with_ledger
from negotiator.negotiations.advisor.advisor import Advisor, Worded, Wording
from negotiator.negotiations.experience import Experience, Past
from negotiator.negotiations.ledger.recording import enter
from negotiator.negotiations.ledger.rows import Row
from negotiator.negotiations.life import states
from negotiator.negotiations.life.history import actor_of
from negotiator.negotiations.plans import kept
from negotiator.negotiations.plans.evidence import Lead
from negotiator.negotiations.plans.kept import Kept
from negotiator.negotiations.plans.markdown import printed
from negotiator.negotiations.plans.schemas import (
    BattlePlanId,
    BattlePlanList,
    BattlePlanView,
    MakeBattlePlan,
)
from negotiator.negotiations.plans.scout import Scout, leads_for
from negotiator.negotiations.routes import ONE, READ, WRITE, read_settled
from negotiator.negotiations.schemas.session import ListOf
from negotiator.negotiations.session import Session
from negotiator.negotiations.suggestions import own
from negotiator.negotiations.tactics.tactic import Tactic
from negotiator.store.statement import Transaction
from negotiator.store.store import Store

if TYPE_CHECKING:
    from negotiator.negotiations.plans.making.plan import Plan

PLANS: Final = f"{ONE}/battle-plans"
MARKDOWN: Final = "text/markdown"


@dataclass(frozen=True, slots=True)
class BattlePlans:
    """Plans of a negotiation, made and read."""

    store: Store
    cursors: Cursors
    advisor: Advisor
    scout: Scout
    past: Past

    def operations(self) -> list[Operation]:
        """What this slice offers."""
        return [
            Operation(
                name="make_battle_plan",
                method="POST",
                path=PLANS,
                summary="Make a battle plan; a draft becomes planned, a later plan is a new version",
                run=self.make,
                input=MakeBattlePlan,
                output=BattlePlanView,
                status=201,
                scopes=WRITE,
                creates=True,
                refusals=(404, 409, 422),
                tool=Tool(
                    "Make a battle plan",
                    hint=(
                        "Use it to prepare, after open_negotiation and before the first offer, and again when the plan "
                        "is stale. It covers opening, concessions, questions and tactics; for one turn use next_move."
                    ),
                    leave_out=("idempotency_key",),
                ),
                tag="plans",
            ),
            Operation(
                name="list_battle_plans",
                method="GET",
                path=PLANS,
                summary="List the versions of a negotiation's plan, newest first",
                run=self.list,
                input=ListOf,
                output=BattlePlanList,
                scopes=READ,
                refusals=(400, 404, 422),
                tool=Tool("List battle plans", hint="Use it for the id of a plan."),
                tag="plans",
            ),
            Operation(
                name="get_battle_plan",
                method="GET",
                path=f"{PLANS}/{{plan_id}}",
                summary="Read one battle plan whole",
                run=self.get,
                input=BattlePlanId,
                output=BattlePlanView,
                media_type=MARKDOWN,
                scopes=READ,
                refusals=(404,),
                tool=Tool(
                    "Read a battle plan",
                    hint="Use it before talks; its id is in list_battle_plans. A stale one is made anew.",
                ),
                tag="plans",
            ),
        ]

    async def make(self, call: Call[MakeBattlePlan]) -> dict[str, Any]:
        """A new version, made from the negotiation as it stands. The model is asked before anything is written."""
        owner, negotiation = call.caller.principal, call.input.id

        def stand(tx: Transaction) -> tuple[Session, list[Row], tuple[Tactic, ...]]:
            return *with_ledger(owner, negotiation)(tx), own.tactics(tx, owner)

        session, rows, tactics = await read_settled(self.store, owner, stand)
        _plannable(session)
        leads, past = await leads_for(self.scout, session), await self.past.about(owner, session)
        plan, texts = await asyncio.to_thread(_work, session, rows, tactics, leads=leads, past=past)
        worded = await self.advisor.word(texts)

        def unit(tx: Transaction) -> dict[str, Any]:
            return _keep(tx, call, session, plan=plan, worded=worded)

        view: dict[str, Any] = await self.store.write(call.once(unit))
        return view

    async def list(self, call: Call[ListOf]) -> dict[str, Any]:
        """A page of versions without their sections."""
        asked, owner = call.input, call.caller.principal
        bound = ("battle-plans", owner, asked.id)
        before = self.cursors.open(asked.cursor, *bound) if asked.cursor else None

        def unit(tx: Transaction) -> tuple[Session, list[Kept]]:
            session = sessions.read(tx, owner, asked.id)
            return session, kept.page(tx, owner, asked.id, before=before, limit=asked.limit + 1)

        session, found = await read_settled(self.store, owner, unit)
        more = len(found) > asked.limit
        found = found[: asked.limit]
        return {
            "items": [head(one, session) for one in found],
            "next_cursor": self.cursors.seal(found[-1].version, *bound) if more else None,
        }

    async def get(self, call: Call[BattlePlanId]) -> Answer:
        """One version, in the form that was asked for."""
        asked, owner = call.input, call.caller.principal

        def unit(tx: Transaction) -> tuple[Session, Kept]:
            session = sessions.read(tx, owner, asked.id)
            return session, kept.find(tx, owner, asked.id, asked.plan_id)

        session, found = await read_settled(self.store, owner, unit)
        view = {**head(found, session), **found.document}
        vary = {"vary": "Accept"}
        if prefers_markdown(call.headers.get("accept", "")):
            return Answer(printed(view).encode(), 200, vary, f"{MARKDOWN}; charset=utf-8")
        return Answer(view, 200, vary)


def head(plan: Kept, session: Session) -> dict[str, Any]:
    """Which version it is; stale once the negotiation or its ledger has another revision."""
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
    """Whether Markdown is named in an Accept header, and JSON is not wanted more (RFC 9110 §12.5.1)."""
    wanted: dict[str, float] = {}
    for part in accept.lower().split(","):
        kind, *parameters = (piece.strip() for piece in part.split(";"))
        quality = next((p[2:] for p in parameters if p.startswith("q=")), "1")
        try:
            wanted[kind] = float(quality)
        except ValueError:
            wanted[kind] = 0.0
    return wanted.get(MARKDOWN, 0.0) > 0 and wanted[MARKDOWN] >= wanted.get("application/json", 0.0)


def _plannable(session: Session) -> None:
    if session.state not in states.LIVE:
        raise Conflict(
            f"The negotiation is {session.state}.",
            error="not_active",
            members={"state": session.state, "allowed": states.allowed(session.state)},
        )


def _work(
    session: Session,
    rows: list[Row],
    tactics: tuple[Tactic, ...],
    *,
    leads: tuple[Lead, ...],
    past: Experience,
) -> tuple["Plan", Wording]:
    # The engine loads numpy: a worker that never plans does without.
    from negotiator.negotiations.plans.making.gather import gather, wording
    from negotiator.negotiations.plans.making.plan import make_plan

    brief = gather(session, rows, now=values.now(), own=tactics, alternatives=leads, past=past)
    plan = make_plan(brief)
    return plan, wording(plan, brief)


def _keep(
    tx: Transaction, call: Call[MakeBattlePlan], seen: Session, *, plan: "Plan", worded: Worded
) -> dict[str, Any]:
    """Keep the plan and move a draft to planned; what changed since it was read leaves the plan stale at once."""
    owner = call.caller.principal
    session = sessions.load(tx, owner, seen.id)
    _plannable(session)
    made_from = seen.revision
    if session.state == states.DRAFT:
        revision = session.revision
        moved = enter(tx, session, states.PLANNED, actor=actor_of(call.caller))
        sessions.save(tx, moved)
        session = sessions.load(tx, owner, seen.id)
        made_from = session.revision if revision == seen.revision else seen.revision
    from negotiator.negotiations.plans.making.gather import reworded

    document = reworded(plan, worded.texts)
    added = kept.add(
        tx, owner, seen.id, document=document, made_from=made_from, worded_by=worded.by
    )
    return {**head(added, session), **document}
