"""CPU of one next move at spaces up to a million packages: `python -m tests.bench.next_move`.

Made-up talks after 20 offers, six issues or three; what is printed is the median and the largest of nine.
"""

import random
import sys
import time
from statistics import median
from typing import Final

from negotiator.advice.strategy.next_move import next_move
from negotiator.advice.strategy.situation import (
    Side,
    StandingOffer,
    StrategyIssue,
    StrategyOffer,
    StrategyPreferences,
    StrategyProgress,
    StrategySituation,
)

OFFERS: Final = 20
SPACES: Final = {1_000: (3, 10), 10_000: (4, 10), 100_000: (5, 10), 1_000_000: (6, 10)}
LONG: Final = (3, 100)
FLOOR: Final = 0.3


def talk(seed: int, count: int, size: int) -> StrategySituation:
    """A talk over `count` issues of `size` values, in which each side has come to meet the other."""
    rng = random.Random(seed)
    issues = tuple(
        StrategyIssue(f"i{place}", tuple(range(size)), tuple(map(float, range(size))) if place % 2 else None)
        for place in range(count)
    )
    weights = [rng.random() for _ in issues]
    worths = {
        issue.name: {
            value: weight / sum(weights) * (value / (size - 1) if place % 3 else rng.random()) for value in range(size)
        }
        for place, (issue, weight) in enumerate(zip(issues, weights, strict=True))
    }
    sides: tuple[Side, Side] = ("me", "them")
    history: list[StrategyOffer] = []
    for step in range(OFFERS // 2):
        for side in sides:
            share = 1 - step / OFFERS if side == "me" else step / OFFERS
            offer = {
                issue.name: min(size - 1, max(0, round((size - 1) * share) + rng.randint(-1, 1))) for issue in issues
            }
            worth = sum(worths[name][value] for name, value in offer.items())
            history.append(StrategyOffer(step, side, offer, worth))
    parts = {name: list(values.items()) for name, values in worths.items()}
    return StrategySituation(
        issues,
        StrategyPreferences(FLOOR, 0.0, parts),
        StrategyProgress(OFFERS // 2, OFFERS, 0.5),
        tuple(history),
        StandingOffer(history[-1].offer, history[-1].my_utility),
    )


def cost(situation: StrategySituation) -> float:
    """Milliseconds of CPU."""
    start = time.process_time()
    next_move(situation)
    return 1000 * (time.process_time() - start)


def main() -> None:
    next_move(talk(0, 2, 4))
    sys.stdout.write("| packages | CPU ms, median | largest |\n|---:|---:|---:|\n")
    for packages, shape in SPACES.items():
        shapes = [shape] * 6 + [LONG if packages == LONG[1] ** LONG[0] else shape] * 3
        found = [cost(talk(seed, *shape)) for seed, shape in enumerate(shapes)]
        sys.stdout.write(f"| {packages:,} | {median(found):.0f} | {max(found):.0f} |\n")


if __name__ == "__main__":
    main()
