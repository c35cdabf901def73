"""A body for every operation that creates something."""

from typing import Any, Final

from tests.helpers.answer_checks import OPENING

PRICED: Final = {
    **OPENING,
    "issues": [{"name": "price", "type": "money", "range": {"min": "1", "max": "9", "step": "1"}}],
}


TACTIC: Final = {
    "name": "Coffee first",
    "family": "relationship",
    "summary": "Talk about anything else for a while.",
    "effect": {"on": "relationship", "size": "small", "evidence": "practice"},
    "use_when": ["You hardly know them"],
    "lines": [{"role": "party", "text": "Shall we have a coffee before we start?"}],
}


CREATING: Final[dict[str, dict[str, Any]]] = {
    "open_negotiation": OPENING,
    "make_battle_plan": {},
    "rehearse": {"seed": 7},
    "start_rehearsal": {"seed": 7},
    "play_turn": {"action": "wait"},
    "add_tactic": TACTIC,
    "record_win": {
        "category": "software",
        "role": "buyer",
        "currency": "EUR",
        "baseline": {"kind": "previous_price", "amount": "120.00"},
        "achieved": {"amount": "105.00"},
    },
    "remember": {"text": "Acme gives way in the last week of a quarter."},
    "record_offer": {"by": "them", "kind": "offer", "package": {"price": "5"}},
    "submit_tool": {
        "name": "Quiet Search",
        "summary": "Full-text search over your notes",
        "kind": "app",
        "category": "search-web",
        "homepage_url": "https://quiet-search.example",
    },
    "report_tool": {"reason": "broken_link"},
    "open_teleprompter_session": {"consent": {"basis": "test", "confirmed_by": "Ada"}},
    "save_collection": {"name": "To try"},
}
"""A body for every operation that creates; whoever adds one adds its body here."""
