"""The protocol over HTTP: what each revision is told, and what is no message at all."""

from typing import Any

import pytest

from tests.contract.requirements import covers
from tests.helpers.mcp_client import META, NEWEST, OLDER, McpClient, error

PAGE: dict[str, Any] = {"items": [], "next_cursor": None}


@pytest.mark.asyncio
@pytest.mark.parametrize("asked", OLDER)
@covers("10.1:revisions")
async def test_a_handshake_gets_the_revision_it_asks_for(mcp_client: McpClient, asked: str) -> None:
    hello = {"capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    params = {**hello, "protocolVersion": asked}
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    answer = await mcp_client.send(request)
    assert answer.json()["result"]["protocolVersion"] == asked
    assert "mcp-session-id" not in answer.headers
    noted = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await mcp_client.send(noted, **{"mcp-protocol-version": asked})).status_code == 202


@pytest.mark.asyncio
@pytest.mark.parametrize("unserved", ["2025-03-26", "2024-11-05"])
async def test_a_revision_that_does_not_hold_is_not_served(mcp_client: McpClient, unserved: str) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    answer = await mcp_client.send(message, **{"mcp-protocol-version": unserved})
    found = error(answer, 400, -32022)
    assert found["data"]["requested"] == unserved
    assert set(found["data"]["supported"]) == {NEWEST, *OLDER}
    noted = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await mcp_client.send(noted, **{"mcp-protocol-version": unserved})).status_code == 400
    assert (await mcp_client.send(message)).json()["result"]["tools"]


@pytest.mark.asyncio
@pytest.mark.parametrize("asked", ["1999-01-01", "2025-03-26", "2024-11-05", NEWEST])
async def test_a_handshake_for_the_unserved_gets_the_newest_that_shakes_hands(
    mcp_client: McpClient, asked: str
) -> None:
    params = {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    answer = await mcp_client.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    assert answer.json()["result"]["protocolVersion"] == OLDER[0]


@pytest.mark.asyncio
async def test_a_revision_nobody_knows_is_told_which_are_served(mcp_client: McpClient) -> None:
    message, headers = mcp_client.message("tools/list", {})
    message["params"]["_meta"][f"{META}protocolVersion"] = "2099-01-01"
    answer = await mcp_client.send(message, **{**headers, "mcp-protocol-version": "2099-01-01"})
    assert error(answer, 400, -32022)["data"]["supported"] == [NEWEST]
    noted = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    error(await mcp_client.send(noted, **{"mcp-protocol-version": "2099-01-01"}), 400, -32022)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mcp-protocol-version", "2025-11-26"),
        ("mcp-protocol-version", None),
        ("mcp-method", "tools/list"),
        ("mcp-method", None),
        ("mcp-name", "open_negotiation"),
        ("mcp-name", None),
        ("mcp-name", "=?base64?!!!?="),
    ],
)
async def test_headers_that_contradict_the_body_are_refused(
    mcp_client: McpClient, name: str, value: str | None
) -> None:
    message, headers = mcp_client.message("tools/call", {"name": "list_negotiations", "arguments": {}})
    sent = {key: text for key, text in headers.items() if key != name}
    error(await mcp_client.send(message, **sent, **({name: value} if value else {})), 400, -32020)


@pytest.mark.asyncio
async def test_a_header_sent_twice_is_no_header_at_all(mcp_client: McpClient) -> None:
    message, headers = mcp_client.message("tools/call", {"name": "list_negotiations", "arguments": {}})
    twice = [*{**mcp_client.headers, **headers}.items(), ("mcp-name", "open_negotiation")]
    error(await mcp_client.client.post("/mcp", json=message, headers=twice), 400, -32020)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b'"text"', -32700),
        (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":NaN}}', -32700),
        (b'[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', -32600),
        (b"{}", -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"tools/list"}', -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}', -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}', -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"tools/list"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":7}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}', -32600),
        (b'{"jsonrpc":"2.0","id":1}', -32600),
    ],
)
async def test_what_is_no_message_is_refused_before_anything_reads_it(
    mcp_client: McpClient, sent: bytes, code: int
) -> None:
    answer = await mcp_client.send(sent)
    error(answer, 400, code)
    assert "id" not in answer.json()
    assert answer.headers["x-ratelimit-limit"]


@pytest.mark.asyncio
async def test_a_method_that_is_not_there_is_404_for_the_newest_alone(mcp_client: McpClient) -> None:
    for method in ("nope", "ping", "initialize", "logging/setLevel", "resources/subscribe"):
        error(await mcp_client.ask(method), 404, -32601)
    mcp_client.version = OLDER[0]
    error(await mcp_client.ask("nope"), 200, -32601)
    assert (await mcp_client.ask("ping")).json()["result"] == {}


@pytest.mark.asyncio
@pytest.mark.parametrize("version", [NEWEST, *OLDER])
async def test_the_unknown_and_the_malformed_are_invalid_params(mcp_client: McpClient, version: str) -> None:
    mcp_client.version = version
    status = 400 if version == NEWEST else 200
    unknown = error(await mcp_client.call("no_such_tool"), status, -32602)
    assert unknown["message"] == "Unknown tool: no_such_tool"
    error(await mcp_client.ask("tools/call", name="list_negotiations", arguments=[1]), status, -32602)
    error(await mcp_client.ask("tools/list", cursor="invented"), status, -32602)
    error(await mcp_client.ask("prompts/get", name="nope"), status, -32602)
    error(await mcp_client.ask("prompts/get", name="prepare"), status, -32602)


@pytest.mark.asyncio
@covers("10.1:stateless")
async def test_there_are_no_streams_and_no_sessions(mcp_client: McpClient) -> None:
    for method in ("GET", "DELETE", "PUT", "HEAD"):
        answer = await mcp_client.client.request(method, "/mcp", headers=mcp_client.headers)
        assert answer.status_code == 405
        assert answer.headers["allow"] == "POST"
    mcp_client.version = OLDER[0]
    mcp_client.headers["mcp-session-id"] = "somebody-else-s"
    answer = await mcp_client.call("list_negotiations")
    assert answer.json()["result"]["structuredContent"] == PAGE
    assert "mcp-session-id" not in answer.headers


@pytest.mark.asyncio
async def test_answers_to_questions_never_asked_are_dropped(mcp_client: McpClient) -> None:
    assert (await mcp_client.send({"jsonrpc": "2.0", "id": 1, "result": {}})).status_code == 202


@pytest.mark.asyncio
async def test_lists_say_how_long_they_keep_and_are_the_same_twice(mcp_client: McpClient) -> None:
    for method in ("tools/list", "prompts/list", "resources/list", "resources/templates/list"):
        first, again = [(await mcp_client.ask(method)).json()["result"] for _ in range(2)]
        assert first == again
        wanted = "private" if method == "tools/list" else "public"
        assert (first["cacheScope"], first["ttlMs"] > 0) == (wanted, True)
        mcp_client.version = OLDER[0]
        older = (await mcp_client.ask(method)).json()["result"]
        assert "ttlMs" not in older
        assert "resultType" not in older
        mcp_client.version = NEWEST
