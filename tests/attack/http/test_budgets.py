"""Budgets under attack: spent by neighbours, by missing scopes, by strangers that name hosts (RFC 6585 §4)."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from negotiator.compose.application import build_application
from negotiator.config.settings import Settings
from negotiator.http.limit_stores import FileLimitStore
from negotiator.trust.client_url_fetch import AT_ONCE, HOST_AT_ONCE
from negotiator.trust.fetch import FetchFailed
from tests.conftest import bearer, connect, make_settings, running
from tests.contract.requirements import covers
from tests.helpers.answer_checks import limited
from tests.helpers.directory_identity import FakeWeb, StatementSigner, key_header, prove, register_account
from tests.helpers.directory_identity import web as web
from tests.helpers.forger import refused
from tests.helpers.loopback_server import JSON, serving

pytestmark = pytest.mark.asyncio
BODY = {"agent_name": "a", "identity_type": "anonymous"}
TOOLS, TOKEN, LIST = "/api/v1/tools", "/oauth/token", "/api/negotiations"
GRANT = {"grant_type": "client_credentials"}


@asynccontextmanager
async def served(settings: Settings, **limits: Any) -> AsyncGenerator[httpx2.AsyncClient]:
    """A client of the application with these limits."""
    strict = make_settings(settings.data_dir, settings.keys_dir, **limits)
    async with running(strict) as application, connect(application) as client:
        yield client


async def token(client: httpx2.AsyncClient) -> dict[str, str]:
    """The headers of a fresh agent, which may not write memories."""
    return bearer((await client.post("/api/agent/register", json=BODY)).json())


def message(name: str, **arguments: Any) -> dict[str, Any]:
    """A tool call over MCP."""
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


@covers("1.10:scope")
@pytest.mark.parametrize("over_mcp", [False, True])
async def test_a_missing_scope_is_403_however_empty_the_address_and_the_token_are(
    settings: Settings, over_mcp: bool
) -> None:
    async with served(settings, limit_baseline_rpm=2, limit_rpm=4) as client:
        agent = await token(client)
        for _ in range(3):
            await client.get(LIST)
        refused(await client.get(LIST), (429, "rate_limit_exceeded"))

        async def remember() -> httpx2.Response:
            if over_mcp:
                return await client.post("/mcp", json=message("remember", text="x"), headers=agent)
            return await client.post("/api/memories", json={"text": "x"}, headers=agent)

        for left in (3, 2, 1, 0, 0, 0):
            answer = await remember()
            assert answer.status_code == 403
            assert 'scope="memories:write"' in answer.headers["www-authenticate"]
            assert answer.headers["ratelimit-policy"] == '"default";q=4;w=60'
            assert answer.headers["x-ratelimit-remaining"] == str(left)
            limited(answer)
        refused(await client.get(LIST, headers=agent), (429, "rate_limit_exceeded"))


@covers("1.10:key")
async def test_every_refusal_of_a_valid_token_is_its_own_and_none_of_its_neighbours(settings: Settings) -> None:
    """404, 405, 415, 422 over HTTP; GET, a wrong media type and a wrong message over MCP."""
    async with served(settings, limit_baseline_rpm=1, limit_rpm=100) as client:
        agent = await token(client)
        assert (await client.get("/api/nothing")).status_code == 404
        refused(await client.get(LIST), (429, "rate_limit_exceeded"))
        plain = {**agent, "content-type": "text/plain"}
        answers = [
            (404, await client.get("/api/nothing", headers=agent)),
            (405, await client.put(LIST, headers=agent)),
            (415, await client.post(LIST, content=b"x", headers=plain)),
            (422, await client.post(LIST, json={}, headers=agent)),
            (405, await client.get("/mcp", headers=agent)),
            (415, await client.post("/mcp", content=b"x", headers=plain)),
            (400, await client.post("/mcp", json={"jsonrpc": "1.0"}, headers=agent)),
        ]
        for number, (status, answer) in enumerate(answers, 1):
            assert answer.status_code == status, answer.text
            assert answer.headers["ratelimit-policy"] == '"default";q=100;w=60'
            assert answer.headers["x-ratelimit-remaining"] == str(100 - number)
        forged = {"authorization": "Bearer a.b.c"}
        for path in (LIST, "/api/nothing", "/mcp"):
            answer = await client.post(path, json={}, headers=forged)
            assert answer.status_code == 429, "a credential that does not stand is the address's"


@covers("1.10:never-less")
@pytest.mark.parametrize("services", [["directory"], ["assistant", "directory"]])
async def test_a_key_never_gives_less_than_anonymous(settings: Settings, services: list[str]) -> None:
    """Also where the operator sets the rates the wrong way round, at every public path and over MCP."""
    public = build_application(settings).service.operations
    paths = [
        (operation.method, operation.path.replace("{token}", "x").replace("{id}", "x"))
        for operation in public
        if operation.access == "public" and operation.path.count("{") <= 1
    ]
    assert len(paths) >= 9
    rates = {"limit_directory_rpm": 40, "limit_baseline_rpm": 70}
    low = {"limit_rpm": 7, "limit_unproven_rpm": 8}
    async with served(settings, services=services, **rates, **low) as client:
        record = await register_account(client)
        opened = await client.post(TOKEN, data=GRANT, auth=(record["client_id"], record["api_key"]))
        sent = message("search_tools", query="database")
        for headers in (key_header(record), bearer(opened.json())):
            for method, path in paths:
                without = await client.request(method, path)
                own = await client.request(method, path, headers=headers)
                most = [int(answer.headers["x-ratelimit-limit"]) for answer in (without, own)]
                assert most[1] >= most[0], path
            tool = await client.post("/mcp", json=sent, headers=headers)
            assert int(tool.headers["x-ratelimit-limit"]) >= 40
            listed = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            if services == ["directory"]:
                without = await client.post("/mcp", json=listed)
                own = await client.post("/mcp", json=listed, headers=headers)
                assert own.headers["x-ratelimit-limit"] >= without.headers["x-ratelimit-limit"]


async def test_a_crawler_of_the_catalogue_leaves_sign_in_and_tokens_alone(settings: Settings) -> None:
    async with served(settings, limit_directory_rpm=3, limit_baseline_rpm=5) as client:
        record = await register_account(client)
        basic = (record["client_id"], record["api_key"])
        paths = ("/api/v1/categories", "/v0.1/servers", "/tools", TOOLS, "/api/v1/export.ndjson")
        statuses = [(await client.get(path)).status_code for path in paths]
        assert statuses == [200, 200, 200, 429, 429]
        assert (await client.get(TOOLS)).headers["ratelimit-policy"] == '"directory";q=3;w=60'
        assert (await client.get(TOOLS, headers=key_header(record))).status_code == 200
        sent = message("search_tools", query="database")
        for _ in range(4):
            assert (await client.post(TOKEN, data=GRANT, auth=basic)).status_code == 200
        assert (await client.get("/sign-in")).status_code == 200
        refused(await client.post(TOKEN, data=GRANT, auth=basic), (429, "rate_limit_exceeded"))
        opened = await client.post("/mcp", json=sent, headers=key_header(record))
        assert opened.json()["result"]["isError"] is False
    directory = {"services": ["directory"], "limit_directory_rpm": 2}
    async with served(settings, **directory) as client:
        told = [(await client.post("/mcp", json=sent)).headers["ratelimit-policy"] for _ in "ab"]
        assert told == ['"directory";q=2;w=60'] * 2
        assert (await client.get(TOOLS)).status_code == 429


async def asked(client: httpx2.AsyncClient, client_id: str) -> int:
    """The status of an authorization request by nobody, for a client that this document describes."""
    named = {"client_id": client_id, "response_type": "code"}
    return (await client.get("/oauth/authorize", params=named)).status_code


async def test_nobody_makes_this_service_fetch_again_and_again(settings: Settings, web: FakeWeb) -> None:
    """One failing URL is fetched once a minute; many URLs of one host, or many hosts, as the budget says."""
    async with served(settings, limit_fetch_rpm=8) as client:
        for _ in range(5):
            assert await asked(client, "https://dead.example/c") == 400
        assert len(web.asked) == 1
        statuses = [await asked(client, f"https://host{n}.example/c") for n in range(5)]
        assert (statuses.count(429), len(web.asked)) == (4, 2)
        form = {**GRANT, "client_id": "https://another.example/c"}
        assert (await client.post(TOKEN, data=form)).status_code == 429
        assert len(web.asked) == 2


async def test_a_host_is_asked_a_bounded_number_of_times_over_all_clients(settings: Settings, web: FakeWeb) -> None:
    strict = make_settings(settings.data_dir, settings.keys_dir, limit_fetch_rpm=8)
    async with running(strict) as application:
        statuses: list[int] = []
        for number in range(6):
            async with connect(application, f"198.51.100.{number}") as client:
                statuses.append(await asked(client, f"https://busy.example/{number}"))
        assert (statuses.count(400), statuses.count(429), len(web.asked)) == (2, 4, 2)
        async with connect(application, "198.51.100.99") as client:
            signer = StatementSigner()
            record = await register_account(client, "did", "did:web:busy.example")
            answer = await prove(client, record, signer.statement(record, "did:web:busy.example"))
            refused(answer, (429, "rate_limit_exceeded"))


async def test_slow_hosts_of_strangers_delay_no_issuer_s_keys(settings: Settings) -> None:
    gate = asyncio.Event()

    async def stall(writer: asyncio.StreamWriter) -> None:
        await gate.wait()
        writer.close()

    async def keys(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n%sContent-Length: 2\r\n\r\n{}" % JSON)

    loopback = make_settings(settings.data_dir, settings.keys_dir, allow_loopback_fetch=True)
    services = build_application(loopback).services
    hosts = [f"127.0.0.{number}" for number in range(1, AT_ONCE // HOST_AT_ONCE + 1)]
    async with serving(stall, host="0.0.0.0") as (slow, _), serving(keys) as (issuer, _):
        began = time.monotonic()
        strangers = [
            asyncio.create_task(services.client_urls.json(f"http://{host}:{slow}/{n}", limit=9, address="a"))
            for host in hosts
            for n in range(HOST_AT_ONCE)
        ]
        await asyncio.sleep(0.2)
        assert await services.fetcher.json(f"http://127.0.0.1:{issuer}/jwks") == {}
        took = time.monotonic() - began
        assert not any(each.done() for each in strangers), f"not slow enough: {took}"
        gate.set()
        outcomes = await asyncio.gather(*strangers, return_exceptions=True)
        assert all(isinstance(outcome, FetchFailed) for outcome in outcomes)
    await services.client_urls.close()
    await services.fetcher.close()
    await services.pipeline.limits.close()


async def test_nobody_without_the_pepper_can_choose_a_bucket(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two services with different peppers keep the same key in different places of their tables."""
    places: list[int] = []

    def noted(_table: FileLimitStore, _budget: Any, _tag: int, start: int) -> Any:
        places.append(start)
        raise LookupError

    monkeypatch.setattr(FileLimitStore, "_take", noted)
    budget: Any = None
    for pepper in (b"one", b"two", b"one"):
        table = FileLimitStore(settings.data_dir / "limits", pepper)
        for number in range(8):
            with pytest.raises(LookupError):
                await table.take(budget, f"baseline:203.0.113.{number}")
        await table.close()
    assert places[:8] == places[16:]
    assert sum(a == b for a, b in zip(places[:8], places[8:16], strict=True)) <= 1
