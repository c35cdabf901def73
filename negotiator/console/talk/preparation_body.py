"""From what was typed on the page "Prepare a negotiation" to the body of `open_negotiation`; pure.

Ranges are suggested from target and limit, and the spread of an estimate from its one figure. A point without any
figure is left out of the body while another point has some: advice needs the values of each point that it is given.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Final, NamedTuple, cast

from negotiator.advice.concession.people_values import rounding_unit
from negotiator.base.errors import Refusal, ValidationFailed
from negotiator.console.form_fields import read_entered_value
from negotiator.console.page_calls import Members
from negotiator.console.talk.preparation_form import IssueRow, Preparation, compared_weights, entered_weight
from negotiator.console.talk.workspace_fields import ARGUMENT_FIELDS, argument_field, typed_arguments
from negotiator.terms.issues import (
    UNORDERED_TYPES,
    WHOLE_TYPES,
    Issue,
    IssueType,
    Scalar,
    coordinate,
    value_at_coordinate,
)

BEYOND_TARGET: Final = Decimal("0.5")
"""How far a suggested range goes past the target, as a share of the way from limit to target."""
BEYOND_LIMIT: Final = Decimal(1)
"""The same past the limit: the other side mostly begins far beyond it."""
FAR_OFF: Final = 4
"""How many times the user's own figures a guess of theirs may be: beyond it a total was typed for a unit's price."""
SPREAD: Final = Decimal("0.1")
"""How far their limit may lie from the one figure that is guessed, as a share of it."""
CHANCES: Final = {"likely": 0.75, "even": 0.5, "unlikely": 0.25}
"""The chance that the alternative comes true; without one it is certain."""
THEIR_WEIGHTS: Final = {"1": "little", "2": "some", "4": "much"}
"""How much a point seems to matter to the other side, and its words."""
BELOW_ALTERNATIVE: Final = (
    "Your other way is worth more to you than this. Make that your limit, or say in question 4 why yours stays."
)
_SENTENCES: Final = {
    "/target": "This is worth less to you, in all, than the least you would take. Are the two swapped?",
    "/walk_away": BELOW_ALTERNATIVE,
    "/their_estimate/walk_away": "The lowest comes first, then your best guess, then the highest.",
    "/deadline": "This day has passed. Leave it out, or name a later one.",
}
"""What a refusal of these members says to a person."""
_FIELDS: Final = {
    "title": "title",
    "counterparty": "counterparty",
    "currency": "currency",
    "deadline": "deadline",
    "baseline": "baseline",
    "batna": "alternative",
    "batna/value": "alternative_price",
    "their_estimate": "their_guess",
    "their_estimate/deadline": "their_deadline",
    "their_estimate/walk_away/low": "their_low",
    "their_estimate/walk_away/high": "their_high",
    "counterparty/notes": "their_needs",
    "walk_away/override_reason": "override_reason",
}
"""The field of the form for a member of the body; the longest one that a pointer begins with counts."""
_OF_ISSUE: Final = {"type": "type", "unit": "unit", "weight": "weight", "options": "choices", "limit": "limit"}
"""The same for a member of an issue; any other stands at its label."""


@dataclass(frozen=True, slots=True)
class PreparedBody:
    """The body, and for each field that could not be read a sentence.

    `places` are the rows of the form that are in the body, in order, `names` the names of all rows. `ranges` has the
    suggested ends of a row's range, best first, `spread` the suggested ends of the estimate. In the rows `swapped` the
    limit is better for the user than the target, which a package as a whole may allow.
    """

    body: Members
    errors: dict[str, str]
    places: tuple[int, ...]
    names: tuple[str, ...]
    ranges: dict[int, tuple[Scalar, Scalar]]
    spread: tuple[Decimal, Decimal] | None
    swapped: frozenset[int]

    def field_of(self, pointer: str) -> str:
        """The field of the form that a refusal's pointer means; empty for none."""
        parts = pointer.strip("/").split("/")
        if parts[0] == "issues" and len(parts) > 1 and parts[1].isdecimal():
            return self._field_of_issue(int(parts[1]), parts[2:])
        if parts[0] in {"target", "walk_away"} and parts[1:2] != ["override_reason"]:
            name = "target" if parts[0] == "target" else "limit"
            place = self.names.index(parts[2]) if parts[2:] and parts[2] in self.names else None
            place = self.places[0] if place is None and self.places else place
            return "" if place is None else f"i{place}.{name}"
        if parts[0] == "arguments":
            return argument_field(pointer, self.body["arguments"])
        found = ["/".join(parts[:end]) for end in range(len(parts), 0, -1)]
        return next((_FIELDS[one] for one in found if one in _FIELDS), "")

    def faults_of(self, refusal: Refusal) -> dict[str, str]:
        """The sentences of a refusal for a person, by field; those of no field stand at ""."""
        if not isinstance(refusal, ValidationFailed):
            return {"": refusal.description}
        return {
            self.field_of(error.pointer): _SENTENCES.get(error.pointer, error.description) for error in refusal.errors
        }

    def _field_of_issue(self, number: int, rest: Sequence[str]) -> str:
        if number >= len(self.places):
            return ""
        place, member = self.places[number], rest[0] if rest else "name"
        if member == "range":
            issue = self.body["issues"][number]
            ends = ("best", "worst") if issue.get("direction") == "lower" else ("worst", "best")
            return f"i{place}.{ends[rest[-1] != 'min']}"
        if member == "multiples":
            counts = [one for one in rest if one.isdecimal()]
            return f"i{place}.count{counts[0] if counts else 0}"
        return f"i{place}.{_OF_ISSUE.get(member, 'label')}"


@dataclass(slots=True)
class _FieldReader:
    """Reads fields; what cannot be read is noted at its field."""

    form: Preparation
    errors: dict[str, str] = field(default_factory=dict[str, str])

    def value(self, name: str, text: str, row: IssueRow) -> Scalar | None:
        """A value of a row's issue; None where there is none, or none that can be read."""
        try:
            if text and row.issue_type in UNORDERED_TYPES and text not in row.choice_values:
                raise ValueError("Take one of the choices.")
            if row.issue_type == "date":
                return self.day(name, text)
            return read_entered_value(text, row.issue, self.form.currency) if text else None
        except ValueError as wrong:
            self.errors[name] = str(wrong)
            return None

    def amount(self, name: str, text: str) -> Decimal | None:
        """An amount of the price."""
        place = self.form.price_place
        found = self.value(name, text, IssueRow() if place is None else self.form.rows[place])
        return None if found is None else Decimal(str(found))

    def day(self, name: str, text: str) -> str | None:
        try:
            return date.fromisoformat(text).isoformat() if text else None
        except ValueError:
            self.errors[name] = "Write the day as 2027-03-01."
            return None


class _Values(NamedTuple):
    """The values of a row: what would be good, what is the least, and the ends of the range that were typed."""

    target: Scalar | None
    limit: Scalar | None
    best: Scalar | None
    worst: Scalar | None


def prepared_body(form: Preparation) -> PreparedBody:
    """The body of `open_negotiation`, with the fields that could not be read left out and noted."""
    read = _FieldReader(form)
    names = _names(form)
    values = [
        _Values(
            *(read.value(f"i{n}.{name}", text, row) for name, text in zip(_Values._fields, row.figures, strict=True))
        )
        for n, row in enumerate(form.rows)
    ]
    places = _sent_places(form)
    weights = compared_weights(form.rows) or [entered_weight(row) for row in form.rows]
    issues: list[Members] = []
    ranges: dict[int, tuple[Scalar, Scalar]] = {}
    for n in places:
        row = form.rows[n]
        issue = _issue(read, n, row, names[n], weights[n])
        if row.issue_type not in UNORDERED_TYPES:
            suggested = _suggested(form, row, values[n])
            if suggested is not None:
                ranges[n] = suggested
            issue |= _range(row, values[n], suggested)
        issues.append(issue)
    guess, spread = _estimate(read)
    _doubt_guess(read, guess, values)
    template, baseline = form.kind_template, read.amount("baseline", form.baseline)
    limit = {names[n]: values[n].limit for n in places}
    body: Members = {
        "title": form.title or _title(form),
        "role": form.role,
        "kind": template.kind,
        "category": template.category,
        "currency": form.currency,
        "counterparty": {
            "name": form.counterparty,
            "relationship": form.relationship,
            "decision_maker": form.decision_maker,
            "notes": form.their_needs,
        },
        "deadline": read.day("deadline", form.deadline),
        "issues": issues,
        "target": {"package": {names[n]: values[n].target for n in places}},
        "walk_away": {"package": limit, "override_reason": form.override_reason if stated(limit) else None},
        "batna": _alternative(read, form, names, [(n, values[n]) for n in places]),
        "their_estimate": {
            "walk_away": guess,
            "deadline": read.day("their_deadline", form.their_deadline),
            "priorities": _priorities([(names[n], form.rows[n].theirs) for n in places]),
        },
        "arguments": typed_arguments({of.name: getattr(form, of.name) for of in ARGUMENT_FIELDS}) or None,
        "baseline": None if baseline is None else {"kind": template.baseline_kind, "value": f"{baseline:f}"},
    }
    swapped = frozenset(n for n in places if _is_swapped(form.rows[n], values[n]))
    return PreparedBody(stated(body), read.errors, places, names, ranges, spread, swapped)


def stated(members: Members) -> Members:
    """The members that state something: without nulls, empty texts and objects of which nothing is stated."""
    inner = {
        name: stated(cast("Members", value)) if isinstance(value, dict) else value for name, value in members.items()
    }
    return {name: value for name, value in inner.items() if value not in (None, "", {})}


def suggested_range(
    kind: IssueType, target: Decimal, limit: Decimal, *, least: Decimal | None = None, most: Decimal | None = None
) -> tuple[Decimal, Decimal]:
    """The best and the worst value to expect between the two sides, in round figures.

    The best lies half the way from limit to target past the target, the worst the whole way past the limit. Where
    limit and target are the same, a tenth of it stands for the way. No end passes `least` or `most`, and none is
    negative where target and limit are not.
    """
    gap = target - limit
    room = abs(gap) or max(abs(target) / 10, Decimal(1))
    up = 1 if gap >= 0 else -1
    unit = Decimal(1)
    if kind != "date":
        unit = rounding_unit(Issue("", kind), room, max(abs(target), abs(limit)))
    best = _outward(target + up * BEYOND_TARGET * room, unit, up)
    worst = _outward(limit - up * BEYOND_LIMIT * room, unit, -up)
    if least is None and min(target, limit) >= 0:
        least = Decimal(0)
    if most is None and kind == "percent" and max(target, limit) <= 100:
        most = Decimal(100)

    def within(at: Decimal) -> Decimal:
        at = at if least is None else max(at, min(least, target, limit))
        return at if most is None else min(at, max(most, target, limit))

    return within(best), within(worst)


def _outward(at: Decimal, unit: Decimal, up: int) -> Decimal:
    rounding = ROUND_CEILING if up > 0 else ROUND_FLOOR
    return (at / unit).to_integral_value(rounding) * unit


def _names(form: Preparation) -> tuple[str, ...]:
    """A name for each row: its template's where its label is the template's, else made from the label."""
    names: list[str] = []
    for n, row in enumerate(form.rows):
        template = form.kind_template.template(row)
        if template is not None and template.label == row.label:
            name = template.origin
        else:
            name = re.sub(r"[^a-z0-9]+", "_", row.label.lower()).strip("_")[:40] or f"point_{n + 1}"
        while name in names:
            name = f"{name}_{n + 1}"
        names.append(name)
    return tuple(names)


def _sent_places(form: Preparation) -> tuple[int, ...]:
    """The rows that go into the body: those with a figure, or all that have a name where no row has one."""
    price = form.price_place
    is_priced = any((form.alternative_price, form.their_guess, form.baseline))
    found = [n for n, row in enumerate(form.rows) if any(row.figures) or (n == price and is_priced)]
    return tuple(found or [n for n, row in enumerate(form.rows) if row.label])


def _issue(read: _FieldReader, n: int, row: IssueRow, name: str, weight: Decimal) -> Members:
    kind, options = row.issue_type, row.options
    if not row.label:
        read.errors[f"i{n}.label"] = "Give this point a name."
    if kind == "enum" and len(options) < 2:
        read.errors[f"i{n}.choices"] = "Name at least two choices, the best for you first."
    issue: Members = {
        "name": name,
        "label": row.label,
        "type": kind,
        "unit": row.unit,
        "weight": float(weight),
        "their_weight": float(row.theirs) if row.theirs in THEIR_WEIGHTS else None,
        "options": [{"value": option} for option in reversed(options)] if kind == "enum" else None,
        "direction": row.direction if kind != "enum" and row.direction in {"higher", "lower"} else None,
        "multiples": (_multiples(read, n, row) or None) if kind == "money" else None,
    }
    return stated(issue)


def _multiples(read: _FieldReader, n: int, row: IssueRow) -> list[Members]:
    found: list[Members] = []
    for k, (text, of) in enumerate(((row.count0, row.of0), (row.count1, row.of1))):
        count = read.value(f"i{n}.count{k}", text, IssueRow(type="number", label=of))
        if count is None:
            continue
        if float(count) <= 0:
            read.errors[f"i{n}.count{k}"] = "Write a number above 0."
        else:
            found.append({"count": float(count), "of": of or "units"})
    return found


def _suggested(form: Preparation, row: IssueRow, values: _Values) -> tuple[Scalar, Scalar] | None:
    """The suggested ends of a row's range; None where nothing says how far it goes."""
    kind, template = row.issue_type, form.kind_template.template(row)
    ends = (None, None) if template is None else (template.least, template.most)
    least, most = (None if end is None else Decimal(end) for end in ends)
    target, limit = (None if value is None else coordinate(kind, value) for value in (values.target, values.limit))
    if target is not None and limit is not None:
        best, worst = suggested_range(kind, target, limit, least=least, most=most)
    elif least is not None and most is not None:
        best, worst = (least, most) if row.direction == "lower" else (most, least)
    else:
        return None
    return _json(kind, best), _json(kind, worst)


def _range(row: IssueRow, values: _Values, suggested: tuple[Scalar, Scalar] | None) -> Members:
    best, worst = suggested or (None, None)
    best = best if values.best is None else values.best
    worst = worst if values.worst is None else values.worst
    if best is None or worst is None:
        return {}
    low, high = (best, worst) if row.direction == "lower" else (worst, best)
    if not (row.best and row.worst) and _at(row, high) < _at(row, low):
        low, high = high, low  # target and limit are the other way round
    return {"range": {"min": low, "max": high}}


def _at(row: IssueRow, value: Scalar) -> Decimal:
    """The place of a value on the axis of its row: the worst choice at the lowest, and yes above no."""
    if row.issue_type == "enum":
        return Decimal(-row.options.index(str(value)))
    return Decimal(value) if isinstance(value, bool) else coordinate(row.issue_type, value) or Decimal(0)


def _is_swapped(row: IssueRow, values: _Values) -> bool:
    """Whether the limit is better for the user than the target."""
    if values.target is None or values.limit is None:
        return False
    above = _at(row, values.limit) - _at(row, values.target)
    return above < 0 if row.direction == "lower" and row.issue_type != "enum" else above > 0


def _json(kind: IssueType, at: Decimal) -> Scalar:
    """A coordinate as JSON carries it: money as text."""
    if kind == "money":
        return f"{at:f}"
    if kind in WHOLE_TYPES:
        return value_at_coordinate(kind, at)
    return int(at) if at == at.to_integral_value() else float(at)


def _title(form: Preparation) -> str:
    kind = form.kind_template.title if form.kind else "Negotiation"
    return f"{kind} with {form.counterparty}"[:200] if form.counterparty else kind


def _alternative(
    read: _FieldReader, form: Preparation, names: Sequence[str], rows: Sequence[tuple[int, _Values]]
) -> Members:
    """The alternative; how good it is on the points beside the price is as the user said for all of them."""
    price = read.amount("alternative_price", form.alternative_price)
    package: Members = {}
    if price is not None and form.price_place is not None:
        if form.alternative_rest in {"limit", "target"}:
            package = {names[n]: getattr(values, form.alternative_rest) for n, values in rows}
        package[names[form.price_place]] = _json("money", price)
    if not form.alternative and not package:
        return {}
    chance = CHANCES.get(form.alternative_chance)
    return {"description": form.alternative, "value": {"package": package}, "probability": chance}


def _estimate(read: _FieldReader) -> tuple[Members, tuple[Decimal, Decimal] | None]:
    """Where they would walk away, and the suggested ends where they were not typed."""
    form = read.form
    guess = read.amount("their_guess", form.their_guess)
    low, high = read.amount("their_low", form.their_low), read.amount("their_high", form.their_high)
    if guess is None:
        if (low is not None or high is not None) and "their_guess" not in read.errors:
            read.errors["their_guess"] = "Give your best guess, too."
        return {}, None
    way = abs(guess) * SPREAD
    unit = rounding_unit(Issue("", "money"), 2 * way, guess) if guess else Decimal(1)
    spread = (_outward(guess - way, unit, -1), _outward(guess + way, unit, 1))
    ends = (spread[0] if low is None else low, guess, spread[1] if high is None else high)
    low, likely, high = (f"{end:f}" for end in ends)
    return {"low": low, "likely": likely, "high": high, "unit": "money"}, spread


def _doubt_guess(read: _FieldReader, guess: Members, values: Sequence[_Values]) -> None:
    """Refuse a guess that is far from the user's own figures for the price."""
    place = read.form.price_place
    if place is None or not guess:
        return
    own = [Decimal(str(at)) for at in (values[place].target, values[place].limit) if at is not None]
    if own and not min(own) / FAR_OFF <= Decimal(guess["likely"]) <= max(own) * FAR_OFF:
        label = read.form.rows[place].label
        read.errors["their_guess"] = f"This is far from your own figures. Count it as they are: {label}."


def _priorities(weights: Sequence[tuple[str, str]]) -> list[str] | None:
    """The names of the points in the order of what matters to the other side; of one point alone there is none."""
    known = [(name, weight) for name, weight in weights if weight in THEIR_WEIGHTS]
    ranked = [name for name, _ in sorted(known, key=lambda one: -int(one[1]))]
    return ranked if ranked and len(weights) > 1 else None
