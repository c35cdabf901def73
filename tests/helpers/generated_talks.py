"""Random negotiations as clients send them, and random ledgers of offers on them, senseless ones included.

Each is made from a seed by Python's generator, which is many times faster than drawing every member by hypothesis.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any, Final

from hypothesis import strategies as st

from negotiator.advice.leverage.concessions import LedgerOffer, Side, completed_offers
from negotiator.base.errors import ValidationFailed
from negotiator.base.values import DAY, MINOR_UNITS, parse_timestamp
from negotiator.numbers.written import decimal_text
from negotiator.terms.issues import (
    ISSUE_TYPES,
    WHOLE_TYPES,
    Issue,
    IssueType,
    Package,
    Scalar,
    coordinate,
    value_at_coordinate,
    worth_of,
)
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.schemas_terms import IssueBody
from negotiator.terms.terms import Terms
from negotiator.terms.terms_parsing import parse_issues, parse_terms
from negotiator.terms.utility import is_complete

NOW: Final = parse_timestamp("2031-01-13T09:00:00Z")
_ROLES: Final = ("buyer", "seller", "employer", "candidate", "landlord", "tenant", "party")
_NAMES: Final = (
    ("price", "Price"),
    ("price_per_seat", "Price per seat and month"),
    ("term_months", "Contract term"),
    ("payment_days", None),
    ("notice", "Notice period"),
    ("start_date", "Start date"),
    ("sla_credit", "SLA credit"),
    ("seats", "Number of seats"),
    ("winter_tyres", "Winter tyres"),
    ("discount", "Discount on list price"),
    ("x_1", None),
    ("delivery", "Delivery"),
)
_UNITS: Final = (None, None, "months", "days", "seats", "units", "hours per week")
_OPTIONS: Final = ("none", "basic", "standard", "gold", "24_7", "Annual upfront", "monthly")
_UTTERANCES: Final = (
    "This is our final offer.",
    "Take it or leave it.",
    "The offer is only good until Friday.",
    "What is your budget?",
    "What is the most you could pay?",
    "Let's split the difference.",
    "We have other buyers who would sign today.",
    "That is all I can do.",
    "Hm.",
)
SEEDS: Final = st.integers(0, 2**40)


@dataclass(frozen=True, slots=True)
class GeneratedTalk:
    """A negotiation, the offers so far, their offer that stands, if one does, and what they said with it."""

    body: dict[str, Any]
    terms: Terms
    offers: tuple[LedgerOffer, ...] = ()
    on_table: Package | None = None
    words: str | None = None


def talk(seed: int, *, max_issues: int = 6, max_offers: int = 8, single_price: bool = False) -> GeneratedTalk:
    """A negotiation with a ledger: both sides offer whole packages or parts, back and forth, and beyond limits."""
    found = negotiation(seed, max_issues=max_issues, single_price=single_price)
    chance = Random(~seed)  # noqa: S311
    offers = _ledger(chance, found.terms, chance.randint(0, max_offers))
    table = last_offer_of_theirs(found.terms, offers) if chance.random() < 0.8 else None
    words = chance.choice((None, None, *_UTTERANCES))
    return GeneratedTalk(found.body, found.terms, offers, table, words)


def negotiation(seed: int, *, max_issues: int = 6, single_price: bool = False, **members: Any) -> GeneratedTalk:
    """A negotiation before the first offer, its members replaced by those given."""
    chance = Random(seed)  # noqa: S311
    while True:
        body = negotiation_body(chance, max_issues=max_issues, single_price=single_price)
        body |= members
        body = {name: value for name, value in body.items() if value not in (None, [])}
        try:
            terms = parse_terms(NegotiationBody.model_validate(body))
        except ValidationFailed:  # limits that contradict each other
            continue
        if terms.walk_away is not None or terms.certain is not None:
            return GeneratedTalk(body, terms)


def negotiation_body(chance: Random, *, max_issues: int = 6, single_price: bool = False) -> dict[str, Any]:
    """A body of `POST /api/negotiations` whose single members are in order; its limits may contradict each other."""
    named = chance.sample(_NAMES, 1 if single_price else chance.randint(1, max_issues))
    kinds = ("money", *ISSUE_TYPES)
    issues = [
        _issue_body(chance, name, label, "money" if single_price else chance.choice(kinds)) for name, label in named
    ]
    parsed = parse_issues([IssueBody.model_validate(issue) for issue in issues])
    best: dict[str, Any] = {}
    worst: dict[str, Any] = {}
    for issue in parsed:
        values = [random_value(chance, issue) for _ in range(2)]
        values.sort(key=lambda value, issue=issue: -(worth_of(issue, value) or 0.0))
        best[issue.name], worst[issue.name] = (_sent(value) for value in values)
    walk_away = _walk_away(chance, worst)
    batna = _batna(chance, worst)
    if walk_away is None and (batna is None or "value" not in batna):
        walk_away = {"package": worst}
    return {
        "title": chance.choice(("Used car", "CRM renewal, 80 seats", "Office rent", "Talk")),
        "role": chance.choice(_ROLES),
        "category": chance.choice(("software", "vehicles", "other", "salary")),
        "currency": chance.choice(("EUR", "USD", "JPY", "KWD", "CHF", *MINOR_UNITS)),
        "issues": issues,
        "target": _target(chance, best),
        "walk_away": walk_away,
        "batna": batna,
        "max_rounds": chance.choice((None, None, None, 1, 2, 3, 4, 6, 10, 10_000)),
        "deadline": _deadline(chance),
        "counterparty": chance.choice((None, {"name": "Anna Berg", "role": "owner"})),
        "constraints": _constraints(chance, parsed),
        "their_estimate": _estimate(chance, parsed),
        "allow": _allowed(chance, parsed, walk_away),
    }


def beyond_its_ranges(seed: int) -> dict[str, Any]:
    """A body whose walk-away, or the alternative, lies beyond the ranges of some issues."""
    chance = Random(seed)  # noqa: S311
    body = negotiation_body(chance, max_issues=3)
    issues = parse_issues([IssueBody.model_validate(issue) for issue in body["issues"]])
    far = {"package": {issue.name: _sent(_far_value(chance, issue)) for issue in issues if chance.random() < 0.7}}
    body |= chance.choice(({"walk_away": far}, {"batna": {"value": far, "description": "Stay"}}))
    return {name: value for name, value in {**body, "target": None, "allow": None}.items() if value not in (None, [])}


def last_offer_of_theirs(terms: Terms, offers: Sequence[LedgerOffer]) -> Package | None:
    """Their last offer, completed by their earlier ones, if it names every issue."""
    theirs = [row for row in completed_offers(offers) if row.by == "them"]
    whole = theirs[-1].package if theirs else None
    return whole if whole is not None and is_complete(terms.issues, whole) else None


def random_value(chance: Random, issue: Issue) -> Scalar:
    """A value that the issue has: an option, or one of its range."""
    if issue.options:
        return chance.choice(issue.options).value
    if issue.type == "boolean" or issue.range is None:
        return chance.random() < 0.5
    low, high = issue.range.min, issue.range.max
    return _place(issue, low + (high - low) * chance.randint(0, 40) / 40)


def _ledger(chance: Random, terms: Terms, count: int) -> tuple[LedgerOffer, ...]:
    rows: list[LedgerOffer] = []
    by: Side = chance.choice(("me", "them"))
    for seq in range(1, count + 1):
        rows.append(_offer(chance, terms, seq, by))
        if chance.random() < 0.85:
            by = "me" if by == "them" else "them"
    return tuple(rows)


def _offer(chance: Random, terms: Terms, seq: int, by: Side) -> LedgerOffer:
    whole = chance.random() < 0.8
    issues = [issue for issue in terms.issues if whole or chance.random() < 0.5]
    package = {issue.name: random_value(chance, issue) for issue in issues or terms.issues[:1]}
    for issue in terms.issues:
        if by == "them" and issue.name in package and chance.random() < 0.1:
            package[issue.name] = _far_value(chance, issue)
    until = datetime.fromtimestamp(NOW / 1000, UTC) + timedelta(days=2)
    return LedgerOffer(
        seq, by, package, claimed_final=chance.random() < 0.1, valid_until=until if chance.random() < 0.1 else None
    )


def _issue_body(chance: Random, name: str, label: str | None, kind: IssueType) -> dict[str, Any]:
    body: dict[str, Any] = {
        "name": name,
        "label": label,
        "type": kind,
        "unit": chance.choice(_UNITS) if kind in {"number", "integer"} else None,
        "direction": chance.choice((None, "higher", "lower")),
        "weight": chance.choice((None, None, 0, 0.1, 1, 3, 10)),
        "their_weight": chance.choice((None, 0, 0.5, 1, 4)),
        "tradeable": chance.random() < 0.9,
    }
    if kind == "enum":
        body["options"] = _options(chance, _OPTIONS)
    elif kind != "boolean":
        low, high = _ends(chance, kind)
        listed = chance.random()
        if listed < 0.1:
            body["options"] = _options(chance, _spread(kind, low, high, 6))
        else:
            body["range"] = {"min": _json(kind, low), "max": _json(kind, high), "step": _step(chance, kind, low, high)}
        if listed > 0.85:
            body["value_points"] = _corners(chance, kind, low, high)
    return {member: value for member, value in body.items() if value is not None}


def _ends(chance: Random, kind: IssueType) -> tuple[Decimal, Decimal]:
    """Both ends of a range: of any size for money and numbers, usual ones for the rest."""
    if kind == "date":
        start = date(2031, 2, 1).toordinal() + chance.randint(0, 400)
        return Decimal(start), Decimal(start + chance.randint(1, 900))
    if kind == "percent":
        return Decimal(chance.choice((0, 0, 2))), Decimal(chance.choice((3, 10, 100)))
    if kind in WHOLE_TYPES:
        low = chance.randint(0, 60)
        return Decimal(low), Decimal(low + chance.randint(1, 400))
    size = Decimal(10) ** chance.randint(-2, 9)
    low = chance.randint(0, 990) * size / 10
    return low, low + chance.randint(1, 900) * size / chance.choice((1, 10))


def _step(chance: Random, kind: IssueType, low: Decimal, high: Decimal) -> Scalar | None:
    if chance.random() < 0.5:
        return None
    share = (high - low) / chance.choice((2, 4, 7, 10, 50))
    if kind in WHOLE_TYPES:
        return max(1, int(share))
    return _json(kind, _short(share))


def _options(chance: Random, values: Sequence[Scalar]) -> list[Any]:
    chosen = chance.sample(values, chance.randint(2, len(values))) if len(values) > 1 else []
    chosen = chosen or [*values, 0]
    if chance.random() < 0.5:
        return chosen
    return [{"value": v, "utility": chance.choice((0, 0.2, 0.25, 0.5, 0.8, 1))} for v in chosen]


def _corners(chance: Random, kind: IssueType, low: Decimal, high: Decimal) -> list[list[Any]]:
    places = _spread(kind, low, high, chance.randint(2, 5))
    worths = [chance.choice((0, 0.1, 0.5, 0.9, 1)) for _ in places]
    if chance.random() < 0.7:
        worths.sort(reverse=chance.random() < 0.5)
    return [[at, worth] for at, worth in zip(places, worths, strict=True)]


def _spread(kind: IssueType, low: Decimal, high: Decimal, count: int) -> list[Scalar]:
    places = [low + (high - low) * n / (count - 1) for n in range(count)]
    whole = kind in WHOLE_TYPES
    return [_json(kind, at) for at in sorted({at.to_integral_value() if whole else _short(at) for at in places})]


def _short(at: Decimal) -> Decimal:
    """The number with at most two decimals, or six if it is small."""
    return round(at, 2 if abs(at) >= 1 else 6)


def _json(kind: IssueType, at: Decimal) -> Scalar:
    return decimal_text(at) if kind == "money" else value_at_coordinate(kind, at)


def _sent(value: Scalar) -> Scalar:
    return format(value, "f") if isinstance(value, Decimal) else value


def _far_value(chance: Random, issue: Issue) -> Scalar:
    """A value beyond an end of the range, which only the other side can name."""
    if issue.range is None or issue.options:
        return random_value(chance, issue)
    low, high = issue.range.min, issue.range.max
    return _place(issue, low + (high - low) * chance.choice((-2, Decimal("-.1"), Decimal("1.1"), 5)))


def _place(issue: Issue, at: Decimal) -> Scalar:
    if issue.type in WHOLE_TYPES:
        at = max(at.to_integral_value(), Decimal(1))
    elif issue.range is not None and issue.range.min <= at <= issue.range.max:
        at = min(issue.range.max, max(issue.range.min, round(at, 2)))
    return value_at_coordinate(issue.type, at)


def _target(chance: Random, best: dict[str, Any]) -> dict[str, Any] | None:
    form = chance.choice(("package", "package", "package", "part", "utility", None))
    if form == "utility":
        return {"utility": chance.choice((0.6, 0.75, 0.9, 1.0))}
    if form is None:
        return None
    names = [*best] if form == "package" else _some(chance, best)
    return {"package": {name: best[name] for name in names}}


def _walk_away(chance: Random, worst: dict[str, Any]) -> dict[str, Any] | None:
    form = chance.choice(("package", "package", "package", "part", "single", "utility", None))
    if form == "utility":
        return {"utility": chance.choice((0.0, 0.1, 0.3, 0.5))}
    if form is None:
        return None
    names = [*worst] if form == "package" else _some(chance, worst)
    return {"package": {name: worst[name] for name in (names[:1] if form == "single" else names)}}


def _batna(chance: Random, worst: dict[str, Any]) -> dict[str, Any] | None:
    form = chance.choice((None, None, "package", "utility", "words"))
    if form is None:
        return None
    found: dict[str, Any] = {"description": chance.choice(("the other dealer, 40 km away", "stay"))}
    if form == "package":
        found["value"] = {"package": worst}
    elif form == "utility":
        found["value"] = {"utility": chance.choice((0.0, 0.05, 0.2))}
    return found


def _some(chance: Random, package: dict[str, Any]) -> list[str]:
    return chance.sample([*package], chance.randint(1, len(package)))


def _deadline(chance: Random) -> str | None:
    days = chance.choice((None, None, None, None, 0.02, 0.9, 3, 30, 4000))
    if days is None:
        return None
    at = datetime.fromtimestamp(NOW / 1000, UTC) + timedelta(milliseconds=days * DAY)
    return at.isoformat().replace("+00:00", "Z")


def _constraints(chance: Random, issues: Sequence[Issue]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for _ in range(chance.choice((0, 0, 0, 1, 2))):
        issue = chance.choice(issues)
        value = _sent(random_value(chance, issue))
        ordered = coordinate(issue.type, value) is not None
        op = chance.choice(("<=", ">=", "<", ">", "!=", "in") if ordered else ("!=", "in"))
        found.append(
            {"issue": issue.name, "op": op, "value": [value] if op == "in" else value, "hard": chance.random() < 0.8}
        )
    return found


def _estimate(chance: Random, issues: Sequence[Issue]) -> dict[str, Any] | None:
    price = next((issue for issue in issues if issue.type == "money" and issue.range), None)
    if price is None or price.options or chance.random() < 0.5:
        return None
    places = [coordinate("money", random_value(chance, price)) for _ in range(3)]
    low, likely, high = (format(at, "f") for at in sorted(at for at in places if at is not None))
    return {"walk_away": {"low": low, "likely": likely, "high": high, "unit": "money"}}


def _allowed(chance: Random, issues: Sequence[Issue], walk_away: dict[str, Any] | None) -> list[dict[str, Any]]:
    """A trade beyond the limit of an issue that the walk-away names, for a value of another issue."""
    named: dict[str, Any] = (walk_away or {}).get("package") or {}
    if len(issues) < 2 or not named or chance.random() < 0.6:
        return []
    issue = next(one for one in issues if one.name in named)
    beyond = random_value(chance, issue)
    if (worth_of(issue, beyond) or 0.0) >= (worth_of(issue, named[issue.name]) or 0.0):
        return []
    other = next(one for one in issues if one is not issue)
    return [{"issue": issue.name, "to": _sent(beyond), "in_return": {other.name: _sent(random_value(chance, other))}}]
