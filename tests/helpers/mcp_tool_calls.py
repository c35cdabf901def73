"""Arguments that every tool succeeds with, but for the one that ends its caller's token. A new tool adds its line."""

from collections.abc import Callable
from typing import Any, Final

from tests.helpers.mcp_client import PRICED
from tests.helpers.request_bodies import TACTIC

REDEEM: Final = "redeem_delegation_code"
"""The tool that is not here: only an agent that nobody claimed is shown it, and its token is dead afterwards."""

Known = dict[str, Any]
"""What the calls before have made, by the tool that made it."""


def _talk(known: Known) -> dict[str, Any]:
    return {"id": known["open_negotiation"]["id"]}


def _package(price: str) -> list[dict[str, str]]:
    return [{"name": "price", "value": price}]


CALLS: Final[dict[str, Callable[[Known], dict[str, Any]]]] = {
    "open_negotiation": lambda _: {**PRICED, "walk_away": _package("1100"), "idempotency_key": "talk-1"},
    "list_negotiations": lambda _: {"limit": 5, "state": "draft"},
    "get_negotiation": _talk,
    "edit_negotiation": lambda known: {**_talk(known), "max_rounds": 6, "if_revision": 1},
    "make_battle_plan": _talk,
    "rehearse": lambda known: {**_talk(known), "kind": "stubborn", "seed": 7},
    "list_battle_plans": _talk,
    "get_battle_plan": lambda known: {**_talk(known), "plan_id": known["list_battle_plans"]["items"][0]["id"]},
    "record_offer": lambda known: {**_talk(known), "by": "them", "package": _package("1150")},
    "list_offers": _talk,
    "get_leverage": _talk,
    "next_move": lambda known: {**_talk(known), "style": "firm"},
    "check_reply": lambda known: {**_talk(known), "draft": "I can do 1,050."},
    "suggest_tactics": lambda known: {**_talk(known), "utterance": "This is our final offer."},
    "list_tactics": lambda _: {"limit": 3},
    "add_tactic": lambda _: TACTIC,
    "remember": lambda _: {"text": "Acme gives way in the last week of a quarter."},
    "search_memories": lambda _: {"query": "when do they give way", "limit": 3},
    "record_win": lambda _: {
        "category": "software",
        "currency": "EUR",
        "baseline": {"kind": "previous_price", "amount": "120.00"},
        "achieved": "105.00",
    },
    "get_benchmarks": lambda _: {"category": "software"},
    "open_teleprompter_session": lambda known: {
        "negotiation_id": known["open_negotiation"]["id"],
        "consent": {"basis": "test", "confirmed_by": "Ada"},
    },
    "hear_utterance": lambda known: {
        "id": known["open_teleprompter_session"]["id"],
        "utterance_id": "u1",
        "text": "That is way over our budget.",
    },
    "judge_cue": lambda known: {
        "id": known["open_teleprompter_session"]["id"],
        "cue": known["hear_utterance"]["cues"][0]["id"],
        "action": "used",
    },
    "follow_session": lambda known: {"id": known["open_teleprompter_session"]["id"], "wait": 1},
    "get_transcript": lambda known: {"id": known["open_teleprompter_session"]["id"]},
    "end_teleprompter_session": lambda known: {"id": known["open_teleprompter_session"]["id"]},
    "search_tools": lambda _: {"query": "database", "limit": 2, "kind": ["mcp_server"]},
    "get_tool": lambda known: {"id": known["search_tools"]["items"][0]["id"]},
    "list_categories": lambda _: {},
    "list_collections": lambda _: {"limit": 5},
    "create_collection": lambda _: {"name": "To try"},
    "save_to_collection": lambda known: {
        "id": known["create_collection"]["id"],
        "tool_id": known["search_tools"]["items"][0]["id"],
        "note": "Has a free tier.",
    },
    "submit_tool": lambda _: {
        "name": "Quiet Search",
        "summary": "Full-text search over your own notes, as an API and an MCP server",
        "kind": "mcp_server",
        "category": "search-web",
        "homepage_url": "https://quiet-search.example",
        "interfaces": [{"type": "streamable-http", "url": "https://api.quiet-search.example/mcp"}],
    },
    "move_negotiation": lambda known: {**_talk(known), "to": "paused"},
    "list_negotiation_events": _talk,
}
