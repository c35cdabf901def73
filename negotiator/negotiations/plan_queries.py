"""Queries of the versions of battle plans; every statement filters by the owner."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import bindparam, func, select
from sqlmodel import col

from negotiator import values
from negotiator.errors import NotFound
from negotiator.negotiations.tables import BattlePlan
from negotiator.store.statement import Query, Statement, Transaction, insertion


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
_mine = (
    col(BattlePlan.negotiation) == bindparam("negotiation"),
    col(BattlePlan.owner) == bindparam("owner"),
)
_ADD = Statement(insertion(BattlePlan))
_LAST = Query(
    select(func.coalesce(func.max(col(BattlePlan.version)), 0)).where(*_mine),
    lambda row: int(row[0]),
)
_FIND = Query(
    select(*_columns).where(*_mine, col(BattlePlan.id) == bindparam("plan")), _stored_plan
)
_PAGE = Query(
    select(*_columns)
    .where(*_mine, col(BattlePlan.version) < bindparam("before"))
    .order_by(col(BattlePlan.version).desc())
    .limit(bindparam("limit")),
    _stored_plan,
)


def add(
    tx: Transaction,
    owner: str,
    negotiation: str,
    *,
    document: dict[str, Any],
    made_from: int,
    worded_by: str,
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


def page(
    tx: Transaction, owner: str, negotiation: str, *, before: int | None, limit: int
) -> list[StoredPlan]:
    """Versions below `before`, newest first."""
    before = values.NEWEST if before is None else before
    return tx.all(_PAGE, negotiation=negotiation, owner=owner, before=before, limit=limit)
