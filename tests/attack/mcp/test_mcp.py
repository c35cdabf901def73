"""Attacks on the MCP endpoint: whatever is tried, it opens no more than HTTP does, and costs as much."""

from typing import Any, Final

import httpx2
import pytest

from negotiator.compose.application import build_application
from negotiator.config.settings import Settings
from negotiator.mcp.endpoint import requires_credential
from tests.conftest import Register, bearer, connect, make_settings, running
from tests.helpers.answer_checks import refused_over_mcp
from tests.helpers.form_browser import BASE
from tests.helpers.mcp_client import NEWEST, OLDER, PRICED, McpClient, error, full_mcp_client, mcp_client, told

__all__ = ["full_mcp_client", "mcp_client"]
VERSIONS: Final = (NEWEST, *OLDER)
FOREIGN: Final = (
    "https://evil.example",
    "null",
    "https://negotiator.example.evil.example",
    "https://negotiator.example:8443",
    "https://negotiator.example/",
    "",
    "http://[",
)


@pytest.mark.asyncio
@pytest.mark.parametrize("origin", FOREIGN)
async def test_a_page_of_another_origin_needs_a_token(mcp_client: McpClient, origin: str) -> None:
    message, headers = mcp_client.message("tools/list", {})
    answer = await mcp_client.send(message, **headers, origin=origin)
    assert answer.status_code == 200, answer.text
    bare = McpClient(mcp_client.client)
    answer = await bare.send(message, **headers, origin=origin)
    refused_over_mcp(answer, 401, "invalid_token")
    answer = await bare.send(message, **headers, origin=origin, authorization="Bearer guess")
    refused_over_mcp(answer, 401, "invalid_token")


@pytest.mark.asyncio
async def test_where_tools_are_public_a_page_of_another_origin_needs_a_token_too(settings: Settings) -> None:
    alone = make_settings(settings.data_dir, settings.keys_dir, services=["directory"])
    needs_token = requires_credential(build_application(alone).service)
    async with running(alone) as application, connect(application) as client:
        line = McpClient(client)
        message, headers = line.message("tools/list", {})
        for origin, status in ((None, 200), (BASE, 200), ("https://evil.example", 403)):
            sent = headers if origin is None else {**headers, "origin": origin}
            expected = 401 if needs_token else status
            for more in ({}, {"authorization": "Basic YTpi"}):
                assert (await line.send(message, **sent, **more)).status_code == expected


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://evil.example:8000", "evil.example:8000"),
        ("https://evil.example", "EVIL.example"),
        ("http://negotiator.example", "negotiator.example"),
        ("https://[2001:db8::1]:8000", "[2001:db8::1]:8000"),
    ],
)
async def test_a_page_that_takes_us_for_its_own_host_is_turned_away(
    mcp_client: McpClient, origin: str, host: str
) -> None:
    """DNS rebinding: its name leads to our address, so the browser sends it here as to itself."""
    for method in ("POST", "GET"):
        message, headers = mcp_client.message("tools/list", {})
        answer = await mcp_client.client.request(
            method, "/mcp", json=message, headers={**mcp_client.headers, **headers, "origin": origin, "host": host}
        )
        refused_over_mcp(answer, 403, "access_denied")


@pytest.mark.asyncio
async def test_pages_of_our_own_and_of_named_origins_may_use_it(settings: Settings, register: Register) -> None:
    named = ["https://inspector.example"]
    other = make_settings(settings.data_dir, settings.keys_dir, trusted_origins=named)
    headers = bearer(await register())
    async with running(other) as application, connect(application) as client:
        for origin in (BASE, *named):
            line = McpClient(client, {**headers, "origin": origin})
            answer = await line.ask("tools/list")
            assert answer.status_code == 200
            assert answer.headers["access-control-allow-origin"] == "*"
            assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.asyncio
async def test_a_host_header_changes_nothing(mcp_client: McpClient) -> None:
    plain = await mcp_client.ask("tools/list")
    message, headers = mcp_client.message("tools/list", {})
    answer = await mcp_client.send(message, **headers, host="evil.example")
    assert answer.json() == plain.json()
    assert "evil" not in (await McpClient(mcp_client.client, {"host": "evil.example"}).ask("x")).text


@pytest.mark.asyncio
async def test_a_token_in_the_query_or_the_arguments_is_no_token(
    client: httpx2.AsyncClient, register: Register
) -> None:
    token = (await register())["access_token"]
    message, headers = McpClient(client).message("tools/call", {"name": "list_negotiations"})
    for name in ("access_token", "token", "authorization"):
        answer = await client.post(f"/mcp?{name}={token}", json=message, headers=headers)
        refused_over_mcp(answer, 401, "invalid_token")
    message["params"]["_meta"]["authorization"] = f"Bearer {token}"
    message["params"]["arguments"] = {"access_token": token}
    refused_over_mcp(await client.post("/mcp", json=message, headers=headers), 401, "invalid_token")


@pytest.mark.asyncio
@pytest.mark.parametrize("version", VERSIONS)
async def test_no_spelling_of_a_call_gets_around_its_scope(mcp_client: McpClient, version: str) -> None:
    """An anonymous agent lacks memories:write."""
    mcp_client.version = version
    refused_over_mcp(await mcp_client.call("add_tactic", summary="x"), 403, "insufficient_scope", id=7)
    for name in ("add_tactic ", "ADD_TACTIC", "add_tactic\u200b", "tools/add_tactic", ""):
        assert "error" in (await mcp_client.call(name, summary="x")).json()
    # The header is not what is believed: the body is, and they have to agree.
    message, headers = mcp_client.message("tools/call", {"name": "add_tactic", "arguments": {}})
    answer = await mcp_client.send(message, **{**headers, "mcp-name": "list_negotiations"})
    assert answer.status_code in {400, 403}
    assert (await mcp_client.done("list_tactics", owner="user"))["items"] == []


@pytest.mark.asyncio
async def test_what_is_no_tool_cannot_be_called(mcp_client: McpClient) -> None:
    for name in ("register_agent", "claim_agent", "issue_token", "delete_negotiation", "get_health"):
        error(await mcp_client.call(name), 400, -32602)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "smuggled",
    [
        "../negotiations",
        "{own}/state",
        "{own}/../{own}",
        "{own}?limit=1",
        "{own}\u0000",
        "%2e%2e",
        "",
        " {own}",
        "neg_' OR 1=1 --",
        ["{own}"],
        {"id": "{own}"},
        7,
        None,
        True,
    ],
)
async def test_nothing_is_smuggled_through_an_id(mcp_client: McpClient, smuggled: Any) -> None:
    own = (await mcp_client.done("open_negotiation", **PRICED))["id"]
    sent = smuggled.replace("{own}", own) if isinstance(smuggled, str) else smuggled
    answer = await mcp_client.call("get_negotiation", id=sent)
    if answer.status_code == 400:
        error(answer, 400, -32700)
    else:
        assert told(answer)["error"] in {"not_found", "validation_failed"}


@pytest.mark.asyncio
async def test_arguments_that_the_schema_does_not_know_are_refused(mcp_client: McpClient) -> None:
    unknown: list[dict[str, Any]] = [
        {"principal": "usr_x"},
        {"scopes": ["memories:write"]},
        {"__proto__": {"x": 1}},
        {"if_revision": 1},
        {"idempotency_key": "x"},
        {"_meta": {}},
    ]
    for more in unknown:
        assert told(await mcp_client.call("list_negotiations", **more))["error"] == "validation_failed"


@pytest.mark.asyncio
async def test_size_and_depth_are_bounded_as_over_http(mcp_client: McpClient) -> None:
    large = await mcp_client.call("open_negotiation", **PRICED, category="x" * 70_000)
    assert told(large)["error"] == "invalid_request"
    larger = await mcp_client.call("open_negotiation", **PRICED, category="x" * 300_000)
    refused_over_mcp(larger, 413, "invalid_request")
    deep: Any = "x"
    for _ in range(60):
        deep = [deep]
    error(await mcp_client.call("open_negotiation", **PRICED, facts=deep), 400, -32700)
    deeper = b'{"a":' * 40_000 + b"1" + b"}" * 40_000
    answer = await mcp_client.send(deeper[:70_000])
    assert answer.status_code == 400


@pytest.mark.asyncio
async def test_the_uninvited_may_not_send_much(client: httpx2.AsyncClient) -> None:
    """Not a byte is read of who brings no token."""
    answer = await McpClient(client).send(b"x" * 200_000)
    refused_over_mcp(answer, 401, "invalid_token")


@pytest.mark.asyncio
async def test_a_forged_session_is_nobody_s_session(mcp_client: McpClient, register: Register) -> None:
    await mcp_client.done("open_negotiation", **PRICED)
    foreign = McpClient(mcp_client.client, bearer(await register("other")), OLDER[0])
    foreign.headers["mcp-session-id"] = "1"
    foreign.headers["last-event-id"] = "0"
    assert (await foreign.done("list_negotiations"))["items"] == []


@pytest.mark.asyncio
@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", ""])
async def test_what_a_form_could_send_is_not_read(mcp_client: McpClient, media_type: str) -> None:
    message, headers = mcp_client.message("tools/list", {})
    answer = await mcp_client.send(message, **{**headers, "content-type": media_type})
    refused_over_mcp(answer, 415, "invalid_request")


@pytest.mark.asyncio
async def test_every_probe_is_charged(settings: Settings, register: Register) -> None:
    few = make_settings(settings.data_dir, settings.keys_dir, limit_baseline_rpm=6, limit_rpm=6)
    headers = bearer(await register())
    async with running(few) as application:
        async with connect(application, "198.51.100.1") as client:
            probes = McpClient(client, {"authorization": "Bearer guess"})
            said = [(await probes.ask("tools/list")).status_code for _ in range(8)]
            assert said == [401] * 6 + [429] * 2
        async with connect(application, "198.51.100.2") as client:
            line = McpClient(client, headers)
            said = [(await line.send(b"[]")).status_code for _ in range(3)]
            said += [(await line.call("nope")).status_code for _ in range(3)]
            said += [(await line.send(b"[]")).status_code, (await line.call("nope")).status_code]
            assert said == [400] * 6 + [429] * 2
        async with connect(application, "198.51.100.3") as client:
            pages = McpClient(client, {"origin": "https://evil.example"})
            said = [(await pages.ask("tools/list")).status_code for _ in range(8)]
            assert said == [401] * 6 + [429] * 2
        async with connect(application, "198.51.100.4") as client:
            said = [(await client.options("/mcp")).status_code for _ in range(8)]
            assert said == [405] * 6 + [429] * 2
