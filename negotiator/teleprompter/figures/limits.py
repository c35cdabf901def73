"""Figures held against the limits of the bound negotiation: past the limit, on the way, or at the target.

The limits come from the plan as plain values and never from what was said. They stay out of every sentence: neither
`say` nor `why` names a limit, since a screen is seen by more than one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal, get_args

from negotiator.teleprompter.figures.figure import Figure, Measure

Standing = Literal["past_limit", "inside", "on_the_way", "at_target"]

SHORTHAND: Final = (Decimal(1), Decimal(1000))
FARTHEST: Final = Decimal(8)


@dataclass(frozen=True, slots=True)
class Limit:
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

    def standing(self, value: Decimal) -> Standing:
        """Where a value lies; exactly the floor is not past it."""
        sign = 1 if self.wants_more else -1
        if sign * (value - self.floor) < 0:
            return "past_limit"
        if self.target is None:
            return "inside"
        return "at_target" if sign * (value - self.target) >= 0 else "on_the_way"


@dataclass(frozen=True, slots=True)
class Held:
    """A figure read in the scale of a limit, and where it stands."""

    figure: Figure
    limit: Limit
    value: Decimal
    standing: Standing


@dataclass(frozen=True, slots=True)
class Advice:
    """The words of a card about a figure."""

    title: str
    say: str
    why: str
    tactic_id: str


ADVICE: Final[dict[Standing, Advice]] = {
    "past_limit": Advice(
        "That figure is past your limit",
        "That does not work for me. What would have to change for it to move?",
        "Do not counter beyond your limit; move the figure or leave it.",
        "tac_re_anchor",
    ),
    "inside": Advice(
        "That figure keeps your limit",
        "That is one we can look at. What could you add to it?",
        "It can be lived with, so ask for more before you take it.",
        "tac_conditional_concession",
    ),
    "on_the_way": Advice(
        "Inside your limit, short of your target",
        "We are getting closer. What else could you add to bridge the rest?",
        "It can be lived with, so trade for the rest before you take it.",
        "tac_conditional_concession",
    ),
    "at_target": Advice(
        "That figure meets your target",
        "Good. Shall we write that down together with the other points?",
        "Do not bargain past what you wanted; secure it and the terms with it.",
        "tac_written_recap",
    ),
}

MINE: Final = Advice(
    "You named a figure past your limit",
    "Let me correct that figure before we go on. May I check it first?",
    "Take it back now; left standing, it becomes your offer.",
    "tac_re_anchor",
)
"""The words about a figure of my own that is past my limit."""


def hold(found: Sequence[Figure], limits: Sequence[Limit]) -> tuple[Held, ...]:
    """Each figure against the first limit it fits; the worst standing comes first.

    A figure fits when measure, currency and period agree and one of its readings lies within a factor of eight of the
    limit: "forty two" is 42,000 beside a salary, and thirty thousand beside a rent of 900 is about something else.
    """
    held = [one for figure in found if (one := _held(figure, limits)) is not None]
    order = get_args(Standing)
    return tuple(sorted(held, key=lambda one: order.index(one.standing)))


def _held(figure: Figure, limits: Sequence[Limit]) -> Held | None:
    for limit in limits:
        value = _value(figure, limit)
        if value is not None:
            return Held(figure, limit, value, limit.standing(value))
    return None


def _value(figure: Figure, limit: Limit) -> Decimal | None:
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


def _nearest(readings: Sequence[Decimal], limit: Limit) -> Decimal | None:
    """The reading closest to the limit in scale, "forty two" tried as 42 and as 42,000."""
    target = limit.floor if limit.target is None else limit.target
    middle = (abs(limit.floor) + abs(target)) / 2
    if middle == 0:
        return readings[0]
    meant = [
        reading * scale
        for reading in readings
        for scale in SHORTHAND
        if reading > 0 and (scale == 1 or reading < 1000)
    ]
    near = [one for one in meant if middle / FARTHEST <= one <= middle * FARTHEST]
    return min(near, key=lambda one: max(one / middle, middle / one), default=None)
