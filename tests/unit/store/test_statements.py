"""A statement is compiled when it first runs; here each one is, for both databases."""

import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any, cast

from sqlalchemy.dialects.postgresql import asyncpg

from negotiator.store.statement import Statement


def test_every_statement_compiles() -> None:
    for module in ("negotiator.app", "negotiator.backup.restoring"):
        import_module(module)
    ours = [module for name, module in sys.modules.items() if name.startswith("negotiator.")]
    found = [each for module in ours for each in _statements(dict(vars(module)))]
    assert len(found) > 300
    for statement in found:
        assert statement.sql
        assert str(statement.clause.compile(dialect=asyncpg.dialect()))


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
