"""Output and exit codes of commands: a line or a table for people, one JSON value for programs.

Texts of others are printed literally: markup and emoji codes in them are not interpreted, and characters that a
terminal would obey or hide are escaped (`values.escape_invisible`).
"""

import asyncio
import functools
import re
import shlex
import shutil
import signal
import sys
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, Final, ParamSpec

import orjson
import typer

from negotiator import __version__
from negotiator.base.errors import Refusal, UnusableFileError, ValidationFailed
from negotiator.base.values import escape_invisible, has_invisible_characters
from negotiator.cli.running_servers import command_sources
from negotiator.config.settings import load
from negotiator.config.settings_files import SettingsError

P = ParamSpec("P")

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON value instead of text.")]

_NOT_ASCII: Final = re.compile(r"[^\x00-\x7e]")


def print_result(value: Any, line: str, *, as_json: bool) -> None:
    """Print the value as JSON, or the line."""
    if as_json:
        text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
        sys.stdout.write(f"{_NOT_ASCII.sub(_json_escape, text)}\n")
    else:
        typer.echo(_plain(line))


def print_table(rows: Iterable[Mapping[str, Any]], empty: str, *, as_json: bool) -> None:
    """Print the rows as a table or a JSON array, `empty` when there are none."""
    listed = list(rows)
    if as_json or not listed:
        print_result(listed, empty, as_json=as_json)
        return
    from negotiator.cli.tables import print_cells  # imported here: rich is large

    print_cells(list(listed[0]), [[escape_invisible(_cell(v)) for v in row.values()] for row in listed])


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
            f"Keys folder: {settings.keys_dir.absolute()}" if settings.keys_in == "files" else "Keys: in the database",
        ]
    print_result(None, "\n".join(lines), as_json=False)


def print_warning(line: str) -> None:
    """Print one line on standard error."""
    print_error_line(f"warning: {escape_invisible(line)}")


def async_command(function: Callable[P, Awaitable[None]]) -> Callable[P, None]:
    """Make a coroutine function a command that ends as `exit_on_refusal` says, and at Ctrl-C at once with 130."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        async def main() -> None:
            with _interruptible():
                await function(*args, **kwargs)

        with exit_on_refusal():
            try:
                asyncio.run(main())
            except asyncio.CancelledError:
                raise KeyboardInterrupt from None

    return run


@contextmanager
def _interruptible() -> Generator[None]:
    """End this task when SIGINT comes, with CancelledError wherever it is; a second SIGINT is KeyboardInterrupt.

    asyncio's own handler only cancels the task. A task that runs without a pause (SQLite, compression, a prompt) learns
    of it when it next waits, which may be never.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def end(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if asyncio.current_task(loop) is task:
            raise asyncio.CancelledError
        if task is not None:
            task.cancel()
            loop.call_soon_threadsafe(lambda: None)  # wakes the loop

    try:
        before = signal.signal(signal.SIGINT, end)
    except ValueError:  # not the main thread, which alone may set a handler
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


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
    except UnusableFileError as fault:
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


def print_error_line(line: str) -> None:
    """Print one line of the command on standard error."""
    typer.echo(_plain(f"negotiator: {line}"), err=True)


def exit_with_error(line: str, code: int) -> None:
    """Print one line on standard error and exit."""
    print_error_line(escape_invisible(line))
    raise typer.Exit(code)


def _plain(lines: str) -> str:
    """The lines without markup, with invisible characters other than line breaks escaped."""
    return "\n".join(map(escape_invisible, lines.split("\n")))


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


def reason_of(fault: Exception) -> str:
    """The reason of a fault in one line, without the statement that SQLAlchemy adds."""
    inner = getattr(fault, "orig", None) or fault
    if isinstance(inner, FileExistsError | NotADirectoryError):
        return f"{inner.filename} is not a folder"
    if isinstance(inner, OSError) and inner.strerror:
        return f"{inner.strerror}: {inner.filename}" if inner.filename else inner.strerror
    return (str(inner).strip().splitlines() or [type(inner).__name__])[0].rstrip(".")
