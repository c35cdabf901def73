"""A statement is compiled when it first runs; here each one is, for both databases."""

import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any, cast

from sqlalchemy import Column, ForeignKey, Index, Integer, MetaData, Table, delete, exists, insert, select, text, update
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex

from negotiator.store.model import copy_index_conditions
from negotiator.store.postgres import PostgresDialect, positional_text
from negotiator.store.statement import Statement


def test_every_statement_compiles() -> None:
    for module in ("negotiator.compose.app", "negotiator.compose.console", "negotiator.backup.restoring"):
        import_module(module)
    ours = [module for name, module in sys.modules.items() if name.startswith("negotiator.")]
    found = [each for module in ours for each in _statements(dict(vars(module)))]
    assert len(found) > 300
    for statement in found:
        assert statement.sql
        assert positional_text(statement).text


def _statements(value: Any, depth: int = 0) -> Iterator[Statement]:
    """The statements in a value, which may be a collection of collections."""
    if isinstance(value, Statement):
        yield value
    elif depth < 3 and isinstance(value, dict):
        for each in cast("dict[Any, Any]", value).values():
            yield from _statements(each, depth + 1)
    elif depth < 3 and isinstance(value, list | tuple):
        for each in cast("list[Any]", value):
            yield from _statements(each, depth + 1)


def test_a_partial_index_has_its_condition_on_both_databases() -> None:
    items = Table("items", MetaData(), Column("id", Integer))
    index = Index("ix_items_id", items.c.id, sqlite_where=text("id > 1"))
    copy_index_conditions(items.metadata)
    for dialect in (sqlite.dialect(), PostgresDialect()):
        assert str(CreateIndex(index).compile(dialect=dialect)).endswith("WHERE id > 1")


def test_the_tables_that_a_statement_names_are_known_and_of_plain_text_none_are() -> None:
    metadata = MetaData()
    items, owners = (Table(name, metadata, Column("id", Integer)) for name in ("items", "owners"))
    parts = Table("parts", metadata, Column("item", Integer, ForeignKey("items.id")))
    other = items.alias()
    nested = select(owners.c.id).where(exists().where(other.c.id == owners.c.id))
    named = [
        (nested, {"items", "owners"}),
        (select(select(items).subquery().c.id), {"items"}),
        (insert(parts), {"parts", "items"}),
        (update(items).values(id=1).where(items.c.id.in_(select(parts.c.item))), {"items", "parts"}),
        (delete(parts).where(parts.c.item == owners.c.id), {"parts", "owners"}),
        (select(items).where(text("true")), None),
    ]
    for clause, tables in named:
        assert positional_text(Statement(clause)).tables == tables
