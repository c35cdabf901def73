"""The part "Who needs it more" of a negotiation's page, from the API's leverage; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from negotiator.advice.leverage.factor_words import FACTOR_WORDS, NEARLY_EVEN, size_of_shift
from negotiator.console import charts as drawing
from negotiator.console.negotiation_words import NegotiationWords
from negotiator.console.talk.power_facts import FACT_INPUTS, FactInput, fact_name, fact_value

FACTORS: Final[dict[str, str]] = {
    "alternatives": "What each side does without this deal",
    "time": "Who can wait longer",
    "competition": "How many others each side could deal with",
    "dependency": "What ending the relationship would cost",
    "information": "Who knows the other's limits better",
    "market": "Whose figures the market supports",
    "authority": "Who decides more freely",
    "commitment": "Who has put more into it already",
    "relationship": "Who needs the relationship more",
}
ROUGH: Final = 0.1
"""From this width on, the interval of the user's share of the power is told."""
FIRST_QUESTIONS: Final = 3
"""How many questions are asked at first; the others on request."""


@dataclass(frozen=True, slots=True)
class FactQuestion:
    """A question about one fact, with its field. `value` and `text` are what is known or was typed."""

    id: str
    name: str
    factor: str
    side: str
    question: str
    why: str
    effect: str
    input: FactInput
    value: str
    text: str
    fault: str


@dataclass(frozen=True, slots=True)
class FactorRow:
    """One factor: its bar, its words, its number in words, and the facts that the user can change."""

    name: str
    title: str
    words: str
    number: str
    bar: str
    movable: str
    facts: Sequence[FactQuestion]


@dataclass(frozen=True, slots=True)
class PowerOverview:
    """Who needs the deal more: in words, as bars, and the questions that would move them."""

    summary: str
    spread: str
    bar: str
    room: str
    rows: Sequence[FactorRow]
    shift_alone: str
    questions: Sequence[FactQuestion]
    more: int


def power(
    standing: dict[str, Any],
    view: dict[str, Any],
    words: NegotiationWords,
    *,
    typed: Mapping[str, str] | None = None,
    faults: Mapping[str, str] | None = None,
    asks_all: bool = False,
) -> PowerOverview:
    """The split of power as the page shows it: the factor that an action moves most first, then the strongest.

    `typed` is a refused form, `faults` what is wrong with it, by field.
    Without `asks_all` only the first questions are asked, and those with a fault.
    """
    told, split = standing["summary"], standing["power"]
    open_facts = {(fact["factor"], fact["side"]): fact for fact in split["unknown"]}
    questions = [
        _question(factor, side, view, words, fact, typed=typed or {}, faults=faults or {})
        for (factor, side), fact in open_facts.items()
    ]
    movable = split["most_movable"]["name"] if split["most_movable"]["alpha_gain"] > 0 else ""
    known = [one for one in split["factors"] if not all((one["name"], side) in open_facts for side in ("me", "them"))]
    known.sort(key=lambda one: (one["name"] != movable, -abs(one["contribution"])))
    rows = [
        FactorRow(
            one["name"],
            FACTORS[one["name"]],
            one["explanation"],
            _number(one["value"], words),
            drawing.balance_bar(f"bar-{one['name']}", one["value"], _number(one["value"], words)),
            told["would_shift_most"] if one["name"] == movable else "",
            [
                _question(one["name"], side, view, words, None, typed=typed or {}, faults=faults or {})
                for side in ("me", "them")
                if (one["name"], side) not in open_facts
            ],
        )
        for one in known
    ]
    is_rough = bool(known) and split["high"] - split["low"] > ROUGH
    first = [one for one in questions if (one.factor, one.side) == (movable, "me")]
    ordered = [*first, *(one for one in questions if one not in first)]
    asked = [one for place, one in enumerate(ordered) if asks_all or place < FIRST_QUESTIONS or one.fault]
    return PowerOverview(
        told["who_needs_it_more"],
        "Much is not known yet, so this may change: the line below the bar shows how far." if is_rough else "",
        drawing.share_bar("bar-split", split["alpha"], (split["low"], split["high"]), told["who_needs_it_more"])
        if known
        else "",
        told["room"],
        rows,
        told["would_shift_most"] if not any(row.movable for row in rows) else "",
        asked,
        len(ordered) - len(asked),
    )


def _number(value: float, words: NegotiationWords) -> str:
    size = round(abs(value) * 100)
    if abs(value) <= NEARLY_EVEN:
        return f"About even ({size} of 100 for {'you' if value >= 0 else words.wording.them})"
    return f"{size} of 100 for {'you' if value > 0 else words.wording.them}"


def _question(
    factor: str,
    side: str,
    view: dict[str, Any],
    words: NegotiationWords,
    fact: Mapping[str, Any] | None,
    *,
    typed: Mapping[str, str],
    faults: Mapping[str, str],
) -> FactQuestion:
    asked = FACTOR_WORDS[factor].mine if side == "me" else FACTOR_WORDS[factor].others
    name = fact_name(factor, side)
    value, text = fact_value(factor, side, view)
    effect = ""
    if fact is not None:
        effect = f"The answer can change the picture {size_of_shift(fact['high'] - fact['low'])}."
    return FactQuestion(
        f"fact-{factor}-{side}",
        name,
        factor,
        side,
        asked.question if side == "me" or asked.ask == "yourself" else f"Ask {words.wording.them}: {asked.question}",
        asked.why,
        effect,
        FACT_INPUTS[factor, side],
        typed.get(name, value),
        typed.get(f"{name}.text", text),
        faults.get(name, ""),
    )
