"""What a win saved."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from negotiator.memory.wins_savings import calculate_savings, gains_when_higher

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
