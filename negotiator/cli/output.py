"""How a command speaks and ends: a line or a table for people, one JSON object for machines."""

import asyncio
import functools
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Annotated, Any, ParamSpec, TypeVar

import orjson
import typer
from rich.console import Console
from rich.table import Table

from negotiator import settings, telemetry
from negotiator.errors import Refusal
from negotiator.settings import Settings, SettingsError
from negotiator.store.migrate import migrate
from negotiator.store.statement import Transaction
from negotiator.store.store import make_store

T = TypeVar("T")
P = ParamSpec("P")

Json = Annotated[bool, typer.Option("--json", help="Print one JSON value instead of text.")]

_PIPE = 10_000

people = Console(soft_wrap=True)
faults = Console(stderr=True, soft_wrap=True)


def say(value: Any, line: str, *, as_json: bool) -> None:
    """Print the value for a machine, or the line for a person."""
    if as_json:
        sys.stdout.buffer.write(orjson.dumps(value, option=orjson.OPT_INDENT_2) + b"\n")
    else:
        people.print(line, highlight=False, markup=False)


def tabulate(rows: Iterable[Mapping[str, Any]], empty: str, *, as_json: bool) -> None:
    """Print rows as a table, or as a JSON array."""
    listed = list(rows)
    if as_json or not listed:
        say(listed, empty, as_json=as_json)
        return
    table = Table(box=None, header_style="bold")
    for name in listed[0]:
        table.add_column(name, overflow="fold")
    for row in listed:
        table.add_row(*(_cell(value) for value in row.values()))
    # An id that was cut to fit could not be copied; a pipe is as wide as it needs to be.
    (people if people.is_terminal else Console(width=_PIPE)).print(table)


def configured() -> Settings:
    """The settings, with logs on standard error."""
    chosen = settings.load()
    telemetry.configure(chosen.log_format)
    return chosen


async def change(unit: Callable[[Transaction], T], *, scrub: bool = False) -> T:
    """Run one unit on the configured database, migrating it first; `scrub` leaves no byte of what it deleted."""
    chosen = configured()
    await migrate(chosen.database_url)
    store = make_store(chosen.database_url)
    await store.start()
    try:
        result = await store.write(unit)
        if scrub:
            await store.scrub()
        return result
    finally:
        await store.close()


def command(function: Callable[P, Awaitable[None]]) -> Callable[P, None]:
    """Make a coroutine a command: a refusal is one line and exit 1, a wrong setting one line and exit 2."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        async def main() -> None:
            await function(*args, **kwargs)

        try:
            asyncio.run(main())
        except Refusal as refusal:
            fail(refusal.description, 1)
        except SettingsError as fault:
            fail(str(fault), 2)

    return run


def fail(line: str, code: int) -> None:
    """One line on standard error, and the exit."""
    faults.print(f"negotiator: {line}", highlight=False, markup=False)
    raise typer.Exit(code)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)  # pyright: ignore[reportUnknownArgumentType]
