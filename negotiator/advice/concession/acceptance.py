"""Whether to take what is on the table: its worth against one more round with its risk.

What the other side may still give is taken as exponentially distributed. Its mean follows from their steps, which
shrink, and from the user's estimate of their limit. A round more may also end the talk.
"""

import math
from dataclasses import dataclass
from typing import Final

from negotiator.advice.concession.aims import Aims
from negotiator.advice.concession.reading import Reading
from negotiator.terms.issues import worth_of

STEP_DECAY: Final = 0.5
"""Median ratio of a step to the one before in 1,299 price talks (CraigslistBargain)."""
FIRST_ROOM: Final = 0.5
"""Before their second figure: the share of the way from their offer to the user's target that they may still give."""
FINAL_DISCOUNT: Final = 0.4
"""How much of the expected room a final word leaves: some are true."""
DOUBT: Final = (0.5, 2.0)
"""The ends of the interval of an acceptance probability: half and twice the expected room."""
WALK_OUT: Final = 0.05
"""Chance that they leave in a round anyway."""
WALK_OUT_UNMOVED: Final = 0.04
"""Added for each of the latest rounds without a movement of either side."""
WALK_OUT_FINAL: Final = 0.15
WALK_OUT_LAST: Final = 0.25
"""Added when the stated rounds or the time are nearly over."""
COUNTER_SHARE: Final = 0.35
"""How often they answer an offer that they could accept with one more counter-offer."""


@dataclass(frozen=True, slots=True)
class RoundValue:
    """One more round: the chance that they take the next offer, its interval, the risk that they leave, and its worth.

    `value` is the expected utility of going on with the next offer.
    """

    chance: float
    low: float
    high: float
    risk: float
    value: float


def weigh_round(aims: Aims, reading: Reading, ask: float, *, hurried: bool, last: bool) -> RoundValue:
    """The value of one more round with an offer worth `ask`. `last` is whether it is the last one they answer."""
    if reading.their_last is None:
        return RoundValue(0.5, 0.2, 0.8, WALK_OUT, ask)
    table = aims.worth(reading.their_last)
    room = expected_room(aims, reading)
    gap = max(0.0, ask - table)
    chance, low, high = (_chance(gap, room * share) for share in (1.0, *DOUBT))
    risk = WALK_OUT + WALK_OUT_UNMOVED * min(reading.unmoved, 3)
    risk += WALK_OUT_FINAL if reading.says_final else 0.0
    risk = min(0.9, risk + (WALK_OUT_LAST if hurried else 0.0))
    taken = chance if last else chance * (1.0 - COUNTER_SHARE)
    floor = max(0.0, aims.floor)
    kept = table if table >= aims.floor else floor
    later = kept if last else max(kept, table + STEP_DECAY * min(room, gap or room))
    value = (1 - risk) * (taken * ask + (1 - taken) * later) + risk * min(floor, table)
    return RoundValue(chance, low, high, risk, value)


def expected_room(aims: Aims, reading: Reading) -> float:
    """How much utility the other side is expected to give yet, from their last offer on."""
    last = reading.their_last
    if last is None:
        return 0.0
    table = aims.worth(last)
    moves = [step for step in reading.their_steps if step > 0]
    if moves and reading.unmoved < 2:
        room = moves[-1] * STEP_DECAY / (1 - STEP_DECAY) * (0.7**reading.unmoved)
    elif moves:
        room = moves[-1] * 0.25
    else:
        room = FIRST_ROOM * max(0.0, aims.target_utility - table) * 0.5**reading.unmoved
    known = _estimated_room(aims, reading)
    if known is not None:
        room = 0.5 * (room + known) if moves else known
    return max(1e-6, room * (FINAL_DISCOUNT if reading.says_final else 1.0))


def _estimated_room(aims: Aims, reading: Reading) -> float | None:
    """The way from their last price to the walk-away that the user estimates for them, in utility."""
    estimate, price = aims.terms.their_walk_away, aims.terms.price
    last = reading.their_last
    if estimate is None or estimate.unit != "money" or price is None or last is None:
        return None
    likely = worth_of(price, estimate.likely)
    here = worth_of(price, last[price.name])
    if likely is None or here is None:
        return None
    return max(0.0, price.weight * (likely - here))


def _chance(gap: float, room: float) -> float:
    return math.exp(-gap / max(room, 1e-9)) if gap > 0 else 0.97
