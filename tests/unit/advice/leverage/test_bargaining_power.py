"""The properties of split power (docs/contract 6.6)."""

import itertools
import math
from dataclasses import asdict, replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.advice.leverage.power import FACTOR_NAMES, FACTORS, alternative_strength, split_power
from negotiator.terms.terms import NO_FACTS, SideFacts
from negotiator.terms.utility import Worth, part_worths

SHARE = st.none() | st.floats(0, 1)
SIDES = st.builds(
    SideFacts,
    alternative=SHARE,
    days_left=st.none() | st.floats(0, 400),
    delay_cost_per_day=st.none() | st.floats(0, 1),
    rivals=st.none() | st.integers(0, 30),
    dependency=SHARE,
    information=SHARE,
    market=SHARE,
    authority=SHARE,
    commitment=SHARE,
    relationship=SHARE,
)
BEST = SideFacts(1.0, None, 0.0, 99, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0)
"""Nothing is lost by waiting: a deadline, however far, would be a loss beside a side that loses less."""
BETTER_MORE = ("alternative", "days_left", "rivals", "information", "market", "authority")
BETTER_LESS = ("delay_cost_per_day", "dependency", "commitment", "relationship")


def changed(facts: SideFacts, name: str, value: float | None) -> SideFacts:
    fields: dict[str, Any] = {name: value}
    return replace(facts, **fields)


@given(SIDES, SIDES)
def test_power_and_its_interval_are_bounded_away_from_certainty(me: SideFacts, them: SideFacts) -> None:
    found = split_power(me, them)
    assert 0.04 < found.alpha < 0.96
    assert 0.0 < found.low < found.alpha < found.high < 1.0
    assert all(-1.0 <= factor.value <= 1.0 for factor in found.factors)


def test_no_single_factor_says_more_than_two_to_one() -> None:
    for name in FACTOR_NAMES:
        assert split_power(NO_FACTS, NO_FACTS, {name: 1.0}).alpha <= 0.67


@given(SIDES)
def test_sides_that_match_split_evenly(facts: SideFacts) -> None:
    assert split_power(facts, facts).alpha == 0.5


@given(SIDES, SIDES)
def test_my_power_and_theirs_add_up_to_one_when_roles_swap(me: SideFacts, them: SideFacts) -> None:
    mine, theirs = split_power(me, them), split_power(them, me)
    assert mine.alpha + theirs.alpha == pytest.approx(1.0, abs=1e-15)
    assert mine.low == pytest.approx(1.0 - theirs.high, abs=1e-15)
    for here, there in zip(mine.factors, theirs.factors, strict=True):
        assert here.contribution == -there.contribution


@given(SIDES, SIDES, st.randoms(use_true_random=False))
def test_contributions_add_up_to_the_log_odds_of_alpha_in_any_order(
    me: SideFacts, them: SideFacts, shuffle: Random
) -> None:
    found = split_power(me, them)
    parts = [factor.contribution for factor in found.factors]
    total = math.fsum(parts)
    shuffle.shuffle(parts)
    assert list(itertools.accumulate(parts))[-1] == total
    by_hand = 1.0 / (1.0 + math.exp(-total)) if total >= 0 else math.exp(total) / (1 + math.exp(total))
    assert found.alpha == by_hand
    assert math.log(found.alpha / (1.0 - found.alpha)) == pytest.approx(total, abs=1e-14)


@given(SIDES, SIDES, st.sampled_from(BETTER_MORE + BETTER_LESS), st.data())
def test_a_better_fact_of_mine_never_lowers_my_power_and_one_of_theirs_never_raises_it(
    me: SideFacts, them: SideFacts, name: str, data: st.DataObject
) -> None:
    numbers = {"rivals": st.integers(0, 20), "days_left": st.floats(0, 400)}
    pair = data.draw(st.tuples(*[numbers.get(name, st.floats(0, 1))] * 2))
    worse, better = sorted(pair, reverse=name in BETTER_LESS)
    # A rate needs both its parts fixed before one of them is moved.
    me, them = (replace(side, days_left=side.days_left or 9.0) for side in (me, them))

    def with_mine(value: float) -> float:
        return split_power(changed(me, name, value), them).alpha

    def with_theirs(value: float) -> float:
        return split_power(me, changed(them, name, value)).alpha

    assert with_mine(better) >= with_mine(worse)
    assert with_theirs(better) <= with_theirs(worse)


@given(SIDES, SIDES, st.sampled_from(FACTOR_NAMES), st.floats(-1, 1), st.floats(-1, 1))
def test_power_rises_with_each_judged_factor(me: SideFacts, them: SideFacts, name: str, a: float, b: float) -> None:
    low, high = sorted((a, b))
    assert split_power(me, them, {name: low}).alpha <= split_power(me, them, {name: high}).alpha
    if high - low > 1e-4:
        assert split_power(me, them, {name: low}).alpha < split_power(me, them, {name: high}).alpha


@given(SIDES, SIDES, st.sampled_from([f for f in asdict(NO_FACTS) if "da" not in f]))
def test_an_unknown_fact_widens_the_interval_and_is_named(me: SideFacts, them: SideFacts, name: str) -> None:
    known = changed(me, name, 1 if name == "rivals" else 0.5)
    silent = changed(me, name, None)

    def width(side: SideFacts) -> float:
        found = split_power(side, them)
        odds = [math.log(end / (1.0 - end)) for end in (found.low, found.high)]
        return odds[1] - odds[0]

    assert width(silent) > width(known)
    assert len(split_power(silent, them).missing) == len(split_power(known, them).missing) + 1


def test_unknown_is_not_the_same_as_even() -> None:
    unknown = split_power(NO_FACTS, NO_FACTS)
    even = split_power(NO_FACTS, NO_FACTS, dict.fromkeys(FACTOR_NAMES, 0.0))
    assert unknown.alpha == even.alpha == 0.5
    assert unknown.high - unknown.low > 1.5 * (even.high - even.low)
    assert len(unknown.missing) == 2 * len(FACTORS)
    assert even.missing == ()


@given(SIDES, SIDES)
def test_what_would_move_power_most_is_a_factor_with_room_left(me: SideFacts, them: SideFacts) -> None:
    found = split_power(me, them)
    assert found.most_movable.name in FACTOR_NAMES
    assert 0.0 <= found.most_movable.alpha_gain < 1.0 - found.alpha
    assert found.alpha + found.most_movable.alpha_gain <= split_power(BEST, them).alpha + 1e-5


def test_nothing_moves_the_power_of_a_side_that_has_everything() -> None:
    assert split_power(BEST, NO_FACTS).most_movable.alpha_gain == 0.0


def test_one_action_moves_power_by_what_it_changes_in_the_facts() -> None:
    me = SideFacts(alternative=1.0, days_left=10.0, rivals=8, information=1.0)
    them = SideFacts(days_left=10.0)
    found = split_power(me, them)
    assert found.most_movable.name == "time"
    waited = split_power(replace(me, days_left=20.0), them)
    assert found.most_movable.alpha_gain == pytest.approx(waited.alpha - found.alpha)


@given(SIDES, SIDES)
def test_the_unknown_facts_are_those_that_are_missing_in_order_of_their_effect(me: SideFacts, them: SideFacts) -> None:
    found = split_power(me, them)
    named = {f"{fact.factor} ({fact.side})" for fact in found.unknown}
    assert named == set(found.missing)
    changes = [fact.high - fact.low for fact in found.unknown]
    assert changes == sorted(changes, reverse=True)
    assert all(change >= 0 for change in changes)


def test_the_effect_of_an_unknown_fact_is_that_of_learning_it() -> None:
    me, them = SideFacts(rivals=2), SideFacts(dependency=0.5)
    found = next(fact for fact in split_power(me, them).unknown if (fact.factor, fact.side) == ("dependency", "me"))
    assert found.high == pytest.approx(split_power(replace(me, dependency=0.1), them).alpha)
    assert found.low == pytest.approx(split_power(replace(me, dependency=0.9), them).alpha)


def test_a_maxed_out_alternative_is_no_longer_what_moves_power_most() -> None:
    assert split_power(NO_FACTS, NO_FACTS).most_movable.name == "alternatives"
    rich = split_power(NO_FACTS, NO_FACTS, {"alternatives": 1.0})
    assert rich.most_movable.name != "alternatives"


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.01, 100), st.floats(-50, 50))
def test_the_strength_of_an_alternative_has_no_scale(batna: float, target: float, scale: float, shift: float) -> None:
    plain = part_worths({"x": [("a", 0.0), ("b", 1.0)]})
    moved = part_worths({"x": [("a", 0.0), ("b", scale)]}, shift)
    before = alternative_strength(plain, batna, Worth(utility=target))
    after = alternative_strength(moved, batna * scale + shift, Worth(utility=target * scale + shift))
    if target > 1e-3:
        assert after == pytest.approx(before, abs=1e-6)


@given(st.floats(-1000, 0))
def test_an_alternative_worse_than_every_package_is_no_strength(batna: float) -> None:
    plain = part_worths({"x": [("a", 0.0), ("b", 1.0)]})
    assert alternative_strength(plain, batna, Worth(utility=0.8)) == 0.0
    none = split_power(SideFacts(), SideFacts(alternative=0.3)).alpha
    assert split_power(SideFacts(alternative=0.0), SideFacts(alternative=0.3)).alpha == none
