"""The next move: the floor, the last round, determinism, and spaces of every size."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.advice.strategy.next_move import NextMove, next_move
from negotiator.advice.strategy.opponent_model import learn_opponent_model
from negotiator.advice.strategy.situation import (
    Scalar,
    Side,
    StandingOffer,
    StrategyIssue,
    StrategyOffer,
    StrategyPreferences,
    StrategyProgress,
    StrategySituation,
    Style,
)

PRICE = StrategyIssue("price", (100, 110, 120, 130))
TERM = StrategyIssue("term", ("12 months", "24 months"))
WORTHS: dict[str, list[tuple[Scalar, float]]] = {
    "price": [(100, 0.7), (110, 0.5), (120, 0.2), (130, 0.0)],
    "term": [("12 months", 0.0), ("24 months", 0.3)],
}


def talk(
    *,
    floor: float = 0.3,
    step: int = 0,
    n_steps: int | None = 10,
    history: tuple[StrategyOffer, ...] = (),
    on_table: StandingOffer | None = None,
    style: Style = "balanced",
) -> StrategySituation:
    return StrategySituation(
        issues=(PRICE, TERM),
        my_preferences=StrategyPreferences(floor, 0.0, WORTHS),
        progress=StrategyProgress(step, n_steps, None if n_steps is None else (step + 1) / (n_steps + 1)),
        history=history,
        on_table=on_table,
        style=style,
    )


def theirs(step: int, price: Scalar, term: Scalar, worth: float) -> StrategyOffer:
    return StrategyOffer(step, "them", {"price": price, "term": term}, worth)


@st.composite
def situations(draw: st.DrawFn) -> StrategySituation:
    unit = st.floats(0, 1, allow_nan=False)
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    issues = tuple(StrategyIssue(f"i{k}", tuple(range(size))) for k, size in enumerate(sizes))
    worths: dict[str, list[tuple[Scalar, float]]] = {
        issue.name: [(value, draw(unit)) for value in issue.values] for issue in issues
    }
    mine = StrategyPreferences(draw(st.floats(-0.5, 2.5)), draw(st.floats(-0.2, 0.2)), worths)
    n_steps = draw(st.none() | st.integers(1, 12))
    step = draw(st.integers(0, (n_steps or 12) - 1))
    first: Side = draw(st.sampled_from(("me", "them")))
    blank = StrategySituation(issues, mine, StrategyProgress(step))
    history: list[StrategyOffer] = []
    sides: tuple[Side, Side] = (first, "me" if first == "them" else "them")
    for turn in range(step + (first == "them")):
        for by in sides[: 1 if turn == step else 2]:
            offer = {issue.name: draw(st.sampled_from(issue.values)) for issue in issues}
            worth = blank.my_utility(offer)
            assert worth is not None
            history.append(StrategyOffer(turn, by, offer, worth))
    last = history[-1] if history else None
    table = StandingOffer(last.offer, last.my_utility) if last and last.by == "them" else None
    style: Style = draw(st.sampled_from(("balanced", "firm", "cooperative")))
    return StrategySituation(issues, mine, StrategyProgress(step, n_steps), tuple(history), table, style)


def worth_of(situation: StrategySituation, move: NextMove) -> float:
    assert move.offer is not None
    worth = situation.my_utility(move.offer)
    assert worth is not None
    return worth


@settings(deadline=None, max_examples=150)
@given(situations())
def test_the_floor_is_never_crossed(situation: StrategySituation) -> None:
    move = next_move(situation)
    floor = situation.my_preferences.reservation_utility
    if move.action == "walk_away":
        assert move.offer is None
    else:
        assert worth_of(situation, move) >= floor - 1e-9
        assert move.my_utility is not None
        assert move.my_utility >= floor
    for package in move.alternatives:
        worth = situation.my_utility(package)
        assert worth is not None
        assert worth >= floor - 1e-9


@settings(deadline=None, max_examples=50)
@given(situations())
def test_the_same_question_gets_the_same_answer(situation: StrategySituation) -> None:
    again = StrategySituation(
        situation.issues,
        situation.my_preferences,
        situation.progress,
        situation.history,
        situation.on_table,
        situation.style,
    )
    assert next_move(situation) == next_move(again)


@settings(deadline=None, max_examples=50)
@given(situations())
def test_an_acceptance_names_the_offer_on_the_table(situation: StrategySituation) -> None:
    move = next_move(situation)
    if move.action == "accept":
        assert situation.on_table is not None
        assert move.offer == situation.on_table.offer


@settings(deadline=None, max_examples=50)
@given(situations())
def test_chances_are_chances_and_scores_cover_every_value(situation: StrategySituation) -> None:
    move = next_move(situation)
    assert 0.0 <= move.acceptance_probability <= 1.0
    for issue in situation.issues:
        pairs = move.opponent_utility[issue.name]
        assert tuple(value for value, _ in pairs) == issue.values
        assert all(math.isfinite(score) for _, score in pairs)


def test_the_first_mover_opens_high() -> None:
    move = next_move(talk(n_steps=100))
    assert move.action == "counter"
    assert move.my_utility is not None
    assert move.my_utility >= 0.8


def test_nothing_above_the_floor_means_walking_away() -> None:
    for step in range(10):
        move = next_move(talk(floor=1.2, step=step))
        assert move.action == "walk_away"
        assert move.offer is None


def test_a_last_word_above_the_floor_is_taken() -> None:
    past = tuple(theirs(k, 120, "24 months", 0.5) for k in range(10))
    move = next_move(talk(step=9, history=past, on_table=StandingOffer(past[-1].offer, 0.5)))
    assert move.action == "accept"


def test_a_last_word_to_an_offer_below_the_floor_is_an_offer_once_more() -> None:
    past = tuple(theirs(k, 130, "12 months", 0.0) for k in range(10))
    move = next_move(talk(step=9, history=past, on_table=StandingOffer(past[-1].offer, 0.0)))
    assert move.action == "counter"
    assert worth_of(talk(), move) >= 0.3


def test_a_very_good_offer_is_taken_at_once() -> None:
    past = (theirs(0, 100, "24 months", 1.0),)
    assert next_move(talk(history=past, on_table=StandingOffer(past[0].offer, 1.0))).action == "accept"


def test_without_an_end_the_talk_goes_on() -> None:
    past = tuple(theirs(k, 130, "12 months", 0.0) for k in range(30))
    move = next_move(talk(step=29, n_steps=None, history=past, on_table=StandingOffer(past[-1].offer, 0.0)))
    assert move.action == "counter"


def test_an_offer_with_unknown_values_is_read_without_falling_over() -> None:
    odd = StrategyOffer(0, "them", {"price": 99, "colour": "red"}, 0.4)
    move = next_move(talk(history=(odd,), on_table=StandingOffer(odd.offer, 0.4)))
    assert move.action in {"accept", "counter"}


def test_what_they_insist_on_is_believed_to_be_dear_to_them() -> None:
    history = tuple(theirs(step, 100, "12 months", 0.7) for step in range(6))
    belief = learn_opponent_model(talk(step=6, history=history))
    price, _ = belief.mean
    assert int(np.argmax(price)) == 0
    top = [float(sum(table[k].max() for table in belief.tables)) for k in range(len(belief.ends))]
    assert top == pytest.approx([1.0] * len(top))


def test_steadfast_offers_are_read_as_a_harder_end_than_falling_ones() -> None:
    steady = tuple(theirs(step, 130, "12 months", 0.0) for step in range(9))
    prices = (130, 130, 130, 120, 120, 110, 110, 100, 100)
    worth = {130: 0.0, 120: 0.2, 110: 0.5, 100: 0.7}
    falling = tuple(theirs(k, p, "12 months", worth[p]) for k, p in enumerate(prices))
    last = np.array([10 / 11])
    hard, soft = (
        float(learn_opponent_model(talk(step=9, history=history)).least(last).mean()) for history in (steady, falling)
    )
    assert hard > soft


def test_true_and_one_are_different_values() -> None:
    worths: dict[str, list[tuple[Scalar, float]]] = {"x": [(1, 0.1), (True, 1.0), (False, 0.0)]}
    move = next_move(
        StrategySituation(
            (StrategyIssue("x", (1, True, False)),),
            StrategyPreferences(0.5, 0.0, worths),
            StrategyProgress(0, 5, 1 / 6),
        )
    )
    assert move.offer is not None
    assert move.offer["x"] is True


def test_constant_issues_and_ties_are_no_trouble() -> None:
    worths: dict[str, list[tuple[Scalar, float]]] = {"a": [("only", 0.0)], "b": [(1.5, 0.5), (2.5, 0.5)]}
    issues = (StrategyIssue("a", ("only",)), StrategyIssue("b", (1.5, 2.5)))
    move = next_move(StrategySituation(issues, StrategyPreferences(0.5, 0.0, worths), StrategyProgress(3, 5)))
    assert move.action == "counter"
    assert move.my_utility == 0.5


@pytest.mark.parametrize("style", ["balanced", "firm", "cooperative"])
def test_the_line_for_the_other_side_tells_nothing_private(style: Style) -> None:
    past = (theirs(0, 120, "12 months", 0.2),)
    situation = talk(floor=0.3137, history=past, on_table=StandingOffer(past[0].offer, 0.2), style=style)
    move = next_move(situation)
    assert move.say
    for word in ("0.3137", "floor", "utility", "weight", "walk", "0.2", "0.7"):
        assert word not in move.say


def test_a_thousand_unordered_values_are_handled() -> None:
    values = tuple(f"plan-{(k * 389) % 1000}" for k in range(1000))
    worths: dict[str, list[tuple[Scalar, float]]] = {
        "plan": [(v, (k * 7919 % 1000) / 999) for k, v in enumerate(values)]
    }
    past = tuple(StrategyOffer(k, "them", {"plan": values[k]}, worths["plan"][k][1]) for k in range(40))
    move = next_move(
        StrategySituation(
            (StrategyIssue("plan", values),), StrategyPreferences(0.4, 0.0, worths), StrategyProgress(40, 100), past
        )
    )
    assert move.action == "counter"
    assert move.my_utility is not None
    assert move.my_utility >= 0.4


def test_a_space_too_large_to_list_is_searched_by_sample_and_says_so() -> None:
    issues = tuple(StrategyIssue(f"i{k}", tuple(range(10))) for k in range(12))
    worths: dict[str, list[tuple[Scalar, float]]] = {
        issue.name: [(v, v / 9 / 12) for v in range(10)] for issue in issues
    }
    situation = StrategySituation(issues, StrategyPreferences(0.6, 0.0, worths), StrategyProgress(3, 20))
    move = next_move(situation)
    assert move.action == "counter"
    assert move.approximate
    assert worth_of(situation, move) >= 0.6
    assert move == next_move(situation)


def test_ten_thousand_packages_are_weighed() -> None:
    issues = tuple(StrategyIssue(f"i{k}", tuple(range(10))) for k in range(4))
    worths: dict[str, list[tuple[Scalar, float]]] = {
        issue.name: [(v, v / 9 / 4) for v in range(10)] for issue in issues
    }
    situation = StrategySituation(issues, StrategyPreferences(0.3, 0.0, worths), StrategyProgress(3, 20))
    assert worth_of(situation, next_move(situation)) >= 0.3
