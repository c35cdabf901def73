"""What a database stores, as text and as bytes, for tests of erasure and retention."""

from pathlib import Path

from sqlalchemy import select
from sqlmodel import SQLModel

from negotiator.store.statement import Query, Transaction


def texts(tx: Transaction) -> dict[str, str]:
    """Every row of every table, as text."""
    found: dict[str, str] = {}
    for table in SQLModel.metadata.sorted_tables:
        rows = tx.all(Query(select(*table.columns), tuple))
        found[table.name] = repr(rows)
    return found


def names(store_texts: dict[str, str], word: str) -> set[str]:
    return {table for table, text in store_texts.items() if word in text}


def raw(database_url: str) -> bytes:
    """The bytes of the database's files; nothing for PostgreSQL, whose files the server keeps."""
    if not database_url.startswith("sqlite"):
        return b""
    path = Path(database_url.partition("///")[2])
    return b"".join(each.read_bytes() for each in path.parent.glob(f"{path.name}*"))
