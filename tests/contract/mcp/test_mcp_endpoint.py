"""docs/contract 10: the operations marked for it, with the scopes, limits and refusals that they have over HTTP."""

from typing import Final

import httpx2
import pytest

from negotiator.compose.application import build_application
from negotiator.config.settings import Settings
from negotiator.mcp import tools
from tests.conftest import Register, bearer
from tests.contract.requirements import covers
from tests.helpers.mcp_client import NEWEST, OLDER, McpClient
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
    client: httpx2.AsyncClient, register: Register, settings: Settings, version: str
) -> None:
    assert tools.tool_operations(build_application(settings).service).keys() >= NAMED
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
