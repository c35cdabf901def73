"""Brings a database to the newest schema; safe to run by several processes at once.

A change of the schema first only adds (expand); what the version before still uses is removed one version later
(contract). So the version before starts on the newer schema. `SchemaFloor` names the oldest schema whose code may still
run; a migration that removes something raises it.
"""

import fcntl
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import create_async_engine
from sqlmodel import Field

from negotiator.errors import Unavailable
from negotiator.store.model import TableModel, table_options

_SCRIPTS: Final = Path(__file__).parent / "migrations"
_ADVISORY_LOCK: Final = 7_461_203_981


class SchemaFloor(TableModel, table=True):
    """The oldest revision of the schema whose code works with this database; one row."""

    __tablename__ = "schema_floor"
    __table_args__ = table_options(kept="one row, which migrations change")

    oldest: str = Field(primary_key=True)


def alembic_config(connection: Connection) -> Config:
    """Alembic's configuration over an open connection."""
    made = _scripts()
    made.attributes["connection"] = connection
    return made


def known_revisions() -> list[str]:
    """The revisions of the schema that this release knows, newest first."""
    return [each.revision for each in ScriptDirectory.from_config(_scripts()).walk_revisions()]


async def migrate(url: str) -> None:
    """Apply every missing revision. Creates the SQLite file and its folder.

    A database of a newer version stays as it is, if this version can still work with it; else raises `Unavailable`.
    """
    if url.startswith("sqlite"):
        _migrate_file(Path(make_url(url).database or ""))
        return
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        await connection.execute(text(f"select pg_advisory_xact_lock({_ADVISORY_LOCK})"))
        await connection.run_sync(upgrade)
    await engine.dispose()


async def read_revisions(url: str) -> tuple[str | None, str | None]:
    """The schema's revision in the database and the newest one of this version; changes nothing."""
    if url.startswith("sqlite"):
        engine = create_engine(f"sqlite:///file:{make_url(url).database}?mode=ro&uri=true")
        try:
            with engine.connect() as connection:
                return _revisions(connection)
        finally:
            engine.dispose()
    remote = create_async_engine(url)
    try:
        async with remote.connect() as connection:
            return await connection.run_sync(_revisions)
    finally:
        await remote.dispose()


def _revisions(connection: Connection) -> tuple[str | None, str | None]:
    scripts = ScriptDirectory.from_config(alembic_config(connection))
    return (
        MigrationContext.configure(connection).get_current_revision(),
        scripts.get_current_head(),
    )


def upgrade(connection: Connection) -> None:
    """Apply every missing revision over an open connection; see `migrate`."""
    config = alembic_config(connection)
    scripts = ScriptDirectory.from_config(config)
    found, newest = (
        MigrationContext.configure(connection).get_current_revision(),
        scripts.get_current_head(),
    )
    try:
        scripts.get_revision(found or "base")
    except CommandError:
        oldest = connection.execute(text("select oldest from schema_floor")).scalar_one()
        if str(newest) < oldest:
            raise Unavailable(
                f"The database has schema {found}, which needs a Negotiator of schema {oldest} or newer; "
                f"this one has {newest}. Start the newer version, or restore a backup of the older one."
            ) from None
    else:
        command.upgrade(config, "head")


def upgrade_file(path: Path, revision: str = "head") -> None:
    """Bring an SQLite file that nobody else uses to a revision of this release; it is made when it is missing."""
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        command.upgrade(alembic_config(connection), revision)
    engine.dispose()


@contextmanager
def migrations_held(path: Path) -> Generator[None]:
    """Keep every process from making or migrating this SQLite file."""
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _migrate_file(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with migrations_held(path):
        path.touch(mode=0o600)
        engine = create_engine(f"sqlite:///{path}")
        with engine.begin() as connection:
            upgrade(connection)
        engine.dispose()


def _scripts() -> Config:
    made = Config()
    made.set_main_option("script_location", str(_SCRIPTS))
    return made
