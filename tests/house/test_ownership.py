"""No table is forgotten: each declares who owns its rows, when they expire, what they are part of, or why they stay."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import BigInteger, Column, String, Table
from sqlmodel import SQLModel

from negotiator.base.values import DAY
from negotiator.compose.application import build_application
from negotiator.store.model import table_options
from negotiator.store.ownership import OwnershipWalk, lifetime_of


@contextmanager
def _added(*columns: str, **options: Any) -> Generator[Table]:
    """One more table in the package's metadata."""
    moments = [Column(name, BigInteger) for name in columns if name.endswith("_at")]
    others = [Column(name, String) for name in columns if not name.endswith("_at")]
    key = Column("id", String, primary_key=True)
    table = Table("notes", SQLModel.metadata, key, *others, *moments, **options)
    try:
        yield table
    finally:
        SQLModel.metadata.remove(table)


def _undeclared_tables() -> dict[str, str]:
    """The tables whose rows could be forgotten by a claim, an erasure or a sweep, each with the reason.

    A table declares an owner, a parent or an expiry, or says why its rows are kept. A column whose name says that it
    holds an owner or an end has to be the declared one.
    """
    tables = SQLModel.metadata.sorted_tables
    return {table.name: fault for table in tables if (fault := _declaration_fault(table)) is not None}


def _declaration_fault(table: Table) -> str | None:
    declared = lifetime_of(table)
    if declared.keys().isdisjoint({"owner", "part_of", "expires", "kept"}):
        return "declares neither an owner, a parent, an expiry nor why its rows are kept"
    if "kept" in declared:
        return None
    for column in table.columns:
        if column.name == "owner" != declared.get("owner"):
            return "owner is not the declared owner"
        if column.name in {"expires_at", "forget_at"} and column.name not in declared.get("expires", {}):
            return f"{column.name} is not a declared expiry"
    return None


def test_every_table_says_what_becomes_of_its_rows() -> None:
    assert build_application, "the composition root has imported every table"
    assert len(SQLModel.metadata.tables) > 40
    assert _undeclared_tables() == {}
    OwnershipWalk(SQLModel.metadata)


@pytest.mark.parametrize(
    ("columns", "options"),
    [
        (("text",), {}),
        (("owner",), table_options()),
        (("owner",), table_options(part_of={"text": "negotiations"})),
        (("owner", "expires_at"), table_options(owner="owner")),
        (("owner", "forget_at"), table_options(expires={"forget_at": 0})),
    ],
)
def test_a_table_that_declares_too_little_is_found(columns: tuple[str, ...], options: dict[str, Any]) -> None:
    with _added(*columns, **options):
        assert list(_undeclared_tables()) == ["notes"]
    assert _undeclared_tables() == {}


def test_a_declared_column_exists() -> None:
    with _added("text", **table_options(owner="holder")), pytest.raises(KeyError, match="holder"):
        OwnershipWalk(SQLModel.metadata)


def _expiring_columns() -> list[Column[Any]]:
    return [
        table.c[name] for table in SQLModel.metadata.sorted_tables for name in lifetime_of(table).get("expires", {})
    ]


def test_the_oldest_rows_of_every_table_are_found_by_an_index() -> None:
    for column in _expiring_columns():
        first = [next(iter(index.columns)) for index in column.table.indexes]
        assert any(each is column for each in first), column


def test_what_has_expired_is_kept_for_a_day_unless_its_text_has_to_go() -> None:
    for column in _expiring_columns():
        declared = lifetime_of(column.table)
        kept = declared.get("expires", {})[column.name]
        assert kept >= DAY or declared.get("scrub"), column
