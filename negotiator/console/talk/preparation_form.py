"""The form of the page "Prepare a negotiation": what was typed, and the changes that its buttons make.

All of it travels in the form itself, so nothing is stored before the negotiation is opened. What the form of
each kind of negotiation begins with stands in `preparation_kinds.toml`.
"""

import re
import secrets
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from decimal import Decimal, InvalidOperation
from functools import cache
from importlib.resources import files
from typing import Final

from pydantic import TypeAdapter

from negotiator.console.negotiation_words import table
from negotiator.terms.issues import ISSUE_TYPES, UNORDERED_TYPES, Issue, IssueType
from negotiator.terms.terms import BUYING_ROLES, SELLING_ROLES

OTHER_KIND: Final = "other"
"""The kind that stands in until one is chosen."""
_FILE: Final = "preparation_kinds.toml"


MAX_ROWS: Final = 12
MAX_WEIGHT: Final = 10
NEW_WEIGHT: Final = "3"
COMPARISONS: Final = table("comparisons")
"""How much more a point matters than the first one, and its words."""
TRUTHS: Final = {"true": "yes", "false": "no"}


@dataclass(frozen=True, slots=True)
class IssueRow:
    """One point that is negotiated, as it was typed. `origin` is the name of its template, empty for an own point.

    `count0` and `count1` multiply a unit price; `of0` and `of1` say what is counted. `compare` is how much the point
    matters beside the first one, where the user compared them.
    """

    origin: str = ""
    label: str = ""
    type: str = "money"
    unit: str = ""
    direction: str = ""
    choices: str = ""
    weight: str = NEW_WEIGHT
    compare: str = ""
    count0: str = ""
    of0: str = ""
    count1: str = ""
    of1: str = ""
    target: str = ""
    limit: str = ""
    best: str = ""
    worst: str = ""
    theirs: str = ""

    @property
    def issue_type(self) -> IssueType:
        """The type of its values; a plain number for one that is not known."""
        return self.type if self.type in ISSUE_TYPES else "number"

    @property
    def figures(self) -> tuple[str, ...]:
        """What would be good, what is the least, and the ends of its range, which choices have not."""
        ends = ("", "") if self.issue_type in UNORDERED_TYPES else (self.best, self.worst)
        return (self.target, self.limit, *ends)

    @property
    def issue(self) -> Issue:
        """The point as far as its values are read by it."""
        return Issue("", self.issue_type, self.label, self.unit)

    @property
    def choice_values(self) -> tuple[str, ...]:
        """What the fields of its values may hold; empty where they take anything."""
        return self.options if self.issue_type == "enum" else tuple(TRUTHS) if self.issue_type == "boolean" else ()

    @property
    def options(self) -> tuple[str, ...]:
        """The choices, best first, each once."""
        parts = (part.strip() for part in re.split(r"[,;\n]", self.choices))
        return tuple(dict.fromkeys(part for part in parts if part))


_OF_ROW: Final = tuple(one.name for one in fields(IssueRow))


@dataclass(frozen=True, slots=True)
class IssueTemplate(IssueRow):
    """A point that is usual in a kind, as its first side sees it. No value passes `least` and `most`."""

    least: int | None = None
    most: int | None = None

    def row(self, *, turned: bool) -> IssueRow:
        """The row that it begins with, for the other side where it is `turned`."""
        row = IssueRow(**{name: getattr(self, name) for name in _OF_ROW})
        if not turned:
            return row
        if row.type == "enum":
            return replace(row, choices=", ".join(reversed(row.options)))
        return replace(row, direction="lower" if row.direction == "higher" else "higher")


@dataclass(frozen=True, slots=True)
class PreparationKind:
    """A kind of negotiation. `example`, `counterpart` and `alternative` are shown in empty fields.

    `sides` are the roles that the user can have, the usual one first, and how they say it.
    """

    name: str
    title: str
    detail: str
    kind: str
    category: str
    example: str
    counterpart: str
    alternative: str
    sides: dict[str, str]
    baseline_kind: str
    baseline_question: str
    issues: tuple[IssueTemplate, ...]

    @property
    def usual_role(self) -> str:
        """The first side's."""
        return next(iter(self.sides))

    def template(self, row: IssueRow) -> IssueTemplate | None:
        """The template that a row began with; None for a point of the user's own."""
        return next((issue for issue in self.issues if issue.origin == row.origin), None)

    def rows(self) -> list[IssueRow]:
        """The points as they begin for the first side."""
        return [issue.row(turned=False) for issue in self.issues]

    def is_turned(self, role: str) -> bool:
        """Whether the side pays where the kind's first side is paid, or the other way round."""
        first, both = self.usual_role, (BUYING_ROLES, SELLING_ROLES)
        return any(first in one and role in other for one, other in (both, both[::-1]))


@cache
def preparation_kinds() -> Mapping[str, PreparationKind]:
    """The kinds by name, in the order in which they are offered."""
    page = files(__package__ or __name__).joinpath(_FILE).read_text("utf-8")
    kinds = TypeAdapter(list[PreparationKind]).validate_python(tomllib.loads(page)["kind"])
    return {kind.name: kind for kind in kinds}


def kind_named(name: str) -> PreparationKind:
    """The kind of this name; the one for everything else where there is none."""
    kinds = preparation_kinds()
    return kinds.get(name, kinds[OTHER_KIND])


@dataclass(frozen=True, slots=True)
class Preparation:
    """The whole form, as it was typed. `shown_kind` and `shown_role` are those for which its points were shown.

    `alternative_rest` says how good the alternative is on the points beside the price: as the user's `limit`, as their
    `target`, or `unknown`. `key` tells this form from any other.
    """

    key: str = ""
    kind: str = ""
    shown_kind: str = ""
    role: str = ""
    shown_role: str = ""
    title: str = ""
    counterparty: str = ""
    currency: str = ""
    deadline: str = ""
    baseline: str = ""
    alternative: str = ""
    alternative_price: str = ""
    alternative_rest: str = "limit"
    alternative_chance: str = ""
    override_reason: str = ""
    their_guess: str = ""
    their_low: str = ""
    their_high: str = ""
    their_deadline: str = ""
    their_needs: str = ""
    decision_maker: str = ""
    relationship: str = ""
    reasons: str = ""
    gives: str = ""
    wishes: str = ""
    rows: tuple[IssueRow, ...] = ()

    @property
    def kind_template(self) -> PreparationKind:
        """The chosen kind, or the one that stands in until one is chosen."""
        return kind_named(self.kind)

    @property
    def price_place(self) -> int | None:
        """The place of the row that amounts of money refer to: the first one of type money."""
        return next((n for n, row in enumerate(self.rows) if row.type == "money"), None)


_COMMON: Final = tuple(one.name for one in fields(Preparation) if one.name != "rows")


def new_preparation(kind: str = "", currency: str = "EUR") -> Preparation:
    """An empty form with the points of a kind; without one, those of any other talk."""
    kind = kind if kind in preparation_kinds() else ""
    template = kind_named(kind)
    role = template.usual_role
    return Preparation(
        key=secrets.token_hex(16),
        kind=kind,
        shown_kind=kind,
        role=role,
        shown_role=role,
        currency=currency,
        rows=tuple(template.rows()),
    )


def read_preparation(form: Mapping[str, str]) -> Preparation:
    """What was sent. Another kind or side than the one shown changes the points accordingly."""
    count = form.get("rows", "")
    places = range(min(int(count), MAX_ROWS) if count.isascii() and count.isdecimal() else 0)
    rows = tuple(IssueRow(**{name: form.get(f"i{n}.{name}", "").strip() for name in _OF_ROW}) for n in places)
    typed = {name: form.get(name, "").strip() for name in _COMMON}
    return with_shown_side(with_shown_kind(Preparation(**typed, rows=rows)))


def with_shown_kind(form: Preparation) -> Preparation:
    """The points of the chosen kind after those that the user has touched; the usual side of the kind."""
    if form.kind == form.shown_kind:
        return form
    before, template = kind_named(form.shown_kind), form.kind_template
    kept = [replace(row, origin="") for row in form.rows if _is_touched(row, before, form.shown_role)]
    labels = {row.label.casefold() for row in kept}
    added = [row for row in template.rows() if row.label.casefold() not in labels]
    role = template.usual_role
    rows = tuple([*kept, *added][:MAX_ROWS])
    return replace(form, shown_kind=form.kind, role=role, shown_role=role, rows=rows)


def with_shown_side(form: Preparation) -> Preparation:
    """Points that nobody changed turn round with the side: less to pay is more to get for the other."""
    kind = form.kind_template
    role = form.role if form.role in kind.sides else kind.usual_role
    if role == form.shown_role:
        return replace(form, role=role)
    rows = tuple(_turned(form, row, role) for row in form.rows)
    return replace(form, role=role, shown_role=role, rows=rows)


def compared_weights(rows: Sequence[IssueRow]) -> list[Decimal] | None:
    """Weights from comparing each point with the first one, the largest of them 10; None where nothing is compared.

    A point that was not compared keeps its weight in proportion to the first one's.
    """
    if not any(row.compare in COMPARISONS for row in rows[1:]):
        return None
    first = entered_weight(rows[0]) or Decimal(1)
    ratios = [
        Decimal(row.compare) if row.compare in COMPARISONS and n else entered_weight(row) / first
        for n, row in enumerate(rows)
    ]
    ratios[0] = Decimal(1)
    return [MAX_WEIGHT * ratio / max(ratios) for ratio in ratios]


def entered_weight(row: IssueRow) -> Decimal:
    """The weight on the slider, from 0 to 10."""
    try:
        weight = Decimal(row.weight or "0")
    except InvalidOperation:
        return Decimal(0)
    return min(max(weight, Decimal(0)), Decimal(MAX_WEIGHT)) if weight.is_finite() else Decimal(0)


def _is_touched(row: IssueRow, kind: PreparationKind, role: str) -> bool:
    """Whether the user typed into a point of the kind, or added it."""
    template = kind.template(row)
    if template is None:
        return bool(row.label or any(row.figures))
    plain = template.row(turned=kind.is_turned(role))
    return replace(row, weight=plain.weight, compare="") != plain


def _turned(form: Preparation, row: IssueRow, role: str) -> IssueRow:
    kind = form.kind_template
    template = kind.template(row)
    if template is None:
        return row
    before, after = (template.row(turned=kind.is_turned(one)) for one in (form.shown_role, role))
    is_plain = (row.direction, row.choices) == (before.direction, before.choices)
    return replace(row, direction=after.direction, choices=after.choices) if is_plain else row


def _plain(weight: Decimal) -> str:
    """A weight to the nearest half, as the slider has it."""
    half = (weight * 2).to_integral_value() / 2
    return f"{half.normalize():f}"


def change_preparation(form: Preparation, do: str) -> Preparation:
    """The form after one of its buttons was pressed: `add`, `compare` or `remove.3`; the last point stays."""
    name, _, place = do.partition(".")
    rows = form.rows
    if name == "add" and len(rows) < MAX_ROWS:
        return replace(form, rows=(*rows, IssueRow(direction="higher", type="number")))
    if name == "remove" and place.isascii() and place.isdecimal() and len(rows) > 1:
        return replace(form, rows=tuple(row for n, row in enumerate(rows) if n != int(place[:3])))
    if name == "compare" and (weights := compared_weights(rows)):
        weighted = (replace(row, weight=_plain(weight), compare="") for row, weight in zip(rows, weights, strict=True))
        return replace(form, rows=tuple(weighted))
    return form
