"""What the page "Prepare a negotiation" shows beside the fields: words for figures, totals, the next question."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from pydantic import ValidationError

from negotiator.base.errors import ValidationFailed
from negotiator.console.negotiation_words import NegotiationWords, limit_title
from negotiator.console.talk.preparation_body import BELOW_ALTERNATIVE, PreparedBody
from negotiator.console.talk.preparation_form import IssueRow, Preparation, entered_weight
from negotiator.terms.issues import UNORDERED_TYPES, Scalar
from negotiator.terms.terms import BUYING_ROLES, SELLING_ROLES

STEPS: Final = (
    ("about", "About", "What is it about, and with whom?"),
    ("matters", "What matters", "What matters to you?"),
    ("figures", "Figures", "What would be good, and what is the least?"),
    ("alternative", "Without a deal", "What happens without a deal?"),
    ("them", "Their side", "What do you think they need?"),
)
"""The questions in order: the id of the section, its name and the question."""
TYPES: Final = {
    "money": "an amount of money",
    "integer": "a whole number",
    "number": "any number",
    "percent": "a percentage",
    "duration_days": "a number of days",
    "date": "a date",
    "enum": "a choice",
    "boolean": "yes or no",
}
_DIRECTIONS: Final = {
    "date": ("later is better for me", "earlier is better for me"),
    "boolean": ("yes is better for me", "no is better for me"),
}
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
_FIRST_FIELDS: Final = {
    "about": "title",
    "matters": "i0-weight",
    "figures": "i0-target",
    "alternative": "alternative",
    "them": "their_guess",
}
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
class Note:
    """A line under a field: how its figure is understood, or what is wrong with it."""

    text: str = ""
    is_fault: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """A section: `state` is `done`, `next` or empty."""

    id: str
    number: int
    name: str
    title: str
    state: str

    @property
    def mark(self) -> str:
        """The state in a word."""
        return {"done": "Done", "next": "Next"}.get(self.state, "")


@dataclass(frozen=True, slots=True)
class AdviceLine:
    """Something that advice can say: now, with the next answer, or after the question of this number."""

    text: str
    state: str
    question: int = 0


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong, and the id of the field that it stands at; empty for none."""

    text: str
    field: str


@dataclass(frozen=True, slots=True)
class RowView:
    """One point, with the words around its fields. `swing` is the way from its limit to its target, in words."""

    place: int
    row: IssueRow
    name: str
    unit: str
    choices: tuple[tuple[str, str], ...]
    directions: tuple[str, str]
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
    """The whole page beside what was typed. `live_ids` are the elements that follow what is typed."""

    rows: tuple[RowView, ...]
    notes: Mapping[str, Note]
    steps: tuple[Step, ...]
    advice: tuple[AdviceLine, ...]
    faults: tuple[Fault, ...]
    question: str
    why: str
    guess_title: str
    alternative_title: str
    low_hint: str
    high_hint: str
    asks_reason: bool

    @property
    def next_step(self) -> Step | None:
        """The section to go on with."""
        return next((step for step in self.steps if step.state == "next"), None)

    @property
    def next_field(self) -> str:
        """The id of the field that answers the next question."""
        step = self.next_step
        return "" if step is None else _FIRST_FIELDS[step.id]

    @property
    def live_ids(self) -> tuple[str, ...]:
        ids = [f"note-{field_id(name)}" for name in self.notes]
        ids += [f"{part}-{row.prefix}" for row in self.rows for part in ("range", "swing", "first")]
        for row in self.rows:
            if row.row.type == "money":
                ids += [f"unit-{row.prefix}-{figure}" for figure in _FIGURES]
            if row.is_price:
                ids += [f"unit-{name}" for name in _PRICES]
        return ("steps", *(f"mark-{step.id}" for step in self.steps), *ids)


def field_id(name: str) -> str:
    """The id of a field by its name."""
    return name.replace(".", "-")


def preparation_view(
    form: Preparation, prepared: PreparedBody, checked: Mapping[str, Any] | None, refused: Mapping[str, str]
) -> PreparationView:
    """The view of a form; `checked` is the answer of the check, None where it was refused at the `refused` fields."""
    words = _words(prepared)
    faults = {**refused, **prepared.errors}
    missing = _missing(checked, prepared)
    steps = _steps(form, missing, has_faults=checked is None)
    notes = {name: Note(text) for name, text in _notes(form, prepared, words).items()}
    notes |= {name: Note(text, is_fault=True) for name, text in faults.items() if name}
    question, why = _next(steps, checked)
    hints = prepared.spread or (None, None)
    low, high = (_hint(words, end) for end in hints)
    return PreparationView(
        rows=tuple(_row(form, prepared, words, n) for n in range(len(form.rows))),
        notes=notes,
        steps=steps,
        advice=_advice(steps, missing, several=len(prepared.places) > 1),
        faults=tuple(Fault(text, field_id(name)) for name, text in faults.items()),
        question=question,
        why=why,
        guess_title=_by_side(
            form.role,
            paying="The least they would take, as you guess",
            paid="The most they would pay, as you guess",
            other="Where they would rather leave, as you guess",
        ),
        alternative_title=_by_side(
            form.role,
            paying="What it would cost you",
            paid="What it would bring you",
            other="What it would be worth to you",
        ),
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


def _by_side(role: str, *, paying: str, paid: str, other: str) -> str:
    return paying if role in BUYING_ROLES else paid if role in SELLING_ROLES else other


def _hint(words: NegotiationWords | None, end: Decimal | None) -> str:
    return "" if words is None or end is None else words.money(end)


_FIGURES: Final = ("target", "limit", "best", "worst")
_PRICES: Final = ("baseline", "alternative_price", "their_guess", "their_low", "their_high")
"""The fields of a point, and of the price alone, with a currency beside them."""


# Notes

_NOTED: Final = (
    *("title", "counterparty", "currency", "deadline", "baseline"),
    *("alternative", "alternative_price", "override_reason"),
    *("their_guess", "their_low", "their_high", "their_deadline", "their_needs"),
)
"""The fields beside those of the points that can have a line under them."""


def _notes(form: Preparation, prepared: PreparedBody, words: NegotiationWords | None) -> dict[str, str]:
    """The line under each field that has one; empty where there is nothing to say yet."""
    found: dict[str, str] = dict.fromkeys(_NOTED, "")
    for n, row in enumerate(form.rows):
        names = ("label", "type", "unit", "choices", "count0", "count1", "best", "worst")
        found.update({f"i{n}.{name}": "" for name in names})
        found[f"i{n}.weight"] = _weight_words(row)
        for name, member in (("target", "target"), ("limit", "walk_away")):
            found[f"i{n}.{name}"] = _figure(form, prepared, words, n, member)
    for n in prepared.swapped:
        text = "Better for you than what would be good. Leave it if you mean it so."
        found[f"i{n}.limit"] = " · ".join(filter(None, (found[f"i{n}.limit"], text)))
    place = form.price_place
    if words is not None and place is not None and place in prepared.places:
        name = prepared.names[place]
        found |= _price_notes(prepared, words, name)
    return found


def _weight_words(row: IssueRow) -> str:
    weight = entered_weight(row)
    said = ((0, "does not matter"), (2, "a little"), (4, "somewhat"), (6, "a good deal"), (8, "very much"))
    text = next((text for most, text in said if weight <= most), "more than anything")
    return f"{weight.normalize():f} of 10: {text}"


def _package(prepared: PreparedBody, member: str) -> dict[str, Any]:
    return dict(prepared.body.get(member, {}).get("package", {}))


def _figure(form: Preparation, prepared: PreparedBody, words: NegotiationWords | None, n: int, member: str) -> str:
    """An amount of money as it was understood, with its total."""
    name = prepared.names[n]
    package = _package(prepared, member)
    if words is None or form.rows[n].type != "money" or name not in package:
        return ""
    total = words.total(package) if n == form.price_place else ""
    return total or words.value(name, package[name])


def _price_notes(prepared: PreparedBody, words: NegotiationWords, name: str) -> dict[str, str]:
    """The lines under the amounts that stand for a price: what it is today, the alternative's, theirs."""
    package = _package(prepared, "target") or _package(prepared, "walk_away")
    body = prepared.body
    alternative = body.get("batna", {}).get("value", {}).get("package", {}).get(name)
    guess = body.get("their_estimate", {}).get("walk_away")
    named = {"baseline": body.get("baseline", {}).get("value"), "alternative_price": alternative}
    found = {
        field: words.total({**package, name: value}) or words.value(name, value)
        for field, value in named.items()
        if value is not None
    }
    if guess is not None:
        low, likely, high = (words.money(Decimal(guess[end])) for end in ("low", "likely", "high"))
        total = words.total({**package, name: guess["likely"]})
        found["their_guess"] = f"{total or likely}. Counted as {low} to {high}."
    return found


# Points


def _row(form: Preparation, prepared: PreparedBody, words: NegotiationWords | None, n: int) -> RowView:
    row = form.rows[n]
    kind = row.issue_type
    choices: tuple[tuple[str, str], ...] = ()
    if kind == "enum":
        choices = tuple((option, option) for option in row.options)
    elif kind == "boolean":
        choices = (("yes", "yes"), ("no", "no"))
    best, worst = prepared.ranges.get(n, (None, None))
    return RowView(
        place=n,
        row=row,
        name=row.label or f"Point {n + 1}",
        unit=_unit(form, row),
        choices=choices,
        directions=_DIRECTIONS.get(kind, ("more is better for me", "less is better for me")),
        limit_title=limit_title(row.type, row.direction),
        range_words=_range_words(prepared, words, n),
        best_hint=_value(prepared, words, n, best),
        worst_hint=_value(prepared, words, n, worst),
        swing=_swing(prepared, words, n),
        is_price=n == form.price_place,
    )


def _unit(form: Preparation, row: IssueRow) -> str:
    return {"money": form.currency, "percent": "%", "duration_days": "days"}.get(
        row.type, "" if row.issue_type in {"date", *UNORDERED_TYPES} else row.unit
    )


def _value(prepared: PreparedBody, words: NegotiationWords | None, n: int, value: Scalar | None) -> str:
    if words is None or value is None:
        return ""
    return words.value(prepared.names[n], value)


def _range_words(prepared: PreparedBody, words: NegotiationWords | None, n: int) -> str:
    if n not in prepared.places:
        return ""
    issue = prepared.body["issues"][prepared.places.index(n)]
    ends = issue.get("range")
    if words is None or ends is None:
        return ""
    low, high = (words.value(issue["name"], ends[end]) for end in ("min", "max"))
    return f"Between {low} and {high} anything seems possible"


def _swing(prepared: PreparedBody, words: NegotiationWords | None, n: int) -> str:
    name = prepared.names[n]
    target, limit = (_package(prepared, member).get(name) for member in ("target", "walk_away"))
    if words is None or target is None or limit is None or target == limit:
        return ""
    return f"from {words.value(name, limit)} to {words.value(name, target)}"


# What comes next


def _missing(checked: Mapping[str, Any] | None, prepared: PreparedBody) -> frozenset[str]:
    """What advice lacks, by the last part of its name. Where the check was refused, what was not typed counts."""
    if checked is None:
        return _untyped(prepared.body)
    names: list[str] = [*(one["missing"] for one in checked["ask"]), *checked["missing"]]
    kinds = (name.rpartition("/")[2] for name in names)
    return frozenset(_JOINED.get(kind, kind) for kind in kinds)


def _untyped(body: Mapping[str, Any]) -> frozenset[str]:
    issues = body.get("issues", [])
    members = {
        "target": "target" in body,
        "walk_away": "walk_away" in body,
        "deadline": "deadline" in body,
        "batna": "value" in body.get("batna", {}),
        "their_estimate": "walk_away" in body.get("their_estimate", {}),
        "range": all("range" in one for one in issues if one["type"] not in UNORDERED_TYPES),
        "their_weights": all("their_weight" in one for one in issues),
    }
    return frozenset(name for name, is_there in members.items() if not is_there)


def _steps(form: Preparation, missing: frozenset[str], *, has_faults: bool) -> tuple[Step, ...]:
    begun = bool(form.kind and (form.title or form.counterparty))
    done = {
        "about": begun,
        "matters": begun,
        "figures": not missing & {"target", "walk_away", "range"},
        "alternative": "batna" not in missing,
        "them": "their_estimate" not in missing,
    }
    following = next((one for one, _, _ in STEPS if not done[one]), "")

    def state(step: str) -> str:
        return "next" if step == following else "done" if done[step] and not has_faults else ""

    return tuple(Step(step, n, name, title, state(step)) for n, (step, name, title) in enumerate(STEPS, 1))


def _next(steps: tuple[Step, ...], checked: Mapping[str, Any] | None) -> tuple[str, str]:
    """The next question and what its answer changes."""
    step = next((step for step in steps if step.state == "next"), None)
    if step is None or checked is None:
        return "", ""
    if step.id == "about":
        return ("What is it about, and with whom?", "It decides which points, questions and words fit.")
    asked = (one for one in checked["ask"] if _STEP_OF.get(one["missing"].rpartition("/")[2]) == step.id)
    found = next(asked, None)
    return (found["ask"], found["why"]) if found else (step.title, "")


def _advice(steps: tuple[Step, ...], missing: frozenset[str], *, several: bool) -> tuple[AdviceLine, ...]:
    numbers = {step.id: step.number for step in steps}
    following = next((step.id for step in steps if step.state == "next"), "")
    found: list[AdviceLine] = []
    for text, needs in _ADVICE:
        lacking = needs & missing
        if "their_weights" in needs and not several:
            continue
        at = [_STEP_OF[name] for name in lacking]
        if not lacking:
            found.append(AdviceLine(text, "ready"))
        elif all(step == following for step in at):
            found.append(AdviceLine(text, "next", numbers[following]))
        else:
            found.append(AdviceLine(text, "later", max(numbers[step] for step in at)))
    return tuple(found)
