"""What a figure of a talk means for the bound negotiation: which issue it is about, which value it has there, how it
stands to the limit, and whether it is an offer.

The limits come from the negotiation's terms, never from what was said. No card names a limit, since several people may
see the screen."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final, Literal

from typing_extensions import TypedDict

from negotiator.advice.hearing.figures import Told
from negotiator.base.search_terms import STOP_WORDS, split_words
from negotiator.base.values import MINOR_UNITS, decimal_string
from negotiator.numbers.read import may_be_currency
from negotiator.teleprompter.cues.catalogue import Speaker
from negotiator.teleprompter.spoken_figures import PERIODS, TOPICS, FigureKind, Measure, SpokenFigure, with_senses
from negotiator.terms.issues import Issue, coordinate, coordinate_of_worth
from negotiator.terms.terms import Terms
from negotiator.terms.utility import Worth

LimitStanding = Literal["past_limit", "inside", "on_the_way", "at_target"]
Owner = Literal["me", "them", "third"]

SHORTHAND_FACTORS: Final = (Decimal(1), Decimal(1000))
MAX_DISTANCE_FACTOR: Final = Decimal(8)
"""How far from a limit a figure may lie where nothing but the limit is known."""
_SURE_REACH: Final = (Decimal("0.4"), Decimal("2.5"))
_LOOSE_REACH: Final = (Decimal("0.5"), Decimal("1.25"))
_SHORT_REACH: Final = (Decimal("0.6"), Decimal("1.25"))
"""How far below and above the span of an issue a figure may lie that is surely money, that is a bare number, and that
leaves its hundreds or thousands out."""
_LEFT_OUT: Final = ((Decimal(1000), 1000), (Decimal(100), 100))
"""What people leave out, and below which number: "sixty three" may be 6,300, "two thirty" only 230,000."""
_FULL_FIGURE: Final = 1000
_FEW: Final = 12
_YEARS: Final = range(1950, 2050)
"""Bare numbers outside an issue's span that are rather years."""


@dataclass(frozen=True, slots=True)
class FigureLimit:
    """What I can live with at worst (`floor`) and want (`target`, if that is known), of one measure.

    Whether more is better is said by `more`, or follows from the two: a seller's target lies above the floor, a buyer's
    below. `list_price` lets "ten percent off" be held against a money limit. An empty `currency` or `per` fits any;
    a price per seat and month has an empty `per`. `span` are the least and the greatest of the issue's range, the
    limits and the offers so far; None where too little is known. `is_mine` is false where `floor` is only the worse end
    of the range. `allowed` is how far past the floor the user goes for something in return.
    """

    measure: Measure
    floor: Decimal
    target: Decimal | None
    topic: str = "price"
    currency: str = ""
    per: str = ""
    list_price: Decimal | None = None
    more: bool | None = None
    span: tuple[Decimal, Decimal] | None = None
    is_mine: bool = True
    allowed: Decimal | None = None

    @property
    def wants_more(self) -> bool:
        if self.more is not None:
            return self.more
        return self.target is None or self.target >= self.floor

    def is_allowed(self, value: Decimal) -> bool:
        """Whether the user goes as far as this value, for something in return."""
        sign = 1 if self.wants_more else -1
        return self.allowed is not None and sign * (value - self.allowed) >= 0

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
    """A figure read in the scale of a limit, and where it stands.

    `kind` and `whose` say what it is. `is_offer` tells whether its owner, the speaker, now puts it on the table: an
    offer, a worst price they name ("1400 is the lowest"), or a price less a reduction; not a figure repeated from the
    other side. `previous` is what the owner named last on this issue, `by` who says the figure now.
    """

    figure: SpokenFigure
    limit: FigureLimit
    value: Decimal
    standing: LimitStanding
    kind: FigureKind = "offer"
    whose: Owner = "them"
    is_offer: bool = True
    previous: Decimal | None = None
    by: Speaker | None = None


@dataclass(frozen=True, slots=True)
class EarlierFigure:
    """A value that was named before, in the ledger or in this talk: of which issue, whose, what, and who said it."""

    topic: str
    value: Decimal
    whose: Owner
    kind: FigureKind = "offer"
    by: Speaker | None = None


def compare_figure(figure: SpokenFigure, limits: Sequence[FigureLimit]) -> ComparedFigure | None:
    """The figure against the first limit it fits; None where it is about something else.

    It fits when measure, currency and period agree and one of its readings is plausible: "forty two" is 42,000 beside
    a salary, and thirty thousand beside a rent of 900 is about something else.
    """
    for limit in limits:
        value = _value(figure, limit)
        if value is not None:
            return ComparedFigure(figure, limit, value, limit.standing(value))
    return None


def read_figures(
    found: Sequence[SpokenFigure], terms: Terms, speaker: Speaker, named: Sequence[EarlierFigure] = ()
) -> tuple[ComparedFigure, ...]:
    """The figures of one utterance that concern an issue of the negotiation, in order, each with its kind and owner.

    `named` are the values of the ledger and of the talk so far, oldest first: they tell which size of number is
    plausible, what "five off" is taken from, and which figures only repeat somebody else's.
    """
    limits = [_widened(one, terms, named) for one in limits_of(terms)]
    read: list[ComparedFigure] = []
    for figure in with_senses(found, _told(terms, speaker, named)):
        about = _about(figure, limits)
        held = _reduced(figure, about, named) if figure.off else compare_figure(figure, about)
        if held is not None:
            read.append(_owned(held, speaker, named))
    priced = {one.limit.topic for one in read if one.is_offer and one.kind != "reduction"}
    return tuple(
        replace(one, is_offer=False) if one.kind == "reduction" and one.limit.topic in priced else one for one in read
    )


def _told(terms: Terms, speaker: Speaker, named: Sequence[EarlierFigure]) -> Told:
    """What was known before the utterance; `mine` is what the listener offered.

    The speaker's own latest figure, with nothing after it, may be the one that they are saying: it is left out.
    """
    mine, theirs = (
        tuple({one.topic: one.value} for one in named if one.whose == side and one.kind in STANDING_KINDS)
        for side in ("them" if speaker == "me" else "me", speaker)
    )
    is_latest = bool(named) and named[-1].whose == speaker
    return Told(terms.issues, mine, theirs[:-1] if is_latest else theirs, terms.currency, "call")


def figures_as_earlier(read: Sequence[ComparedFigure]) -> tuple[EarlierFigure, ...]:
    """The figures of an utterance as those to come are read with them."""
    return tuple(EarlierFigure(one.limit.topic, one.value, one.whose, one.kind, one.by) for one in read)


MAX_REMEMBERED: Final = 40
"""Figures of a talk that a session remembers."""


def remember_figures(stored: Sequence[Any], read: Sequence[ComparedFigure]) -> list[Any]:
    """The figures of a talk as JSON, with those of one more utterance."""
    new = [[one.topic, str(one.value), one.whose, one.kind, one.by] for one in figures_as_earlier(read)]
    return [*stored, *new][-MAX_REMEMBERED:]


def remembered_figures(stored: Sequence[Any]) -> tuple[EarlierFigure, ...]:
    """The figures that `remember_figures` stored, oldest first."""
    return tuple(EarlierFigure(topic, Decimal(value), whose, kind, by) for topic, value, whose, kind, by in stored)


class FigureView(TypedDict):
    """A figure of an utterance: the issue it is about, its value there, what it is and whose. `is_offer` tells whether
    its owner now offers it or names it as their worst price."""

    issue: str
    value: str
    kind: FigureKind
    whose: Owner
    is_offer: bool


def figure_view(one: ComparedFigure) -> FigureView:
    """A figure on the wire; it tells nothing about a limit."""
    return {
        "issue": one.limit.topic,
        "value": decimal_string(one.value) if one.figure.measure == "money" else f"{one.value:f}",
        "kind": one.kind,
        "whose": one.whose,
        "is_offer": one.is_offer,
    }


def _value(figure: SpokenFigure, limit: FigureLimit) -> Decimal | None:
    """The figure in the limit's own measure; of a range the end that matters to me, the worse one."""
    if figure.measure == "percent" and figure.off and limit.measure == "money" and limit.list_price:
        return limit.list_price * (100 - figure.high) / 100
    if figure.measure != limit.measure or (figure.off and figure.measure == "money"):
        return None
    worse = figure.low if limit.wants_more else figure.high
    if figure.measure != "money":
        return worse
    if limit.currency and figure.currency and not may_be_currency(figure.currency, limit.currency):
        return None
    if limit.per and figure.per and limit.per != figure.per:
        return None
    readings = figure.readings if figure.low == figure.high else (worse,)
    if limit.span is not None:
        return _plausible(readings, figure, limit.span)
    return _nearest(readings, limit) if figure.sure else None


def _plausible(readings: Sequence[Decimal], figure: SpokenFigure, span: tuple[Decimal, Decimal]) -> Decimal | None:
    """The reading that the span of an issue makes plausible, "forty two" tried as 42,000 and 4,200 too."""
    inside = next((one for one in readings if span[0] <= one <= span[1]), None)
    if inside is not None:
        return inside
    least, most = _SURE_REACH if figure.sure else _LOOSE_REACH
    near = [one for one in readings if span[0] * least <= one <= span[1] * most]
    if near:
        is_year = near[0] in _YEARS and not figure.currency and not figure.sense.stands
        return None if is_year else near[0]
    is_small = readings[0] <= _FEW and readings[0] == readings[0].to_integral_value()
    counts = is_small and not figure.sense.stands  # "two?", but not "six and a half"
    if figure.currency or readings[0] >= _FULL_FIGURE or counts:
        return None
    least, most = _SHORT_REACH
    short = {
        reading * factor
        for reading in readings
        for factor, below in _LEFT_OUT
        if 0 < reading < below and span[0] * least <= reading * factor <= span[1] * most
    }
    return short.pop() if len(short) == 1 else None


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
        if reading > 0 and (scale == 1 or reading < _FULL_FIGURE)
    ]
    near = [one for one in meant if middle / MAX_DISTANCE_FACTOR <= one <= middle * MAX_DISTANCE_FACTOR]
    return min(near, key=lambda one: max(one / middle, middle / one), default=None)


def _reduced(
    figure: SpokenFigure, limits: Sequence[FigureLimit], named: Sequence[EarlierFigure]
) -> ComparedFigure | None:
    """What is left of the price that stands, the seller's last or the list price, after a reduction."""
    for limit in limits:
        if limit.measure != "money":
            continue
        base = _last(named, limit.topic, _seller(limit)) or limit.list_price
        if base is None:
            continue
        value = base - figure.high if figure.measure == "money" else base * (100 - figure.high) / 100
        if 0 < value < base and (limit.span is None or limit.span[0] * _SURE_REACH[0] <= value):
            return ComparedFigure(figure, limit, value, limit.standing(value), "reduction")
    return None


def _owned(held: ComparedFigure, speaker: Speaker, named: Sequence[EarlierFigure]) -> ComparedFigure:
    """The figure with its kind and owner. One that somebody else named before, or the list price, is no new offer."""
    figure, limit = held.figure, held.limit
    listener: Speaker = "them" if speaker == "me" else "me"
    kind: FigureKind = "reduction" if held.kind == "reduction" and figure.sense.kind == "offer" else figure.sense.kind
    owners: dict[str, Owner] = {"speaker": speaker, "listener": listener, "third": "third"}
    whose = owners[figure.sense.whose]
    is_offer = figure.sense.stands
    alike = [one for one in named if one.topic == limit.topic and one.value == held.value]
    is_repeated = alike and not any(one.whose == speaker and one.kind in STANDING_KINDS for one in alike)
    if held.value == limit.list_price and (not is_offer or speaker == _seller(limit)):
        kind, whose, is_offer = "list_price", _seller(limit), False
    elif is_repeated and _is_old(alike[-1], held, listener):
        kind, whose, is_offer = alike[-1].kind, alike[-1].whose, False
    elif is_offer and kind != "reduction" and _is_above_list(held, speaker):
        kind, is_offer = "other", False
    previous = _last(named, limit.topic, whose)
    return replace(held, kind=kind, whose=whose, is_offer=is_offer, previous=previous, by=speaker)


def _is_old(before: EarlierFigure, held: ComparedFigure, listener: Speaker) -> bool:
    """Whether a figure only repeats this one of the listener or of somebody else."""
    sense = held.figure.sense
    if before.whose == listener:
        return sense.kind == "history" or (sense.stands and sense.kind != "reduction")
    return sense.stands and sense.is_doubtful


def _is_above_list(held: ComparedFigure, speaker: Speaker) -> bool:
    """Whether a bare number is above the list price: nobody offers it, and a seller who asks more says so."""
    figure, limit = held.figure, held.limit
    if figure.sure or limit.measure != "money" or limit.list_price is None:
        return False
    return held.value > limit.list_price and speaker != _seller(limit)


STANDING_KINDS: Final = ("offer", "limit", "reduction", "list_price")
"""The kinds of figures that stand as the last one of their owner."""


def _seller(limit: FigureLimit) -> Speaker:
    return "me" if limit.wants_more else "them"


def _last(named: Sequence[EarlierFigure], topic: str, whose: Owner) -> Decimal | None:
    return next(
        (
            one.value
            for one in reversed(named)
            if one.topic == topic and one.whose == whose and one.kind in STANDING_KINDS
        ),
        None,
    )


def _widened(limit: FigureLimit, terms: Terms, named: Sequence[EarlierFigure]) -> FigureLimit:
    issue = terms.issue(limit.topic)
    known = [one.value for one in named if one.topic == limit.topic and one.kind in STANDING_KINDS]
    if issue is not None and issue.range is not None:
        known += [issue.range.min, issue.range.max]
    if limit.is_mine:
        known += [limit.floor, *([limit.target] if limit.target is not None else [])]
    if limit.list_price is not None:
        known.append(limit.list_price)
    return replace(limit, span=(min(known), max(known))) if len(known) > 1 else limit


_MEASURES: Final[dict[str, Measure]] = {"percent": "percent", "duration_days": "days", "money": "money"}
_BASES_OF_A_DISCOUNT: Final = frozenset({"list_price", "first_quote", "previous_price"})
_NEVER_OVER: Final = frozenset({"<=", "<", "=="})
_NEVER_UNDER: Final = frozenset({">=", ">", "=="})
_SAY_NOTHING: Final = STOP_WORDS | {"day", "days", "percent", "per", "time", "total", "number"}


def _about(figure: SpokenFigure, limits: Sequence[FigureLimit]) -> Sequence[FigureLimit]:
    """The limits that the figure may be about, told by the words around it.

    Days of delivery are not held against days of payment, and where several limits of one measure are left, only money
    is held, by its scale.
    """
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
    return frozenset(at for at, topic in enumerate(TOPICS) if topic & said)


def limits_of(terms: Terms) -> list[FigureLimit]:
    """The limits of a negotiation's issues of money, percentages and days, percentages first.

    The floor is the stricter of walk-away and hard constraints, or what the alternative surely brings where there is
    no walk-away. Last come the issues that have none but a range, which tells what a figure may mean, no more. Each
    limit's `topic` is the issue's name.
    """
    measures = [*_MEASURES]
    issues = sorted((one for one in terms.issues if one.type in _MEASURES), key=lambda one: measures.index(one.type))
    found = [limit for issue in issues if (limit := _limit(terms, issue)) is not None]
    return sorted(found, key=lambda limit: not limit.is_mine)


def _limit(terms: Terms, issue: Issue) -> FigureLimit | None:
    """The limit of an issue; None where neither a floor nor a range is known."""
    floor, target, span = _floor(terms, issue), _limits_value(terms.target, issue), issue.range
    best = worst = None
    if span is not None:
        best, worst = (span.max, span.min) if issue.direction == "higher" else (span.min, span.max)
    known = worst if floor is None else floor
    if known is None:
        return None
    unit = (issue.unit or "").replace("/", " ")
    is_price = terms.price is not None and terms.price.name == issue.name
    named = " ".join([unit, issue.name.replace("_", " "), issue.label])
    periods = {PERIODS[word] for word in split_words(named) if word in PERIODS}
    period = periods.pop() if len(periods) == 1 else ""
    money_unit = next((one for one in unit.upper().split() if one in MINOR_UNITS), "")
    return FigureLimit(
        _MEASURES[issue.type],
        known,
        best if target is None or floor is None else target,
        issue.name,
        (terms.currency or money_unit) if issue.type == "money" else "",
        period if issue.type == "money" else "",
        _list_price(terms) if is_price else None,
        more=issue.direction == "higher",
        is_mine=floor is not None,
        allowed=_furthest_allowed(terms, issue),
    )


def _furthest_allowed(terms: Terms, issue: Issue) -> Decimal | None:
    every = (coordinate(issue.type, one.to) for one in terms.allowed if one.issue == issue.name)
    known = [at for at in every if at is not None]
    return (min if issue.direction == "higher" else max)(known, default=None)


def _floor(terms: Terms, issue: Issue) -> Decimal | None:
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


def _list_price(terms: Terms) -> Decimal | None:
    """What a discount is taken off: the baseline, where it is a price that somebody asked for."""
    baseline = terms.baseline
    if baseline is None or baseline.kind not in _BASES_OF_A_DISCOUNT:
        return None
    return baseline.value
