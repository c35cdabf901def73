"""The sums over wins: every grouping agrees with the rows, each currency by itself."""

from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from negotiator.base.values import format_money, timestamp
from negotiator.memory.wins_summary import MOST_PERIODS, summarise_wins

MEMBERS = ("periods", "categories", "counterparties", "agents", "baselines")
AMOUNTS = st.decimals(min_value=-(10**9), max_value=10**12, places=2)
MOMENTS = st.integers(min_value=946_684_800_000, max_value=2_240_524_800_000)


@st.composite
def wins(draw: st.DrawFn) -> dict[str, Any]:
    currency = draw(st.sampled_from(["EUR", "USD", "JPY"]))
    amount = draw(AMOUNTS)
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
