"""The base class of every table, and what a table declares about the life of its rows."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, TypedDict, Unpack

from pydantic import ConfigDict
from sqlalchemy import MetaData
from sqlmodel import SQLModel


class TableModel(SQLModel):
    """A table class whose `__tablename__` is a plain string; SQLModel types it as a declared attribute."""

    model_config = ConfigDict(defer_build=True)  # pyright: ignore[reportAssignmentType]

    __tablename__: ClassVar[str]  # pyright: ignore[reportIncompatibleVariableOverride]


class RowLifetime(TypedDict, total=False):
    """The `info` of a table: who owns its rows and when they are deleted. `store.ownership` follows it."""

    owner: str
    """The column with the principal that owns a row: the id of an agent or a user."""
    origin: str
    """The column that receives the agent's id when a claim moves a row to the agent's user."""
    on_claim: Literal["move", "erase", "leave"]
    """What a claim does to the agent's rows; `move` unless the table says otherwise."""
    part_of: Mapping[str, str]
    """Column to table: a row is deleted together with the row of that table whose key the column holds."""
    expires: Mapping[str, int]
    """Column to milliseconds: a row is deleted that long after the moment in the column (null: never).

    At least a day, so that a clock that is wrong for some hours makes nothing usable twice; less only for text that was
    promised to be gone.
    """
    scrub: bool
    """Whether no byte of an expired row may stay in the database's files."""
    erased_by: Mapping[str, Literal["principal", "email"]]
    """Column to what it holds of a user or agent that does not own the row: it goes when an operator erases them."""
    kept: str
    """Why rows stay although their owner goes, their moment passes, or nobody owns them."""


def table_options(*, sqlite_with_rowid: bool = True, **lifetime: Unpack[RowLifetime]) -> dict[str, Any]:
    """The options at the end of `__table_args__`: the lifetime of the rows, and whether SQLite adds a rowid."""
    options: dict[str, Any] = {"info": lifetime}
    return options if sqlite_with_rowid else {**options, "sqlite_with_rowid": False}


def copy_index_conditions(metadata: MetaData) -> None:
    """Give PostgreSQL the condition of each partial index, which a table states for SQLite.

    Options of a dialect import it, and few processes need PostgreSQL's.
    """
    for table in metadata.tables.values():
        for index in table.indexes:
            condition = index.dialect_options["sqlite"]["where"]
            if condition is not None:
                index.dialect_options["postgresql"]["where"] = condition
