"""Claiming, erasing and sweeping, derived from what each table declares about its rows (`store.model.RowLifetime`)."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, cast

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    MetaData,
    String,
    Table,
    bindparam,
    delete,
    or_,
    select,
    update,
)
from sqlmodel import SQLModel

from negotiator.store.model import RowLifetime
from negotiator.store.statement import Query, Statement, Transaction
from negotiator.store.statement import table as table_of

_PRINCIPAL: Final = bindparam("principal", type_=String)
_KEY: Final = bindparam("key", type_=String)
_DECLARING: Final = ("owner", "part_of", "expires", "kept")
_OWNER_COLUMNS: Final = ("owner",)
_MOMENT_COLUMNS: Final = ("expires_at", "forget_at")


def lifetime_of(table: Table) -> RowLifetime:
    """What a table declares about its rows; empty when it declares nothing."""
    return cast("RowLifetime", table.info)


def undeclared_tables(metadata: MetaData) -> dict[str, str]:
    """The tables whose rows could be forgotten by a claim, an erasure or a sweep, each with the reason.

    A table declares an owner, a parent or an expiry, or says why its rows are kept. A column whose name says that it
    holds an owner or an end has to be the declared one.
    """
    return {
        table.name: fault
        for table in metadata.sorted_tables
        if (fault := _declaration_fault(table)) is not None
    }


def _declaration_fault(table: Table) -> str | None:
    declared = lifetime_of(table)
    if not any(name in declared for name in _DECLARING):
        return "declares neither an owner, a parent, an expiry nor why its rows are kept"
    if "kept" in declared:
        return None
    for column in table.columns:
        if column.name in _OWNER_COLUMNS and column.name != declared.get("owner"):
            return f"{column.name} is not the declared owner"
        if column.name in _MOMENT_COLUMNS and column.name not in declared.get("expires", {}):
            return f"{column.name} is not a declared expiry"
    return None


class OwnershipWalk:
    """The statements of every table in the metadata, compiled once."""

    def __init__(self, metadata: MetaData) -> None:
        self._parts: dict[str, list[tuple[Table, str]]] = {}
        for table in metadata.sorted_tables:
            for column, parent in lifetime_of(table).get("part_of", {}).items():
                self._parts.setdefault(parent, []).append((table, column))
        owned = [table for table in metadata.sorted_tables if "owner" in lifetime_of(table)]
        self._claims = [s for table in owned for s in self._claim_statements(table)]
        self._erasures = [s for table in owned for s in self._delete_statements(table)]
        self._rows = {
            parent: list(self._row_statements(metadata.tables[parent])) for parent in self._parts
        }
        self._sweeps = [
            _Sweep(table, self._rows.get(table.name))
            for table in metadata.sorted_tables
            if _expiries(table)
        ]

    def claim(self, tx: Transaction, agent_id: str, user_id: str) -> None:
        """Give an agent's rows to its user, marked with the agent where the table has an `origin`."""
        for statement in self._claims:
            tx.run(statement, principal=agent_id, new_owner=user_id)

    def erase(self, tx: Transaction, principal: str) -> None:
        """Delete every row that a principal owns, and the rows that are part of them."""
        for statement in self._erasures:
            tx.run(statement, principal=principal)

    def sweep(self, tx: Transaction, now: int) -> bool:
        """Delete expired rows; `now` in milliseconds. True when the files have to be scrubbed."""
        scrubs = [each.run(tx, now) for each in self._sweeps]
        return any(scrubs)

    def delete(self, tx: Transaction, table: str, key: str) -> None:
        """Delete one row of a table that has parts, by its key, and the rows that are part of it."""
        for statement in self._rows[table]:
            tx.run(statement, key=key)

    def _claim_statements(self, table: Table) -> Iterator[Statement]:
        declared = lifetime_of(table)
        match declared.get("on_claim", "move"):
            case "move":
                values: dict[str, Any] = {_owner(table).name: bindparam("new_owner")}
                if "origin" in declared:
                    values[declared["origin"]] = _PRINCIPAL
                yield Statement(update(table).where(_owner(table) == _PRINCIPAL).values(values))
            case "erase":
                yield from self._delete_statements(table)
            case "leave":
                return

    def _delete_statements(self, table: Table) -> Iterator[Statement]:
        yield from self._cascade(table, _owner(table) == _PRINCIPAL)

    def _row_statements(self, table: Table) -> Iterator[Statement]:
        for part, column in self._parts.get(table.name, ()):
            yield from self._cascade(part, part.c[column] == _KEY)
        yield Statement(delete(table).where(_key(table) == _KEY))

    def _cascade(self, table: Table, condition: ColumnElement[bool]) -> Iterator[Statement]:
        """Deletions of the rows that meet the condition, the rows that are part of them first."""
        for part, column in self._parts.get(table.name, ()):
            rows = select(_key(table)).where(condition)
            yield from self._cascade(part, part.c[column].in_(rows))
        yield Statement(delete(table).where(condition))


def current_walk() -> OwnershipWalk:
    """The walk over all tables that are imported."""
    return _walk(frozenset(SQLModel.metadata.tables))


@lru_cache(maxsize=1)
def _walk(_tables: frozenset[str]) -> OwnershipWalk:
    return OwnershipWalk(SQLModel.metadata)


def delete_row(tx: Transaction, model: type[SQLModel], key: str) -> None:
    """Delete one row by its key, and the rows that are part of it; the caller has checked whose it is."""
    current_walk().delete(tx, table_of(model).name, key)


class _Sweep:
    """How the expired rows of one table are deleted: at once, or one by one with the rows that are part of them."""

    def __init__(self, table: Table, row_statements: Sequence[Statement] | None) -> None:
        declared = lifetime_of(table)
        now = bindparam("now", type_=BigInteger)
        moments = {table.c[name]: kept for name, kept in _expiries(table).items()}
        expired = or_(*(moment <= now - kept for moment, kept in moments.items()))
        self._scrub = declared.get("scrub", False)
        self._row_statements = row_statements
        self._delete = Statement(delete(table).where(expired))
        self._expired = Query(
            select(*table.primary_key.columns)
            .where(expired)
            .order_by(*moments)
            .limit(declared.get("batch")),
            lambda row: str(row[0]),
        )

    def run(self, tx: Transaction, now: int) -> bool:
        """Whether a row was deleted that no byte may stay of."""
        if self._row_statements is None:
            return tx.run(self._delete, now=now) > 0 and self._scrub
        keys = tx.all(self._expired, now=now)
        for key in keys:
            for statement in self._row_statements:
                tx.run(statement, key=key)
        return bool(keys) and self._scrub


def _owner(table: Table) -> Column[Any]:
    return table.c[lifetime_of(table).get("owner", "owner")]


def _expiries(table: Table) -> Mapping[str, int]:
    return lifetime_of(table).get("expires", {})


def _key(table: Table) -> Column[Any]:
    """The one column of the primary key; ValueError when there are several."""
    (column,) = table.primary_key.columns
    return column
