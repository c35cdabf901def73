"""`negotiator serve`: migrate the database, then serve until a signal; open requests finish first."""

import asyncio
import contextlib
import ctypes
import json
import os
import socket
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

import typer

from negotiator.base.errors import Unavailable
from negotiator.cli import supervisor, uncollected
from negotiator.cli.database import check_owner, finish_restore, open_store
from negotiator.cli.output import command_name, exit_on_refusal, print_result, print_warning
from negotiator.cli.running_servers import recorded
from negotiator.compose.shared_secrets import claim_secrets, is_loopback, note_base_url
from negotiator.config.settings import Settings, find_sources, load
from negotiator.config.settings_files import ENV_PREFIX, SettingsSources
from negotiator.directory import exchange_import
from negotiator.http.server_protocol import MAX_MESSAGE
from negotiator.runtime import telemetry
from negotiator.store.statement import Transaction
from negotiator.users import user_queries
from negotiator.users.invitation import invite

_DRAIN = 20
_ENVIRONMENT: Final = {
    "MALLOC_ARENA_MAX": "2",  # glibc would keep freed memory for every thread
    # The arithmetic of one search is small: a second thread slows it and takes the core of another request.
    "OPENBLAS_NUM_THREADS": "1",
    # The event loop looks up names on these threads; four, its own number, are soon taken by a resolver that hangs.
    "UV_THREADPOOL_SIZE": "16",
}
"""Variables of the server process and of those that it starts, unless the operator sets them."""
_M_ARENA_MAX: Final = -8
"""The parameter of glibc's `mallopt` that is `MALLOC_ARENA_MAX`, which a running process does not read again."""
_ALL_ADDRESSES: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104
"""Hosts that mean every address of the machine, each with the loopback address of its family."""
_FIRST_USER_MESSAGE = """
No user account exists yet. This link creates the first one, an administrator. It works once, within a day:

    {link}

Or from the command line: {command} users add you@example.com --password-stdin
"""


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.", show_default="that of the setting listen")] = "",
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65_535, help="Port to listen on; 0 takes a free one.", show_default="that of the setting listen"
        ),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes that share the port and the database.")] = 1,
    reload: Annotated[bool, typer.Option("--reload", help="Restart when the code changes.")] = False,
) -> None:
    """Serve the API and the pages; on the first start, print a link to create the first user."""
    with exit_on_refusal():
        host, port = _listening_address(host, port)
        sources, settings = _configured(host, port)
        _check_address(host, port)
        if settings.metrics_listen:
            metrics_host, _, metrics_port = settings.metrics_listen.rpartition(":")
            _check_address(metrics_host.strip("[]"), int(metrics_port), shared=True)
        _set_environment()
        is_server = workers == 1 and not reload
        if is_server:
            with uncollected():
                import_module("negotiator.compose.app")  # the supervisor of several workers needs none
        has_users, secret, warning = asyncio.run(_prepare(settings))
        _check_folder(settings.data_dir)
    base = settings.base_url
    lines = [f"Negotiator at {base} (people: {base}/, agents: {base}/auth.md)"]
    own = _own_url(host, port)
    lines.append(f"Listening on {own}{', on all addresses of this machine' if host in _ALL_ADDRESSES else ''}")
    lines.append(f"Data folder: {settings.data_dir.absolute()}")
    if sources.files:
        lines.append(f"Settings: {', '.join(map(str, sources.files))}")
    if not has_users:
        link, command = f"{base}/first-user/{invite(secret)}", command_name()
        lines.append(_FIRST_USER_MESSAGE.format(link=link, command=command))
    print_result(None, "\n".join(lines), as_json=False)
    if warning:
        print_warning(warning)
    if is_loopback(urlsplit(base).hostname or "") and urlsplit(base).port != port:
        print_warning(
            f"links and tokens name {base} (base_url), where this server does not listen: open {own}, or leave out "
            "base_url, unless something forwards the one to the other"
        )
    sys.stdout.flush()
    options = server_options(host, port, workers, reload=reload, timeout=settings.worker_timeout)
    with recorded(settings, sources, workers):
        if is_server:
            supervisor.main(settings.log_format, options, settings.drain_seconds)
            return
        # The supervisor replaces this process, so that it does not keep the memory of the command.
        drain = str(settings.drain_seconds)
        module = "negotiator.cli.supervisor"
        command = ("-m", module, settings.log_format, json.dumps(options), drain)
        os.execv(sys.executable, [sys.executable, *command])  # noqa: S606


def _set_environment() -> None:
    """Set `_ENVIRONMENT` for this process and those that it starts."""
    if "MALLOC_ARENA_MAX" not in os.environ:
        with contextlib.suppress(OSError, AttributeError):  # not glibc
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, int(_ENVIRONMENT["MALLOC_ARENA_MAX"]))
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)


def _listening_address(host: str, port: int | None) -> tuple[str, int]:
    """The host and the port to listen on: of the options, else of the setting; a free port in place of 0."""
    own_host, _, own_port = load(find_sources()).listen.rpartition(":")
    host = host or own_host.strip("[]")
    port = int(own_port) if port is None else port
    if port == 0:
        with contextlib.suppress(OSError), socket.create_server((host, 0)) as free:
            port = int(free.getsockname()[1])
    return host, port


def _own_url(host: str, port: int) -> str:
    """The URL that works on this machine; a server that listens on all addresses answers on loopback too."""
    host = _ALL_ADDRESSES.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _configured(host: str, port: int) -> tuple[SettingsSources, Settings]:
    """The settings and where they come from. Without a base URL among them, the listening address becomes it."""
    sources = find_sources()
    if "base_url" not in sources.given:
        os.environ[f"{ENV_PREFIX}BASE_URL"] = _own_url(host, port)
        sources = find_sources()
    settings = load(sources)
    telemetry.configure(settings.log_format)
    check_owner(settings)
    finish_restore(settings)
    return sources, settings


def _check_address(host: str, port: int, *, shared: bool = False) -> None:
    """Raise `Unavailable` when nothing can listen here; `shared` allows other workers on the same port."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, kind, protocol, _, address in found:
            with socket.socket(family, kind, protocol) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if shared:
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                if family == socket.AF_INET6:
                    probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                probe.bind(address)
    except (OSError, OverflowError) as fault:
        reason = getattr(fault, "strerror", None) or str(fault)
        raise Unavailable(f"Nothing can listen on {host}:{port}: {reason}. Choose another address or port.") from None


def _check_folder(folder: Path) -> None:
    """Raise `Unavailable` unless the data folder, which workers need for limits and metrics, is writable."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Unavailable(f"The data folder {folder} cannot be written to.")


async def _prepare(settings: Settings) -> tuple[bool, bytes, str]:
    """Import this release's content if that has not been done; whether any user exists, the pepper, and a warning.

    Raises `Unavailable` when pepper or signing keys are not those of the database.
    """
    async with open_store(settings, quiet=True, makes=True) as store:
        secret = await claim_secrets(store, settings)
        warning = await store.write(partial(note_base_url, settings=settings))
        return await store.write(_import_content), secret, warning


def _import_content(tx: Transaction) -> bool:
    exchange_import.import_bundled_content(tx)
    return user_queries.any_exist(tx)


def server_options(host: str, port: int, workers: int, *, reload: bool, timeout: int) -> dict[str, Any]:
    """The options of uvicorn. A worker that does not answer for `timeout` seconds is replaced.

    uvicorn's default of five seconds is too short: on a busy machine a healthy worker may not run for so long, and a
    rolling restart (SIGHUP) fails unless the new worker starts within that time.
    """
    return {
        "app": "negotiator.cli.worker:create_app",
        "factory": True,
        "host": host,
        "port": port,
        "workers": 1 if reload else workers,
        "reload": reload,
        "loop": "uvloop",
        "http": "negotiator.http.server_protocol:BoundedHttpProtocol",
        "ws": "negotiator.http.server_protocol:BoundedWebSocketProtocol",
        "ws_max_size": MAX_MESSAGE,
        "ws_per_message_deflate": False,
        "log_level": "warning",
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        "timeout_graceful_shutdown": _DRAIN,
        "timeout_worker_healthcheck": timeout,
    }
