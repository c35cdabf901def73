"""A pytest plugin: the suites of the contract and the API over two machines instead of an application in the process.

A test that only sends requests and changes the database sends them through the proxy. A test that sets the clock,
patches the package, opens a socket, reads mails or needs settings of its own gets an application in this process, on
the same PostgreSQL and Redis. The tables are emptied before each test, since the machines serve all of them. Tools are
deleted as a moderator does it: the search index of a machine follows the feed of changes, which never begins again.
"""

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest
from sqlmodel import SQLModel
from starlette.applications import Starlette

from negotiator.compose.app import create_app
from negotiator.config.settings import Settings
from negotiator.directory import catalogue_queries
from negotiator.store.migrate import migrate
from negotiator.store.statement import Transaction
from negotiator.store.store import make_store
from tests import conftest
from tests.bench.growth import connect_postgres
from tests.helpers.form_browser import BASE
from tests.live.faults.site import SECRET
from tests.live.two_machines.machines import TwoMachines, two_machines

_IN_PROCESS: Final = frozenset({"clock", "monkeypatch", "store"})
"""A test with one of these fixtures changes this process, or has a store with no application beside it."""
_CHECKS: Final = frozenset({"units_only_run_statements"})
"""Fixtures that patch this process to look at what it does: nothing is lost without them."""
_BY_NAME: Final = {
    "test_lists_filter_and_page": "lists what it made within the difference of the clocks in the order of making",
    "test_the_list_is_filtered_by_state_category_and_title": "the same",
    "test_the_list_has_the_newest_first_and_goes_on_by_cursor": "the same",
    "test_pages_follow_each_other_newest_first_and_end": "the same",
    "test_a_list_of_rehearsals_goes_on_where_its_page_ended": "the same",
    "test_the_list_searches_filters_sorts_and_goes_on": "the same",
    "test_people_are_found_made_administrators_and_lose_access": "the same, of the audit trail",
    "test_a_takedown_is_at_once_and_frees_nothing": "the same, of the audit trail",
    "test_every_move_leaves_its_digests_in_the_trail": "the same, of the audit trail",
    "test_the_page_shows_what_was_refused_and_what_to_do_about_it": "reads at once what another machine answered",
    "test_the_page_shows_the_negotiations_and_memories_that_it_touched": "the same",
    "test_an_ended_agent_keeps_its_page_and_nothing_else": "the same",
    "test_an_agent_s_page_shows_its_calls_and_renews_it": "the same",
    "test_a_removed_tool_is_gone_and_listed_for_mirrors_only": "expects a feed in which nothing has happened",
    "test_the_feed_is_followed_by_number_and_by_cursor": "the same",
    "test_a_tool_many_tools_and_the_whole_catalogue_are_read": "the same",
    "test_a_mirror_learns_what_went": "the same",
    "test_a_query_in_another_language_is_read_in_english": "turns a page before both machines know all meanings",
    "test_guessing_a_link_finds_nothing_and_is_charged": "sends a path that nginx refuses",
    "test_odd_addresses_are_answered_in_kind": "the same",
    "test_every_other_refusal_by_http_is_a_json_rpc_error_too": "sends two Authorization headers, which nginx refuses",
    "test_a_tool_is_at_one_address_and_gone_is_gone": "the same",
    "test_a_body_without_a_length_is_cut_off_at_its_limit": "sends a body that no proxy may pass on",
    "test_a_declared_length_is_believed_before_reading": "the same",
    "test_head_is_get_without_a_body": "compares the health of two machines, whose clocks differ",
    "test_readiness_needs_a_schema_that_this_release_can_use": "gives the database another schema",
    "test_a_token_for_another_resource_opens_no_socket": "opens a WebSocket",
    "test_an_id_token_says_who_when_for_whom_and_is_verified_by_rs256": "compares a moment with this machine's clock",
    "test_wrong_codes_are_counted_over_all_agents_and_right_ones_pass": "spends a budget over all agents",
}
"""Tests that two machines cannot pass one after the other, and why."""
_MAILS: Final = ("outbox", "email_registration", "password_reset", "sent_mails")
"""What a module names whose tests read the mails in the data folder of the server."""
_CROWDED: Final = b"Too many requests are waiting"
_SCHEMA: Final = frozenset({"alembic_version", "schema_floor"})
_KEPT: Final = _SCHEMA | {"fingerprints", "leases"}
"""Tables that running machines rely on."""
_CATALOGUE: Final = frozenset({"tools", "tool_changes"})

_plain_running = conftest.running
_plain_settings = conftest.make_settings


class Proxied:
    """Stands for an application of the process: passes requests to the proxy and answers on."""

    def __init__(self, suites: "Suites") -> None:
        self.user_middleware = suites.described.user_middleware
        self._suites = suites
        self._sending = httpx2.AsyncHTTPTransport()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """One request. Raises `NotImplementedError` for a WebSocket."""
        if scope["type"] != "http":
            raise NotImplementedError("the proxy is asked over HTTP only")
        self._suites.requests += 1
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        path = scope.get("raw_path") or scope["path"].encode()
        query = b"?" + scope["query_string"] if scope["query_string"] else b""
        left_out = {b"x-forwarded-for", b"content-length", b"transfer-encoding"}
        # Blanks around a value are no part of it (RFC 9110, section 5.5), and the client refuses to send them.
        headers = [(name, value.strip()) for name, value in scope["headers"] if name not in left_out]
        headers.append((b"x-forwarded-for", scope["client"][0].encode()))
        url = f"{self._suites.machines.base}{(path + query).decode('ascii')}"
        request = httpx2.Request(scope["method"], url, headers=headers, content=body or None)
        answer, refusal = await self._sending.handle_async_request(request), b""
        while answer.status_code == 503 and _CROWDED in (refusal := await _whole(answer)):
            # Nothing has run. Servers and tests share the processor here.
            self._suites.crowded += 1
            await asyncio.sleep(float(answer.headers["retry-after"]))
            answer = await self._sending.handle_async_request(request)
        await send(
            {
                "type": "http.response.start",
                "status": answer.status_code,
                "headers": [(name.lower(), value) for name, value in answer.headers.raw],
            }
        )
        if answer.status_code == 503:
            await send({"type": "http.response.body", "body": refusal})
            return
        assert isinstance(answer.stream, httpx2.AsyncByteStream)
        async for chunk in answer.stream:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
        await answer.aclose()

    async def close(self) -> None:
        """Close the connections to the proxy."""
        await self._sending.aclose()


async def _whole(answer: httpx2.Response) -> bytes:
    """The body as it was sent; its stream can be read once."""
    assert isinstance(answer.stream, httpx2.AsyncByteStream)
    body = b"".join([chunk async for chunk in answer.stream])
    await answer.aclose()
    return body


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
    """Over the proxy, of all tests."""
    crowded: int = 0
    """Requests that were sent again, since a machine had too many waiting."""
    before: int = 0
    """Requests over the proxy of the tests before the one at work."""

    def make_settings(self, data_dir: Path, keys_dir: Path, **overrides: Any) -> Settings:
        """Settings on PostgreSQL and Redis, unless the test names a database."""
        url = self.machines.database_url if self.over_proxy else self.own
        shared: dict[str, Any] = {"database_url": url, "redis_url": self.machines.redis_url}
        if self.over_proxy:
            shared["secret"] = SECRET
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
        proxied = Proxied(self)
        yield proxied
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
    # Before the first search: no machine has an index of the tools that it came with.
    asyncio.run(_truncate(machines.database_url))
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
    reads_mails = any(word in item.path.read_text() for word in _MAILS)
    is_named = getattr(item, "originalname", "") in _BY_NAME
    suites.over_proxy = not (fixtures & _IN_PROCESS or reads_mails or is_named)
    suites.before = suites.requests
    if "settings" in fixtures:
        if suites.over_proxy:
            asyncio.run(_empty(suites.machines.database_url))
        else:
            asyncio.run(_truncate(suites.own, _SCHEMA))
        suites.machines.redis.flush()


def _requested(item: pytest.Item) -> frozenset[str]:
    """The fixtures that the test uses itself or by others, without those of `_CHECKS`."""
    names: Sequence[str] = getattr(item, "fixturenames", ())
    definitions: Any = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    own: Sequence[str] = getattr(getattr(item, "_fixtureinfo", None), "argnames", ())
    asked = {
        each for name in names if name not in _CHECKS and name in definitions for each in definitions[name][-1].argnames
    }
    by_itself = {name for name in names if name not in {"monkeypatch", *_CHECKS}}
    return frozenset(by_itself | asked | set(own))


async def _truncate(url: str, kept: frozenset[str] = _KEPT) -> None:
    connection = await connect_postgres(url)
    tables = ", ".join(each for each in SQLModel.metadata.tables if each not in kept)
    await connection.execute(f"truncate {tables} cascade")
    await connection.execute("update schema_floor set oldest = '0000'")
    await connection.close()


async def _empty(url: str) -> None:
    """Empty the tables of running machines: tools are deleted, one change stays, and every name is free again."""
    await _truncate(url, _KEPT | _CATALOGUE)
    connection = await connect_postgres(url)
    left = await connection.fetch("select id, status from tools where slug <> id")
    if left:
        there = [row["id"] for row in left if row["status"] != "deleted"]
        store = make_store(url)
        await store.start()
        await store.write(partial(_delete_tools, ids=there))
        await store.close()
        await connection.execute(
            "update tools set slug = id, external_id = null; truncate tool_slugs, tool_keys;"
            "create temp table last as select * from tool_changes order by seq desc limit 1;"
            "truncate tool_changes; insert into tool_changes select * from last"
        )
    await connection.close()


def _delete_tools(tx: Transaction, ids: Sequence[str]) -> None:
    for each in ids:
        catalogue_queries.withdraw(tx, each, "deleted", message="", actor="operator")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Count the test by its way."""
    report = yield
    if report.when == "call" or report.failed:
        suites = item.config.stash[_STARTED]
        way = "over the proxy" if suites.requests > suites.before else "in the process"
        item.config.stash[_RESULTS][f"{way}, {report.when}: {report.outcome}"] += 1
    return report


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """How many tests went which way."""
    for name, count in sorted(config.stash[_RESULTS].items()):
        terminalreporter.write_line(f"{name}: {count}")
    suites = config.stash[_STARTED]
    terminalreporter.write_line(f"requests over the proxy: {suites.requests}, sent again: {suites.crowded}")
