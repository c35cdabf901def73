"""Figures in an utterance (money, percentages, days), and how they stand to the limits of the bound negotiation.

The limits come from the negotiation's terms, never from what was said. No card names a limit, since several people may
see the screen."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final, Literal, get_args

from negotiator.negotiations.issues import Issue, coordinate, coordinate_of_worth
from negotiator.negotiations.session import NegotiationSession
from negotiator.negotiations.terms import Terms
from negotiator.negotiations.utility import Worth
from negotiator.numbers import CURRENCY_WORDS, NumberRun, Token, number_runs, number_tokens
from negotiator.search_terms import STOP_WORDS, split_words
from negotiator.values import MINOR_UNITS

Measure = Literal["money", "percent", "days"]

QUOTE_WORDS: Final = 5
MORE_THAN_A_CLOCK_TIME: Final = 100


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DAYS: Final = {"day": 1, "days": 1, "week": 7, "weeks": 7, "month": 30, "months": 30}
_YEARS: Final = {"year": 365, "years": 365}
_PERCENT: Final = frozenset(["percent", "%", "percentage"])
_OFF: Final = frozenset(
    ["off", "discount", "rebate", "reduction", "less", "cheaper", "lower", "below"]
)
PERIODS: Final = {"hour": "hour", "day": "day", "week": "week", "month": "month", "year": "year",
               "annum": "year", "unit": "unit", "seat": "seat", "user": "seat", "piece": "unit",
               "head": "head", "hourly": "hour", "daily": "day", "monthly": "month",
               "yearly": "year", "annually": "year"}  # fmt: skip
_PRICE_TALK: Final = _words(
    """price pay paying offer offering offered cost costs charge charging fee rent rate salary budget quote quoted
    asking ask worth bid give settle accept do sell buy spend deposit earn earning minimum maximum least most limit
    figure number total"""
)
_PERHAPS: Final = _words(
    """go at for say make take come down up to between around about only want need get below above under over knock
    of expecting thinking hoping"""
)
_NO_PRICE: Final = _words(
    """people persons employees users customers clients countries offices pages units pieces seats licences licenses
    rooms bedrooms minutes minute hours hour times points miles kilometres square years year old o'clock am pm of them
    us questions things options branches sites colleagues children degrees tons engineers staff visitors copies boxes
    cars servers stores other others more street avenue weeks months days"""
)
_YEAR_WORDS: Final = frozenset(["in", "since", "year"])
_NO_PLURALS: Final = frozenset(
    ["plus", "less", "thats", "this", "always", "as", "is", "was", "yes", "unless", "perhaps"]
)
_REACH: Final = 6


@dataclass(frozen=True, slots=True)
class SpokenFigure:
    """One figure heard, or a range of them: `low` and `high` are equal unless it is a range.

    `readings` are other values a single figure may have meant, the likeliest first. `off` marks a percentage or an
    amount that is taken from a price. Days count a month as thirty. `per` is the period or thing the money is for.
    """

    measure: Measure
    low: Decimal
    high: Decimal
    readings: tuple[Decimal, ...]
    quote: str
    currency: str = ""
    per: str = ""
    off: bool = False


def find_figures(text: str, tokens: Sequence[Token] | None = None) -> tuple[SpokenFigure, ...]:
    """The figures in the first 4,000 characters that may concern a deal, in their order.

    `tokens` are those that `numbers.find_tokens` gives for the text, if they are known.
    """
    words = number_tokens(text, tokens)
    found: list[SpokenFigure] = []
    numbers = number_runs(words)
    at = 0
    while at < len(numbers):
        pair = _range(words, numbers, at)
        figure = _figure(words, *(pair or (numbers[at], numbers[at])), text=text)
        if figure is not None:
            found.append(figure)
        at += 2 if pair else 1
    return tuple(found)


def _range(
    words: Sequence[Token], numbers: Sequence[NumberRun], at: int
) -> tuple[NumberRun, NumberRun] | None:
    """ "ten to twelve thousand", "between ten and twelve": two runs with one word between them."""
    if at + 1 >= len(numbers):
        return None
    low, high = numbers[at], numbers[at + 1]
    between = [word.text for word in words[low.last : high.first]]
    opened = low.first > 0 and words[low.first - 1].text == "between"
    if between not in (["to"], ["or"], ["and"]) or (between == ["and"] and not opened):
        return None
    if high.scaled and not low.scaled:
        scale = _scale_of(high.value)
        low = NumberRun((low.value * scale, *low.readings), low.first, low.last, scaled=True)
    return (low, high) if low.value <= high.value else None


def _scale_of(value: Decimal) -> int:
    return 1_000_000 if value >= 1_000_000 else 1_000


def _figure(
    words: Sequence[Token], low: NumberRun, high: NumberRun, *, text: str
) -> SpokenFigure | None:
    after = [word.text for word in words[high.last : high.last + _REACH]]
    before = [word.text for word in words[max(low.first - _REACH, 0) : low.first]]
    following = after[0] if after else ""
    quote = _quote(words, low.first, high.last, text=text)
    off = bool(_OFF & set(_upto_stop(after)[:3])) or before[-2:] == ["off", "by"]
    same = low.first == high.first
    readings = high.readings if same else (high.value,)
    if following in _PERCENT:
        value = readings[-1] if same else high.value
        start = value if same else low.value
        return SpokenFigure("percent", start, value, (value,), quote, off=off)
    if (days := _days(before, after)) is not None:
        return SpokenFigure(
            "days", low.value * days, high.value * days, (high.value * days,), quote
        )
    currency = _currency(before, after)
    if not currency and not _is_money(before, after, low=low, high=high):
        return None
    return SpokenFigure(
        "money",
        low.value,
        high.value,
        readings,
        quote,
        currency=currency,
        per=_per(after),
        off=off,
    )


def _days(before: Sequence[str], after: Sequence[str]) -> int | None:
    if before[-1:] == ["net"]:
        return 1
    if after[1:2] and after[1] in {"a", "per", "each", "every"}:  # "two days a week" is no term
        return None
    return _DAYS.get(after[0]) if after else None


def _currency(before: Sequence[str], after: Sequence[str]) -> str:
    near = [*before[-1:], *after[:1]]
    return next((CURRENCY_WORDS[word] for word in near if word in CURRENCY_WORDS), "")


def _is_money(
    before: Sequence[str], after: Sequence[str], *, low: NumberRun, high: NumberRun
) -> bool:
    following = after[0] if after else ""
    counted = len(following) > 3 and following.endswith("s") and following not in _NO_PLURALS
    if counted or following in _NO_PRICE or following in _YEARS or following.endswith("th"):
        return False
    if _looks_like_a_year(before, high):
        return False
    if high.scaled or low.scaled or _PRICE_TALK & set(before):
        return True
    is_large = high.value >= MORE_THAN_A_CLOCK_TIME
    return is_large and bool(_PERHAPS & set(before) or _per(after))


def _looks_like_a_year(before: Sequence[str], run: NumberRun) -> bool:
    return 1900 <= run.value <= 2100 and bool(_YEAR_WORDS & set(before[-1:]))


def _per(after: Sequence[str]) -> str:
    for at, word in enumerate(after[:4]):
        if word in {"a", "an", "per", "each", "every", "the"} and at + 1 < len(after):
            return PERIODS.get(after[at + 1], "")
        if word.endswith("ly") and word in PERIODS:
            return PERIODS[word]
    return ""


def _upto_stop(after: Sequence[str]) -> list[str]:
    return list(after[: next((i for i, word in enumerate(after) if word in ".!?;,"), len(after))])


def _quote(words: Sequence[Token], first: int, last: int, *, text: str) -> str:
    start = words[max(first - QUOTE_WORDS, 0)].start
    end = words[min(last + 2, len(words)) - 1].end
    return " ".join(text[start:end].split())


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
