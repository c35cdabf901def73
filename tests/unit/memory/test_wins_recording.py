"""Wins: what their memory says, what they saved, and their sums: every grouping agrees with the rows."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.base.values import format_money, timestamp
from negotiator.memory.schemas_wins import NewWin, calculate_savings, gains_when_higher
from negotiator.memory.wins_queries import MOST_PERIODS, summarise_wins
from negotiator.memory.wins_recording import describe_win, validated_savings


def described(**members: Any) -> str:
    body = NewWin.model_validate({"currency": "EUR", **members})
    return describe_win(body, validated_savings(body))


def test_a_win_is_described_as_one_would_tell_it() -> None:
    assert described(
        category="software",
        kind="renewal",
        role="buyer",
        counterparty="Pixelhaus",
        baseline={"kind": "previous_price", "amount": "540"},
        achieved={"amount": "462"},
        quantity=35,
        notes="A two-year term was declined.",
    ) == (
        "Software renewal with Pixelhaus, as the buyer: agreed at €462 instead of the previous price of €540. That "
        "is 14.4% less, a gain of €2,730 in all. A two-year term was declined."
    )


@pytest.mark.parametrize(
    ("role", "agreed", "said"),
    [
        ("buyer", "90", "10% less, a gain of €10"),
        ("buyer", "110", "10% more, a loss of €10"),
        ("seller", "110", "10% more, a gain of €10"),
        ("seller", "90", "10% less, a loss of €10"),
    ],
)
def test_more_and_less_are_what_they_are_for_the_side(role: str, agreed: str, said: str) -> None:
    assert said in described(role=role, baseline={"amount": "100"}, achieved={"amount": agreed})


def test_tactics_are_named_by_their_words() -> None:
    tactics = [
        {"tactic_id": "tac_calibrated_question", "helped": 2},
        {"tactic_id": "tac_01m84987z757wpmswhchakrea3", "helped": 1},
    ]
    text = described(baseline={"amount": "100"}, achieved={"amount": "90"}, tactics_used=tactics)
    assert "What helped: calibrated question." in text


AMOUNTS = st.decimals(min_value="0.01", max_value="1e9", places=2)
QUANTITIES = st.integers(1, 10**6).map(Decimal)


def test_a_buyer_saves_what_lies_below_the_baseline() -> None:
    saved = calculate_savings(
        Decimal(120), Decimal(105), quantity=Decimal(250), period_months=24, above=False, places=2
    )
    assert (saved.total, saved.annualised) == (Decimal(3750), Decimal("1875.00"))
    assert (saved.rate, saved.tcv) == (Decimal("0.125000"), Decimal(26250))


def test_a_candidate_gains_what_lies_above_it() -> None:
    assert gains_when_higher("candidate", "cost_reduction")
    assert gains_when_higher("buyer", "revenue_gain")
    assert not gains_when_higher("employer", "cost_reduction")
    saved = calculate_savings(
        Decimal(60000), Decimal(66000), quantity=Decimal(1), period_months=12, above=True, places=2
    )
    assert saved.rate == Decimal("0.1")


def test_without_a_term_nothing_is_annualised() -> None:
    saved = calculate_savings(Decimal(10), Decimal(9), quantity=Decimal(1), period_months=None, above=False, places=2)
    assert saved.annualised is None


@given(AMOUNTS, AMOUNTS, QUANTITIES)
def test_what_was_saved_and_what_is_paid_make_up_the_baseline(
    baseline: Decimal, achieved: Decimal, quantity: Decimal
) -> None:
    saved = calculate_savings(baseline, achieved, quantity=quantity, period_months=12, above=False, places=2)
    assert saved.total + saved.tcv == baseline * quantity
    assert saved.annualised == saved.total


@given(AMOUNTS, AMOUNTS, QUANTITIES, st.integers(1, 600))
def test_the_two_sides_of_a_deal_save_opposite_amounts(
    baseline: Decimal, achieved: Decimal, quantity: Decimal, months: int
) -> None:
    one, other = (
        calculate_savings(baseline, achieved, quantity=quantity, period_months=months, above=above, places=2)
        for above in (False, True)
    )
    assert one.total == -other.total
    assert one.rate == -other.rate


@given(AMOUNTS, AMOUNTS, st.integers(2, 1000))
def test_the_rate_does_not_depend_on_how_many_units_there_are(baseline: Decimal, achieved: Decimal, units: int) -> None:
    rates = {
        calculate_savings(baseline, achieved, quantity=quantity, period_months=1, above=False, places=2).rate
        for quantity in (Decimal(1), Decimal(units))
    }
    assert len(rates) == 1


MEMBERS = ("periods", "categories", "counterparties", "agents", "baselines")
SAVED = st.decimals(min_value=-(10**9), max_value=10**12, places=2)
MOMENTS = st.integers(min_value=946_684_800_000, max_value=2_240_524_800_000)


@st.composite
def wins(draw: st.DrawFn) -> dict[str, Any]:
    currency = draw(st.sampled_from(["EUR", "USD", "JPY"]))
    amount = draw(SAVED)
    saved = round(amount) if currency == "JPY" else amount
    return {
        "currency": currency,
        "savings_total": format_money(Decimal(saved), currency),
        "closed_at": timestamp(draw(MOMENTS)),
        "category": draw(st.sampled_from(["software", "rent", "salary"])),
        "counterparty": draw(st.sampled_from([None, "Acme", "Nimbus"])),
        "role": draw(st.sampled_from(["buyer", "seller"])),
        "source": {"client_id": draw(st.sampled_from([None, "agt_a", "agt_b"]))},
        "baseline": {"kind": draw(st.sampled_from(["previous_price", "budget"]))},
    }


@given(st.lists(wins(), max_size=30))
def test_the_sums_agree_with_the_rows(rows: list[dict[str, Any]]) -> None:
    summary = summarise_wins(rows)
    assert summary["n_deals"] == len(rows) == sum(one["n_deals"] for one in summary["cells"])
    assert {one["currency"] for one in summary["currencies"]} == {row["currency"] for row in rows}
    for one in summary["currencies"]:
        mine = [row for row in rows if row["currency"] == one["currency"]]
        saved = [Decimal(row["savings_total"]) for row in mine]
        assert one["n_deals"] == len(mine)
        assert one["n_losses"] == sum(amount < 0 for amount in saved)
        assert Decimal(one["savings_total"]) == sum(saved)
        for member in MEMBERS:
            assert sum(Decimal(group["savings_total"]) for group in one[member]) == sum(saved)
            assert sum(group["n_deals"] for group in one[member]) == len(mine)
            names = [group["name"] for group in one[member]]
            assert len(set(names)) == len(names)


@given(st.lists(wins(), min_size=1, max_size=30))
def test_periods_are_in_order_and_have_no_gaps(rows: list[dict[str, Any]]) -> None:
    for one in summarise_wins(rows)["currencies"]:
        names = [str(group["name"]) for group in one["periods"]]
        assert names == sorted(names)
        assert all(group["n_deals"] for group in (one["periods"][0], one["periods"][-1]))
        assert len(names) <= MOST_PERIODS or len(names[0]) == 4


def test_nothing_is_summed_from_nothing() -> None:
    assert summarise_wins([]) == {"n_deals": 0, "currencies": [], "cells": []}
