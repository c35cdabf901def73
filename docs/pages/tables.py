"""Every table, from the metadata that the statements are compiled from."""

from collections.abc import Iterable
from inspect import cleandoc

from sqlalchemy import Column, Table
from sqlmodel import SQLModel

from docs.pages.markdown import code, grid
from negotiator.http.operation import ServiceDescription


def page(_service: ServiceDescription) -> Iterable[str]:
    """Tables by name."""
    yield "# Tables\n"
    yield "Moments are integers, milliseconds since the epoch; lists are kept space-delimited; `0`/`1` are booleans.\n"
    meanings = _meanings()
    tables = [table for table in SQLModel.metadata.sorted_tables if table.name in meanings]
    for table in sorted(tables, key=lambda table: table.name):
        yield f"## `{table.name}`\n"
        yield f"{meanings[table.name]}\n"
        columns = ((code(column.name), code(str(column.type).lower()), _notes(column)) for column in table.columns)
        yield from grid(("Column", "Type", ""), columns)


def _meanings() -> dict[str, str]:
    """What each table's class in the package says of it."""
    found: dict[str, str] = {}
    for mapper in SQLModel._sa_registry.mappers:  # pyright: ignore[reportPrivateUsage]
        table = mapper.local_table
        if isinstance(table, Table) and mapper.class_.__module__.startswith("negotiator."):
            found[table.name] = cleandoc(mapper.class_.__doc__ or "")
    return found


def _notes(column: Column[object]) -> str:
    notes = ["key"] if column.primary_key else []
    notes += ["may be null"] if column.nullable else []
    notes += ["unique"] if column.unique else []
    notes += ["indexed"] if column.index else []
    notes += [f"refers to {code(key.target_fullname)}" for key in column.foreign_keys]
    return ", ".join(notes)
