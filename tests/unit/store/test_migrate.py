"""An older version on a newer schema: it starts where it still can, and says in one line where it cannot."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from negotiator.base.errors import Unavailable
from negotiator.store.migrate import migrate, newest_revision
from negotiator.store.schema_upgrades import known_revisions, upgrade


def newer(path: Path, migrated: Path, oldest: str) -> str:
    """A database as a newer version leaves it: schema 9999, which works with versions from `oldest` on."""
    path.write_bytes(migrated.read_bytes())
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        connection.execute(text("update alembic_version set version_num = '9999'"))
        connection.execute(text("update schema_floor set oldest = :oldest"), {"oldest": oldest})
        connection.execute(text("create table of_the_future (id integer)"))
    engine.dispose()
    return f"sqlite+aiosqlite:///{path}"


@pytest.mark.asyncio
async def test_the_version_before_starts_on_the_newer_schema(tmp_path: Path, migrated: Path) -> None:
    url = newer(tmp_path / "newer.db", migrated, "0003")
    await migrate(url)
    engine = create_engine(f"sqlite:///{tmp_path / 'newer.db'}")
    with engine.connect() as connection:
        assert connection.execute(text("select version_num from alembic_version")).scalar_one() == "9999"
        upgrade(connection)
    engine.dispose()


@pytest.mark.asyncio
async def test_a_version_that_is_too_old_says_so_in_one_line(tmp_path: Path, migrated: Path) -> None:
    url = newer(tmp_path / "newer.db", migrated, "9998")
    with pytest.raises(Unavailable, match="schema 9999, which needs a Negotiator of schema 9998 or newer") as told:
        await migrate(url)
    assert "\n" not in str(told.value)


@pytest.mark.asyncio
async def test_a_database_of_the_newest_schema_is_left_to_itself(
    tmp_path: Path, migrated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert newest_revision() == known_revisions()[0]
    path = tmp_path / "newest.db"
    path.write_bytes(migrated.read_bytes())
    before = path.stat().st_mtime_ns

    def upgraded(_connection: object) -> None:
        pytest.fail("Alembic was asked")

    monkeypatch.setattr("negotiator.store.schema_upgrades.upgrade", upgraded)
    await migrate(f"sqlite+aiosqlite:///{path}")
    assert path.stat().st_mtime_ns == before


@pytest.mark.asyncio
async def test_a_schema_from_before_the_first_release_says_so_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "before.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("create table alembic_version (version_num text)")
        database.execute("insert into alembic_version values ('0005')")
        database.commit()
    with pytest.raises(Unavailable, match="schema 0005, of a version before the first release") as told:
        await migrate(f"sqlite+aiosqlite:///{path}")
    assert "\n" not in str(told.value)
