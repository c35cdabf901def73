"""Where a memory or a tactic was used: the battle plans that cite it, and the wins that name it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
from sqlalchemy import bindparam, select
from sqlmodel import col
from typing_extensions import TypedDict

from negotiator.advice.tactics.catalogue import built_in_catalogue
from negotiator.base import values
from negotiator.base.scopes import MEMORIES_READ, NEGOTIATIONS_READ
from negotiator.http.operation import Call, Operation
from negotiator.memory import memories_queries
from negotiator.memory.schemas_memories import MemoryId
from negotiator.memory.wins_queries import wins_with_tactic
from negotiator.negotiations import tactic_queries
from negotiator.negotiations.schemas_tactics import TacticId
from negotiator.negotiations.tables import BattlePlan, Negotiation
from negotiator.store.statement import Query, Transaction
from negotiator.store.store import Store

MAX_USES: Final = 20
_SCOPES: Final = frozenset({MEMORIES_READ, NEGOTIATIONS_READ})
_PLANS = Query(
    select(
        col(BattlePlan.id),
        col(BattlePlan.negotiation),
        col(BattlePlan.version),
        col(BattlePlan.created_at),
        col(BattlePlan.document),
        col(Negotiation.document),
    )
    .where(col(BattlePlan.owner) == bindparam("holder"), col(BattlePlan.negotiation) == col(Negotiation.id))
    .order_by(col(BattlePlan.id).desc()),
    tuple,
)


class PlanUseView(TypedDict):
    """The newest plan of one negotiation that cites it."""

    plan_id: str
    negotiation_id: str
    title: str
    version: int
    at: str


class WinUseView(TypedDict):
    """A win that names it; `helped` is from -2, harmful, to 2, decisive."""

    win_id: str
    counterparty: str | None
    category: str
    closed_at: str
    helped: int


class MemoryUsesView(TypedDict):
    """Where a memory was used, newest first."""

    plans: list[PlanUseView]


class TacticUsesView(TypedDict):
    """Where a tactic was used, newest first."""

    plans: list[PlanUseView]
    wins: list[WinUseView]


@dataclass(frozen=True, slots=True)
class UsageRoutes:
    """Operations that answer where something was used, at most the newest `MAX_USES`."""

    store: Store

    def operations(self) -> list[Operation]:
        return [
            Operation(
                name="list_memory_uses",
                method="GET",
                path="/api/memories/{id}/uses",
                summary="The battle plans that cite a memory, newest first, one of each negotiation",
                run=self.of_memory,
                input=MemoryId,
                output=MemoryUsesView,
                scopes=_SCOPES,
                refusals=(404,),
                tag="memory",
            ),
            Operation(
                name="list_tactic_uses",
                method="GET",
                path="/api/tactics/{id}/uses",
                summary="The battle plans that suggest a tactic and the wins that used it, newest first",
                run=self.of_tactic,
                input=TacticId,
                output=TacticUsesView,
                scopes=_SCOPES,
                refusals=(404,),
                tag="tactics",
            ),
        ]

    async def of_memory(self, call: Call[MemoryId]) -> MemoryUsesView:
        owner, memory = call.caller.principal, call.input.id

        def unit(tx: Transaction) -> MemoryUsesView:
            memories_queries.find(tx, owner, memory)
            return {"plans": _plans(tx, owner, memory)}

        return await self.store.scan(unit)

    async def of_tactic(self, call: Call[TacticId]) -> TacticUsesView:
        owner, tactic = call.caller.principal, call.input.id

        def unit(tx: Transaction) -> TacticUsesView:
            if built_in_catalogue().get(tactic) is None:
                tactic_queries.find(tx, owner, tactic)
            wins = wins_with_tactic(tx, owner, tactic)[:MAX_USES]
            return {"plans": _plans(tx, owner, tactic), "wins": [_win_use(win, tactic) for win in wins]}

        return await self.store.scan(unit)


def _plans(tx: Transaction, owner: str, cited: str) -> list[PlanUseView]:
    """The newest plan of each negotiation whose sections name the id."""
    found: dict[str, PlanUseView] = {}
    mark = cited.encode()
    for plan, negotiation, version, at, sections, view in tx.all(_PLANS, holder=owner):
        if negotiation not in found and mark in bytes(sections):
            found[negotiation] = {
                "plan_id": plan,
                "negotiation_id": negotiation,
                "title": orjson.loads(view)["title"],
                "version": version,
                "at": values.timestamp(at),
            }
            if len(found) == MAX_USES:
                break
    return list(found.values())


def _win_use(win: Mapping[str, Any], tactic: str) -> WinUseView:
    helped = next(one["helped"] for one in win["tactics_used"] if one["tactic_id"] == tactic)
    return {
        "win_id": win["id"],
        "counterparty": win["counterparty"],
        "category": win["category"],
        "closed_at": win["closed_at"],
        "helped": helped,
    }
