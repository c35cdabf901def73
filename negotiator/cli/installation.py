"""The commands of an installation: signing keys, database, audit trail, description and demonstration."""

from pathlib import Path
from typing import Annotated

import orjson
import typer

from negotiator import __version__
from negotiator.base.values import timestamp
from negotiator.cli.database import is_missing, load_settings, open_store, require_database, run_unit
from negotiator.cli.output import JsonOption, async_command, print_result, print_table
from negotiator.compose import shared_secrets
from negotiator.directory import exchange_import
from negotiator.discovery import openapi
from negotiator.keys.keyring import ALGORITHMS, FolderKeyring
from negotiator.store import audit

keys_app = typer.Typer(no_args_is_help=True)


def demo(
    url: Annotated[
        str, typer.Option(help="A running server with the same settings as this command. Default: a server of its own.")
    ] = "",
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Show each request of a longer run, chapter by chapter.")
    ] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Fill a database with four example negotiations instead, and serve it.")
    ] = False,
    folder: Annotated[
        Path | None,
        typer.Argument(help="With --keep: the folder of the database.", show_default="`demo` in the data folder"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Tell one negotiation on a real server, and check every answer; with --verbose show each request and more.

    With --keep, fill a database to look at and serve it until Ctrl-C; with --json, only fill it.
    """
    from negotiator.cli.demo.command import (
        run_demo,  # imported here, because it loads a third of what all other commands need
    )

    run_demo(url, folder, verbose=verbose, keep=keep, as_json=as_json)


@async_command
async def migrate_database(as_json: JsonOption = False) -> None:
    """Migrate the database to the newest schema and the catalogue to this release's content."""
    await run_unit(exchange_import.import_bundled_content, makes=True)
    print_result({"migrated": True}, "The database has the newest schema.", as_json=as_json)


@async_command
async def audit_trail(
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many events.")] = 50, as_json: JsonOption = False
) -> None:
    """List the newest identity events, newest first."""
    events = await run_unit(lambda tx: audit.latest_events(tx, limit))
    rows = (
        {
            "at": timestamp(event.at),
            "event": event.event,
            "subject": event.subject,
            "actor": event.actor,
            "detail": orjson.loads(event.detail) if as_json else event.detail,
        }
        for event in events
    )
    print_table(rows, "No events.", as_json=as_json)


@async_command
async def print_openapi(as_json: JsonOption = False) -> None:
    """Print the OpenAPI description of this configuration as JSON."""
    from negotiator.compose.application import (
        build_application,  # imported here, because other commands do not need the whole service
    )

    document = openapi.openapi_document(build_application(load_settings()).service, __version__)
    print_result(document, orjson.dumps(document, option=orjson.OPT_INDENT_2).decode(), as_json=as_json)


@keys_app.command("list")
@async_command
async def list_keys(as_json: JsonOption = False) -> None:
    """List the signing keys: for each algorithm the current key, the next key (published already) and retired keys."""
    settings = load_settings()
    require_database(settings)
    if settings.keys_in == "files":
        ring = FolderKeyring(settings.keys_dir)
    else:
        async with open_store(settings) as store:
            ring = await shared_secrets.open_keyring(settings, store)
    rows: list[dict[str, str]] = []
    for algorithm in ALGORITHMS:
        family = ring.family(algorithm)
        states = [*("retired" for _ in family[2:]), "current", "next"]
        rows += [
            {"kid": key.kid, "algorithm": algorithm, "state": state, "made_at": timestamp(key.made_at)}
            for key, state in zip(family, states, strict=True)
        ]
    print_table(rows, "No keys.", as_json=as_json)


@keys_app.command("rotate")
@async_command
async def rotate_keys(as_json: JsonOption = False) -> None:
    """Make the next keys the signing keys; running servers notice within a second and no request fails."""
    settings = load_settings()
    if settings.keys_in == "files" and is_missing(settings.database_url):
        kid = FolderKeyring(settings.keys_dir).rotate().kid
    else:
        async with open_store(settings, quiet=True) as store:
            kid = await shared_secrets.rotate_keys(store, settings)
    print_result({"current": kid}, f"{kid} is the signing key now.", as_json=as_json)


@keys_app.command("remove")
@async_command
async def remove_key(
    kid: Annotated[str, typer.Argument(metavar="KEY", help="Its id, as `keys list` shows it.")],
    as_json: JsonOption = False,
) -> None:
    """Delete a retired signing key that leaked: what it signed is dead within a second."""
    settings = load_settings()
    async with open_store(settings) as store:
        await shared_secrets.remove_key(store, settings, kid)
    print_result({"removed": kid}, f"{kid} is deleted.", as_json=as_json)
