"""Queries of the versions of battle plans; every statement filters by the owner."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import bindparam, func, select
from sqlmodel import col

from negotiator.base import values
from negotiator.base.errors import NotFound
from negotiator.negotiations.tables import BattlePlan
from negotiator.store.statement import Query, RowInsertion, Transaction, table


@dataclass(frozen=True, slots=True)
class StoredPlan:
    """One version: `made_from` is the revision of the negotiation, `document` the sections, as JSON."""

    id: str
    version: int
    made_from: int
    worded_by: str
    document: dict[str, Any]
    created_at: int


def _stored_plan(row: Sequence[Any]) -> StoredPlan:
    plan, version, made_from, worded_by, document, created_at = row
    return StoredPlan(plan, version, made_from, worded_by, orjson.loads(document), created_at)


_columns = (
    col(BattlePlan.id),
    col(BattlePlan.version),
    col(BattlePlan.made_from),
    col(BattlePlan.worded_by),
    col(BattlePlan.document),
    col(BattlePlan.created_at),
)
_mine = (col(BattlePlan.negotiation) == bindparam("negotiation"), col(BattlePlan.owner) == bindparam("owner"))
_ADD = RowInsertion(BattlePlan)
_LAST = Query(select(func.coalesce(func.max(col(BattlePlan.version)), 0)).where(*_mine), lambda row: int(row[0]))
_FIND = Query(select(*_columns).where(*_mine, col(BattlePlan.id) == bindparam("plan")), _stored_plan)
_PAGE = Query(
    select(*_columns)
    .where(*_mine, col(BattlePlan.version) < bindparam("before"))
    .order_by(col(BattlePlan.version).desc())
    .limit(bindparam("limit")),
    _stored_plan,
)


_numbered = table(BattlePlan).alias("numbered")
_NEWEST = Query(
    select(col(BattlePlan.negotiation), col(BattlePlan.version), col(BattlePlan.made_from)).where(
        col(BattlePlan.owner) == bindparam("owner"),
        col(BattlePlan.negotiation) >= bindparam("first"),
        col(BattlePlan.negotiation) <= bindparam("last"),
        col(BattlePlan.version)
        == select(func.max(_numbered.c.version))
        .where(_numbered.c.negotiation == col(BattlePlan.negotiation))
        .scalar_subquery(),
    ),
    tuple,
)


def newest_plans(tx: Transaction, *, owner: str, first: str, last: str) -> dict[str, tuple[int, int]]:
    """The newest version of each plan and the revision it was made from, by negotiation.

    The negotiations are those of the owner whose ids lie between `first` and `last`.
    """
    found = tx.all(_NEWEST, owner=owner, first=first, last=last)
    return {negotiation: (version, made_from) for negotiation, version, made_from in found}


def add(
    tx: Transaction, owner: str, negotiation: str, *, document: dict[str, Any], made_from: int, worded_by: str
) -> StoredPlan:
    """Store the next version of a negotiation's plan."""
    version = (tx.one(_LAST, negotiation=negotiation, owner=owner) or 0) + 1
    plan = StoredPlan(values.new_id("pln"), version, made_from, worded_by, document, values.now())
    tx.run(
        _ADD,
        id=plan.id,
        negotiation=negotiation,
        owner=owner,
        version=version,
        made_from=made_from,
        worded_by=worded_by,
        document=orjson.dumps(document),
        created_at=plan.created_at,
    )
    return plan


def find(tx: Transaction, owner: str, negotiation: str, plan: str) -> StoredPlan:
    """One version; 404 for an unknown plan, or one of another negotiation or owner."""
    found = tx.one(_FIND, negotiation=negotiation, owner=owner, plan=plan)
    if found is None:
        raise NotFound("There is no such battle plan.")
    return found


def page(tx: Transaction, owner: str, negotiation: str, *, before: int | None, limit: int) -> list[StoredPlan]:
    """Versions below `before`, newest first."""
    before = values.NEWEST if before is None else before
    return tx.all(_PAGE, negotiation=negotiation, owner=owner, before=before, limit=limit)
