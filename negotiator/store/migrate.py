"""Brings a database to the newest schema; safe to run by several processes at once."""

import fcntl
from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import create_async_engine

_SCRIPTS: Final = Path(__file__).parent / "migrations"
_ADVISORY_LOCK: Final = 7_461_203_981


def alembic_config(connection: Connection) -> Config:
    """Alembic's configuration over an open connection."""
    made = Config()
    made.set_main_option("script_location", str(_SCRIPTS))
    made.attributes["connection"] = connection
    return made


async def migrate(url: str) -> None:
    """Apply every missing revision. Creates the SQLite file and its folder."""
    if url.startswith("sqlite"):
        _migrate_file(Path(make_url(url).database or ""))
        return
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        await connection.execute(text(f"select pg_advisory_xact_lock({_ADVISORY_LOCK})"))
        await connection.run_sync(lambda inner: command.upgrade(alembic_config(inner), "head"))
    await engine.dispose()


def _migrate_file(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path.touch(mode=0o600)
        engine = create_engine(f"sqlite:///{path}")
        with engine.begin() as connection:
            command.upgrade(alembic_config(connection), "head")
        engine.dispose()
