"""The database and the settings of a command."""

import os
import pwd
import shutil
import sqlite3
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final, TypeVar

from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from negotiator.base.errors import Unavailable
from negotiator.cli.output import print_error_line, reason_of
from negotiator.cli.running_servers import command_sources
from negotiator.config.data_folder import RESTORE_JOURNAL, share_data_folder
from negotiator.config.settings import Settings, find_sources, load
from negotiator.runtime import telemetry
from negotiator.store.migrate import migrate
from negotiator.store.statement import Transaction
from negotiator.store.store import Store, make_store
from negotiator.teleprompter.bus import publish_revocations
from negotiator.teleprompter.bus_servers import make_bus

T = TypeVar("T")

_LEAST_SPACE: Final = 65_536


def load_settings() -> Settings:
    """The settings of a command, those of the user's running server included; logs go to standard error.

    A restore that was killed is finished first.
    """
    settings = load(command_sources())
    telemetry.configure(settings.log_format)
    check_owner(settings)
    finish_restore(settings)
    return settings


def check_owner(settings: Settings) -> None:
    """Refuse data of another user that this one may not write, and root always, whose files the server cannot read."""
    folder, user = settings.data_dir, os.geteuid()
    if not folder.exists() or (owner := folder.stat().st_uid) == user:
        return
    if user != 0 and os.access(folder, os.W_OK | os.X_OK):
        return
    try:
        name = pwd.getpwuid(owner).pw_name
    except KeyError:
        name = f"user {owner}"
    raise Unavailable(
        f"The data folder {folder} belongs to {name}: run this as {name}, such as with "
        f"`{'runuser' if user == 0 else 'sudo'} -u {name} -- negotiator …`."
    )


def finish_restore(settings: Settings) -> None:
    """Complete or drop a restore that was killed; `Unavailable` while it still runs."""
    if (settings.data_dir / RESTORE_JOURNAL).exists():
        from negotiator.backup.restoring import finish_interrupted_restore  # rarely needed

        finish_interrupted_restore(settings)


@asynccontextmanager
async def open_store(settings: Settings, *, quiet: bool = False, makes: bool = False) -> AsyncGenerator[Store]:
    """The configured database, migrated and open. `makes` allows a new file, and says so unless it is `quiet`.

    Raises `Unavailable` with the reason when it cannot be used, and without `makes` when there is none.
    """
    url = settings.database_url
    is_new = is_missing(url)
    if not makes:
        require_database(settings)
    with share_data_folder(settings.data_dir):
        try:
            await migrate(url)
            store = make_store(url)
            await store.start()
        except (*_database_faults(url), OSError) as fault:
            raise _unusable(url, fault) from fault
        if is_new and not quiet:
            _tell_of_new_database(url)
        try:
            with database_faults_explained(url):
                yield store
        finally:
            await store.close()


@contextmanager
def database_faults_explained(url: str) -> Generator[None]:
    """Raise `Unavailable` with the reason for every fault of the database's driver."""
    try:
        yield
    except _database_faults(url) as fault:
        raise _unusable(url, fault) from fault


async def run_unit(
    unit: Callable[[Transaction], T], settings: Settings | None = None, *, scrub: bool = False, makes: bool = False
) -> T:
    """Run one unit on the database of these settings, by default those of a command, migrating it first.

    `scrub` overwrites the deleted data; `makes` allows a new database file. A running server learns at once what the
    unit revoked.
    """
    settings = settings or load_settings()
    async with open_store(settings, makes=makes) as store:
        bus = make_bus(settings)
        publish_revocations(store, bus)
        try:
            result = await store.write(unit)
        finally:
            await bus.close()
        if scrub:
            await store.scrub()
        return result


def is_missing(database_url: str) -> bool:
    """Whether this is an SQLite database whose file does not exist."""
    return database_url.startswith("sqlite") and not _file(database_url).exists()


def require_database(settings: Settings) -> None:
    """Raise `Unavailable` when the settings lead to a database file that does not exist."""
    url = settings.database_url
    if not is_missing(url):
        return
    file = _file(url).absolute()
    if next(filter(Path.exists, file.parents)).is_dir():  # else opening it says which part of the path is a file
        raise Unavailable(
            f"There is no database at {file}{_unread()}. Run this as the user of the server, in the server's folder, "
            "or name its settings with --config or its data with NEGOTIATOR_DATA_DIR. `negotiator serve` or "
            "`negotiator migrate` makes a new one."
        )


def _tell_of_new_database(url: str) -> None:
    print_error_line(f"A new database was made at {_file(url)}{_unread()}.")


def _unread() -> str:
    """Why the settings may lead elsewhere: files with settings that this user may not read."""
    unread = ", ".join(map(str, find_sources().unreadable))
    return f", because this user may not read {unread}" if unread else ""


def _file(url: str) -> Path:
    return Path(make_url(url).database or "")


def _database_faults(url: str) -> tuple[type[Exception], ...]:
    from alembic.util import CommandError  # imported here: only a fault needs it

    if url.startswith("sqlite"):
        return sqlite3.Error, SQLAlchemyError, CommandError
    import asyncpg  # pyright: ignore[reportMissingTypeStubs]

    return asyncpg.PostgresError, asyncpg.InterfaceError, SQLAlchemyError, CommandError


def _unusable(url: str, fault: Exception) -> Unavailable:
    parts = make_url(url)
    if not url.startswith("sqlite"):
        name = parts.render_as_string()
        return Unavailable(f"The database {name} cannot be used: {reason_of(fault)}.")
    reason = reason_of(fault)
    # SQLite calls it an I/O error when the file that its processes share finds no room.
    if _is_disk_full(_file(url).parent) and "full" not in reason:
        reason = f"the disk is full ({reason})"
    return Unavailable(f"The database {parts.database} cannot be used: {reason}.")


def _is_disk_full(folder: Path) -> bool:
    return folder.exists() and shutil.disk_usage(folder).free < _LEAST_SPACE
