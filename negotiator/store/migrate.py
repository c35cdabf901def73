"""Brings a database to the newest schema; safe to run by several processes at once.

A change of the schema first only adds (expand); what the version before still uses is removed one version later
(contract). So the version before starts on the newer schema. `SchemaFloor` names the oldest schema whose code may still
run; a migration that removes something raises it.
"""

import fcntl
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, NullPool, String, column, create_engine, select, table, text, true
from sqlalchemy.engine import make_url
from sqlmodel import Field, col

from negotiator.store.model import TableModel, table_options
from negotiator.store.statement import Query, Transaction

_REVISIONS: Final = Path(__file__).parent / "migrations" / "versions"
_VERSION: Final = "select version_num from alembic_version"
_revisions = table("alembic_version", column("version_num", String))
_ADVISORY_LOCK: Final = 7_461_203_981


class SchemaFloor(TableModel, table=True):
    """The oldest revision of the schema whose code works with this database; one row."""

    __tablename__ = "schema_floor"
    __table_args__ = table_options(kept="one row, which migrations change")

    oldest: str = Field(primary_key=True)


_SCHEMA: Final = Query(
    select(_revisions.c.version_num, col(SchemaFloor.oldest)).select_from(_revisions.join(SchemaFloor, true())),
    lambda row: (str(row[0]), str(row[1])),
)


async def migrate(url: str) -> None:
    """Apply every missing revision. Creates the SQLite file and its folder.

    A database of a newer version stays as it is, if this version can still work with it; else raises `Unavailable`.
    """
    if url.startswith("sqlite"):
        _migrate_file(Path(make_url(url).database or ""))
        return
    from negotiator.store.postgres_connections import one_transaction  # imported here: a file needs none

    async with one_transaction(url) as connection:
        await connection.execute(text(f"select pg_advisory_xact_lock({_ADVISORY_LOCK})"))
        await connection.run_sync(_upgrade_server)


@contextmanager
def migrations_held(path: Path) -> Generator[None]:
    """Keep every process from making or migrating this SQLite file."""
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _migrate_file(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with migrations_held(path):
        if _is_newest(path):
            return
        path.touch(mode=0o600)
        with create_engine(f"sqlite:///{path}", poolclass=NullPool).begin() as connection:
            _upgrade(connection)


def has_usable_schema(tx: Transaction) -> bool:
    """Whether this release can work with the schema: its own, or a newer one that allows it."""
    if (found := tx.one(_SCHEMA)) is None:
        return False
    (revision, oldest), newest = found, newest_revision()
    return revision >= newest >= oldest


@cache
def newest_revision() -> str:
    """The newest revision of this release, by the names of the files."""
    return max(path.name for path in _REVISIONS.glob("*_*.py")).partition("_")[0]


def _is_newest(path: Path) -> bool:
    """Whether this file has the newest schema; False when it cannot be read, for which Alembic finds the reason."""
    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True)) as connection,
    ):
        return connection.execute(_VERSION).fetchall() == [(newest_revision(),)]
    return False


def _upgrade_server(connection: Connection) -> None:
    known = connection.execute(text("select to_regclass('alembic_version')")).scalar_one()
    if not known or connection.execute(text(_VERSION)).scalars().all() != [newest_revision()]:
        _upgrade(connection)


def _upgrade(connection: Connection) -> None:
    from negotiator.store.schema_upgrades import upgrade  # imported here: Alembic is rarely needed

    upgrade(connection)
