"""Concession analysis and signs of bluff read from a ledger."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.advice.leverage.concessions import (
    BluffSignal,
    LedgerOffer,
    Side,
    StatedClaim,
    bluff_signals,
    completed_offers,
    concession_analysis,
    step_class,
)
from negotiator.terms.utility import Preferences, opposed_preferences
from tests.helpers.example_issues import example_issues

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def buyer() -> tuple[Preferences, Preferences]:
    issues = example_issues({"name": "price", "type": "money", "direction": "lower", "range": {"min": 0, "max": 1000}})
    mine = Preferences(issues)
    return mine, opposed_preferences(mine)


def talk(prices: Sequence[tuple[Side, float]], final: Sequence[int] = ()) -> list[LedgerOffer]:
    return [
        LedgerOffer(seq, by, {"price": price}, NOON + timedelta(hours=seq), claimed_final=seq in final)
        for seq, (by, price) in enumerate(prices, 1)
    ]


def named(found: Sequence[BluffSignal]) -> dict[str, BluffSignal]:
    return {signal.name: signal for signal in found if signal.by == "them"}


@pytest.mark.parametrize(
    ("own", "other", "kind"),
    [
        (0.1, 0.1, "fortunate"),
        (0.0, 0.1, "nice"),
        (-0.1, 0.1, "concession"),
        (-0.1, 0.0, "concession"),
        (0.1, -0.1, "selfish"),
        (0.1, 0.0, "selfish"),
        (0.0, 0.0, "silent"),
        (-0.1, -0.1, "unfortunate"),
        (0.0, -0.1, "unfortunate"),
    ],
)
def test_steps_are_classed_as_dans_does(own: float, other: float, kind: str) -> None:
    assert step_class(own, other) == kind


def test_steps_are_measured_in_utility_for_both_sides() -> None:
    ledger = talk([("me", 300), ("them", 900), ("me", 400), ("them", 800), ("them", 750)])
    found = concession_analysis(ledger, *buyer())
    assert [step.own for step in found.me.steps] == [pytest.approx(-0.1)]
    assert [step.other for step in found.me.steps] == [pytest.approx(0.1)]
    assert [step.kind for step in found.them.steps] == ["concession", "concession"]
    assert found.them.steps[1].ratio == pytest.approx(0.5)
    assert found.them.conceded == pytest.approx(0.15)
    assert found.them.per_round == pytest.approx(0.075)
    assert found.them.per_hour == pytest.approx(0.05)


def test_their_limit_is_read_from_shrinking_steps() -> None:
    ledger = talk([("them", p) for p in (900, 800, 750, 725, 712.5)])
    limit = concession_analysis(ledger, *buyer()).them.limit
    assert limit is not None
    assert limit.likely == pytest.approx(0.7)


def test_a_side_that_answers_in_kind_is_reciprocal() -> None:
    ledger = talk(
        [("me", 100), ("them", 900), ("me", 200), ("them", 800), ("me", 210), ("them", 790), ("me", 260), ("them", 740)]
    )
    assert concession_analysis(ledger, *buyer()).them.reciprocity == pytest.approx(1.0)
    assert concession_analysis(ledger[:4], *buyer()).them.reciprocity is None


@given(
    st.lists(st.tuples(st.sampled_from(["me", "them"]), st.floats(0, 1000)), max_size=12),
    st.lists(st.integers(1, 12), max_size=4),
)
def test_any_ledger_is_answered_and_steps_add_up_to_what_was_conceded(
    prices: list[tuple[Side, float]], final: list[int]
) -> None:
    ledger = talk(prices, final)
    found = concession_analysis(ledger, *buyer())
    theirs = [price for by, price in prices if by == "them"]
    whole = (theirs[0] - theirs[-1]) / 1000 if theirs else 0.0
    assert found.them.conceded == pytest.approx(whole, abs=1e-9)
    assert found.them.reciprocity is None or -1.0 <= found.them.reciprocity <= 1.0
    for signal in bluff_signals(ledger, *buyer()):
        assert signal.likelihood_ratio > 1.0
        assert signal.evidence


def test_a_partial_offer_keeps_what_the_same_side_said_before() -> None:
    rows = [
        LedgerOffer(2, "them", {"days": 5}),
        LedgerOffer(1, "them", {"price": 9, "days": 7}),
        LedgerOffer(3, "me", {"days": 1}),
    ]
    assert [row.package for row in completed_offers(rows)] == [
        {"price": 9, "days": 7},
        {"price": 9, "days": 5},
        {"days": 1},
    ]


def test_moving_after_final_is_a_sign_and_twice_is_a_stronger_one() -> None:
    once = named(bluff_signals(talk([("them", 900), ("them", 850)], [1]), *buyer()))
    twice = named(bluff_signals(talk([("them", 900), ("them", 850), ("them", 800)], [1, 2]), *buyer()))
    assert once["moved_after_final"].likelihood_ratio == 3.0
    assert twice["moved_after_final"].likelihood_ratio == 4.5
    assert "Offer 1" in once["moved_after_final"].evidence[0]
    assert "moved_after_final" not in named(bluff_signals(talk([("them", 900), ("them", 900)], [1]), *buyer()))


def test_a_final_offer_without_slowing_down_is_a_sign() -> None:
    steady = talk([("them", 900), ("them", 850), ("them", 800)], [3])
    slowing = talk([("them", 900), ("them", 850), ("them", 840)], [3])
    assert "no_slowdown_before_final" in named(bluff_signals(steady, *buyer()))
    assert "no_slowdown_before_final" not in named(bluff_signals(slowing, *buyer()))


def test_an_offer_renewed_after_it_ran_out_is_a_sign() -> None:
    ledger = [
        LedgerOffer(1, "them", {"price": 900}, NOON, valid_until=NOON + timedelta(hours=1)),
        LedgerOffer(2, "them", {"price": 900}, NOON + timedelta(hours=2)),
    ]
    assert "deadline_moved" in named(bluff_signals(ledger, *buyer()))


def test_claims_are_held_against_the_ledger() -> None:
    claims = [
        StatedClaim(2, "them", "walk_away", {"price": 850}),
        StatedClaim(3, "them", "alternative"),
        StatedClaim(4, "them", "deadline", at=NOON),
        StatedClaim(5, "them", "deadline", at=NOON + timedelta(days=2)),
    ]
    found = named(bluff_signals(talk([("them", 820)]), *buyer(), claims=claims))
    assert set(found) == {"claimed_limit_passed", "alternative_without_detail", "deadline_moved"}
    detailed = StatedClaim(3, "them", "alternative", detailed=True)
    assert bluff_signals(talk([("them", 820)]), *buyer(), claims=[detailed]) == ()
