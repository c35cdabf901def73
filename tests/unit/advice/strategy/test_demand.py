"""Their demand, and what follows from it near the end: their own offers again, and the last word."""

from __future__ import annotations

import numpy as np

from negotiator.advice.strategy.demand import expected_last_offer, least_accepted, read_demand, recalled_offer
from negotiator.advice.strategy.next_move import next_move
from negotiator.advice.strategy.opponent_model import learn_opponent_model
from negotiator.advice.strategy.situation import (
    Scalar,
    StandingOffer,
    StrategyIssue,
    StrategyOffer,
    StrategyPreferences,
    StrategyProgress,
    StrategySituation,
)

PRICES = tuple(range(100, 161, 5))
PRICE = StrategyIssue("price", PRICES)
TERM = StrategyIssue("term", ("12 months", "24 months", "36 months"))
TERM_WORTH = {"12 months": 0.0, "24 months": 0.2, "36 months": 0.3}
PRICE_WORTH = {price: 0.7 * (160 - price) / 60 for price in PRICES}
WORTHS: dict[str, list[tuple[Scalar, float]]] = {"price": list(PRICE_WORTH.items()), "term": list(TERM_WORTH.items())}


def worth(price: int, term: str = "12 months") -> float:
    return PRICE_WORTH[price] + TERM_WORTH[term]


def talk(
    prices: list[int], *, n_steps: int = 10, mine: list[int] | None = None, floor: float = 0.05
) -> StrategySituation:
    """They open and name `prices` in turn; I answer with `mine` for 36 months (100 throughout, if not given)."""
    answers = mine if mine is not None else [100] * (len(prices) - 1)
    history: list[StrategyOffer] = []
    for step, price in enumerate(prices):
        history.append(_offer("them", step, price, "12 months"))
        if step < len(answers):
            history.append(_offer("me", step, answers[step], "36 months"))
    last = history[-1]
    return StrategySituation(
        issues=(PRICE, TERM),
        my_preferences=StrategyPreferences(floor, 0.0, WORTHS),
        progress=StrategyProgress(len(prices) - 1, n_steps),
        history=tuple(history),
        on_table=StandingOffer(last.offer, last.my_utility) if last.by == "them" else None,
    )


def _offer(by: str, step: int, price: int, term: str) -> StrategyOffer:
    side = "me" if by == "me" else "them"
    return StrategyOffer(step, side, {"price": price, "term": term}, worth(price, term))


def test_nobody_is_expected_to_refuse_what_they_offered_lately() -> None:
    situation = talk([160, 155, 150, 145, 140])
    belief = learn_opponent_model(situation)
    demand = read_demand(situation, belief)
    assert demand is not None
    least = least_accepted(situation, belief, np.array([0.6, 0.9]))
    assert np.all(least <= demand.now[:, None])


def test_those_who_do_not_move_are_not_expected_to_fall_far_in_the_next_round() -> None:
    still = talk([150] * 5)
    belief = learn_opponent_model(still)
    demand = read_demand(still, belief)
    assert demand is not None
    least = least_accepted(still, belief, np.array([6 / 11]))
    assert np.all(least >= demand.now[:, None] - 0.1)


def test_the_last_offer_that_they_will_answer_can_be_their_own_best_one() -> None:
    move = next_move(talk([155, 150, 155, 135, 155, 150, 130, 150, 155]))
    assert move.action == "counter"
    assert move.offer == {"price": 130, "term": "12 months"}
    assert move.acceptance_probability > 0.5


def test_the_equivalents_of_an_own_offer_of_theirs_are_others() -> None:
    move = next_move(talk([155, 150, 155, 135, 155, 150, 130, 150, 155]))
    assert move.offer not in move.alternatives


def test_a_refused_offer_of_theirs_is_no_longer_counted_as_safe() -> None:
    prices, answers = [155, 150, 140, 155, 150, 155], [100, 100, 100, 100, 100]
    open_case = talk(prices, mine=answers)
    belief = learn_opponent_model(open_case)
    safe = recalled_offer(open_case, belief)
    refused = StrategySituation(
        open_case.issues,
        open_case.my_preferences,
        open_case.progress,
        (*open_case.history[:-2], _offer("me", 4, 140, "12 months"), open_case.history[-1]),
        open_case.on_table,
    )
    again = recalled_offer(refused, belief)
    assert safe is not None
    assert again is not None
    assert again.chance < safe.chance / 2


def test_an_offer_that_they_have_moved_away_from_is_less_safe_than_a_recent_one() -> None:
    gone = talk([120, 155, 155, 155, 155, 155, 155, 155])
    recent = talk([155, 155, 155, 155, 155, 155, 120, 155])
    lost = recalled_offer(gone, learn_opponent_model(gone))
    there = recalled_offer(recent, learn_opponent_model(recent))
    assert there is not None
    assert there.my_utility == worth(120)
    assert lost is None or lost.chance < there.chance or lost.my_utility < there.my_utility


def test_an_offer_below_the_reservation_utility_is_not_recalled() -> None:
    situation = talk([155, 150, 145], floor=0.5)
    assert recalled_offer(situation, learn_opponent_model(situation)) is None


def test_the_last_offer_of_those_who_go_to_and_fro_is_expected_to_be_an_average_one() -> None:
    expected = expected_last_offer(talk([155, 120, 155, 150, 155]))
    assert expected is not None
    assert expected < worth(120) - 0.05


def test_those_whose_offers_rise_are_expected_to_go_on() -> None:
    expected = expected_last_offer(talk([155, 150, 140, 125]))
    assert expected is not None
    assert expected > worth(125) - 0.05


def test_before_their_first_offer_no_last_offer_is_expected() -> None:
    situation = StrategySituation((PRICE, TERM), StrategyPreferences(0.05, 0.0, WORTHS), StrategyProgress(0, 10))
    assert expected_last_offer(situation) is None


def test_the_last_word_to_somebody_who_never_moved_asks_for_more_than_their_only_offer() -> None:
    move = next_move(talk([155] * 99, n_steps=100))
    assert move.action == "counter"
    assert move.my_utility is not None
    assert move.my_utility > worth(155) + 0.2
