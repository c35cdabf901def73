"""Copies a database, while others use it, to an SQLite file, and such a file into PostgreSQL.

The SQLite file is the neutral form: it has the schema of the revision of the database that it was copied from, so that
the ordinary migrations bring it to the newest schema, and a backup of either engine restores into either engine.
"""

import asyncio
import sqlite3
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from negotiator.backup.archive import DamagedBackup
from negotiator.base.errors import Unavailable
from negotiator.store.postgres_connections import one_transaction
from negotiator.store.schema_upgrades import known_revisions, upgrade, upgrade_file

VERSION_TABLE: Final = "alembic_version"
_ROWS: Final = 1000
_WAIT_SECONDS: Final = 30.0
_STEPS_BETWEEN_SIGNALS: Final = 10_000
"""Instructions of SQLite's machine, some milliseconds."""
_CONNECTIONS = text(
    "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() "
    "and backend_type = 'client backend'"
)
_BOOLEANS = text(
    "select column_name from information_schema.columns "
    "where table_schema = current_schema() and table_name = :name and data_type = 'boolean'"
)
_FUNCTIONS = text(
    "select distinct p.oid::regprocedure::text from pg_trigger t join pg_proc p on p.oid = t.tgfoid "
    "where t.tgrelid = to_regclass(:name) and not t.tgisinternal"
)
_EXISTS = text("select to_regclass(:name)::text")
_MARK = text(f"select obj_description(to_regclass('{VERSION_TABLE}'))")


async def copy_database(url: str, target: Path) -> None:
    """Write one consistent copy of the database to a new SQLite file. `Unavailable` when there is no database."""
    if url.startswith("sqlite"):
        _copy_file(Path(make_url(url).database or ""), target)
    else:
        await _copy_from_postgres(url, target)
    target.chmod(0o600)


def _copy_file(source: Path, target: Path) -> None:
    """`VACUUM INTO` is one read transaction: writers go on, and it ends however much they write."""
    with open_file(source) as connection:
        if not (_has_table(connection, VERSION_TABLE) and revision_of(connection)):
            raise Unavailable(f"There is no database at {source} yet.")
        connection.execute("vacuum into ?", (str(target),))


async def _copy_from_postgres(url: str, target: Path) -> None:
    """All rows of one REPEATABLE READ transaction, which is one snapshot (PostgreSQL manual, Transaction Isolation)."""
    async with one_transaction(url, isolation_level="REPEATABLE READ", postgresql_readonly=True) as connection:
        if await connection.scalar(_EXISTS, {"name": VERSION_TABLE}) is None:
            raise Unavailable("The database is empty: no server has used it yet.")
        revision = await connection.scalar(text(f"select version_num from {VERSION_TABLE}"))  # noqa: S608
        if revision not in known_revisions():
            raise Unavailable(
                f"The database has schema {revision}, which this version of Negotiator does not know. Use the one "
                "that made it, or a newer one."
            )
        upgrade_file(target, revision)
        with open_file(target) as copy:
            copy.execute("pragma synchronous=off")
            copy.execute("begin")
            for table in _tables(copy):
                await _copy_rows(connection, copy, table)
            copy.execute("commit")


async def _copy_rows(connection: AsyncConnection, copy: sqlite3.Connection, table: str) -> None:
    columns = _columns(copy, table)
    copy.execute(f'delete from "{table}"')  # noqa: S608  what a migration wrote
    names = ", ".join(f'"{name}"' for name in columns)
    places = ", ".join("?" * len(columns))
    rows = await connection.stream(
        text(f'select {names} from "{table}"'),  # noqa: S608  names of this schema's own tables
        execution_options={"yield_per": _ROWS},
    )
    async for part in rows.partitions(_ROWS):
        copy.executemany(f'insert into "{table}" ({names}) values ({places})', map(tuple, part))  # noqa: S608


async def load_into_postgres(url: str, source: Path, *, set_aside: str, mark: str) -> bool:
    """Put the rows of an SQLite file of the newest schema into a PostgreSQL database, in one transaction.

    Tables that are there are moved into the schema `set_aside`; returns whether there were any. `mark` is stored with
    the database: `restore_mark` returns it once the transaction is committed. `Unavailable` while others are connected.
    """
    async with one_transaction(url) as connection:
        if others := await connection.scalar(_CONNECTIONS):
            raise Unavailable(f"Connections of others to the database: {others}; stop every server that uses it first.")
        with open_file(source) as rows:
            moved = await _move_tables(connection, [*_tables(rows), VERSION_TABLE], set_aside)
            await connection.run_sync(upgrade)
            for table in _tables(rows):
                await _load_rows(connection, rows, table)
        await connection.execute(text(f"comment on table {VERSION_TABLE} is '{mark}'"))
    return moved


async def restore_mark(url: str) -> str | None:
    """The mark of the restore that filled this PostgreSQL database; None when none did."""
    async with one_transaction(url) as connection:
        mark: str | None = await connection.scalar(_MARK)
        return mark


async def has_tables(url: str) -> bool:
    """Whether a PostgreSQL database was used by Negotiator before."""
    async with one_transaction(url) as connection:
        return await connection.scalar(_EXISTS, {"name": VERSION_TABLE}) is not None


async def read_rows(
    url: str, statements: Sequence[str], parameters: Mapping[str, Any]
) -> list[Sequence[Sequence[Any]]] | None:
    """The rows of each statement; None when a database cannot be read: a restore may be the way out of that."""
    try:
        if url.startswith("sqlite"):
            with open_file(Path(make_url(url).database or "")) as file:
                return [file.execute(each, parameters).fetchall() for each in statements]
        async with one_transaction(url) as connection:
            return [(await connection.execute(text(each), parameters)).all() for each in statements]
    except (Unavailable, sqlite3.Error, DBAPIError):
        return None


async def _move_tables(connection: AsyncConnection, tables: Iterable[str], schema: str) -> bool:
    present = [name for name in tables if await connection.scalar(_EXISTS, {"name": f'"{name}"'}) is not None]
    if not present:
        return False
    functions: set[str] = set()
    for name in present:
        found = await connection.execute(_FUNCTIONS, {"name": f'"{name}"'})
        functions.update(str(row[0]) for row in found)
    await connection.execute(text(f"create schema {schema}"))
    for name in present:
        await connection.execute(text(f'alter table "{name}" set schema {schema}'))
    for function in functions:
        await connection.execute(text(f"alter function {function} set schema {schema}"))
    return True


async def _load_rows(connection: AsyncConnection, rows: sqlite3.Connection, table: str) -> None:
    columns = _columns(rows, table)
    booleans = set((await connection.execute(_BOOLEANS, {"name": table})).scalars())
    is_boolean = [name in booleans for name in columns]
    names = ", ".join(f'"{name}"' for name in columns)
    driver: Any = (await connection.get_raw_connection()).driver_connection
    await connection.execute(text(f'delete from "{table}"'))  # noqa: S608  what a migration wrote
    cursor = rows.execute(f'select {names} from "{table}"')  # noqa: S608
    while part := cursor.fetchmany(_ROWS):
        await driver.copy_records_to_table(table, columns=columns, records=[_typed(row, is_boolean) for row in part])


def _typed(row: Sequence[Any], is_boolean: Sequence[bool]) -> tuple[Any, ...]:
    """SQLite keeps a boolean as 0 or 1."""
    return tuple(
        bool(value) if boolean and value is not None else value for value, boolean in zip(row, is_boolean, strict=True)
    )


@contextmanager
def open_file(path: Path) -> Generator[sqlite3.Connection]:
    """A connection to an SQLite file that exists; statements are their own transactions until `begin`.

    Signals are handled also within a long statement. A handler that raises ends it with CancelledError.
    """
    if not path.is_file():
        raise Unavailable(f"There is no database at {path} yet.")
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?mode=rw", uri=True, isolation_level=None, timeout=_WAIT_SECONDS
    )
    connection.set_progress_handler(_handle_signals, _STEPS_BETWEEN_SIGNALS)
    try:
        yield connection
    except sqlite3.OperationalError as fault:
        # `sqlite3` drops what the handler raises, and the statement fails as interrupted.
        if fault.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            raise asyncio.CancelledError from None
        raise
    finally:
        connection.close()


def _handle_signals() -> int:
    """Let Python call the handlers of pending signals, which it does at each call of a Python function."""
    return 0


def check_file(path: Path) -> None:
    """Raise `DamagedBackup` unless an SQLite file is intact and every reference in it leads somewhere."""
    try:
        with open_file(path) as connection:
            faults = connection.execute("pragma integrity_check(1)").fetchall()
            if faults != [("ok",)]:
                raise DamagedBackup(f"its database is not intact ({faults[0][0]})")
            if connection.execute("pragma foreign_key_check").fetchone():
                raise DamagedBackup("its database has rows that refer to missing ones")
            revision_of(connection)
    except sqlite3.DatabaseError as fault:
        raise DamagedBackup(f"its database cannot be read ({fault})") from None


def revision_of(connection: sqlite3.Connection) -> str:
    """The revision of the schema of an SQLite file; empty when it has none."""
    row = connection.execute(f"select version_num from {VERSION_TABLE}").fetchone()  # noqa: S608
    return str(row[0]) if row else ""


def count_rows(connection: sqlite3.Connection) -> dict[str, int]:
    """The number of rows of each table of an SQLite file."""
    return {
        table: connection.execute(f'select count(*) from "{table}"').fetchone()[0]  # noqa: S608
        for table in sorted(_tables(connection))
    }


def _has_table(connection: sqlite3.Connection, name: str) -> bool:
    found = connection.execute("select 1 from sqlite_master where type = 'table' and name = ?", (name,))
    return found.fetchone() is not None


def _tables(connection: sqlite3.Connection) -> list[str]:
    """The tables without that of the revision, referred tables before those that refer to them."""
    found = connection.execute("select name from sqlite_master where type = 'table' and name not like 'sqlite%'")
    names = sorted({str(row[0]) for row in found} - {VERSION_TABLE})
    order = TopologicalSorter(
        {name: {str(row[2]) for row in connection.execute(f'pragma foreign_key_list("{name}")')} for name in names}
    )
    return list(order.static_order())


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [str(row[1]) for row in connection.execute(f'pragma table_info("{table}")')]
