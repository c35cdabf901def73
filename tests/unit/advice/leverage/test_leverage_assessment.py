"""The whole leverage answer, in money and in utilities."""

import math
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.advice.leverage.assessment import NO_PRICE_BETWEEN_STEPS, assess_leverage
from negotiator.advice.leverage.concessions import LedgerOffer
from negotiator.advice.leverage.solutions import NO_DEAL
from negotiator.terms.issues import Package
from negotiator.terms.terms import Estimate, SideFacts, Terms
from negotiator.terms.utility import Preferences, Worth, part_worths
from tests.helpers.example_issues import example_issues
from tests.helpers.example_terms import example_terms


def price_only(direction: str = "lower", scale: float = 1.0, step: float | None = 100) -> Preferences:
    body = {"min": 5000 * scale, "max": 15000 * scale, "step": step and step * scale}
    issues = example_issues({"name": "price", "type": "money", "direction": direction, "range": body})
    return Preferences(issues)


def at(price: float) -> Worth:
    return Worth({"price": str(price)})


BUYER = example_terms(
    price_only(), walk_away=at(12000), target=at(8000), batna=at(13000), their_walk_away=Estimate(8000, 9000, 10000)
)


def test_a_price_talk_is_answered_in_money() -> None:
    found = assess_leverage(BUYER)
    assert found.position.my_walk_away == Decimal(12000)
    assert found.position.zopa.probability == 1.0
    assert (found.position.zopa.low, found.position.zopa.high) == (Decimal("9000.00"), 12000)
    assert found.asymmetric_nash is not None
    assert found.asymmetric_nash.price is not None
    share = 1.0 - found.power.alpha
    assert float(found.asymmetric_nash.price) == pytest.approx(9000 + share * 3000, abs=0.01)
    assert found.points.nash is not None
    assert found.points.nash.package == {"price": Decimal(10500)}
    assert not found.approximate
    assert len(found.assumptions) == 2


def test_a_range_without_a_step_is_approximate_and_says_so() -> None:
    found = assess_leverage(replace(BUYER, preferences=price_only(step=None)))
    assert found.approximate
    assert any("evenly spaced" in line for line in found.assumptions)


def test_no_room_is_null_with_a_reason() -> None:
    found = assess_leverage(replace(BUYER, their_walk_away=Estimate(12500, 13000, 14000)))
    assert found.position.zopa.probability == 0.0
    assert found.position.zopa.low is None
    assert found.asymmetric_nash is None
    assert found.points.nash is None
    assert found.points.reason == NO_DEAL


def test_a_zone_between_two_steps_has_an_expected_price_but_no_listed_one() -> None:
    found = assess_leverage(replace(BUYER, walk_away=at(9060), batna=None, their_walk_away=Estimate(9040, 9040, 9040)))
    assert found.points.reason == NO_PRICE_BETWEEN_STEPS
    assert found.asymmetric_nash is not None
    assert found.asymmetric_nash.price is not None
    assert 9040 < found.asymmetric_nash.price < 9060


def test_what_is_not_known_is_null_and_never_invented() -> None:
    found = assess_leverage(example_terms(price_only()))
    assert found.position.zopa.probability is None
    assert found.position.my_walk_away is None
    assert found.asymmetric_nash is None
    assert found.points.reason == "Your walk-away is not known."
    theirs = assess_leverage(example_terms(price_only(), walk_away=at(12000)))
    assert theirs.points.reason == "Their walk-away is not known."


@given(
    st.integers(5000, 15000),
    st.lists(st.integers(5000, 15000), min_size=3, max_size=3),
    st.sampled_from(["lower", "higher"]),
    st.none() | st.integers(5000, 15000),
    st.floats(-1, 1),
)
def test_the_expected_price_is_inside_the_zone_or_null(
    mine: int, spread: list[int], direction: str, batna: int | None, judged: float
) -> None:
    low, likely, high = sorted(spread)
    found = assess_leverage(
        example_terms(
            price_only(direction),
            walk_away=at(mine),
            batna=None if batna is None else at(batna),
            their_walk_away=Estimate(low, likely, high),
            judgements={"alternatives": judged, "time": judged},
        )
    )
    zone = found.position.zopa
    assert zone.probability is not None
    assert 0.0 <= zone.probability <= 1.0
    if found.asymmetric_nash is None:
        return
    price = found.asymmetric_nash.price
    assert price is not None
    assert zone.low is not None
    assert zone.high is not None
    assert zone.low <= price <= zone.high
    assert price <= mine if direction == "lower" else price >= mine


@given(st.floats(0.001, 1000), st.integers(5000, 15000))
def test_the_currency_does_not_matter(scale: float, batna: int) -> None:
    def situation(rate: float) -> Terms:
        return example_terms(
            price_only(scale=rate),
            walk_away=at(12000 * rate),
            target=at(8000 * rate),
            batna=at(batna * rate),
            their_batna=at(7000 * rate),
            their_walk_away=Estimate(8000 * rate, 9000 * rate, 14000 * rate),
        )

    one, other = assess_leverage(situation(1.0)), assess_leverage(situation(scale))
    assert other.power.alpha == pytest.approx(one.power.alpha, abs=1e-5)
    assert other.position.zopa.probability == pytest.approx(one.position.zopa.probability)
    if one.asymmetric_nash is None or one.asymmetric_nash.price is None:
        assert other.asymmetric_nash is None
        return
    assert other.asymmetric_nash is not None
    assert other.asymmetric_nash.price is not None
    assert float(other.asymmetric_nash.price) / scale == pytest.approx(
        float(one.asymmetric_nash.price), abs=0.02 / min(scale, 1.0)
    )


def tables(scale: float = 1.0, shift: float = 0.0) -> tuple[Preferences, Preferences]:
    mine = {"pay": [("low", 0.0), ("mid", 0.4), ("high", 0.7)], "home": [("no", 0.0), ("yes", 0.3)]}
    theirs = {"pay": [("low", 0.8), ("mid", 0.5), ("high", 0.0)], "home": [("no", 0.2), ("yes", 0.0)]}
    moved = {name: [(v, u * scale) for v, u in rows] for name, rows in mine.items()}
    return part_worths(moved, shift), part_worths(theirs)


def both(scale: float = 1.0, shift: float = 0.0) -> Terms:
    mine, theirs = tables(scale, shift)
    return example_terms(
        mine,
        walk_away=Worth(utility=0.25 * scale + shift),
        target=Worth(utility=0.9 * scale + shift),
        batna=Worth(utility=0.2 * scale + shift),
        their_preferences=theirs,
        their_walk_away=Estimate(0.1, 0.2, 0.4, "utility"),
        their_batna=Worth(utility=0.15),
        me=SideFacts(days_left=30, rivals=2),
        them=SideFacts(days_left=5),
    )


@given(st.floats(0.01, 100), st.floats(-10, 10))
def test_an_affine_change_of_my_utility_changes_neither_power_nor_the_expected_package(
    scale: float, shift: float
) -> None:
    one, other = assess_leverage(both()), assess_leverage(both(scale, shift))
    assert other.power.alpha == pytest.approx(one.power.alpha, abs=1e-5)
    assert other.asymmetric_nash is not None
    assert one.asymmetric_nash is not None
    assert other.asymmetric_nash.package == one.asymmetric_nash.package
    assert other.position.zopa.probability == pytest.approx(one.position.zopa.probability)


def test_swapped_roles_share_the_same_surplus() -> None:
    mine, theirs = tables()
    here = both()
    there = example_terms(
        theirs,
        their_preferences=mine,
        walk_away=Worth(utility=0.2),
        batna=here.their_batna,
        their_walk_away=Estimate(0.25, 0.25, 0.25, "utility"),
        their_target=here.target,
        their_batna=here.batna,
        me=here.them,
        them=here.me,
    )
    known = replace(here, their_walk_away=Estimate(0.2, 0.2, 0.2, "utility"))
    one, other = assess_leverage(known), assess_leverage(there)
    assert one.power.alpha + other.power.alpha == pytest.approx(1.0, abs=1e-15)
    assert one.asymmetric_nash is not None
    assert other.asymmetric_nash is not None
    assert one.asymmetric_nash.package == other.asymmetric_nash.package
    assert one.points.nash is not None
    assert other.points.nash is not None
    assert one.points.nash.package == other.points.nash.package


@given(st.floats(-5, 0), st.floats(-5, 0))
def test_an_alternative_worse_than_everything_changes_nothing(bad: float, worse: float) -> None:
    answers = [assess_leverage(replace(both(), batna=Worth(utility=u))) for u in (bad, worse)]
    assert answers[0] == answers[1]
    silent = assess_leverage(replace(both(), batna=None))
    assert silent.power.alpha == answers[0].power.alpha
    assert silent.asymmetric_nash == answers[0].asymmetric_nash
    assert silent.points == answers[0].points
    assert silent.power.high > answers[0].power.high


@given(st.floats(-5, 0), st.floats(-5, 0))
def test_a_worthless_alternative_changes_nothing_even_where_it_stands_in_for_the_walk_away(
    bad: float, worse: float
) -> None:
    for situation in (replace(both(), walk_away=None), replace(BUYER, walk_away=None)):
        one, other = (assess_leverage(replace(situation, batna=Worth(utility=u))) for u in (bad, worse))
        assert one == other
        assert one.position.my_walk_away in (0.0, 15000)
    far, farther = (assess_leverage(replace(BUYER, walk_away=None, batna=at(p))) for p in (16000, 90000))
    assert far == farther


@given(st.dictionaries(st.sampled_from(["time", "market", "authority"]), st.floats(-1, 1)))
def test_the_explanation_sums_to_the_score(judgements: dict[str, float]) -> None:
    found = assess_leverage(replace(both(), judgements=judgements)).power
    total = sum(factor.contribution for factor in found.factors)
    assert math.log(found.alpha / (1.0 - found.alpha)) == pytest.approx(total, abs=1e-14)


def test_the_same_request_gives_the_same_answer() -> None:
    assert assess_leverage(both()) == assess_leverage(both())
    assert assess_leverage(BUYER) == assess_leverage(BUYER)


def test_every_assumption_taken_is_listed() -> None:
    mine, _ = tables()
    lines = assess_leverage(example_terms(mine, batna=Worth({"pay": "mid"}))).assumptions
    assert any("opposite" in line for line in lines)
    assert any("used instead" in line for line in lines)
    price_given = assess_leverage(replace(both(), their_walk_away=Estimate(1, 2, 3)))
    assert any("not used" in line for line in price_given.assumptions)
    assert any("their alternative" in line for line in price_given.assumptions)
    partial = assess_leverage(replace(both(), walk_away=Worth({"pay": "mid"})))
    assert any("home" in line for line in partial.assumptions)


def test_a_ledger_adds_concessions_and_can_stand_in_for_their_walk_away() -> None:
    prices = (12000, 11000, 10500, 10250)
    offers: list[Package] = [{"price": price} for price in prices]
    ledger = tuple(LedgerOffer(n, "them", offer) for n, offer in enumerate(offers, 1))
    found = assess_leverage(replace(BUYER, their_walk_away=None), ledger)
    assert found.concessions is not None
    assert found.concessions.them.conceded == pytest.approx(0.175)
    assert found.position.zopa.low == pytest.approx(Decimal(10000))
    assert any("concessions shrink" in line for line in found.assumptions)
    assert assess_leverage(BUYER).concessions is None


def test_more_than_a_million_packages_are_approximate_and_quick() -> None:
    rows = [(str(n), n / 90) for n in range(10)]
    mine = part_worths({f"issue {k}": rows for k in range(9)})
    found = assess_leverage(
        example_terms(mine, walk_away=Worth(utility=0.3), their_walk_away=Estimate(0.1, 0.2, 0.3, "utility"))
    )
    assert found.approximate
    assert any("1000000000 combinations" in line for line in found.assumptions)
    assert found.points.nash is not None


def test_values_the_two_sides_do_not_share_leave_no_package() -> None:
    found = assess_leverage(
        example_terms(
            part_worths({"x": [("a", 1.0)]}),
            walk_away=Worth(utility=0.0),
            their_preferences=part_worths({"x": [("b", 1.0)]}),
            their_walk_away=Estimate(0, 0, 0, "utility"),
        )
    )
    assert found.points.reason == NO_DEAL
