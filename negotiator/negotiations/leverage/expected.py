"""The agreement to expect when power splits the surplus: the asymmetric Nash solution.

Outside options bind or do nothing (Binmore, Shaked and Sutton 1989): an alternative is never
added to the split, it only cuts off agreements that are worse than itself.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from negotiator.negotiations.leverage.outcomes import Frontier, OutcomeSpace
from negotiator.negotiations.leverage.points import Pair, asymmetric_nash_set, chosen
from negotiator.negotiations.leverage.position import Amount
from negotiator.negotiations.preferences.issues import Scalar


@dataclass(frozen=True, slots=True)
class Expected:
    """The expected agreement: a package with both utilities, and the price if that is all."""

    package: dict[str, Scalar]
    price: Decimal | None
    utility_me: float | None
    utility_them: float | None


def cent_of(span: Decimal) -> Decimal:
    """The last digit a price is rounded to: a cent, finer when the whole range is small."""
    fine = Decimal(1).scaleb(span.adjusted() - 6) if span else Decimal("0.01")
    return min(Decimal("0.01"), fine)


def split_price(mine: float, theirs: float, alpha: float) -> float:
    """The price that gives me the share alpha of the room between the two walk-aways."""
    return theirs + (1.0 - alpha) * (mine - theirs)


def expected_price(
    walk_aways: Pair,
    alpha: float,
    *,
    better: Literal["higher", "lower"],
    alternatives: tuple[Amount | None, Amount | None] = (None, None),
) -> float | None:
    """Expected price between (mine, theirs), `better` being my good direction; None without room.

    An alternative (mine, theirs) that beats the split moves it to itself; one that beats
    everything the other side accepts leaves no agreement.
    """
    sign = 1.0 if better == "higher" else -1.0
    mine, theirs = sign * walk_aways[0], sign * walk_aways[1]
    least = mine if alternatives[0] is None else max(mine, sign * float(alternatives[0]))
    most = theirs if alternatives[1] is None else min(theirs, sign * float(alternatives[1]))
    if mine > theirs or least > most:
        return None
    price = split_price(mine, theirs, alpha)
    return sign * min(max(price, least), most)


def expected_package(
    space: OutcomeSpace,
    edge: Frontier,
    floors: Pair,
    *,
    alpha: float,
    alternatives: tuple[float | None, float | None] = (None, None),
) -> Expected | None:
    """The asymmetric Nash package of a rational frontier, cut at binding alternatives."""
    least = [
        floor if option is None else max(floor, option)
        for floor, option in zip(floors, alternatives, strict=True)
    ]
    open_edge = edge.above(least[0], least[1])
    point = chosen(space, open_edge, asymmetric_nash_set(open_edge, floors, alpha), floors)
    if point is None:
        return None
    return Expected(point.package, None, point.utility_me, point.utility_them)
