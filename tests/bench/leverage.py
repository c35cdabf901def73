"""CPU of a whole assessment of leverage, by number of packages: `python -m tests.bench.leverage`.

*Opposed* issues give the sides opposite orders of the values, so that most packages are undominated; of *mixed* ones
each has orders of its own. Seven scenarios of each, drawn by seed.
"""

import random
import time
from typing import Final

from negotiator.advice.leverage.assessment import assess_leverage
from negotiator.terms.terms import Terms
from negotiator.terms.utility import Preferences, Worth, part_worths
from tests.bench.load import spread
from tests.helpers.example_terms import example_terms

SHAPES: Final = ((10,) * 4, (10,) * 5, (10,) * 6, (10,) * 8)
SCENARIOS: Final = 7


def scenario(sizes: tuple[int, ...], seed: int, *, opposed: bool) -> Terms:
    """Terms in which both sides' worths of every value are known."""
    rng = random.Random(seed)
    mine: dict[str, list[tuple[str, float]]] = {}
    theirs: dict[str, list[tuple[str, float]]] = {}
    for number, size in enumerate(sizes):
        values = [f"value {place}" for place in range(size)]
        worths = sorted(rng.random() / len(sizes) for _ in values)
        other = sorted((rng.random() / len(sizes) for _ in values), reverse=True)
        if not opposed:
            rng.shuffle(other)
        mine[f"issue {number}"] = list(zip(values, worths, strict=True))
        theirs[f"issue {number}"] = list(zip(values, other, strict=True))
    preferences: list[Preferences] = [part_worths(mine), part_worths(theirs)]
    return example_terms(preferences[0], their_preferences=preferences[1], walk_away=Worth(utility=0.3))


def main() -> None:
    """Print one table."""
    print("| Packages | Mixed, ms of CPU | Opposed, ms of CPU |")
    print("|---:|---:|---:|")
    for sizes in SHAPES:
        cells: list[str] = []
        for opposed in (False, True):
            taken: list[float] = []
            for seed in range(SCENARIOS):
                terms = scenario(sizes, seed, opposed=opposed)
                began = time.process_time()
                assess_leverage(terms)
                taken.append(1000 * (time.process_time() - began))
            cells.append(spread(taken, 1))
        print(f"| {10 ** len(sizes):,} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
