"""What the page "Prepare a negotiation" shows beside the fields: words for figures, totals, the next question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import ValidationError

from negotiator.base.errors import ValidationFailed
from negotiator.console.negotiation_words import NegotiationWords, limit_title, object_member
from negotiator.console.page_calls import Members
from negotiator.console.talk.preparation_body import BELOW_ALTERNATIVE, PreparedBody
from negotiator.console.talk.preparation_form import TRUTHS, IssueRow, Preparation, entered_weight
from negotiator.console.talk.workspace_fields import package_of
from negotiator.negotiations.schemas_advice import NegotiationCheck
from negotiator.terms.issues import UNORDERED_TYPES, Scalar

STEPS: Final = {
    "about": ("About", "What is it about, and with whom?"),
    "matters": ("What matters", "What matters to you?"),
    "figures": ("Figures", "What would be good, and what is the least?"),
    "alternative": ("Without a deal", "What happens without a deal?"),
    "them": ("Their side", "What do you think they need?"),
}
"""The questions in order, by the id of the section: its name and the question."""
_STEP_OF: Final = {
    "target": "figures",
    "walk_away": "figures",
    "range": "figures",
    "batna": "alternative",
    "their_estimate": "them",
    "their_weights": "them",
    "their_weight": "them",
    "weights": "matters",
    "weight": "matters",
    "direction": "matters",
    "currency": "about",
    "deadline": "about",
}
"""The section that answers what advice lacks, by the last part of its name."""
_JOINED: Final = {"their_weight": "their_weights", "weight": "weights"}
"""What is asked once for all points."""
_ADVICE: Final[tuple[tuple[str, frozenset[str]], ...]] = (
    ("A plan to print: questions to ask, answers to what they will say, words to open with", frozenset()),
    ("Your first figure, and each step after it", frozenset({"target", "walk_away", "range"})),
    ("A warning before anything below your limit", frozenset({"walk_away"})),
    ("Whether there is room for a deal, and how likely", frozenset({"walk_away", "range", "their_estimate"})),
    ("When it is better to leave", frozenset({"batna"})),
    ("What to give for what: trades that cost you little and bring them much", frozenset({"their_weights"})),
    ("How fast to move", frozenset({"deadline"})),
)  # fmt: skip
"""Advice, and what it cannot do without."""


@dataclass(frozen=True, slots=True)
class RowView:
    """One point, with the words around its fields. `swing` is the way from its limit to its target, in words."""

    place: int
    row: IssueRow
    name: str
    unit: str
    choices: Sequence[tuple[str, str]]
    limit_title: str
    range_words: str
    best_hint: str
    worst_hint: str
    swing: str
    is_price: bool

    @property
    def prefix(self) -> str:
        """What the names of its fields begin with."""
        return f"i{self.place}"


@dataclass(frozen=True, slots=True)
class PreparationView:
    """The page beside what was typed: what is said under fields, what is wrong, by field, and what comes next.

    `states` says of each section by its id whether it is `done` or `next`. `advice` are what advice can say, whether it
    is `ready`, comes with the `next` answer or `later`, and the number of the question that it needs.
    """

    rows: Sequence[RowView]
    notes: Mapping[str, str]
    faults: Mapping[str, str]
    states: Mapping[str, str]
    advice: Sequence[tuple[str, str, int]]
    question: str
    why: str
    low_hint: str
    high_hint: str
    asks_reason: bool

    @property
    def next_step(self) -> str:
        """The id of the section to go on with; empty for none."""
        return next((step for step, state in self.states.items() if state == "next"), "")


def field_id(name: str) -> str:
    """The id of a field by its name."""
    return name.replace(".", "-")


def preparation_view(
    form: Preparation, prepared: PreparedBody, checked: NegotiationCheck | None, refused: Mapping[str, str]
) -> PreparationView:
    """The view of a form; `checked` is the answer of the check, None where it was refused at the `refused` fields."""
    words = _words(prepared)
    missing = _missing(checked, prepared)
    states = _states(form, missing, has_faults=checked is None)
    question, why = _next(states, checked)
    low, high = (words.money(end) if words else "" for end in prepared.spread) if prepared.spread else ("", "")
    return PreparationView(
        rows=[_row(form, prepared, words, n) for n in range(len(form.rows))],
        notes=_notes(form, prepared, words),
        faults={**refused, **prepared.errors},
        states=states,
        advice=_advice(states, missing, several=len(prepared.places) > 1),
        question=question,
        why=why,
        low_hint=low,
        high_hint=high,
        asks_reason=bool(form.override_reason) or BELOW_ALTERNATIVE in refused.values(),
    )


def _words(prepared: PreparedBody) -> NegotiationWords | None:
    """The words of the body, unless it has no form that could be said."""
    try:
        return NegotiationWords.of_body({**prepared.body, "deadline": None})
    except (ValidationError, ValidationFailed):
        return None


def _notes(form: Preparation, prepared: PreparedBody, words: NegotiationWords | None) -> dict[str, str]:
    """The line under each field that has one: how its figure is understood."""
    found = {f"i{n}.weight": _weight_words(row) for n, row in enumerate(form.rows)}
    packages = {"target": _package(prepared, "target"), "limit": _package(prepared, "walk_away")}
    for n, row in enumerate(form.rows):
        name = prepared.names[n]
        for field, package in packages.items():
            if words and row.type == "money" and name in package:
                total = words.total(package) if n == form.price_place else ""
                found[f"i{n}.{field}"] = total or words.value(name, package[name])
    for n in prepared.swapped:
        text = "Better for you than what would be good. Leave it if you mean it so."
        found[f"i{n}.limit"] = " · ".join(filter(None, (found.get(f"i{n}.limit"), text)))
    if words and form.price_place in prepared.places:
        rest = packages["target"] or packages["limit"]
        found |= _price_notes(prepared, words, prepared.names[form.price_place or 0], rest)
    return found


def _weight_words(row: IssueRow) -> str:
    weight = entered_weight(row)
    said = ((0, "does not matter"), (2, "a little"), (4, "somewhat"), (6, "a good deal"), (8, "very much"))
    text = next((text for most, text in said if weight <= most), "more than anything")
    return f"{weight.normalize():f} of 10: {text}"


def _package(prepared: PreparedBody, member: str) -> Members:
    return package_of(prepared.body.get(member))


def _price_notes(prepared: PreparedBody, words: NegotiationWords, name: str, rest: Members) -> dict[str, str]:
    """The lines under the amounts that stand for a price: what it is today, the alternative's, theirs."""
    body = prepared.body
    alternative = package_of(object_member(body, "batna").get("value")).get(name)
    named = {"baseline": object_member(body, "baseline").get("value"), "alternative_price": alternative}
    found = {
        field: words.total({**rest, name: value}) or words.value(name, value)
        for field, value in named.items()
        if value is not None
    }
    if guess := object_member(object_member(body, "their_estimate"), "walk_away"):
        low, likely, high = (words.amount(guess[end]) for end in ("low", "likely", "high"))
        total = words.total({**rest, name: guess["likely"]})
        found["their_guess"] = f"{total or likely}. Counted as {low} to {high}."
    return found


def _row(form: Preparation, prepared: PreparedBody, words: NegotiationWords | None, n: int) -> RowView:
    row, name = form.rows[n], prepared.names[n]

    def said(value: Scalar | None) -> str:
        return "" if words is None or value is None else words.value(name, value)

    ends: Members = {}
    if n in prepared.places:
        ends = object_member(prepared.body["issues"][prepared.places.index(n)], "range")
    low, high = said(ends.get("min")), said(ends.get("max"))
    best, worst = prepared.ranges.get(n, (None, None))
    target, limit = (_package(prepared, member).get(name) for member in ("target", "walk_away"))
    units = {"money": form.currency, "percent": "%", "duration_days": "days", "date": ""}
    return RowView(
        place=n,
        row=row,
        name=row.label or f"Point {n + 1}",
        unit="" if row.choice_values else units.get(row.type, row.unit),
        choices=[(value, TRUTHS.get(value, value)) for value in row.choice_values],
        limit_title=limit_title(row.type, row.direction),
        range_words=f"Between {low} and {high} anything seems possible" if low else "",
        best_hint=said(best),
        worst_hint=said(worst),
        swing=f"from {said(limit)} to {said(target)}" if said(target) and said(limit) and target != limit else "",
        is_price=n == form.price_place,
    )


def _missing(checked: NegotiationCheck | None, prepared: PreparedBody) -> frozenset[str]:
    """What advice lacks, by the last part of its name. Where the check was refused, what was not typed counts."""
    if checked is None:
        return _untyped(prepared.body)
    names = [*(one["missing"] for one in checked["ask"]), *checked["missing"]]
    kinds = (name.rpartition("/")[2] for name in names)
    return frozenset(_JOINED.get(kind, kind) for kind in kinds)


def _untyped(body: Members) -> frozenset[str]:
    issues = body.get("issues", [])
    members = {
        "target": "target" in body,
        "walk_away": "walk_away" in body,
        "deadline": "deadline" in body,
        "batna": "value" in object_member(body, "batna"),
        "their_estimate": "walk_away" in object_member(body, "their_estimate"),
        "range": all("range" in one for one in issues if one["type"] not in UNORDERED_TYPES),
        "their_weights": all("their_weight" in one for one in issues),
    }
    return frozenset(name for name, is_there in members.items() if not is_there)


def _states(form: Preparation, missing: frozenset[str], *, has_faults: bool) -> dict[str, str]:
    begun = bool(form.kind and (form.title or form.counterparty))
    done = {
        "about": begun,
        "matters": begun,
        "figures": not missing & {"target", "walk_away", "range"},
        "alternative": "batna" not in missing,
        "them": "their_estimate" not in missing,
    }
    following = next((step for step in STEPS if not done[step]), "")
    return {step: "next" if step == following else "done" if done[step] and not has_faults else "" for step in STEPS}


def _next(states: Mapping[str, str], checked: NegotiationCheck | None) -> tuple[str, str]:
    """The next question and what its answer changes."""
    step = next((step for step, state in states.items() if state == "next"), "")
    if not step or checked is None:
        return "", ""
    if step == "about":
        return ("What is it about, and with whom?", "It decides which points, questions and words fit.")
    asked = (one for one in checked["ask"] if _STEP_OF.get(one["missing"].rpartition("/")[2]) == step)
    found = next(asked, None)
    return (found["ask"], found["why"]) if found else (STEPS[step][1], "")


def _advice(states: Mapping[str, str], missing: frozenset[str], *, several: bool) -> list[tuple[str, str, int]]:
    numbers = {step: number for number, step in enumerate(STEPS, 1)}
    found: list[tuple[str, str, int]] = []
    for text, needs in _ADVICE:
        if "their_weights" in needs and not several:
            continue
        at = [_STEP_OF[name] for name in needs & missing]
        state = "later" if any(states[step] != "next" for step in at) else "next" if at else "ready"
        found.append((text, state, max((numbers[step] for step in at), default=0)))
    return found
