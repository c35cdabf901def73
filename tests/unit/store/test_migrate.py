"""An older version on a newer schema: it starts where it still can, and says in one line where it cannot."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from negotiator.base import values
from negotiator.base.errors import Unavailable
from negotiator.memory.content_guard import text_digest
from negotiator.memory.tables import Memory
from negotiator.store.migrate import migrate, newest_revision
from negotiator.store.schema_upgrades import known_revisions, upgrade, upgrade_file
from negotiator.store.statement import table
from negotiator.trust.revocations import FOREVER


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


def test_rehearsals_that_an_erasure_had_left_are_deleted(tmp_path: Path) -> None:
    path = tmp_path / "before.db"
    upgrade_file(path, "0014")
    marker = b"canarywharf"
    with closing(sqlite3.connect(path)) as before:
        row = ("reh_1", "neg_1", "usr_1", 1, "running", marker, b"", b"", b"", 1, 1, 1)
        before.execute(f"insert into rehearsals values ({', '.join('?' * len(row))})", row)  # noqa: S608
        before.commit()
    assert marker in path.read_bytes()
    upgrade_file(path)
    assert marker not in path.read_bytes()


def test_an_account_that_was_opened_again_is_not_revoked_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "before.db"
    upgrade_file(path, "0014")
    with closing(sqlite3.connect(path)) as database:
        for name, closed in (("usr_open", None), ("usr_closed", 1)):
            database.execute("insert into users values (?, null, '', '', 0, 1, ?)", (name, closed))
            database.execute("insert into revocations values (?, ?, null)", (name, FOREVER))
        database.commit()
        upgrade_file(path)
        after = dict(database.execute("select subject, before from revocations"))
    assert after["usr_closed"] == FOREVER
    assert values.now() - values.DAY < after["usr_open"] <= values.now()


def test_a_stored_memory_is_told_from_one_in_another_case(tmp_path: Path) -> None:
    path, columns = tmp_path / "before.db", [column.name for column in table(Memory).columns]
    upgrade_file(path, "0014")
    view = {"text": "Bär  pays US.", "counterparty": None}
    row = {
        **dict.fromkeys(columns, 1),
        "id": "mem_1",
        "owner": "usr_1",
        "digest": "",
        "document": json.dumps(view).encode(),
    }
    with closing(sqlite3.connect(path)) as database:
        names = ", ".join(columns)
        places = ", ".join(f":{name}" for name in columns)
        database.execute(f"insert into memories ({names}) values ({places})", row)  # noqa: S608
        database.commit()
        upgrade_file(path)
        [digest] = database.execute("select digest from memories").fetchone()
    assert digest == text_digest("Ba\u0308r pays US.", None) != text_digest("Bär pays us.", None)
