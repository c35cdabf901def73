"""No statement crosses owners, so that the rows of an owner may live on a database of their own (docs/scaling.md)."""

import importlib
import pkgutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

import pytest
from sqlalchemy import Column, String, bindparam, delete, func, or_, select, update
from sqlalchemy.sql import Delete, Insert, Select, Update, operators
from sqlalchemy.sql.elements import BinaryExpression, BooleanClauseList, Grouping
from sqlalchemy.sql.selectable import Join, Subquery
from sqlmodel import SQLModel, col

import negotiator
from negotiator.negotiations.tables import Negotiation, Offer
from negotiator.store.ownership import OwnershipWalk, lifetime_of
from negotiator.store.statement import Statement

Keys = Mapping[str, frozenset[str]]
_HOUSEKEEPING: Final = "each database does it for its own rows"
_MODERATION: Final = "moderators see what all submit, for one catalogue"
EXCEPTIONS: Final = {
    "directory.collections_queries._COUNT": "how many owners keep a tool, counted later",
    "directory.collections_queries._SHARED": "a public link names no owner",
    "directory.reports_queries._DISMISSED": _MODERATION,
    "directory.reports_queries._LIST": _MODERATION,
    "directory.reports_queries._OPEN": _MODERATION,
    "directory.reports_queries._SETTLE": _MODERATION,
    "directory.submissions_queries._APPROVED": "what moderators approved of a listed tool, whoever sent it",
    "directory.submissions_queries._DUE": _HOUSEKEEPING,
    "directory.submissions_queries._QUEUE": _MODERATION,
    "directory.submissions_queries._WITHDRAWN": _HOUSEKEEPING,
    "memory.benchmarks_figures._CONTRIBUTED": "figures over many owners who contribute",
    "memory.search._ANY": _HOUSEKEEPING,
    "memory.search._COUNT": _HOUSEKEEPING,
    "memory.search._OUTDATED": _HOUSEKEEPING,
    "negotiations.queries._DUE": _HOUSEKEEPING,
    "teleprompter.queries._DUE": _HOUSEKEEPING,
    "tokens.authorization_codes._BY_CODE": "a code names no user until it is found",
    "trust.revocations._BACKDATING[1][1]": "an identity may belong to several users",
}
"""The statements over rows of several owners, and why they may be."""


def owned_tables() -> Keys:
    """The tables whose rows belong to an owner, each with the columns that lead to the rows of one owner.

    Those are the owner's, the first of the key, and the key of a row that it is part of.
    """
    tables = SQLModel.metadata.tables
    parts = {name: lifetime_of(each).get("part_of", {}) for name, each in tables.items()}
    owned = {name for name, each in tables.items() if "owner" in lifetime_of(each)}
    while added := {name for name in parts.keys() - owned if owned & set(parts[name].values())}:
        owned |= added
    keys: dict[str, frozenset[str]] = {}
    for name in owned:
        owner = lifetime_of(tables[name]).get("owner")
        first = next(iter(tables[name].primary_key.columns)).name
        parents = {column for column, parent in parts[name].items() if parent in owned}
        keys[name] = frozenset({first, *parents} | ({owner} if owner else set()))
    return keys


def crossing(clause: Any, keys: Keys, outer: frozenset[Any] = frozenset()) -> set[str]:
    """The owned tables that a statement reads or changes over several owners; `outer` are those around it."""
    sources, conditions = _parts(clause)
    # A sub-query that names a table of the statement around it means the row there.
    own = [each for each in sources if each not in outer] if outer else sources
    known = set(sources) - set(own)
    known |= {each for each in own if isinstance(each, Subquery) and not crossing(cast("Any", each).element, keys)}
    equal = [pair for condition in conditions for pair in _equalities(condition)]
    while found := {
        mine.table
        for mine, other in equal
        if isinstance(mine, Column)
        and mine.table not in known
        and mine.name in keys.get(_name(mine.table), ())
        and (not isinstance(other, Column) or other.table in known)
    }:
        known |= found
    missed = {_name(each) for each in own if _name(each) in keys and each not in known}
    around = outer | frozenset(known)
    return missed.union(*(crossing(each, keys, around) for each in _nested(clause)))


def _parts(clause: Any) -> tuple[list[Any], list[Any]]:
    """The tables that a statement reads or changes, and what has to hold for their rows."""
    where = list(getattr(clause, "_where_criteria", ()))
    match clause:
        case Select():
            sources: list[Any] = []
            conditions: list[Any] = where
            waiting: list[Any] = list(cast("Any", clause).get_final_froms())
            while waiting:
                source = waiting.pop()
                if isinstance(source, Join):
                    waiting += [source.left, source.right]
                    conditions.append(source.onclause)
                else:
                    sources.append(source)
            return sources, conditions
        case Update() | Delete():
            return [clause.table], where
        case _:
            return [], []


def _equalities(condition: Any) -> Iterator[tuple[Any, Any]]:
    """Both ways round, what has to be equal for the condition to hold."""
    match condition:
        case Grouping():
            yield from _equalities(cast("Any", condition).element)
        case BooleanClauseList() if condition.operator is operators.and_:
            for each in condition.clauses:
                yield from _equalities(each)
        case BinaryExpression() if condition.operator in {operators.eq, operators.in_op}:
            yield condition.left, condition.right
            yield condition.right, condition.left
        case _:
            return


def _nested(clause: Any) -> Iterator[Select[Any]]:
    """The outermost queries inside a statement."""
    waiting = [clause.select] if isinstance(clause, Insert) else list(clause.get_children())
    while waiting:
        each: Any = waiting.pop()
        if isinstance(each, Select):
            yield each
        elif each is not None:
            waiting += each.get_children()


def _name(source: Any) -> str:
    """The table that an alias stands for."""
    return str(getattr(getattr(source, "element", source), "name", ""))


def _statements() -> dict[str, Statement]:
    """The statements of the package by the modules and names that hold them."""
    for module in pkgutil.walk_packages(negotiator.__path__, "negotiator."):
        if "migrations" not in module.name and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return {
        f"{module.removeprefix('negotiator.')}.{name}{place}": statement
        for module, held in list(sys.modules.items())
        if module.startswith("negotiator.")
        for name, value in list(vars(held).items())
        for place, statement in _held(value)
    }


def _held(value: Any) -> Iterator[tuple[str, Statement]]:
    if isinstance(value, Statement):
        yield "", value
        return
    members: Any = ()
    if isinstance(value, list | tuple):
        members = enumerate(cast("Sequence[Any]", value))
    elif isinstance(value, dict):
        members = cast("dict[Any, Any]", value).items()
    for name, each in members:
        yield from ((f"[{name}]{place}", found) for place, found in _held(each))


def test_no_statement_crosses_owners_but_those_that_are_named() -> None:
    statements = _statements()
    keys = owned_tables()
    assert len(statements) > 300
    assert len(keys) > 20
    found = {name: crossing(each.clause, keys) for name, each in statements.items()}
    assert {name: tables for name, tables in found.items() if tables and name not in EXCEPTIONS} == {}
    assert [name for name in EXCEPTIONS if not found.get(name)] == [], "exceptions that are none"


def test_claiming_and_erasing_name_the_owner() -> None:
    assert _statements()
    keys, walk = owned_tables(), OwnershipWalk(SQLModel.metadata)
    claims: list[Statement] = getattr(walk, "_claims")  # noqa: B009  private
    erasures: list[list[Statement]] = getattr(walk, "_erasures")  # noqa: B009  private
    for statements in (claims, *erasures):
        assert statements
        assert [each.sql for each in statements if crossing(each.clause, keys)] == []


_OWNER: Final = bindparam("owner", type_=String)
_OF_OWNER: Final = select(col(Negotiation.id)).where(col(Negotiation.owner) == _OWNER)
_NONE: Final = set[str]()
_EVERYONE: Final = select(col(Negotiation.id))


@pytest.mark.parametrize(
    ("clause", "tables"),
    [
        (_OF_OWNER, _NONE),
        (_EVERYONE, {"negotiations"}),
        (_EVERYONE.where(or_(col(Negotiation.owner) == _OWNER, col(Negotiation.due_at) < 1)), {"negotiations"}),
        (update(Negotiation).where(col(Negotiation.due_at) < 1), {"negotiations"}),
        (delete(Offer).where(col(Offer.negotiation).in_(_OF_OWNER)), _NONE),
        (delete(Offer).where(col(Offer.negotiation).in_(_EVERYONE)), {"negotiations"}),
        (
            select(col(Offer.id)).join(Negotiation, col(Negotiation.id) == col(Offer.negotiation)),
            {"negotiations", "offers"},
        ),
        (
            select(col(Offer.id))
            .join(Negotiation, col(Negotiation.id) == col(Offer.negotiation))
            .where(col(Negotiation.owner) == _OWNER),
            _NONE,
        ),
        (_OF_OWNER.where(select(col(Offer.id)).where(col(Offer.negotiation) == col(Negotiation.id)).exists()), _NONE),
        (_OF_OWNER.where(select(func.count(col(Offer.id))).scalar_subquery() > 1), {"offers"}),
    ],
)
def test_a_statement_over_several_owners_is_found(clause: Any, tables: set[str]) -> None:
    assert crossing(clause, owned_tables()) == tables
