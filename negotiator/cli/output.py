"""Output and exit codes of commands: a line or a table for people, one JSON value for programs.

Texts of others are printed literally: markup and emoji codes in them are not interpreted, and characters that a
terminal would obey or hide are escaped (`values.escape_invisible`).
"""

import asyncio
import functools
import re
import shlex
import shutil
import sqlite3
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, ParamSpec, TypeVar

import orjson
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from negotiator import __version__, telemetry
from negotiator.backup.encrypted_stream import UnreadableBackup
from negotiator.backup.restoring import finish_interrupted_restore
from negotiator.cli.running_servers import command_sources
from negotiator.data_folder import share_data_folder
from negotiator.errors import Refusal, Unavailable, ValidationFailed
from negotiator.keys import UnusableKeyError
from negotiator.settings import Settings, find_sources, load
from negotiator.settings_files import SettingsError
from negotiator.store.migrate import migrate
from negotiator.store.statement import Transaction
from negotiator.store.store import Store, make_store
from negotiator.teleprompter.bus import publish_revocations
from negotiator.teleprompter.bus_servers import make_bus
from negotiator.values import escape_invisible, has_invisible_characters

T = TypeVar("T")
P = ParamSpec("P")

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON value instead of text.")]

_PIPE = 10_000
_LEAST_SPACE: Final = 65_536
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7e]")

stdout_console = Console(soft_wrap=True)
stderr_console = Console(stderr=True, soft_wrap=True)


def print_result(value: Any, line: str, *, as_json: bool) -> None:
    """Print the value as JSON, or the line."""
    if as_json:
        text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
        sys.stdout.write(f"{_NOT_ASCII.sub(_json_escape, text)}\n")
    else:
        stdout_console.print(_plain(line))


def print_table(rows: Iterable[Mapping[str, Any]], empty: str, *, as_json: bool) -> None:
    """Print the rows as a table or a JSON array, `empty` when there are none."""
    listed = list(rows)
    if as_json or not listed:
        print_result(listed, empty, as_json=as_json)
        return
    table = Table(box=None, header_style="bold")
    for name in listed[0]:
        table.add_column(name, overflow="fold")
    for row in listed:
        table.add_row(*(Text(escape_invisible(_cell(value))) for value in row.values()))
    # A truncated id could not be copied, so a pipe gets a width that fits every row.
    (stdout_console if stdout_console.is_terminal else Console(width=_PIPE)).print(table)


def print_version(*, verbose: bool) -> None:
    """Print the version; with `verbose` also where the code, the settings and the data are."""
    lines = [f"Negotiator {__version__}"]
    if verbose:
        sources = command_sources()
        settings = load(sources)
        files = ", ".join(map(str, sources.files)) or "no file"
        lines += [
            f"Python {sys.version.split()[0]}, {sys.executable}",
            f"Code: {Path(__file__).parents[1]}",
            f"Settings: {files}",
            f"Base URL: {settings.base_url}",
            f"Data folder: {settings.data_dir.absolute()}",
            f"Keys folder: {settings.keys_dir.absolute()}",
        ]
    print_result(None, "\n".join(lines), as_json=False)


def print_warning(line: str) -> None:
    """Print one line on standard error."""
    stderr_console.print(_plain(f"negotiator: warning: {escape_invisible(line)}"))


def load_settings() -> Settings:
    """The settings of a command, those of the user's running server included; logs go to standard error.

    A restore that was killed is finished first.
    """
    settings = load(command_sources())
    telemetry.configure(settings.log_format)
    finish_interrupted_restore(settings)
    return settings


@asynccontextmanager
async def open_store(settings: Settings, *, quiet: bool = False) -> AsyncGenerator[Store]:
    """The configured database, migrated and open; says so when it is new.

    Raises `Unavailable` with the reason when it cannot be used.
    """
    url = settings.database_url
    is_new = is_missing(url)
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
    unit: Callable[[Transaction], T], settings: Settings | None = None, *, scrub: bool = False
) -> T:
    """Run one unit on the database of these settings, by default those of a command, migrating it first.

    `scrub` overwrites the deleted data. A running server learns at once what the unit revoked. A new database is named,
    except when the caller gives the settings.
    """
    quiet = settings is not None
    settings = settings or load_settings()
    async with open_store(settings, quiet=quiet) as store:
        bus = make_bus(settings)
        publish_revocations(store, bus)
        try:
            result = await store.write(unit)
        finally:
            await bus.close()
        if scrub:
            await store.scrub()
        return result


def async_command(function: Callable[P, Awaitable[None]]) -> Callable[P, None]:
    """Make a coroutine function a command that ends as `exit_on_refusal` says."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        async def main() -> None:
            await function(*args, **kwargs)

        with exit_on_refusal():
            asyncio.run(main())

    return run


@contextmanager
def exit_on_refusal() -> Generator[None]:
    """Print refusals and unusable files or keys as one line and exit with 1, wrong settings with 2."""
    try:
        yield
    except ValidationFailed as refusal:
        exit_with_error(refusal.errors[0].description, 1)
    except Refusal as refusal:
        exit_with_error(refusal.description, 1)
    except SettingsError as fault:
        exit_with_error(str(fault), 2)
    except (UnreadableBackup, UnusableKeyError) as fault:
        exit_with_error(str(fault), 1)
    except BrokenPipeError:
        raise  # typer ends a command whose reader has gone
    except OSError as fault:
        exit_with_error(f"{reason_of(fault)}.", 1)


def command_name() -> str:
    """How the user can call this command: `negotiator` when that is this one, else by its absolute path."""
    own = Path(sys.executable).with_name("negotiator")
    if not own.exists():
        return shlex.join([sys.executable, "-m", "negotiator"])
    found = shutil.which("negotiator")
    return "negotiator" if found and Path(found).samefile(own) else shlex.quote(str(own))


def counted(number: int, plural: str) -> str:
    """A number with its noun, such as `1 memory` or `2,500 tools`."""
    singular = f"{plural[:-3]}y" if plural.endswith("ies") else plural.removesuffix("s")
    return f"{number:,} {singular if number == 1 else plural}"


def exit_with_error(line: str, code: int) -> None:
    """Print one line on standard error and exit."""
    stderr_console.print(_plain(f"negotiator: {escape_invisible(line)}"))
    raise typer.Exit(code)


def is_missing(database_url: str) -> bool:
    """Whether this is an SQLite database whose file does not exist."""
    return database_url.startswith("sqlite") and not _file(database_url).exists()


def _tell_of_new_database(url: str) -> None:
    unread = ", ".join(map(str, find_sources().unreadable))
    because = f", because this user may not read {unread}" if unread else ""
    stderr_console.print(_plain(f"negotiator: A new database was made at {_file(url)}{because}."))


def _file(url: str) -> Path:
    return Path(make_url(url).database or "")


def _plain(lines: str) -> Text:
    """The lines without markup, with invisible characters other than line breaks escaped."""
    return Text("\n".join(map(escape_invisible, lines.split("\n"))))


def _json_escape(found: re.Match[str]) -> str:
    """The character of a JSON string, escaped when a terminal would obey or hide it."""
    mark = found[0]
    if not has_invisible_characters(mark):
        return mark
    units = mark.encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)  # pyright: ignore[reportUnknownArgumentType]


def _database_faults(url: str) -> tuple[type[Exception], ...]:
    from alembic.util import CommandError

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


def reason_of(fault: Exception) -> str:
    """The reason of a fault in one line, without the statement that SQLAlchemy adds."""
    inner = getattr(fault, "orig", None) or fault
    if isinstance(inner, FileExistsError | NotADirectoryError):
        return f"{inner.filename} is not a folder"
    if isinstance(inner, OSError) and inner.strerror:
        return f"{inner.strerror}: {inner.filename}" if inner.filename else inner.strerror
    return (str(inner).strip().splitlines() or [type(inner).__name__])[0].rstrip(".")
