"""What the bound negotiation can live with, as limits that figures are held against: pure.

Read from its terms alone. Nothing that was said, remembered or written in prose moves a limit.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final, get_args

from negotiator.currencies import MINOR_UNITS
from negotiator.negotiations.preferences.issues import Issue, coordinate
from negotiator.negotiations.preferences.utility import Worth
from negotiator.negotiations.preferences.values import value_at
from negotiator.negotiations.session import Session
from negotiator.negotiations.terms.terms import Terms
from negotiator.teleprompter.figures.figure import PERIODS, Figure, Measure
from negotiator.teleprompter.figures.limits import Held, Limit, Standing, hold
from negotiator.words import STOP, words

_MEASURES: Final[dict[str, Measure]] = {
    "percent": "percent",
    "duration_days": "days",
    "money": "money",
}
_BASES_OF_A_DISCOUNT: Final = frozenset({"list_price", "first_quote", "previous_price"})
_NEVER_OVER: Final = frozenset({"<=", "<", "=="})
_NEVER_UNDER: Final = frozenset({">=", ">", "=="})
_SAY_NOTHING: Final = STOP | {"day", "days", "percent", "per", "time", "total", "number"}
_TOPICS: Final = tuple(
    frozenset(line.split())
    for line in (
        "pay pays paid payment payments paying net invoice invoices terms",
        "deliver delivers delivery delivered ship shipping shipment lead arrive arrives install installation",
        "notice cancel cancellation terminate termination",
        "warranty warranties guarantee guarantees",
        "valid validity expire expires",
        "contract commitment commit term lease tenancy renewal",
        "discount rebate off reduction",
        "deposit upfront advance prepayment",
        "bonus commission",
        "interest penalty late",
        "uptime availability sla",
    )
)


def limits_of(session: Session) -> tuple[Limit, ...]:
    """The limits of a negotiation's issues of money, percentages and days, percentages first.

    The floor is the stricter of walk-away and hard constraints, or what the alternative surely brings where there is
    no walk-away. An issue without a floor has no limit. Each limit's `topic` is the issue's name.
    """
    return tuple(_ordered(session, with_floor=True))


def scales_of(session: Session) -> tuple[Limit, ...]:
    """The same for the issues whose range is known instead of a floor: they say what a figure may mean, no more."""
    return tuple(_ordered(session, with_floor=False))


def held_of(found: Sequence[Figure], limits: Sequence[Limit]) -> tuple[Held, ...]:
    """Each figure against the limit it is about, the worst standing first.

    What a figure is about is told by the words around it: days of delivery are not held against days of payment, and
    where several limits of one measure are left, only money is held, by its scale.
    """
    held = [one for figure in found for one in hold([figure], _about(figure, limits))]
    return tuple(sorted(held, key=lambda one: get_args(Standing).index(one.standing)))


def _about(figure: Figure, limits: Sequence[Limit]) -> Sequence[Limit]:
    alike = [one for one in limits if one.measure == figure.measure]
    if figure.measure == "percent":
        alike += [one for one in limits if one.measure == "money" and one.list_price is not None]
    said = frozenset(words(figure.quote)) - _SAY_NOTHING
    named = [one for one in alike if _topics(said) & _topics(_named(one)) or said & _named(one)]
    if named or figure.measure == "money":
        return named or alike
    # What they say it is about is none of these: only an issue without a topic of its own may still be meant.
    fitting = [one for one in alike if not (_topics(said) and _topics(_named(one)))]
    rivals = [one for one in fitting if one.measure == figure.measure]
    return [] if len(rivals) > 1 else fitting


def _named(limit: Limit) -> frozenset[str]:
    return frozenset(words(limit.topic.replace("_", " "))) - _SAY_NOTHING


def _topics(said: frozenset[str]) -> frozenset[int]:
    return frozenset(at for at, topic in enumerate(_TOPICS) if topic & said)


def _ordered(session: Session, *, with_floor: bool) -> Iterator[Limit]:
    for measure in _MEASURES.values():
        for issue in session.terms.issues:
            if _MEASURES.get(issue.type) != measure:
                continue
            floor = _floor(session.terms, issue)
            if with_floor and floor is not None:
                yield _limit(session, issue, floor)
            elif not with_floor and floor is None and issue.range is not None:
                worst = issue.range.min if issue.direction == "higher" else issue.range.max
                yield replace(_limit(session, issue, worst), target=_best(issue))


def _limit(session: Session, issue: Issue, floor: Decimal) -> Limit:
    terms = session.terms
    unit = (issue.unit or "").replace("/", " ")
    is_price = terms.price is not None and terms.price.name == issue.name
    named = " ".join([unit, issue.name.replace("_", " "), issue.label])
    period = next((PERIODS[word] for word in words(named) if word in PERIODS), "")
    money_unit = next((one for one in unit.upper().split() if one in MINOR_UNITS), "")
    target = _value(terms.target, issue)
    return Limit(
        _MEASURES[issue.type],
        floor,
        _best(issue) if target is None else target,
        issue.name,
        (terms.currency or money_unit) if issue.type == "money" else "",
        period if issue.type == "money" else "",
        _list_price(session) if is_price else None,
        more=issue.direction == "higher",
    )


def _floor(terms: Terms, issue: Issue) -> Decimal | None:
    """The worst value that is still to be lived with."""
    found = [_value(terms.walk_away, issue)]
    if terms.walk_away is None and not terms.batna_uncertain:
        found = [_value(terms.batna, issue)]
    if len(terms.issues) == 1 and terms.walk_away is not None:
        utility = terms.walk_away.utility
        found.append(None if utility is None else value_at(issue, utility))
    binding = _NEVER_UNDER if issue.direction == "higher" else _NEVER_OVER
    found += [
        coordinate(issue.type, rule.values[0])
        for rule in terms.constraints
        if rule.hard and rule.issue == issue.name and rule.op in binding
    ]
    known = [one for one in found if one is not None]
    if not known:
        return None
    return max(known) if issue.direction == "higher" else min(known)


def _value(worth: Worth | None, issue: Issue) -> Decimal | None:
    package = None if worth is None else worth.package
    return None if package is None else coordinate(issue.type, package.get(issue.name))


def _best(issue: Issue) -> Decimal | None:
    if issue.range is None:
        return None
    return issue.range.max if issue.direction == "higher" else issue.range.min


def _list_price(session: Session) -> Decimal | None:
    """What a discount is taken off: the baseline, where it is a price that somebody asked for."""
    baseline = session.body.baseline
    if baseline is None or baseline.kind not in _BASES_OF_A_DISCOUNT:
        return None
    return baseline.value
