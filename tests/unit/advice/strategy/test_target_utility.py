"""The believed frontier: for each level of my utility, what they like best at that level or above."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from negotiator.advice.strategy.target_utility import best_per_level

UTILITIES = st.integers(0, 12).map(lambda tenths: tenths / 12)


@given(st.lists(st.tuples(UTILITIES, UTILITIES), min_size=1, max_size=60), st.integers(2, 40))
def test_each_level_gets_what_they_like_best_then_what_i_like_best(
    packages: list[tuple[float, float]], count: int
) -> None:
    mine = np.array([package[0] for package in packages], dtype=np.float64)
    theirs = np.array([package[1] for package in packages], dtype=np.float64)
    top, low = max(packages)[0], min(packages)[0]
    steps = [top - (top - low) * step / (count - 1) for step in range(count - 1)]
    levels = np.array([*steps, low], dtype=np.float64)
    for level, chosen in zip(levels, best_per_level(mine, theirs, levels), strict=True):
        reaching = [package for package in packages if package[0] >= level - 1e-9]
        best = max(reaching, key=lambda package: (package[1], package[0]))
        assert packages[chosen] == best
        assert chosen == packages.index(best)
