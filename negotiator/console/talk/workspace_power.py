"""The part "Who needs it more" of a negotiation's page, from the API's leverage; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from negotiator.advice.leverage.factor_words import FACTOR_WORDS, NEARLY_EVEN, size_of_shift
from negotiator.console import charts as drawing
from negotiator.console.form_fields import read_entered
from negotiator.console.negotiation_words import NegotiationWords, object_member
from negotiator.console.page_calls import Members
from negotiator.console.page_router import NO_FORM, RefusedForm, UnreadFields
from negotiator.console.talk.workspace_fields import alternative_patch, price_of_alternative
from negotiator.negotiations.schemas_advice import LeverageSummaryView, LeverageView
from negotiator.negotiations.schemas_negotiations import NegotiationView

FactKind = Literal["choice", "count", "date", "alternative"]
Side = Literal["me", "them"]
SIDES: Final[tuple[Side, ...]] = ("me", "them")


@dataclass(frozen=True, slots=True)
class FactInput:
    """A field: what it is called, and for a choice its values with their words, the least first."""

    kind: FactKind
    label: str
    choices: Sequence[tuple[str, str]] = ()


def _shares(*words: str) -> tuple[tuple[str, str], ...]:
    """Evenly spread shares from 0.1 to 0.9, the middle 80 %: nobody knows the ends of such a scale."""
    step = 0.8 / (len(words) - 1)
    return tuple((f"{0.1 + place * step:.1f}", word) for place, word in enumerate(words))


_COST: Final = _shares("Almost nothing", "A little", "A fair amount", "A lot", "Very much")
_KNOWING: Final = _shares("Not at all", "Roughly", "Fairly well", "Well", "Very well")
_SUPPORT: Final = _shares("Not at all", "A little", "Partly", "Mostly", "Fully")
_BOUND: Final = _shares("Not at all", "A little", "Somewhat", "Quite", "Very much")
_DECIDES: Final = _shares("Must ask for everything", "Decides within limits", "Decides alone")
_FALL_BACK: Final = (
    ("0.1", "Nothing"),
    ("0.35", "Something much worse than this deal"),
    ("0.6", "Something a little worse than this deal"),
    ("0.85", "Something as good as this deal"),
)
FACT_INPUTS: Final[Mapping[tuple[str, Side], FactInput]] = {
    ("alternatives", "me"): FactInput("alternative", "What you do without this deal"),
    ("alternatives", "them"): FactInput("choice", "What they can fall back on", _FALL_BACK),
    ("time", "me"): FactInput("date", "You need it settled by"),
    ("time", "them"): FactInput("date", "They need it settled by"),
    ("competition", "me"): FactInput("count", "How many others you have"),
    ("competition", "them"): FactInput("count", "How many others they have"),
    ("dependency", "me"): FactInput("choice", "A break would cost you", _COST),
    ("dependency", "them"): FactInput("choice", "A break would cost them", _COST),
    ("information", "me"): FactInput("choice", "You know their limits", _KNOWING),
    ("information", "them"): FactInput("choice", "They know your limits", _KNOWING),
    ("market", "me"): FactInput("choice", "The market supports your figure", _SUPPORT),
    ("market", "them"): FactInput("choice", "The market supports theirs", _SUPPORT),
    ("authority", "me"): FactInput("choice", "You", _DECIDES),
    ("authority", "them"): FactInput("choice", "The person you talk to", _DECIDES),
    ("commitment", "me"): FactInput("choice", "You are bound to it", _BOUND),
    ("commitment", "them"): FactInput("choice", "They are bound to it", _BOUND),
    ("relationship", "me"): FactInput("choice", "You need them afterwards", _BOUND),
    ("relationship", "them"): FactInput("choice", "They need you afterwards", _BOUND),
}
MAX_RIVALS: Final = 1000


def _path(factor: str, side: Side) -> Sequence[str]:
    """Where a negotiation has the fact."""
    match factor:
        case "alternatives":
            return ("batna",) if side == "me" else ("their_estimate", "batna")
        case "time":
            return ("deadline",) if side == "me" else ("their_estimate", "deadline")
        case _:
            return ("facts", side, "rivals" if factor == "competition" else factor)


def fact_value(factor: str, side: Side, view: NegotiationView) -> tuple[str, str]:
    """What is known of the fact, as its field holds it, and the description of an alternative."""
    found = FACT_INPUTS[factor, side]
    *parents, last = _path(factor, side)
    place: Mapping[str, Any] = view
    for name in parents:
        place = object_member(place, name)
    value = place.get(last)
    if found.kind == "alternative":
        return price_of_alternative(view), object_member(view, "batna").get("description") or ""
    if found.kind == "date":
        return (value or "")[:10], ""
    if factor == "alternatives":
        value = object_member(place, last).get("utility")
    if value is None:
        return "", ""
    if found.kind == "count":
        return str(value), ""
    return min(found.choices, key=lambda one: abs(float(one[0]) - value))[0], ""


def fact_patches(form: Mapping[str, str], view: NegotiationView, words: NegotiationWords) -> Members:
    """The merge patch of all answers that are new; raises `UnreadFields`.

    A field that is emptied makes its fact unknown.
    """
    patch: Members = {}
    faults: dict[str, str] = {}
    for (factor, side), found in FACT_INPUTS.items():
        name = fact_name(factor, side)
        text, description = form.get(name, "").strip(), form.get(f"{name}.text", "").strip()
        if name not in form or (text, description) == fact_value(factor, side, view):
            continue
        try:
            if found.kind == "alternative":
                value = alternative_patch(description, text, view, words)
            else:
                value = _read(factor, found, text)
        except ValueError as fault:
            faults[name] = str(fault)
            continue
        *parents, last = _path(factor, side)
        place = patch
        for parent in parents:
            place = place.setdefault(parent, {})
        place[last] = value
    if faults:
        raise UnreadFields(faults)
    return patch


def _read(factor: str, found: FactInput, text: str) -> Any:
    """What was typed or chosen for a fact; None where it is not known."""
    if found.kind == "date" or not text:
        return text or None
    if found.kind == "count":
        number = read_entered(text, "integer")
        if not 0 <= number <= MAX_RIVALS:
            raise ValueError("Write a number from 0 on.")
        return int(number)
    chosen = float(text) if text in dict(found.choices) else None
    return {"utility": chosen} if factor == "alternatives" and chosen is not None else chosen


def fact_name(factor: str, side: Side) -> str:
    """The name of a fact's field in the form."""
    return f"{factor}.{side}"


def faulty_fact(pointer: str) -> str:
    """The field that a refused member of a patch belongs to."""
    parts = tuple(pointer.lstrip("/").split("/"))
    facts = (fact for fact in FACT_INPUTS if all(one == other for one, other in zip(parts, _path(*fact), strict=False)))
    return fact_name(*next(facts, ("alternatives", "me")))


ROUGH: Final = 0.1
"""From this width on, the interval of the user's share of the power is told."""
FIRST_QUESTIONS: Final = 3
"""How many questions are asked at first; the others on request."""


@dataclass(frozen=True, slots=True)
class FactQuestion:
    """A question about one fact, with its field. `value` and `text` are what is known or was typed."""

    id: str
    name: str
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
    words: str
    number: str
    bar: str
    is_movable: bool
    facts: Sequence[FactQuestion]


@dataclass(frozen=True, slots=True)
class PowerOverview:
    """Who needs the deal more: in words, as bars, and the questions that would move them, of which `more` are hidden.

    `is_rough` says that much is not known yet.
    """

    told: LeverageSummaryView
    is_rough: bool
    bar: str
    rows: Sequence[FactorRow]
    questions: Sequence[FactQuestion]
    more: int


def power(
    standing: LeverageView,
    view: NegotiationView,
    words: NegotiationWords,
    form: RefusedForm = NO_FORM,
    *,
    asks_all: bool = False,
) -> PowerOverview:
    """The split of power as the page shows it: the factor that an action moves most first, then the strongest.

    Without `asks_all` only the first questions are asked, and those with a fault.
    """
    told, split = standing["summary"], standing["power"]
    open_facts = {(fact["factor"], fact["side"]): fact for fact in split["unknown"]}
    movable = split["most_movable"]["name"] if split["most_movable"]["alpha_gain"] > 0 else ""
    known = [one for one in split["factors"] if not all((one["name"], side) in open_facts for side in SIDES)]
    known.sort(key=lambda one: (one["name"] != movable, -abs(one["contribution"])))
    rows = [
        FactorRow(
            one["name"],
            one["explanation"],
            number := _number(one["value"], words),
            drawing.balance_bar(f"bar-{one['name']}", one["value"], number),
            one["name"] == movable,
            [
                _question(one["name"], side, view, words, form)
                for side in SIDES
                if (one["name"], side) not in open_facts
            ],
        )
        for one in known
    ]
    in_order = sorted(open_facts, key=lambda fact: fact != (movable, "me"))
    questions = [
        _question(
            factor, side, view, words, form, shift=open_facts[factor, side]["high"] - open_facts[factor, side]["low"]
        )
        for factor, side in in_order
    ]
    asked = [one for place, one in enumerate(questions) if asks_all or place < FIRST_QUESTIONS or one.fault]
    bar = drawing.share_bar("bar-split", split["alpha"], (split["low"], split["high"]), told["who_needs_it_more"])
    return PowerOverview(
        told,
        bool(known) and split["high"] - split["low"] > ROUGH,
        bar if known else "",
        rows,
        asked,
        len(questions) - len(asked),
    )


def _number(value: float, words: NegotiationWords) -> str:
    size = round(abs(value) * 100)
    if abs(value) <= NEARLY_EVEN:
        return f"About even ({size} of 100 for {'you' if value >= 0 else words.wording.them})"
    return f"{size} of 100 for {'you' if value > 0 else words.wording.them}"


def _question(
    factor: str,
    side: Side,
    view: NegotiationView,
    words: NegotiationWords,
    form: RefusedForm,
    *,
    shift: float | None = None,
) -> FactQuestion:
    """The question about a fact; `shift` is how far an answer can move the user's share of the power."""
    asked = FACTOR_WORDS[factor].mine if side == "me" else FACTOR_WORDS[factor].others
    name = fact_name(factor, side)
    value, text = fact_value(factor, side, view)
    return FactQuestion(
        f"fact-{factor}-{side}",
        name,
        asked.question if side == "me" or asked.ask == "yourself" else f"Ask {words.wording.them}: {asked.question}",
        asked.why,
        "" if shift is None else f"The answer can change the picture {size_of_shift(shift)}.",
        FACT_INPUTS[factor, side],
        form.typed.get(name, value),
        form.typed.get(f"{name}.text", text),
        form.faults(faulty_fact).get(name, ""),
    )
