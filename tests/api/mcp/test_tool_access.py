"""What a token may call decides what is listed; a delegation code, redeemed over MCP, opens the rest."""

import json
from typing import Any

import httpx2
import pytest

from negotiator.config.settings import Settings
from negotiator.directory import exchange_import
from tests.conftest import Change, Mint, Register, bearer, connect, make_settings, running
from tests.contract.requirements import covers
from tests.helpers.answer_checks import refused_over_mcp
from tests.helpers.mcp_client import NEWEST, OLDER, PRICED, McpClient, official, told
from tests.helpers.mcp_tool_calls import CALLS, REDEEM

pytestmark = pytest.mark.asyncio
BEYOND = {
    *("add_tactic", "remember", "record_win"),
    *("open_teleprompter_session", "hear_utterance", "judge_cue", "follow_session"),
    *("get_transcript", "end_teleprompter_session"),
    *("list_collections", "create_collection", "save_to_collection", "submit_tool"),
}
"""The tools that an anonymous agent may not call."""
VERSIONS = (NEWEST, *OLDER)


async def listed(mcp_client: McpClient) -> dict[str, dict[str, Any]]:
    """The tools that this line is shown."""
    found = (await mcp_client.ask("tools/list")).json()["result"]["tools"]
    return {tool["name"]: tool for tool in found}


async def instructions(mcp_client: McpClient) -> str:
    """What the server says when a client of this revision connects."""
    if mcp_client.version == NEWEST:
        answer = await mcp_client.ask("server/discover")
    else:
        hello = {"capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        answer = await mcp_client.ask("initialize", protocolVersion=mcp_client.version, **hello)
    said: str = answer.json()["result"]["instructions"]
    return said


@covers("10.2:listed")
@pytest.mark.parametrize("version", VERSIONS)
async def test_an_anonymous_agent_is_shown_what_it_may_call_and_told_of_the_rest(
    mcp_client: McpClient, version: str
) -> None:
    mcp_client.version = version
    shown = await listed(mcp_client)
    assert shown.keys() == {*CALLS, REDEEM} - BEYOND
    for words in (shown[REDEEM]["description"], await instructions(mcp_client)):
        assert "memories:write (for add_tactic, remember, record_win)" in words
        assert "teleprompter:stream" in words
    assert "call redeem_delegation_code with it" in await instructions(mcp_client)


@covers("10.2:listed")
async def test_each_caller_is_shown_its_own_list_whoever_asked_before(
    mcp_client: McpClient, full_mcp_client: McpClient, register: Register, mint: Mint
) -> None:
    code = (await mint(scopes=["negotiations:read", "memories:write"]))[1]
    other = await register("other")
    claim = {"claim_token": code}
    answer = await mcp_client.client.post("/api/agent/claim", json=claim, headers=bearer(other))
    claimed = McpClient(mcp_client.client, bearer(answer.json()))
    for _ in range(2):
        assert (await listed(mcp_client)).keys() == {*CALLS, REDEEM} - BEYOND
        assert (await listed(full_mcp_client)).keys() == CALLS.keys()
        theirs = await listed(claimed)
        assert theirs.keys() >= {"remember", "list_negotiations", "search_tools"}
        assert not theirs.keys() & {"open_negotiation", "get_leverage", REDEEM, "submit_tool"}
    assert "Register as a new agent" in await instructions(claimed)
    assert "not listed" not in await instructions(full_mcp_client)


@covers("10.2:redeem")
@pytest.mark.parametrize("version", [NEWEST, OLDER[0]])
async def test_a_code_redeemed_over_mcp_gives_a_new_token_and_says_what_to_do_with_it(
    mcp_client: McpClient, mint: Mint, version: str
) -> None:
    mcp_client.version = version
    talk = await mcp_client.done("open_negotiation", **PRICED)
    user, code = await mint(scopes=["negotiations:read", "memories:write"])
    answer = await mcp_client.call(REDEEM, claim_token=code.lower())
    assert answer.headers["cache-control"] == "no-store"
    result = answer.json()["result"]
    assert result["isError"] is False
    content = result["structuredContent"]
    assert json.loads(result["content"][0]["text"]) == content
    assert (content["status"], content["identity"]["user_id"]) == ("claimed", user)
    assert set(content["scopes"]) == {"negotiations:read", "memories:write"}
    assert "no further call" in content["note"]
    assert "secret" in content["note"]

    words = refused_over_mcp(await mcp_client.call("list_negotiations"), 401, "invalid_token")["message"]
    assert "After redeem_delegation_code, only the token in its answer works." in words
    claimed = McpClient(mcp_client.client, bearer(content), version)
    assert [each["id"] for each in (await claimed.done("list_negotiations"))["items"]] == [talk["id"]]
    await claimed.done("remember", **CALLS["remember"]({}))
    assert told(await claimed.call(REDEEM, claim_token=code))["error"] == "already_claimed"


@covers("10.2:redeem")
async def test_a_code_that_is_none_is_refused_as_over_http(mcp_client: McpClient, mint: Mint) -> None:
    assert told(await mcp_client.call(REDEEM, claim_token="BCDF-GHJK-LMNP"))["error"] == ("invalid_claim_token")
    assert told(await mcp_client.call(REDEEM))["error"] == "invalid_request"
    for _ in range(4):
        await mcp_client.call(REDEEM, claim_token="BCDF-GHJK-LMNP")
    spent = told(await mcp_client.call(REDEEM, claim_token=(await mint())[1]))
    assert spent["error"] == "too_many_attempts"
    assert spent["retry_after"] > 0
    assert (await mcp_client.call("list_negotiations")).status_code == 200


async def test_the_official_client_redeems_a_code_and_checks_its_result(mcp_client: McpClient, mint: Mint) -> None:
    code = (await mint())[1]
    async with official(mcp_client, NEWEST) as client:
        await client.list_tools()
        result = await client.call_tool(REDEEM, {"claim_token": code})
    assert result.is_error is False
    assert result.structured_content
    assert result.structured_content["access_token"]


@covers("10.3:refusal-bodies")
@pytest.mark.parametrize("version", VERSIONS)
async def test_reading_without_the_scope_is_refused_in_words_too(
    mcp_client: McpClient, mint: Mint, register: Register, version: str
) -> None:
    """Resources and prompts are read by the same operations."""
    code = (await mint(scopes=["memories:read"]))[1]
    claim = {"claim_token": code}
    headers = bearer(await register("narrow"))
    answer = await mcp_client.client.post("/api/agent/claim", json=claim, headers=headers)
    narrow = McpClient(mcp_client.client, bearer(answer.json()), version)
    for method, params in (
        ("resources/read", {"uri": "negotiator://tactics"}),
        ("prompts/get", {"name": "prepare", "arguments": {"negotiation_id": "neg_x"}}),
    ):
        answer = await narrow.ask(method, **params)
        found = refused_over_mcp(answer, 403, "insufficient_scope", id=7)
        assert "grants negotiations:read" in found["message"]
        assert 'scope="negotiations:read"' in answer.headers["www-authenticate"]


@covers("10.3:refusal-bodies")
async def test_every_other_refusal_by_http_is_a_json_rpc_error_too(mcp_client: McpClient) -> None:
    message, headers = mcp_client.message("tools/list", {})
    plain = {**mcp_client.headers, **headers}
    rebound = {"origin": "https://evil.example", "host": "evil.example"}
    for answer, status, error in (
        (await mcp_client.client.get("/mcp", headers=plain), 405, "method_not_allowed"),
        (await mcp_client.client.post("/mcp", content=b"{}", headers=plain), 415, "invalid_request"),
        (await mcp_client.send(b"x" * 400_000), 413, "invalid_request"),
        (await mcp_client.send(message, **headers, **rebound), 403, "access_denied"),
        (await mcp_client.send(message, **headers, authorization="Bearer a,b"), 400, "invalid_request"),
    ):
        refused_over_mcp(answer, status, error)


@covers("10.3:refusal-bodies")
async def test_what_breaks_is_a_json_rpc_error_that_tells_nothing(
    mcp_client: McpClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("a secret of the house")

    monkeypatch.setattr("negotiator.mcp.server._route", broken)
    answer = await mcp_client.ask("tools/list")
    refused_over_mcp(answer, 500, "server_error", id=7)
    assert "secret" not in answer.text


async def test_the_directory_alone_lists_all_its_tools_and_asks_for_a_token_when_one_needs_it(
    settings: Settings,
) -> None:
    alone = make_settings(settings.data_dir, settings.keys_dir, services=["directory"])
    async with running(alone) as application, connect(application) as client:
        line = McpClient(client)
        assert (await line.call("list_categories")).status_code == 200
        assert (await listed(line)).keys() >= {"search_tools", "save_to_collection", "submit_tool"}
        answer = await line.call("submit_tool", name="x")
        found = refused_over_mcp(answer, 401, "invalid_token", id=7)
        assert "auth.md" in found["message"]
        assert 'scope="tools:write"' in answer.headers["www-authenticate"]


async def test_a_directory_agent_saves_what_it_found_and_submits_what_is_missing(
    client: httpx2.AsyncClient, change: Change
) -> None:
    await change(exchange_import.import_bundled_content)
    body = {
        "agent_name": "collector",
        "identity_type": "did",
        "identity_value": "did:web:collector.example",
        "requested_scopes": ["tools:read", "bookmarks:read", "bookmarks:write", "tools:write"],
    }
    record = (await client.post("/api/auth/register", json=body)).json()
    line = McpClient(client, {"authorization": f"Bearer {record['api_key']}"})
    assert "open_negotiation" not in await listed(line)
    item = (await line.done("search_tools", query="database", limit=1))["items"][0]
    made = await line.done("create_collection", name="To try", idempotency_key="c1")
    assert made == await line.done("create_collection", name="To try", idempotency_key="c1")
    saved = await line.done("save_to_collection", id=made["id"], tool_id=item["id"], note="Has a free tier.")
    assert [(each["tool_id"], each["note"]) for each in saved["items"]] == [(item["id"], "Has a free tier.")]
    assert (await line.done("list_collections"))["items"][0]["item_count"] == 1
    submitted = await line.done("submit_tool", **CALLS["submit_tool"]({}))
    assert submitted["status"] == "pending"
    found = refused_over_mcp(await line.call("list_negotiations"), 403, "insufficient_scope", id=7)
    assert "Register as a new agent" in found["message"]
