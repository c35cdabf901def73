"""Solution points against a brute force that shares no code with them."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import TypeAlias

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from negotiator.advice.leverage.outcomes import Indices, ParetoFrontier, outcome_space, pareto_frontier
from negotiator.advice.leverage.solutions import (
    NO_DEAL,
    kalai_set,
    kalai_smorodinsky_set,
    nash_set,
    solution_points,
    welfare_set,
)
from negotiator.terms.utility import Preferences, part_worths

Pair: TypeAlias = tuple[float, float]
Table: TypeAlias = dict[str, list[tuple[str, float]]]

COARSE = st.sampled_from([0.0, 0.125, 0.25, 0.5])
FINE = st.floats(0, 1, allow_nan=False)
FLOORS = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0, 1.5]) | st.floats(0, 1)


@st.composite
def scenarios(draw: st.DrawFn) -> tuple[Table, Table, Pair]:
    worths = draw(st.sampled_from([COARSE, FINE]))
    sizes = draw(st.lists(st.integers(2, 4), min_size=1, max_size=3))
    mine, theirs = (
        {f"issue {k}": [(f"value {n}", draw(worths)) for n in range(size)] for k, size in enumerate(sizes)}
        for _ in "ab"
    )
    return mine, theirs, (draw(FLOORS), draw(FLOORS))


def every_point(mine: Table, theirs: Table) -> list[Pair]:
    found: list[Pair] = []
    for picks in product(*(range(len(rows)) for rows in mine.values())):
        pair = [0.0, 0.0]
        for side, table in enumerate((mine, theirs)):
            for rows, pick in zip(table.values(), picks, strict=True):
                pair[side] += rows[pick][1]
        found.append((pair[0], pair[1]))
    return found


def beats(a: Pair, b: Pair) -> bool:
    return a[0] >= b[0] and a[1] >= b[1] and a != b


def brute_force(points: Sequence[Pair], floor: Pair) -> dict[str, set[Pair]]:
    rational = [p for p in points if p[0] >= floor[0] and p[1] >= floor[1]]
    edge = [p for p in rational if not any(beats(q, p) for q in rational)]
    if not edge:
        return {name: set() for name in ("pareto", "nash", "kalai", "ks", "welfare")}
    ideal = (max(p[0] for p in rational), max(p[1] for p in rational))

    def share(p: Pair, side: int) -> float:
        room = ideal[side] - floor[side]
        return (p[side] - floor[side]) / room if room > 0 else 0.0

    def best(score: Callable[[Pair], float]) -> set[Pair]:
        top = max(map(score, edge))
        return {p for p in edge if score(p) >= top - 1e-12}

    return {
        "pareto": set(edge),
        "nash": best(lambda p: (p[0] - floor[0]) * (p[1] - floor[1])),
        "kalai": best(lambda p: min(p[0] - floor[0], p[1] - floor[1])),
        "ks": best(lambda p: -abs(share(p, 0) - share(p, 1))),
        "welfare": best(lambda p: p[0] + p[1]),
    }


def at(edge: ParetoFrontier, places: Indices) -> set[Pair]:
    return {(float(edge.mine[k]), float(edge.theirs[k])) for k in places}


def alike(left: set[Pair], right: set[Pair]) -> bool:
    """Each point of either has one of the other within 1e-9."""

    def near(p: Pair, others: set[Pair]) -> bool:
        return any(abs(p[0] - q[0]) <= 1e-9 and abs(p[1] - q[1]) <= 1e-9 for q in others)

    return all(near(p, right) for p in left) and all(near(q, left) for q in right)


@given(scenarios())
def test_every_solution_set_is_what_looking_at_each_package_finds(scenario: tuple[Table, Table, Pair]) -> None:
    mine, theirs, floor = scenario
    expected = brute_force(every_point(mine, theirs), floor)
    space = outcome_space(part_worths(mine), part_worths(theirs))
    edge = pareto_frontier(space, floor[0]).above(*floor)
    assert alike(at(edge, np.arange(len(edge.mine))), expected["pareto"])
    assert alike(at(edge, nash_set(edge, floor)), expected["nash"])
    assert alike(at(edge, kalai_set(edge, floor)), expected["kalai"])
    assert alike(at(edge, kalai_smorodinsky_set(edge, floor)), expected["ks"])
    assert alike(at(edge, welfare_set(edge)), expected["welfare"])


@given(scenarios())
def test_the_answered_point_is_a_package_of_that_worth_or_null_with_a_reason(
    scenario: tuple[Table, Table, Pair],
) -> None:
    mine, theirs, floor = scenario
    points = every_point(mine, theirs)
    expected = brute_force(points, floor)
    space = outcome_space(part_worths(mine), part_worths(theirs))
    answer = solution_points(space, pareto_frontier(space, floor[0]).above(*floor), floor)
    if not expected["pareto"]:
        assert (answer.nash, answer.kalai, answer.kalai_smorodinsky) == (None, None, None)
        assert answer.max_welfare is None
        assert (answer.reason, answer.pareto.size) == (NO_DEAL, 0)
        return
    assert answer.reason is None
    assert answer.pareto.size == sum(p in expected["pareto"] for p in points)
    for name, point in (
        ("nash", answer.nash),
        ("kalai", answer.kalai),
        ("ks", answer.kalai_smorodinsky),
        ("welfare", answer.max_welfare),
    ):
        assert point is not None
        assert alike({(point.utility_me, point.utility_them)}, {worth_of(point.package, scenario)})
        assert any(alike({(point.utility_me, point.utility_them)}, {p}) for p in expected[name])


def worth_of(package: Mapping[str, object], scenario: tuple[Table, Table, Pair]) -> Pair:
    mine, theirs = (sum(dict(rows)[str(package[name])] for name, rows in table.items()) for table in scenario[:2])
    return mine, theirs


@given(scenarios(), st.floats(0.1, 10), st.floats(-5, 5))
def test_nash_does_not_care_about_the_scale_or_zero_of_my_utility(
    scenario: tuple[Table, Table, Pair], scale: float, shift: float
) -> None:
    mine, theirs, floor = scenario
    points = brute_force(every_point(mine, theirs), floor)
    if len(points["nash"]) != 1 or min(abs(u - floor[0]) for u, _ in every_point(mine, theirs)) < 1e-6:
        return
    moved = {name: [(v, u * scale) for v, u in rows] for name, rows in mine.items()}
    space = outcome_space(part_worths(moved, shift), part_worths(theirs))
    floors = (floor[0] * scale + shift, floor[1])
    edge = pareto_frontier(space, floors[0]).above(*floors)
    runners = sorted(((a - floor[0]) * (b - floor[1]) for a, b in points["pareto"]), reverse=True)
    if len(runners) > 1 and runners[0] - runners[1] < 1e-9:
        return
    before = {((u - floor[0]) * scale, v) for u, v in points["nash"]}
    after = {(u - floors[0], v) for u, v in at(edge, nash_set(edge, floors))}
    assert alike(before, after)


def test_two_losses_do_not_multiply_to_a_gain() -> None:
    mine = part_worths({"deal": [("a", 0.2), ("b", 0.3), ("c", 0.9)]})
    theirs = part_worths({"deal": [("a", 0.9), ("b", 0.3), ("c", 0.2)]})
    space = outcome_space(mine, theirs)
    answer = solution_points(space, pareto_frontier(space, 0.95).above(0.95, 0.95), (0.95, 0.95))
    assert answer.nash is None
    assert answer.reason == NO_DEAL


def test_a_single_agreement_at_both_walk_aways_is_a_deal() -> None:
    space = outcome_space(part_worths({"x": [("a", 0.5)]}), part_worths({"x": [("a", 0.5)]}))
    answer = solution_points(space, pareto_frontier(space, 0.5).above(0.5, 0.5), (0.5, 0.5))
    assert answer.nash is not None
    assert answer.nash.package == {"x": "a"}


def test_equal_packages_are_counted_and_the_same_one_is_always_shown() -> None:
    even: Preferences = part_worths({"x": [("a", 0.5), ("b", 0.5), ("c", 0.1)]})
    space = outcome_space(even, even)
    answer = solution_points(space, pareto_frontier(space), (0.0, 0.0))
    assert answer.pareto.size == 2
    assert answer.nash is not None
    assert (answer.nash.package, answer.nash.ties) == ({"x": "a"}, 1)


def test_kalai_smorodinsky_measures_the_ideal_over_the_rational_set() -> None:
    rows = [(0.5, 0.8), (0.6, 0.65), (0.7, 0.5), (1.0, 0.1)]
    mine = part_worths({"x": [(str(n), u) for n, (u, _) in enumerate(rows)]})
    theirs = part_worths({"x": [(str(n), u) for n, (_, u) in enumerate(rows)]})
    floors = (0.5, 0.4)
    edge = pareto_frontier(outcome_space(mine, theirs), floors[0]).above(*floors)
    assert at(edge, kalai_smorodinsky_set(edge, floors)) == {(0.6, 0.65)}
    assert at(edge, kalai_smorodinsky_set(edge, floors, ideal=(1.0, 0.8))) == {(0.7, 0.5)}
