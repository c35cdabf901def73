"""Alembic's entry: the caller hands in an open connection."""

from typing import Any, Literal

from alembic import context
from sqlmodel import SQLModel
from sqlmodel.sql.sqltypes import AutoString

from negotiator.store.model import copy_index_conditions


def _render(kind: str, item: Any, _autogenerate: Any) -> str | Literal[False]:
    """A revision is history: it names SQLAlchemy's own types, not those of a library on top."""
    return "sa.String()" if kind == "type" and isinstance(item, AutoString) else False


connection = context.config.attributes["connection"]
if connection.dialect.name == "postgresql":
    copy_index_conditions(SQLModel.metadata)
context.configure(connection=connection, target_metadata=SQLModel.metadata, render_item=_render, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
