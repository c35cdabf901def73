"""Chapters about memories, the tools directory, and MCP."""

import asyncio
from typing import Any, Final

import httpx2

from negotiator.cli.demo.context import DemoChapter, DemoContext
from negotiator.cli.demo.server import DemoFailed
from negotiator.directory.listing_routes import TOOLS_PATH
from negotiator.memory.benchmarks_routes import BENCHMARKS_PATH
from negotiator.memory.memories_routes import MEMORIES_PATH, MEMORY_SEARCH_PATH
from negotiator.memory.wins_routes import WINS_PATH

_LESSON: Final = "Cloudwerk's account manager gives way on price in the last round, not before."
_QUESTION: Final = "When does the vendor give in on price?"
_WIN: Final = {
    "category": "saas",
    "kind": "renewal",
    "role": "buyer",
    "counterparty": "Cloudwerk",
    "currency": "EUR",
    "baseline": {"kind": "previous_price", "amount": "116000.00"},
    "achieved": {"amount": "94000.00"},
    "period_months": 12,
}


def _memory(journey: DemoContext) -> None:
    step, check = journey.narrator.step, journey.check
    step("Grace's agent stores what it has learned.")
    body = {"text": _LESSON, "kind": "counterparty", "counterparty": "Cloudwerk"}
    members = ("id", "status", "trust", "source")
    stored = journey.post(MEMORIES_PATH, body, status=201, show=members)
    again = journey.post(MEMORIES_PATH, body, show=("id",))
    check(again["id"] == stored["id"], "Sent twice, it is stored once")
    step("A year later the agent searches for it in other words.")
    query = {"query": _QUESTION, "limit": 3}
    found = journey.post(MEMORY_SEARCH_PATH, query, show=("mode", "model"))
    for hit in found["items"]:
        journey.narrator.event(f"{hit['score']:.3f}  {hit['memory']['text']}")
    check(found["items"][0]["memory"]["id"] == stored["id"], "It is found by its meaning")
    step("The renewal is recorded as a win, measured against the previous price.")
    members = ("savings_total", "savings_rate")
    win = journey.post(WINS_PATH, _WIN, status=201, show=members)
    check(win["savings_total"] == "22000.00", "The server computes the savings to the cent")
    marks = journey.get(f"{BENCHMARKS_PATH}?category=saas&role=buyer", show=("n_deals", "p50"))
    check(marks["n_deals"] >= 1, "Grace's benchmarks count it, those of other users do not")


def _tools(journey: DemoContext) -> None:
    step, check = journey.narrator.step, journey.check
    step("Anyone may search the directory for a tool by its purpose.")
    path = f"{TOOLS_PATH}?query=turn+a+podcast+into+text&limit=3"
    found = journey.answered(journey.ask("GET", path, show=()), 200)
    for tool in found["items"]:
        journey.narrator.event(f"{tool['name']}: {tool['summary']}")
    names = " ".join(tool["summary"].lower() for tool in found["items"])
    check("speech" in names or "transcri" in names, "A purpose in plain words finds suitable tools")


def _over_mcp(journey: DemoContext) -> None:
    step, check = journey.narrator.step, journey.check
    step("The official MCP client connects with the token that the agent already has.")
    listed, found = asyncio.run(_call_mcp(journey.site.url, journey.claimed["access_token"]))
    journey.narrator.event(f"{len(listed)} tools: {', '.join(listed[:6])} …")
    check("next_move" in listed, "The tools are the operations of the API")
    stored = {item["id"] for item in found["items"]}
    journey.narrator.event(f"list_negotiations: {len(stored)} found")
    check(journey.negotiation["id"] in stored, "MCP and HTTP show the same negotiations")


async def _call_mcp(base: str, token: str) -> tuple[list[str], dict[str, Any]]:
    # Imported here: the SDK is slow to load, and only this chapter needs its client.
    from mcp.client import Client
    from mcp.client.streamable_http import streamable_http_client

    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, trust_env=False) as http,
        Client(streamable_http_client(f"{base}/mcp", http_client=http)) as client,
    ):
        tools = [tool.name for tool in (await client.list_tools()).tools]
        result = await client.call_tool("list_negotiations", {"limit": 50})
    found = result.structured_content
    if result.is_error or found is None:
        raise DemoFailed("list_negotiations over MCP was refused.")
    return tools, found


MEMORY = DemoChapter(
    "memory",
    "Memory",
    "Memories belong to one user, are found by their meaning and cited by plans; deals become benchmarks.",
    _memory,
)
DIRECTORY = DemoChapter("directory", "The tools directory", "Tools for agents, searched by purpose.", _tools)
MCP = DemoChapter("mcp", "MCP", "HTTP and MCP share operations, scopes, limits and refusals.", _over_mcp)
