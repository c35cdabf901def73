"""Figures held against the limits of the bound negotiation: past the limit, on the way, or at the target.

The limits come from the plan as plain values and never from what was said. They stay out of every sentence: neither
`say` nor `why` names a limit, since a screen is seen by more than one.

What the bound negotiation can live with, as limits that figures are held against: pure.

Read from its terms alone. Nothing that was said, remembered or written in prose moves a limit.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final, Literal, get_args

from negotiator.negotiations.issues import Issue, coordinate, coordinate_of_worth
from negotiator.negotiations.session import NegotiationSession
from negotiator.negotiations.terms import Terms
from negotiator.negotiations.utility import Worth
from negotiator.search_terms import STOP_WORDS, split_words
from negotiator.teleprompter.spoken_figures import PERIODS, Measure, SpokenFigure
from negotiator.values import MINOR_UNITS

LimitStanding = Literal["past_limit", "inside", "on_the_way", "at_target"]

SHORTHAND_FACTORS: Final = (Decimal(1), Decimal(1000))
MAX_DISTANCE_FACTOR: Final = Decimal(8)


@dataclass(frozen=True, slots=True)
class FigureLimit:
    """What I can live with at worst (`floor`) and want (`target`, if that is known), of one measure.

    Whether more is better is said by `more`, or follows from the two: a seller's target lies above the floor, a buyer's
    below. `list_price` lets "ten percent off" be held against a money limit. An empty `currency` or `per` fits any.
    """

    measure: Measure
    floor: Decimal
    target: Decimal | None
    topic: str = "price"
    currency: str = ""
    per: str = ""
    list_price: Decimal | None = None
    more: bool | None = None

    @property
    def wants_more(self) -> bool:
        """Whether a higher figure is better for me."""
        if self.more is not None:
            return self.more
        return self.target is None or self.target >= self.floor

    def standing(self, value: Decimal) -> LimitStanding:
        """Where a value lies; exactly the floor is not past it."""
        sign = 1 if self.wants_more else -1
        if sign * (value - self.floor) < 0:
            return "past_limit"
        if self.target is None:
            return "inside"
        return "at_target" if sign * (value - self.target) >= 0 else "on_the_way"


@dataclass(frozen=True, slots=True)
class ComparedFigure:
    """A figure read in the scale of a limit, and where it stands."""

    figure: SpokenFigure
    limit: FigureLimit
    value: Decimal
    standing: LimitStanding


@dataclass(frozen=True, slots=True)
class FigureAdvice:
    """The words of a card about a figure."""

    title: str
    say: str
    why: str
    tactic_id: str


FIGURE_ADVICE: Final[dict[LimitStanding, FigureAdvice]] = {
    "past_limit": FigureAdvice(
        "That figure is past your limit",
        "That does not work for me. What would have to change for it to move?",
        "Do not counter beyond your limit; move the figure or leave it.",
        "tac_re_anchor",
    ),
    "inside": FigureAdvice(
        "That figure keeps your limit",
        "That is one we can look at. What could you add to it?",
        "It can be lived with, so ask for more before you take it.",
        "tac_conditional_concession",
    ),
    "on_the_way": FigureAdvice(
        "Inside your limit, short of your target",
        "We are getting closer. What else could you add to bridge the rest?",
        "It can be lived with, so trade for the rest before you take it.",
        "tac_conditional_concession",
    ),
    "at_target": FigureAdvice(
        "That figure meets your target",
        "Good. Shall we write that down together with the other points?",
        "Do not bargain past what you wanted; secure it and the terms with it.",
        "tac_written_recap",
    ),
}

OWN_FIGURE_ADVICE: Final = FigureAdvice(
    "You named a figure past your limit",
    "Let me correct that figure before we go on. May I check it first?",
    "Take it back now; left standing, it becomes your offer.",
    "tac_re_anchor",
)
"""The words about a figure of my own that is past my limit."""


def compare_figures(
    found: Sequence[SpokenFigure], limits: Sequence[FigureLimit]
) -> tuple[ComparedFigure, ...]:
    """Each figure against the first limit it fits; the worst standing comes first.

    A figure fits when measure, currency and period agree and one of its readings lies within a factor of eight of the
    limit: "forty two" is 42,000 beside a salary, and thirty thousand beside a rent of 900 is about something else.
    """
    held = [one for figure in found if (one := _held(figure, limits)) is not None]
    order = get_args(LimitStanding)
    return tuple(sorted(held, key=lambda one: order.index(one.standing)))


def _held(figure: SpokenFigure, limits: Sequence[FigureLimit]) -> ComparedFigure | None:
    for limit in limits:
        value = _value(figure, limit)
        if value is not None:
            return ComparedFigure(figure, limit, value, limit.standing(value))
    return None


def _value(figure: SpokenFigure, limit: FigureLimit) -> Decimal | None:
    """The figure in the limit's own measure; of a range the end that matters to me, the worse one."""
    if figure.measure == "percent" and figure.off and limit.measure == "money" and limit.list_price:
        return limit.list_price * (100 - figure.high) / 100
    if figure.measure != limit.measure or (figure.off and figure.measure == "money"):
        return None
    if limit.currency and figure.currency and limit.currency != figure.currency:
        return None
    if limit.per and figure.per and limit.per != figure.per:
        return None
    worse = figure.low if limit.wants_more else figure.high
    readings = figure.readings if figure.low == figure.high else (worse,)
    if figure.measure != "money":
        return worse
    return _nearest(readings, limit)


def _nearest(readings: Sequence[Decimal], limit: FigureLimit) -> Decimal | None:
    """The reading closest to the limit in scale, "forty two" tried as 42 and as 42,000."""
    target = limit.floor if limit.target is None else limit.target
    middle = (abs(limit.floor) + abs(target)) / 2
    if middle == 0:
        return readings[0]
    meant = [
        reading * scale
        for reading in readings
        for scale in SHORTHAND_FACTORS
        if reading > 0 and (scale == 1 or reading < 1000)
    ]
    near = [
        one for one in meant if middle / MAX_DISTANCE_FACTOR <= one <= middle * MAX_DISTANCE_FACTOR
    ]
    return min(near, key=lambda one: max(one / middle, middle / one), default=None)


_MEASURES: Final[dict[str, Measure]] = {
    "percent": "percent",
    "duration_days": "days",
    "money": "money",
}
_BASES_OF_A_DISCOUNT: Final = frozenset({"list_price", "first_quote", "previous_price"})
_NEVER_OVER: Final = frozenset({"<=", "<", "=="})
_NEVER_UNDER: Final = frozenset({">=", ">", "=="})
_SAY_NOTHING: Final = STOP_WORDS | {"day", "days", "percent", "per", "time", "total", "number"}
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


def negotiation_limits(session: NegotiationSession) -> tuple[FigureLimit, ...]:
    """The limits of a negotiation's issues of money, percentages and days, percentages first.

    The floor is the stricter of walk-away and hard constraints, or what the alternative surely brings where there is
    no walk-away. An issue without a floor has no limit. Each limit's `topic` is the issue's name.
    """
    return tuple(_ordered(session, with_floor=True))


def negotiation_scales(session: NegotiationSession) -> tuple[FigureLimit, ...]:
    """The same for the issues whose range is known instead of a floor: they say what a figure may mean, no more."""
    return tuple(_ordered(session, with_floor=False))


def compare_with_relevant_limits(
    found: Sequence[SpokenFigure], limits: Sequence[FigureLimit]
) -> tuple[ComparedFigure, ...]:
    """Each figure against the limit it is about, the worst standing first.

    What a figure is about is told by the words around it: days of delivery are not held against days of payment, and
    where several limits of one measure are left, only money is held, by its scale.
    """
    held = [one for figure in found for one in compare_figures([figure], _about(figure, limits))]
    return tuple(sorted(held, key=lambda one: get_args(LimitStanding).index(one.standing)))


def _about(figure: SpokenFigure, limits: Sequence[FigureLimit]) -> Sequence[FigureLimit]:
    alike = [one for one in limits if one.measure == figure.measure]
    if figure.measure == "percent":
        alike += [one for one in limits if one.measure == "money" and one.list_price is not None]
    said = frozenset(split_words(figure.quote)) - _SAY_NOTHING
    named = [one for one in alike if _topics(said) & _topics(_named(one)) or said & _named(one)]
    if named or figure.measure == "money":
        return named or alike
    # What they say it is about is none of these: only an issue without a topic of its own may still be meant.
    fitting = [one for one in alike if not (_topics(said) and _topics(_named(one)))]
    rivals = [one for one in fitting if one.measure == figure.measure]
    return [] if len(rivals) > 1 else fitting


def _named(limit: FigureLimit) -> frozenset[str]:
    return frozenset(split_words(limit.topic.replace("_", " "))) - _SAY_NOTHING


def _topics(said: frozenset[str]) -> frozenset[int]:
    return frozenset(at for at, topic in enumerate(_TOPICS) if topic & said)


def _ordered(session: NegotiationSession, *, with_floor: bool) -> Iterator[FigureLimit]:
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


def _limit(session: NegotiationSession, issue: Issue, floor: Decimal) -> FigureLimit:
    terms = session.terms
    unit = (issue.unit or "").replace("/", " ")
    is_price = terms.price is not None and terms.price.name == issue.name
    named = " ".join([unit, issue.name.replace("_", " "), issue.label])
    period = next((PERIODS[word] for word in split_words(named) if word in PERIODS), "")
    money_unit = next((one for one in unit.upper().split() if one in MINOR_UNITS), "")
    target = _limits_value(terms.target, issue)
    return FigureLimit(
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
    found = [_limits_value(terms.walk_away, issue)]
    if terms.walk_away is None and not terms.batna_uncertain:
        found = [_limits_value(terms.batna, issue)]
    if len(terms.issues) == 1 and terms.walk_away is not None:
        utility = terms.walk_away.utility
        found.append(None if utility is None else coordinate_of_worth(issue, utility))
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


def _limits_value(worth: Worth | None, issue: Issue) -> Decimal | None:
    package = None if worth is None else worth.package
    return None if package is None else coordinate(issue.type, package.get(issue.name))


def _best(issue: Issue) -> Decimal | None:
    if issue.range is None:
        return None
    return issue.range.max if issue.direction == "higher" else issue.range.min


def _list_price(session: NegotiationSession) -> Decimal | None:
    """What a discount is taken off: the baseline, where it is a price that somebody asked for."""
    baseline = session.terms.baseline
    if baseline is None or baseline.kind not in _BASES_OF_A_DISCOUNT:
        return None
    return baseline.value
