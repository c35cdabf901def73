"""`negotiator serve`: migrate, then serve until told to stop; open requests finish first."""

import asyncio
import os
import sys
from typing import Annotated

import typer

from negotiator import settings
from negotiator.cli.output import change, configured, fail
from negotiator.cli.output import people as out
from negotiator.directory.exchange import importing
from negotiator.edge.sockets import LARGEST
from negotiator.keys import Keyring
from negotiator.settings import PREFIX, Settings, SettingsError
from negotiator.store.statement import Transaction
from negotiator.users import people
from negotiator.users.invitation import invite

_DRAIN = 20
_NOBODY = """There is nobody yet. This link makes the first user; it works once, for a day:

    {link}

Or from the command line: negotiator users add you@example.com --password-stdin
"""


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.")] = 8000,
    workers: Annotated[
        int, typer.Option(min=1, help="Processes that share the port and the database.")
    ] = 1,
    reload: Annotated[
        bool, typer.Option("--reload", help="Start again when the code changes.")
    ] = False,
) -> None:
    """Serve the API and the pages; on the first start, print a link that makes the first user."""
    try:
        chosen = configured()
        if (
            f"{PREFIX}BASE_URL" not in os.environ
            and chosen.base_url == settings.Settings.model_fields["base_url"].default
        ):
            # Without an address of its own the service is known by the one it listens on.
            os.environ[f"{PREFIX}BASE_URL"] = f"http://{host}:{port}"
            chosen = configured()
    except SettingsError as fault:
        fail(str(fault), 2)
        return
    has_users = asyncio.run(change(_prepare))
    Keyring(chosen.keys_dir)
    secret = _secret(chosen)
    out.print(
        f"Negotiator at {chosen.base_url} (people: {chosen.base_url}/agents, agents: {chosen.base_url}/auth.md)",
        highlight=False,
    )
    if not has_users:
        link = f"{chosen.base_url}/first-user/{invite(secret)}"
        out.print(_NOBODY.format(link=link), highlight=False)
    sys.stdout.flush()
    os.environ.setdefault("MALLOC_ARENA_MAX", "2")  # glibc would keep freed memory for every thread
    # One question's arithmetic is small: a second thread costs it more than it brings, and takes the core of the next.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # The server takes this process over, so that no worker carries what only the command needed.
    os.execv(sys.executable, [sys.executable, *_uvicorn(host, port, workers, reload=reload)])  # noqa: S606


def _secret(chosen: Settings) -> bytes:
    from negotiator.wiring.ground import pepper  # and half the service with it

    return pepper(chosen)


def _prepare(tx: Transaction) -> bool:
    """Take this release's content over if nobody has yet; answers whether there are users."""
    importing.stock_with_content(tx)
    return people.exist(tx)


def _uvicorn(host: str, port: int, workers: int, *, reload: bool) -> list[str]:
    """The server's own command line."""
    return [
        *("-m", "uvicorn", "negotiator.app:create", "--factory"),
        *("--host", host, "--port", str(port)),
        *(("--reload",) if reload else ("--workers", str(workers))),
        *("--loop", "uvloop", "--http", "httptools", "--log-level", "warning"),
        *("--ws", "negotiator.edge.sockets:Sockets", "--ws-max-size", str(LARGEST)),
        *("--ws-per-message-deflate", "false"),
        *("--no-access-log", "--no-server-header", "--no-proxy-headers"),
        *("--timeout-graceful-shutdown", str(_DRAIN)),
    ]
