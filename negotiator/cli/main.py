"""The command tree, and the commands that belong to no topic."""

from typing import Annotated

import orjson
import typer

from negotiator import __version__, audit
from negotiator.cli import access, identity
from negotiator.cli.demo.command import demo
from negotiator.cli.directory import directory
from negotiator.cli.memory import memory
from negotiator.cli.output import Json, change, command, configured, say, tabulate
from negotiator.cli.serve import serve
from negotiator.directory.exchange import importing
from negotiator.discovery import openapi
from negotiator.keys import ALGORITHMS, Keyring
from negotiator.values import timestamp

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Negotiator: a negotiation assistant server that any agent can walk up to.",
)
keys = typer.Typer(no_args_is_help=True, help="Signing keys.")
app.add_typer(identity.users, name="users")
app.add_typer(identity.issuers, name="issuers")
app.add_typer(access.delegations, name="delegations")
app.add_typer(access.clients, name="clients")
app.add_typer(directory, name="directory")
app.add_typer(memory, name="memory")
app.add_typer(keys, name="keys")
app.command("serve")(serve)
app.command("demo")(demo)


@app.command("migrate")
@command
async def migrate_database(as_json: Json = False) -> None:
    """Bring the database to the newest schema, and the catalogue to this release's content."""
    await change(importing.stock_with_content)
    say({"migrated": True}, "The database has the newest schema.", as_json=as_json)


@app.command("audit")
@command
async def audit_trail(
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many events.")] = 50,
    as_json: Json = False,
) -> None:
    """Show the newest identity events, newest first."""
    events = await change(lambda tx: audit.latest(tx, limit))
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
    tabulate(rows, "Nothing has happened yet.", as_json=as_json)


@app.command("openapi")
@command
async def print_openapi(as_json: Json = False) -> None:
    """Print the OpenAPI description of this configuration; it is JSON either way."""
    from negotiator.wiring.house import build  # the whole service: other commands need not load it

    document = openapi.document(build(configured()).service, __version__)
    say(
        document,
        orjson.dumps(document, option=orjson.OPT_INDENT_2).decode(),
        as_json=as_json,
    )


@keys.command("list")
@command
async def list_keys(as_json: Json = False) -> None:
    """Show the signing keys: of each algorithm the current one signs, the next one is published ahead."""
    ring = Keyring(configured().keys_dir)
    rows: list[dict[str, str]] = []
    for algorithm in ALGORITHMS:
        family = ring.family(algorithm)
        states = [*("retired" for _ in family[2:]), "current", "next"]
        rows += [
            {
                "kid": key.kid,
                "algorithm": algorithm,
                "state": state,
                "made_at": timestamp(key.made_at),
            }
            for key, state in zip(family, states, strict=True)
        ]
    tabulate(rows, "No keys.", as_json=as_json)


@keys.command("rotate")
@command
async def rotate_keys(as_json: Json = False) -> None:
    """Let the next keys sign; running servers notice within a second and no request fails."""
    current = Keyring(configured().keys_dir).rotate()
    say({"current": current.kid}, f"{current.kid} signs from now on.", as_json=as_json)
