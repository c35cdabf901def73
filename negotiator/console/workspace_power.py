"""The part "Who needs it more" of a negotiation's page, from the API's leverage; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from negotiator.console import charts as drawing
from negotiator.console.charts import Bar

FACTORS: Final[dict[str, str]] = {
    "alternatives": "What each side does without this deal",
    "time": "Who can wait longer",
    "competition": "How many others each side could deal with",
    "dependency": "What a break would cost",
    "information": "Who knows the other's limits better",
    "market": "Whose figures the market supports",
    "authority": "Who decides more freely",
    "commitment": "Who has put more into it already",
    "relationship": "Who needs the relationship more",
}


@dataclass(frozen=True, slots=True)
class PowerOverview:
    """Who needs the deal more: in words, as bars, and what to find out next."""

    summary: str
    shift: str
    room: str
    expected: str
    charts: Sequence[str]
    known: Sequence[tuple[str, str]]
    questions: Sequence[Mapping[str, Any]]


def power(standing: dict[str, Any]) -> PowerOverview:
    """The split of power as the page shows it; only factors of which something is known have a bar."""
    told = standing["summary"]
    known = [one for one in standing["power"]["factors"] if one["contribution"] != 0]
    bars = [Bar(FACTORS[one["name"]], one["value"], one["explanation"]) for one in known]
    title = "What speaks for you (right) and against you (left)"
    return PowerOverview(
        told["who_needs_it_more"],
        told["would_shift_most"],
        told["room"],
        told["expected"] or "",
        [drawing.balance_chart(title, bars, width=width) for width in (720, 350)] if bars else [],
        [(FACTORS[one["name"]], one["explanation"]) for one in known],
        told["find_out_next"],
    )
