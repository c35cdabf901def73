"""Where the path begins and ends, over random negotiations and in ordinary cases."""

from decimal import Decimal
from typing import Any, Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from negotiator.advice.concession.aims import LEAST_ROOM, MAX_STRETCH, Aims, Evidence, Style, find_aims, keeps_limits
from negotiator.base.values import MINOR_UNITS
from negotiator.terms import limits
from negotiator.terms.issues import Issue, Scalar, values_of
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.terms_parsing import parse_terms
from tests.helpers.generated_talks import SEEDS, negotiation
from tests.helpers.limit_checks import broken_rules, worth

STYLES = st.sampled_from(("balanced", "firm", "cooperative"))
GRID: Final = 0.02
"""Worth by which a value on the nearest step or round figure may differ."""


def car(**members: Any) -> Aims:
    body = {
        "title": "Used Golf",
        "role": "buyer",
        "currency": "EUR",
        "issues": [{"name": "price", "range": {"min": "5000", "max": "16000"}}],
        "target": {"package": {"price": "12500"}},
        "walk_away": {"package": {"price": "14000"}},
        **members,
    }
    found = {name: value for name, value in body.items() if value is not None}
    return find_aims(parse_terms(NegotiationBody.model_validate(found)))


@given(SEEDS, STYLES)
@example(85725, "firm")  # the steps of an issue skip its target, and the targets together are worth too little
@settings(max_examples=400)
def test_the_path_opens_at_the_target_or_beyond(seed: int, style: Style) -> None:
    one = negotiation(seed)
    aims = find_aims(one.terms, style=style)
    given_target = one.terms.target.package if one.terms.target else None
    for aim in aims.issues:
        target = (given_target or {}).get(aim.issue.name)
        if target is not None and keeps_limits(aims.terms, aim.issue, target):
            assert worth(aim.issue, aim.opening) >= worth(aim.issue, target) - 1e-9


@given(SEEDS, STYLES)
@settings(max_examples=400)
def test_the_opening_goes_no_further_than_its_grounds_and_never_to_a_loose_end(seed: int, style: Style) -> None:
    one = negotiation(seed)
    aims = find_aims(one.terms, style=style)
    for aim in aims.issues:
        issue, limit = aim.issue, limits.own_limit(aims.terms, aim.issue)
        plain = issue.range is not None and not issue.range.step and not issue.value_points
        if not plain or issue.options or limit is None or aim.target is None or _is_coarse(issue):
            continue
        goal = worth(issue, aim.target)
        allowed = min(1.0, goal + MAX_STRETCH * max(0.0, goal - worth(issue, limit)))
        most = max(allowed, goal + LEAST_ROOM) + GRID
        assert worth(issue, aim.opening) <= most
        if most < 1.0:
            assert worth(issue, aim.opening) < 1.0


@given(SEEDS, STYLES)
@settings(max_examples=300)
def test_every_value_of_the_path_keeps_the_limits_of_its_issue(seed: int, style: Style) -> None:
    aims = find_aims(negotiation(seed).terms, style=style)
    for aim in aims.issues:
        assert aim.values
        assert all(keeps_limits(aims.terms, aim.issue, value) for value in aim.values)
        falling = [worth(aim.issue, value) for value in aim.values]
        assert falling == sorted(falling, reverse=True)
        assert len(set(falling)) == len(falling)


@given(SEEDS)
@settings(max_examples=300)
def test_the_opening_is_acceptable_whenever_a_package_of_best_values_is(seed: int) -> None:
    one = negotiation(seed)
    aims = find_aims(one.terms)
    best: dict[str, Scalar] = {}
    for issue in aims.terms.issues:
        kept = [value for value in values_of(issue) if keeps_limits(aims.terms, issue, value)]
        if kept:
            best[issue.name] = max(kept, key=lambda value, issue=issue: worth(issue, value))
    if aims.is_acceptable(best):
        assert aims.is_acceptable(aims.opening)
        assert broken_rules(one.terms, aims.opening) == []


def _is_coarse(issue: Issue) -> bool:
    """Whether the range has so few values that the next one is far away in worth."""
    return issue.range is None or issue.range.max - issue.range.min < 60


@given(SEEDS, st.sampled_from(sorted(MINOR_UNITS)))
@settings(max_examples=150)
def test_the_currency_changes_no_figure(seed: int, currency: str) -> None:
    one = negotiation(seed)
    other = negotiation(seed, currency=currency)
    assert find_aims(other.terms).opening == find_aims(one.terms).opening


@pytest.mark.parametrize("low", ["1000", "5000", "9000"])
def test_the_end_of_a_loose_range_is_no_demand(low: str) -> None:
    issue = {"name": "price", "range": {"min": low, "max": "16000"}}
    aims = car(issues=[issue])
    assert Decimal(11_500) <= Decimal(str(aims.opening["price"])) <= Decimal(12_500)


def test_evidence_and_an_estimate_justify_a_further_opening() -> None:
    plain = Decimal(str(car().opening["price"]))
    estimate = {"low": "11500", "likely": "12500", "high": "13500"}
    known = car(their_estimate={"walk_away": estimate})
    assert Decimal(11_500) <= Decimal(str(known.opening["price"])) < plain
    assert [ground.source for ground in known.grounds] == ["session:/their_estimate/walk_away"]
    offer = Evidence(Decimal(11_000), "The dealer asks 11,000.", "memory:mem_1")
    evident = find_aims(known.terms, evidence=(offer,))
    assert Decimal(11_000) <= Decimal(str(evident.opening["price"])) < 11_500


def test_an_estimate_beyond_all_reason_is_no_ground() -> None:
    aims = car(their_estimate={"walk_away": {"low": "6000", "likely": "9000", "high": "12000"}})
    assert Decimal(str(aims.opening["price"])) >= 11_000
    assert aims.grounds == ()


def test_no_limit_is_a_figure_of_the_path() -> None:
    aims = car(batna={"value": {"package": {"price": "14500"}}})
    figures = {Decimal(str(value)) for value in aims.issues[0].values}
    assert not figures & {Decimal(14_000), Decimal(14_500)}
    assert max(figures) < 14_000


def test_a_limit_that_is_also_the_target_is_not_the_opening() -> None:
    aims = car(target={"package": {"price": "14000"}})
    assert Decimal(13_000) <= Decimal(str(aims.opening["price"])) < 14_000


def test_a_target_worth_less_than_the_alternative_is_said_and_not_pursued() -> None:
    aims = car(walk_away=None, target={"package": {"price": "15000"}}, batna={"value": {"package": {"price": "14000"}}})
    assert aims.opening_utility >= aims.floor
    assert "Your target is worth less to you than no deal, so the first offer asks for more." in aims.assumptions


def test_a_target_against_a_constraint_gives_way_to_the_nearest_value() -> None:
    rule = {"issue": "price", "op": "<=", "value": "11000"}
    aims = car(constraints=[rule])
    assert Decimal(str(aims.opening["price"])) <= Decimal(11_000)
    assert "Your target on price is beyond a limit of yours, so it is not used." in aims.assumptions


def test_the_price_that_they_named_first_moves_the_opening_and_no_step_goes_beyond_it() -> None:
    plain = car()
    far = car(baseline={"kind": "list_price", "value": "16000"})
    assert Decimal(str(far.opening["price"])) < Decimal(str(plain.opening["price"]))
    assert "They began at €16,000" in far.grounds[0].text
    near = car(baseline={"kind": "first_quote", "value": "12000"})
    assert Decimal(str(near.opening["price"])) < Decimal(12000)
    assert near.issues[0].last == Decimal(12000)
    assert any("better for you than your target" in note for note in near.assumptions)


@pytest.mark.parametrize(("kind", "text"), [("market", "market price"), ("previous_price", "so far")])
def test_a_figure_that_shows_what_is_fair_is_opened_with(kind: str, text: str) -> None:
    aims = car(baseline={"kind": kind, "value": "12000"})
    assert aims.opening["price"] == Decimal(12000)
    assert text in aims.grounds[0].text


def test_a_seller_opens_with_their_own_list_price() -> None:
    aims = car(
        role="seller",
        target={"package": {"price": "13000"}},
        walk_away={"package": {"price": "12000"}},
        baseline={"kind": "list_price", "value": "14900"},
    )
    assert aims.opening["price"] == Decimal(14900)
    assert aims.grounds[0].text == "It is your list price."
