"""A pytest plugin: the suites of the contract and the API over two machines instead of an application in the process.

A test that only sends requests and changes the database sends them through the proxy. A test that sets the clock,
patches the package, opens a socket, or needs settings or a catalogue of its own gets an application in this process, on
the same PostgreSQL and Redis. The tables are emptied before each test, since the machines serve all of them.
"""

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest
from sqlmodel import SQLModel
from starlette.applications import Starlette

from negotiator.app import create_app
from negotiator.settings import Settings
from negotiator.store.migrate import migrate
from tests import conftest
from tests.bench.growth import connect_postgres
from tests.helpers.form_browser import BASE
from tests.live.faults.site import SECRET
from tests.live.two_machines.machines import TwoMachines, two_machines

_IN_PROCESS: Final = frozenset(
    {"clock", "monkeypatch", "agent", "new_directory_agent", "bundled_catalogue", "members"}
)
"""A test with one of these fixtures changes this process, or expects a directory of its own."""
_CHECKS: Final = frozenset({"units_only_run_statements"})
"""Fixtures that patch this process to look at what it does: nothing is lost without them."""
_FOLDERS: Final = (
    *("console", "directory", "mcp", "teleprompter", "rehearsals", "http", "discovery"),
    "compose",
)
"""Folders of tests with sockets, a mail folder, settings or a directory of their own."""
_BY_NAME: Final = {
    "test_lists_filter_and_page": "lists what it made within the difference of the clocks in the order of making",
    "test_the_list_is_filtered_by_state_category_and_title": "the same",
    "test_a_token_for_another_resource_opens_no_socket": "opens a WebSocket",
    "test_an_id_token_says_who_when_for_whom_and_is_verified_by_rs256": "compares a moment with this machine's clock",
    "test_wrong_codes_are_counted_over_all_agents_and_right_ones_pass": "spends a budget over all agents",
}
"""Tests that two machines cannot pass one after the other, and why."""
_MAILS: Final = ("outbox", "email_registration", "password_reset")
"""What a module names whose tests read the mails in the data folder of the server."""
_KEPT: Final = frozenset({"alembic_version", "schema_floor", "fingerprints", "leases"})

_plain_running = conftest.running
_plain_settings = conftest.make_settings


class Proxied:
    """Stands for an application of the process: passes requests to the proxy and answers on."""

    def __init__(self, base: str, described: Starlette) -> None:
        self.user_middleware = described.user_middleware
        self._base = base
        self._sending = httpx2.AsyncHTTPTransport()
        self.requests = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """One request. Raises `NotImplementedError` for a WebSocket."""
        if scope["type"] != "http":
            raise NotImplementedError("the proxy is asked over HTTP only")
        self.requests += 1
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        path = scope.get("raw_path") or scope["path"].encode()
        query = b"?" + scope["query_string"] if scope["query_string"] else b""
        left_out = {b"x-forwarded-for", b"content-length", b"transfer-encoding"}
        headers = [(name, value) for name, value in scope["headers"] if name not in left_out]
        headers.append((b"x-forwarded-for", scope["client"][0].encode()))
        url = f"{self._base}{(path + query).decode('ascii')}"
        request = httpx2.Request(scope["method"], url, headers=headers, content=body or None)
        answer = await self._sending.handle_async_request(request)
        await send(
            {
                "type": "http.response.start",
                "status": answer.status_code,
                "headers": [(name.lower(), value) for name, value in answer.headers.raw],
            }
        )
        assert isinstance(answer.stream, httpx2.AsyncByteStream)
        async for chunk in answer.stream:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
        await answer.aclose()

    async def close(self) -> None:
        """Close the connections to the proxy."""
        await self._sending.aclose()


@dataclass
class Suites:
    """The machines, and how the test at work reaches them."""

    machines: TwoMachines
    own: str
    """The database of the applications in this process."""
    described: Starlette
    over_proxy: bool = False
    plain: dict[Path, Settings] = field(default_factory=dict[Path, Settings])
    requests: int = 0
    reached: bool = False

    def make_settings(self, data_dir: Path, keys_dir: Path, **overrides: Any) -> Settings:
        """Settings on PostgreSQL and Redis, unless the test names a database."""
        url = self.machines.database_url if self.over_proxy else self.own
        shared: dict[str, Any] = {
            "database_url": url,
            "redis_url": self.machines.redis_url,
            "secret": SECRET,
        }
        keys = self.machines.keys if self.over_proxy else keys_dir
        made = _plain_settings(data_dir, keys, **{**shared, **overrides})
        if not overrides:
            self.plain[data_dir] = made
        return made

    @asynccontextmanager
    async def running(self, settings: Settings) -> AsyncGenerator[Any]:
        """The proxy for the settings that the machines have; otherwise an application in this process."""
        if not self.over_proxy or self.plain.get(settings.data_dir) != settings:
            async with _plain_running(settings) as application:
                yield application
            return
        proxied = Proxied(self.machines.base, self.described)
        yield proxied
        self.reached = self.reached or proxied.requests > 0
        self.requests += proxied.requests
        await proxied.close()


_STARTED: pytest.StashKey[Suites] = pytest.StashKey()
_RESULTS: pytest.StashKey[Counter[str]] = pytest.StashKey()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Start the machines and let every test find them."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    context = two_machines(base_url=BASE)
    machines = asyncio.run_coroutine_threadsafe(context.__aenter__(), loop).result()

    def stop() -> None:
        asyncio.run_coroutine_threadsafe(context.__aexit__(None, None, None), loop).result()

    session.config.add_cleanup(stop)
    own = asyncio.run(_second_database(machines))
    folder = machines.a.folder / "described"
    folder.mkdir()
    settings = _plain_settings(folder, machines.keys, secret=SECRET)
    suites = Suites(machines, own, create_app(settings))
    session.config.stash[_STARTED] = suites
    session.config.stash[_RESULTS] = Counter()
    setattr(conftest, "running", suites.running)  # noqa: B010  pyright knows it as a function
    setattr(conftest, "make_settings", suites.make_settings)  # noqa: B010


async def _second_database(machines: TwoMachines) -> str:
    url = machines.postgres.create_database("inside")
    await migrate(url)
    return url


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Choose the way of the test, and empty the tables that it uses."""
    suites = item.config.stash[_STARTED]
    fixtures = _requested(item)
    in_folder = any(f"/{folder}/" in str(item.path) for folder in _FOLDERS)
    in_folder = in_folder or any(word in item.path.read_text() for word in _MAILS)
    is_named = getattr(item, "originalname", "") in _BY_NAME
    suites.over_proxy = not (fixtures & _IN_PROCESS or in_folder or is_named)
    suites.reached = False
    if "settings" in fixtures:
        url = suites.machines.database_url if suites.over_proxy else suites.own
        asyncio.run(_empty(url))
        suites.machines.redis.flush()


def _requested(item: pytest.Item) -> frozenset[str]:
    """The fixtures that the test uses itself or by others, without those of `_CHECKS`."""
    names: Sequence[str] = getattr(item, "fixturenames", ())
    definitions: Any = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    own: Sequence[str] = getattr(getattr(item, "_fixtureinfo", None), "argnames", ())
    asked = {
        each
        for name in names
        if name not in _CHECKS and name in definitions
        for each in definitions[name][-1].argnames
    }
    by_itself = {name for name in names if name not in {"monkeypatch", *_CHECKS}}
    return frozenset(by_itself | asked | set(own))


async def _empty(url: str) -> None:
    connection = await connect_postgres(url)
    tables = ", ".join(each for each in SQLModel.metadata.tables if each not in _KEPT)
    await connection.execute(f"truncate {tables} cascade")
    await connection.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Count the test by its way."""
    report = yield
    if report.when == "call" or report.failed:
        way = "in the process"
        if item.config.stash[_STARTED].over_proxy:
            way = "over the proxy"
        item.config.stash[_RESULTS][f"{way}, {report.when}: {report.outcome}"] += 1
    return report


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """How many tests went which way."""
    for name, count in sorted(config.stash[_RESULTS].items()):
        terminalreporter.write_line(f"{name}: {count}")
    terminalreporter.write_line(f"requests over the proxy: {config.stash[_STARTED].requests}")
