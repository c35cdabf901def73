"""What else is in the house: a memory of one's own, the directory of tools, and all of it once more over MCP."""

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
_ASKED: Final = "When does the vendor give in on price?"
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
    step("Grace's agent writes down what it has learned.")
    body = {"text": _LESSON, "kind": "counterparty", "counterparty": "Cloudwerk"}
    told = ("id", "status", "trust", "source")
    kept = journey.post(MEMORIES_PATH, body, status=201, show=told)
    again = journey.post(MEMORIES_PATH, body, show=("id",))
    check(again["id"] == kept["id"], "Said twice, it is kept once")
    step("A year later somebody asks, in other words.")
    asked = {"query": _ASKED, "limit": 3}
    found = journey.post(MEMORY_SEARCH_PATH, asked, show=("mode", "model"))
    for hit in found["items"]:
        journey.narrator.event(f"{hit['score']:.3f}  {hit['memory']['text']}")
    check(found["items"][0]["memory"]["id"] == kept["id"], "It is found by what it means")
    step("The renewal becomes a win, measured against what was paid before.")
    told = ("savings_total", "savings_rate")
    win = journey.post(WINS_PATH, _WIN, status=201, show=told)
    check(win["savings_total"] == "22000.00", "What was saved is computed, to the cent")
    marks = journey.get(f"{BENCHMARKS_PATH}?category=saas&role=buyer", show=("n_deals", "p50"))
    check(marks["n_deals"] >= 1, "Her benchmarks count it, and nobody else's do")


def _tools(journey: DemoContext) -> None:
    step, check = journey.narrator.step, journey.check
    step("Anybody may ask the directory for a tool, by what it is to do.")
    path = f"{TOOLS_PATH}?query=turn+a+podcast+into+text&limit=3"
    found = journey.answered(journey.ask("GET", path, show=()), 200)
    for tool in found["items"]:
        journey.narrator.event(f"{tool['name']}: {tool['summary']}")
    names = " ".join(tool["summary"].lower() for tool in found["items"])
    check("speech" in names or "transcri" in names, "A job in plain words finds tools that do it")


def _over_mcp(journey: DemoContext) -> None:
    step, check = journey.narrator.step, journey.check
    step("The official MCP client connects with the token the agent has already.")
    listed, found = asyncio.run(_asked(journey.site.url, journey.claimed["access_token"]))
    journey.narrator.event(f"{len(listed)} tools: {', '.join(listed[:6])} …")
    check("next_move" in listed, "The tools are the operations of the API")
    kept = {item["id"] for item in found["items"]}
    journey.narrator.event(f"list_negotiations: {len(kept)} found")
    check(journey.negotiation["id"] in kept, "Over MCP it sees what it sees over HTTP")


async def _asked(base: str, token: str) -> tuple[list[str], dict[str, Any]]:
    # The SDK is slow to load, and only this chapter needs its client.
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
    "What stays",
    "Memories belong to one person, are found by their meaning and cited by plans; deals become benchmarks.",
    _memory,
)
DIRECTORY = DemoChapter(
    "directory",
    "The directory next door",
    "Tools for agents, searched by what they do; battle plans name them as alternatives.",
    _tools,
)
MCP = DemoChapter(
    "mcp",
    "The same over MCP",
    "One description, three ways in: HTTP, MCP and pages share scopes, limits and refusals.",
    _over_mcp,
)
