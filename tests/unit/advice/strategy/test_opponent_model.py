"""What is believed of the other side: opposed and cooperative talks, ordered issues, hints."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from negotiator.advice.strategy.opponent_model import OpponentModel, acceptance, learn_opponent_model
from negotiator.advice.strategy.situation import (
    PreferenceHints,
    Scalar,
    StrategyIssue,
    StrategyOffer,
    StrategyPreferences,
    StrategyProgress,
    StrategySituation,
    numeric_scale,
)

Tables = list[list[float]]


def talk(mine: Tables, offered: list[tuple[int, ...]], *, n_steps: int = 10) -> StrategySituation:
    """A talk in which they made these offers (value positions), one a round."""
    issues = tuple(StrategyIssue(f"i{k}", tuple(f"v{j}" for j in range(len(table)))) for k, table in enumerate(mine))
    worths: dict[str, list[tuple[Scalar, float]]] = {
        issue.name: list(zip(issue.values, table, strict=True)) for issue, table in zip(issues, mine, strict=True)
    }
    history = tuple(
        StrategyOffer(
            step,
            "them",
            {issue.name: issue.values[j] for issue, j in zip(issues, spots, strict=True)},
            sum(table[j] for table, j in zip(mine, spots, strict=True)),
        )
        for step, spots in enumerate(offered)
    )
    return StrategySituation(
        issues, StrategyPreferences(0.0, 0.0, worths), StrategyProgress(len(offered), n_steps), history
    )


def drawn_talk(seed: int, *, shared: bool) -> tuple[StrategySituation, Tables]:
    """Eight offers of a side that wants the same as I do, or the opposite, on every issue, and its part-worths."""
    rng = np.random.default_rng(seed)
    sizes = [int(size) for size in rng.integers(3, 6, size=4)]

    def side(rising: bool) -> Tables:
        weights = [float(weight) + 0.05 for weight in rng.gamma(2.0, 1.0, len(sizes))]
        return [
            [w / sum(weights) * (j if rising else n - 1 - j) / (n - 1) for j in range(n)]
            for w, n in zip(weights, sizes, strict=True)
        ]

    mine, theirs = side(True), side(shared)
    packages = list(itertools.product(*map(range, sizes)))

    def worth(spots: tuple[int, ...]) -> float:
        return sum(table[j] for table, j in zip(theirs, spots, strict=True))

    targets = [1.0 - 0.3 * (step / 7) ** 2 for step in range(8)]
    offered = [min(packages, key=lambda p: abs(worth(p) - target)) for target in targets]
    return talk(mine, offered), theirs


def rank_correlation(belief: OpponentModel, truth: Tables) -> float:
    packages = list(itertools.product(*(range(len(table)) for table in truth)))
    estimated, true = (
        np.array([sum(float(t[j]) for t, j in zip(tables, p, strict=True)) for p in packages])
        for tables in (belief.mean, truth)
    )
    ranks = [np.argsort(np.argsort(worths)) for worths in (estimated, true)]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


@pytest.mark.parametrize("shared", [False, True], ids=["opposed", "cooperative"])
def test_their_ranking_of_packages_is_learned_whether_or_not_the_sides_are_opposed(shared: bool) -> None:
    found = [
        rank_correlation(learn_opponent_model(situation), truth)
        for situation, truth in (drawn_talk(seed, shared=shared) for seed in range(10))
    ]
    assert sum(found) / len(found) > 0.75


def ordered_talk(offers: list[int], hints: PreferenceHints | None = None) -> StrategySituation:
    """A talk about a price that I want low and a delivery time that I want short."""
    issues = (
        StrategyIssue("price", tuple(range(10)), numeric_scale(range(10))),
        StrategyIssue("days", tuple(range(5)), numeric_scale(range(5))),
    )
    worths: dict[str, list[tuple[Scalar, float]]] = {
        "price": [(value, 0.7 * (9 - value) / 9) for value in range(10)],
        "days": [(value, 0.3 * (4 - value) / 4) for value in range(5)],
    }
    blank = StrategySituation(issues, StrategyPreferences(0.2, 0.0, worths), StrategyProgress(len(offers), 10))
    history = tuple(
        StrategyOffer(step, "them", {"price": price, "days": 4}, (9 - price) / 9) for step, price in enumerate(offers)
    )
    return replace(blank, history=history, hints=hints)


def least_at_the_end(situation: StrategySituation) -> float:
    return float(learn_opponent_model(situation).least(np.array([1.0])).mean())


def test_an_ordered_issue_rises_along_its_scale_or_has_one_peak() -> None:
    belief = learn_opponent_model(ordered_talk([9, 9, 8, 8]))
    assert bool(np.all(np.diff(belief.mean[0]) > 0))


def test_numbers_without_an_order_of_mine_are_codes() -> None:
    situation = ordered_talk([9, 9, 8, 8])
    zigzag: list[tuple[Scalar, float]] = [(value, 0.7 * (value * 7 % 10) / 9) for value in range(10)]
    mine = replace(situation.my_preferences, part_worths={**situation.my_preferences.part_worths, "price": zigzag})
    price = learn_opponent_model(replace(situation, my_preferences=mine)).mean[0]
    assert bool(np.any(np.diff(price) < 0))


def test_nothing_is_known_before_they_are_heard() -> None:
    belief = learn_opponent_model(ordered_talk([]))
    assert all(float(np.ptp(table)) == 0.0 for table in belief.mean)


def test_a_chance_of_opposition_is_a_direction_before_they_are_heard() -> None:
    situation = ordered_talk([])
    price = replace(situation.issues[0], opposed=0.99)
    belief = learn_opponent_model(replace(situation, issues=(price, situation.issues[1])))
    assert int(np.argmax(belief.mean[0])) == 9


def test_hinted_part_worths_are_believed_until_their_offers_say_otherwise() -> None:
    hints = PreferenceHints(
        part_worths={"price": [(v, float(v)) for v in range(10)], "days": [(0, 3.0), (4, 0.0)]}, confidence=0.9
    )
    price, days = learn_opponent_model(ordered_talk([], hints)).mean
    assert float(np.ptp(price)) > float(np.ptp(days))
    assert price[9] > price[0]
    assert days[0] > days[4]
    _, days = learn_opponent_model(ordered_talk([9, 9, 8, 8, 7], hints)).mean
    assert days[4] > days[0]


@pytest.mark.parametrize("dear", ["price", "days"])
def test_hinted_weights_are_believed(dear: str) -> None:
    weights = {"price": 1.0, "days": 1.0, dear: 4.0}
    hints = PreferenceHints(weights=weights, confidence=0.9)
    price, days = learn_opponent_model(ordered_talk([9, 8], hints)).mean
    assert (float(np.ptp(price)) > float(np.ptp(days))) == (dear == "price")


def test_a_hinted_reservation_and_a_hinted_last_offer_move_the_least_they_accept() -> None:
    offers = [9, 9, 8]
    low, high = (least_at_the_end(ordered_talk(offers, PreferenceHints(reservation_utility=r))) for r in (0.1, 0.8))
    assert low < high - 0.1
    soft, hard = (
        least_at_the_end(ordered_talk(offers, PreferenceHints(last_offer={"price": p, "days": 4}))) for p in (3, 7)
    )
    assert soft < hard - 0.1


def test_a_final_offer_is_read_as_a_harder_end() -> None:
    situation = ordered_talk([9, 8, 7])
    *past, last = situation.history
    final = replace(situation, history=(*past, replace(last, final=True)))
    assert least_at_the_end(final) > least_at_the_end(situation)


def test_acceptance_rises_with_what_they_get() -> None:
    excess: NDArray[np.float64] = np.linspace(-1.0, 1.0, 21)
    found = acceptance(excess)
    assert bool(np.all(np.diff(found) > 0))
    assert found[0] < 0.001
    assert found[-1] > 0.999
