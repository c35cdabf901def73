"""The forecast of a negotiation's price: from terms and offers to amounts, what they rest on, and a sentence.

It is for the user alone: it follows from their limit and their target.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from itertools import pairwise
from typing import Any, Final

from negotiator.advice.forecast import LEVEL, PriceTalk, forecast_price
from negotiator.advice.leverage.concessions import LedgerOffer, Side, completed_offers
from negotiator.advice.leverage.zone_of_agreement import Spread
from negotiator.advice.words.sentences import lines
from negotiator.base.values import MINOR_UNITS
from negotiator.terms import limits
from negotiator.terms.issues import Issue, Scalar, coordinate, coordinate_of_worth
from negotiator.terms.plain_text import join_words, sentence
from negotiator.terms.terms import Terms
from negotiator.terms.unit_price import read_unit_price
from negotiator.terms.utility import Worth
from negotiator.terms.wording import Wording

SHOWN_STEPS: Final = 12
"""A sentence rounds the figures to about this share of the interval."""
_WIDE: Final = Context(prec=100)


@dataclass(frozen=True, slots=True)
class ExpectedTotal:
    """What the forecast comes to where the price is a unit price: `in all`, or for a period such as `a year`.

    `at` says whose values of the other issues it is counted with; empty where it depends on none.
    """

    price: Decimal
    low: Decimal
    high: Decimal
    scope: str
    at: str


@dataclass(frozen=True, slots=True)
class ExpectedPrice:
    """The final price of the money issue `issue` if there is a deal, its interval, and what it rests on.

    `level` is the share of such talks that end between `low` and `high`. `deal_probability` is the chance that some
    price suits both sides, None where nothing is known of that or other issues count too. `total` is None for a lump
    sum. `text` is for the user.
    """

    issue: str
    price: Decimal
    low: Decimal
    high: Decimal
    level: float
    deal_probability: float | None
    total: ExpectedTotal | None
    rests_on: tuple[str, ...]
    text: str


def expected_price(
    words: Wording, offers: Sequence[LedgerOffer] = (), *, comparable: Decimal | None = None
) -> ExpectedPrice | None:
    """The forecast of the price of the terms of `words`.

    None without a money issue whose values are known, and where no price suits both limits.
    `comparable` is what comparable deals end at.
    """
    terms, issue = words.terms, words.terms.price
    talk = price_talk(terms, offers, comparable=comparable)
    found = None if talk is None else forecast_price(talk)
    if issue is None or talk is None or found is None:
        return None
    unit = _smallest_unit(terms, talk)
    price, *ends = (_amount(terms, issue, unit, at) for at in (found.median, found.low, found.high))
    low, high = sorted(ends)
    total = _total(words, issue, offers, (price, low, high))
    grounds = _grounds(talk, *_openings(terms, issue))
    return ExpectedPrice(
        issue=issue.name,
        price=price,
        low=low,
        high=high,
        level=LEVEL,
        deal_probability=found.deal_probability if len(terms.issues) == 1 else None,
        total=total,
        rests_on=grounds,
        text=_text(words, issue, (price, low, high), unit, total, grounds),
    )


def price_talk(
    terms: Terms, offers: Sequence[LedgerOffer] = (), *, comparable: Decimal | None = None
) -> PriceTalk | None:
    """What is known of the talk about the price; None without a money issue whose values are known.

    An offer that does not name the price is left out.
    """
    issue = terms.price
    ends = None if issue is None else _ends(issue)
    if issue is None or ends is None:
        return None
    sign = _sign(issue)
    aim, ask = _openings(terms, issue)
    estimate, limit = terms.their_walk_away, _own_limit(terms, issue)
    best, worst = sorted(sign * float(end) for end in ends)
    rows = sorted(offers, key=lambda row: row.seq)
    return PriceTalk(
        best=best,
        worst=worst,
        mine=_figures(rows, "me", issue),
        theirs=_figures(rows, "them", issue),
        aim=None if aim is None else sign * float(aim[0]),
        ask=None if ask is None else sign * float(ask[0]),
        limit=None if limit is None else sign * float(limit),
        their_limit=Spread(*sorted(sign * end for end in estimate.ends))
        if estimate is not None and estimate.unit == "money"
        else None,
        comparable=None if comparable is None else sign * float(comparable),
    )


# What is known


def _ends(issue: Issue) -> tuple[Decimal, Decimal] | None:
    """The least and the largest amount that the issue can take."""
    if issue.range is not None and not issue.options:
        return issue.range.min, issue.range.max
    listed = [at for one in issue.options if (at := coordinate("money", one.value)) is not None]
    return (min(listed), max(listed)) if listed else None


def _sign(issue: Issue) -> int:
    """What turns an amount into a cost to the user, and back."""
    return 1 if issue.direction == "lower" else -1


def _figures(rows: Sequence[LedgerOffer], side: Side, issue: Issue) -> tuple[float, ...]:
    """The amounts that a side named, as costs to the user, oldest first."""
    named = (coordinate("money", row.package.get(issue.name)) for row in rows if row.by == side)
    return tuple(_sign(issue) * float(at) for at in named if at is not None)


def _own_limit(terms: Terms, issue: Issue) -> Decimal | None:
    """The worst price that the user takes; where the price is all, also the walk-away or alternative as a price."""
    known = coordinate("money", limits.own_limit(terms, issue))
    if known is None and len(terms.issues) == 1 and issue.weight:
        floor = limits.utility_floor(terms)
        if floor is not None:
            worth = (floor - terms.preferences.constant) / issue.weight
            known = coordinate_of_worth(issue, worth)
    rules = {"<=", "<", "=="} if issue.direction == "lower" else {">=", ">", "=="}
    bounds = [
        at
        for rule in terms.constraints
        if rule.hard and rule.issue == issue.name and rule.op in rules
        if (at := coordinate("money", rule.values[0])) is not None
    ]
    bounds += [] if known is None else [known]
    if not bounds:
        return None
    return min(bounds) if issue.direction == "lower" else max(bounds)


_Opening = tuple[Decimal, str]
"""An amount at which a side is expected to open, and what it is."""


def _openings(terms: Terms, issue: Issue) -> tuple[_Opening | None, _Opening | None]:
    """Where the user would open and where the other side would: targets, the list price, a first quote."""
    aim = _opening(coordinate("money", _package(terms.target).get(issue.name)), "your target")
    ask = _opening(coordinate("money", _package(terms.their_target).get(issue.name)), "their target")
    baseline = terms.baseline
    if baseline is not None and baseline.value is not None:
        if baseline.kind == "first_quote":
            ask = baseline.value, "their first quote"
        if baseline.kind == "list_price" and issue.direction == "lower":
            ask = baseline.value, "the list price"
        if baseline.kind == "list_price" and issue.direction == "higher":
            aim = baseline.value, "your list price"
    return aim, ask


def _opening(amount: Decimal | None, name: str) -> _Opening | None:
    return None if amount is None else (amount, name)


def _package(worth: Worth | None) -> dict[str, Scalar]:
    return dict(worth.package) if worth is not None and worth.package else {}


def _smallest_unit(terms: Terms, talk: PriceTalk) -> Decimal:
    """The currency's smallest unit, or less where the span of prices is small."""
    span = Decimal(repr(talk.worst - talk.best))
    places = max(MINOR_UNITS.get(terms.currency or "", 2), 3 - span.adjusted() if span else 2)
    return Decimal(1).scaleb(-places)


def _amount(terms: Terms, issue: Issue, unit: Decimal, cost: float) -> Decimal:
    """The amount of a cost to the user, in whole `unit`s but inside the user's limit."""
    amount = Decimal(repr(cost)).quantize(unit, context=_WIDE)
    limit, sign = _own_limit(terms, issue), _sign(issue)
    if limit is not None and cost <= sign * float(limit):
        amount = min(amount, sign * limit)
    return sign * amount


def _total(
    words: Wording, issue: Issue, offers: Sequence[LedgerOffer], amounts: tuple[Decimal, Decimal, Decimal]
) -> ExpectedTotal | None:
    """What the amounts come to at the latest value of each other issue: theirs, else the user's, else the target's."""
    rows = completed_offers(offers)
    package, source = _package(words.terms.target), "your target's"
    for side, offer in (("me", "your last"), ("them", "their last")):
        last = next((row.package for row in reversed(rows) if row.by == side), None)
        if last is not None:
            package, source = {**package, **last}, offer
    price, low, high = (words.total({**package, issue.name: at}) for at in amounts)
    if price is None or low is None or high is None:
        return None
    alone = words.total({issue.name: amounts[0]})
    depends = alone is None or alone.text != price.text
    at = f"on {source} terms" if depends else ""
    return ExpectedTotal(price.amount, low.amount, high.amount, price.scope, at)


# What it rests on


def _grounds(talk: PriceTalk, aim: _Opening | None, ask: _Opening | None) -> tuple[str, ...]:
    """What the forecast follows from, most important first, each as a part of a sentence."""
    sides: list[dict[str, Any]] = []
    for whose, figures, opening in (("their", talk.theirs, ask), ("your", talk.mine, aim)):
        moves = [b - a if whose == "your" else a - b for a, b in pairwise(figures)]
        made = [move for move in moves if move > 0]
        sides.append(
            {
                "whose": whose,
                "figures": len(figures),
                "opening": opening and opening[1],
                "made": made,
                "goes_back": any(move < 0 for move in moves),
                "ratios": [b / a for a, b in pairwise(made)],
            }
        )
    return tuple(dict.fromkeys(lines("expected_grounds", talk=talk, sides=sides)))


# The sentence


def _text(
    words: Wording,
    issue: Issue,
    amounts: tuple[Decimal, Decimal, Decimal],
    smallest: Decimal,
    total: ExpectedTotal | None,
    rests_on: Sequence[str],
) -> str:
    price, low, high = amounts
    unit = read_unit_price(words.label(issue), issue.unit).words
    limit, sign = _own_limit(words.terms, issue), _sign(issue)
    rounded = [_rounded(at, high - low, smallest) for at in (price, low, high)]
    shown = [
        words.money(exact if limit is not None and sign * about > sign * limit else about)
        for about, exact in zip(rounded, amounts, strict=True)
    ]
    many = sum(one.type == "money" for one in words.terms.issues) > 1
    head = f"for the {words.short_label(issue)}, expect about" if many else "expect about"
    ends = "" if shown[1] == shown[2] else f" (between {shown[1]} and {shown[2]})"
    said = f"{head} {shown[0]} {unit}".rstrip() + ends
    if total is not None:
        in_all = words.money(_rounded(total.price, abs(total.high - total.low), smallest))
        said += f", which comes to about {in_all} {total.scope} {total.at}".rstrip()
    return f"{sentence(said)} {sentence(f'This is based on {_listed(rests_on)}')}"


def _listed(parts: Sequence[str]) -> str:
    """The grounds as a list; with semicolons where one has a comma itself."""
    if len(parts) > 1 and any("," in part for part in parts):
        return f"{'; '.join(parts[:-1])}; and {parts[-1]}"
    return join_words(parts)


def _rounded(amount: Decimal, width: Decimal, smallest: Decimal) -> Decimal:
    """The amount to the largest 1, 2 or 5 times a power of ten that is at most a twelfth of the interval's width."""
    most = max(width / SHOWN_STEPS, smallest)
    power = Decimal(1).scaleb(most.adjusted())
    grain = next(step * power for step in (5, 2, 1) if step * power <= most)
    return _WIDE.multiply((amount / grain).to_integral_value(context=_WIDE), grain)
