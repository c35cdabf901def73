"""Claiming, erasing and expiry, derived from what each table declares about its rows (`store.model.RowLifetime`)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal, cast

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Integer,
    MetaData,
    String,
    Table,
    bindparam,
    delete,
    func,
    select,
    tuple_,
    update,
)
from sqlmodel import SQLModel

from negotiator.store.model import RowLifetime
from negotiator.store.statement import Query, Statement, Transaction
from negotiator.store.statement import table as table_of

_PRINCIPAL: Final = bindparam("principal", type_=String)
_KEY: Final = bindparam("key", type_=String)


def lifetime_of(table: Table) -> RowLifetime:
    """What a table declares about its rows; empty when it declares nothing."""
    return cast("RowLifetime", table.info)


@dataclass(frozen=True, slots=True)
class Chore:
    """One kind of deletion or change that time brings, done in short units.

    `run` takes a transaction, the moment in milliseconds and the most rows to handle; it returns how many it handled,
    fewer than the limit when nothing is left. `scrub` tells that no byte of a deleted row may stay in the files.
    """

    name: str
    run: Callable[[Transaction, int, int], int]
    scrub: bool = False


class OwnershipWalk:
    """The statements of every table in the metadata, compiled once."""

    def __init__(self, metadata: MetaData) -> None:
        self._parts: dict[str, list[tuple[Table, str]]] = {}
        for table in metadata.sorted_tables:
            for column, parent in lifetime_of(table).get("part_of", {}).items():
                self._parts.setdefault(parent, []).append((table, column))
        owned = [table for table in metadata.sorted_tables if "owner" in lifetime_of(table)]
        self._claims = [s for table in owned for s in self._claim_statements(table)]
        self._owned_names = [str(table.name) for table in owned]
        self._erasures = [list(self._cascade(table, _owner(table) == _PRINCIPAL)) for table in owned]
        counts = (select(func.count()).where(_owner(table) == _PRINCIPAL) for table in owned)
        self._count_owned = Query(select(*(each.scalar_subquery() for each in counts)), tuple)
        self._mentions: dict[str, list[Statement]] = {"principal": [], "email": []}
        for table in metadata.sorted_tables:
            for column, kind in lifetime_of(table).get("erased_by", {}).items():
                self._mentions[kind] += self._cascade(table, table.c[column] == _PRINCIPAL)
        self.rows = {parent: list(self._row_statements(metadata.tables[parent])) for parent in self._parts}
        """For each table with parts, the deletion of one row by its key, the rows that are part of it first."""
        self.expiries = tuple(
            self._expiry(table, column, kept)
            for table in metadata.sorted_tables
            for column, kept in lifetime_of(table).get("expires", {}).items()
        )
        """One chore for each column with the end of a row's life."""

    def claim(self, tx: Transaction, agent_id: str, user_id: str) -> None:
        """Give an agent's rows to its user, marked with the agent where the table has an `origin`."""
        for statement in self._claims:
            tx.run(statement, principal=agent_id, new_owner=user_id)

    def erase(self, tx: Transaction, principal: str) -> None:
        """Delete every row that a principal owns, and the rows that are part of them.

        Most own rows in few tables or none, so one query tells first where there is anything to delete.
        """
        for number, statements in zip(self._counts(tx, principal), self._erasures, strict=True):
            if number:
                for statement in statements:
                    tx.run(statement, principal=principal)

    def erase_mentions(self, tx: Transaction, kind: Literal["principal", "email"], value: str) -> None:
        """Delete every row that holds this id or e-mail address in a column that is declared `erased_by`."""
        for statement in self._mentions[kind]:
            tx.run(statement, principal=value)

    def count_owned(self, tx: Transaction, principal: str) -> dict[str, int]:
        """The number of rows that a principal owns in each table where they own any."""
        found = zip(self._owned_names, self._counts(tx, principal), strict=True)
        return {name: number for name, number in found if number}

    def _counts(self, tx: Transaction, principal: str) -> Sequence[int]:
        """How many rows of each owned table a principal owns."""
        found = tx.one(self._count_owned, principal=principal)
        assert found is not None  # noqa: S101  a query of counts always has a row
        return found

    def _expiry(self, table: Table, column: str, kept: int) -> Chore:
        now, limit = bindparam("now", type_=BigInteger), bindparam("limit", type_=Integer)
        keys = tuple(table.primary_key.columns)
        moment = table.c[column]
        oldest = select(*keys).where(moment <= now - kept).order_by(moment).limit(limit)
        name, scrub = f"{table.name}.{column}", lifetime_of(table).get("scrub", False)
        row_statements = self.rows.get(table.name)
        if row_statements is None:
            found = keys[0] if len(keys) == 1 else tuple_(*keys)
            removal = Statement(delete(table).where(found.in_(oldest)))
            return Chore(name, lambda tx, now, limit: tx.run(removal, now=now, limit=limit), scrub)
        expired = Query(oldest, lambda row: str(row[0]))

        def run(tx: Transaction, now: int, limit: int) -> int:
            found = tx.all(expired, now=now, limit=limit)
            for key in found:
                for statement in row_statements:
                    tx.run(statement, key=key)
            return len(found)

        return Chore(name, run, scrub)

    def _claim_statements(self, table: Table) -> Iterator[Statement]:
        declared = lifetime_of(table)
        match declared.get("on_claim", "move"):
            case "move":
                values: dict[str, Any] = {_owner(table).name: bindparam("new_owner")}
                if "origin" in declared:
                    values[declared["origin"]] = _PRINCIPAL
                yield Statement(update(table).where(_owner(table) == _PRINCIPAL).values(values))
            case "erase":
                yield from self._cascade(table, _owner(table) == _PRINCIPAL)
            case "leave":
                return

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
    """The walk over all tables that are imported; `compose.ownership` imports them all."""
    return _walk(frozenset(SQLModel.metadata.tables))


@lru_cache(maxsize=1)
def _walk(_tables: frozenset[str]) -> OwnershipWalk:
    return OwnershipWalk(SQLModel.metadata)


def delete_row(tx: Transaction, model: type[SQLModel], key: str) -> None:
    """Delete one row by its key, and the rows that are part of it; the caller has checked whose it is."""
    for statement in current_walk().rows[table_of(model).name]:
        tx.run(statement, key=key)


def _owner(table: Table) -> Column[Any]:
    return table.c[lifetime_of(table).get("owner", "owner")]


def _key(table: Table) -> Column[Any]:
    """The one column of the primary key; ValueError when there are several."""
    (column,) = table.primary_key.columns
    return column
