"""docs/contract 10: the operations marked for it, with the scopes, limits and refusals that they have over HTTP."""

from typing import Final

import httpx2
import pytest

from negotiator.compose.application import build_application
from negotiator.config.settings import Settings
from negotiator.mcp import tools
from tests.conftest import Register, bearer
from tests.contract.requirements import covers
from tests.helpers.answer_checks import limited, refused_over_mcp
from tests.helpers.mcp_client import NEWEST, OLDER, PRICED, McpClient
from tests.helpers.token_count import ALL_TOOLS, cost

NAMED: Final = {
    "open_negotiation",
    "list_negotiations",
    "record_offer",
    "make_battle_plan",
    "get_leverage",
    "next_move",
    "check_reply",
    "suggest_tactics",
    "search_tools",
    "get_tool",
    "search_memories",
    "remember",
    "record_win",
    "get_benchmarks",
    "redeem_delegation_code",
    "save_to_collection",
    "submit_tool",
}
BEYOND: Final = {"remember", "record_win", "save_to_collection", "submit_tool"}
"""What an anonymous agent may not call, and is not shown."""


@pytest.mark.asyncio
@pytest.mark.parametrize("version", [NEWEST, *OLDER])
@covers("10.2:tools")
async def test_the_tools_of_the_contract_are_there(
    client: httpx2.AsyncClient, register: Register, version: str
) -> None:
    line = McpClient(client, bearer(await register()), version)
    shown = (await line.ask("tools/list")).json()["result"]["tools"]
    names = {tool["name"] for tool in shown}
    assert names >= NAMED - BEYOND
    assert not names & BEYOND
    for tool in shown:
        hints = {name for name in tool["annotations"] if name.endswith("Hint")}
        assert len(hints) == 4
        assert all(type(tool["annotations"][name]) is bool for name in hints)
        assert tool["description"]
        assert tool["inputSchema"]["type"] == "object"


@pytest.mark.asyncio
@covers("10.2:affordable")
async def test_all_tools_are_affordable_and_say_when_to_use_them(
    client: httpx2.AsyncClient, register: Register
) -> None:
    line = McpClient(client, bearer(await register()))
    shown = (await line.ask("tools/list")).json()["result"]["tools"]
    assert sum(map(cost, shown)) <= ALL_TOOLS
    assert all("Use it " in tool["description"] for tool in shown)


@pytest.mark.asyncio
@covers("10.2:same")
async def test_every_tool_needs_its_operation_s_scopes(
    client: httpx2.AsyncClient, register: Register, settings: Settings
) -> None:
    del settings
    line = McpClient(client, bearer(await register()))
    answer = await line.call("add_tactic")
    found = refused_over_mcp(answer, 403, "insufficient_scope", id=7)
    over_http = await client.post("/api/tactics", json={}, headers=line.headers)
    assert found["data"]["error"] == over_http.json()["error"]
    wanted = 'scope="memories:write"'
    assert wanted in answer.headers["www-authenticate"]
    assert wanted in over_http.headers["www-authenticate"]


@pytest.mark.asyncio
@covers("10.2:same")
async def test_a_call_counts_as_a_request(client: httpx2.AsyncClient, register: Register) -> None:
    line = McpClient(client, bearer(await register()))
    first = await line.call("open_negotiation", **PRICED)
    limited(first)
    second = await client.get("/api/negotiations", headers=line.headers)
    limited(second)
    left = [int(answer.headers["x-ratelimit-remaining"]) for answer in (first, second)]
    assert left[1] <= left[0]
    assert [talk["id"] for talk in second.json()["items"]] == [first.json()["result"]["structuredContent"]["id"]]


def test_every_marked_operation_is_a_tool(settings: Settings) -> None:
    service = build_application(settings).service
    marked = tools.tool_operations(service)
    assert marked.keys() >= NAMED
    assert len(marked) == len([found for found in service.operations if found.tool])
