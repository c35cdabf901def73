"""Alembic: the revisions of the schema, and the steps between them. Imported only when a step is due; see `migrate`."""

from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, NullPool, create_engine, text
from sqlalchemy.engine import make_url

from negotiator.base.errors import Unavailable
from negotiator.store.postgres_connections import one_transaction

_SCRIPTS: Final = Path(__file__).parent / "migrations"


def alembic_config(connection: Connection | None = None) -> Config:
    """Alembic's configuration, over an open connection if there is one."""
    made = Config(attributes={"connection": connection})
    made.set_main_option("script_location", str(_SCRIPTS))
    return made


def known_revisions() -> list[str]:
    """The revisions of the schema that this release knows, newest first."""
    return [each.revision for each in ScriptDirectory.from_config(alembic_config()).walk_revisions()]


async def read_revisions(url: str) -> tuple[str | None, str | None]:
    """The schema's revision in the database and the newest one of this version; changes nothing."""
    if url.startswith("sqlite"):
        file = f"sqlite:///file:{make_url(url).database}?mode=ro&uri=true"
        with create_engine(file, poolclass=NullPool).connect() as connection:
            return _revisions(connection)
    async with one_transaction(url) as remote:
        return await remote.run_sync(_revisions)


def _revisions(connection: Connection) -> tuple[str | None, str | None]:
    scripts = ScriptDirectory.from_config(alembic_config(connection))
    return (MigrationContext.configure(connection).get_current_revision(), scripts.get_current_head())


def upgrade(connection: Connection) -> None:
    """Apply every missing revision over an open connection; see `migrate`."""
    config = alembic_config(connection)
    found, newest = _revisions(connection)
    try:
        ScriptDirectory.from_config(config).get_revision(found or "base")
    except CommandError:
        if str(found) < str(newest):
            raise Unavailable(
                f"The database has schema {found}, of a version before the first release, which cannot be brought to "
                f"schema {newest}. Start the version that made it, or name another database."
            ) from None
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
    with create_engine(f"sqlite:///{path}", poolclass=NullPool).begin() as connection:
        command.upgrade(alembic_config(connection), revision)
