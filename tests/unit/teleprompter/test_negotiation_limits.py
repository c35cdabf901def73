"""Limits come from the terms alone, and a figure is held against the limit it is about."""

import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.negotiations.session import NegotiationSession
from negotiator.teleprompter.detected_offers import detected_offer
from negotiator.teleprompter.figures import FigureLimit, LimitStanding, compare_figure, limits_of, read_figures
from negotiator.teleprompter.spoken_figures import find_figures
from tests.helpers.example_session import DELIVERY, FLOOR, PAYMENT, PRICE, example_session

FIGURES: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("figures.toml").read_text("utf-8"))
SALARY = FigureLimit("money", Decimal(40_000), Decimal(50_000), "salary")
PURCHASE = FigureLimit("money", Decimal(12_000), Decimal(9_000))
TERMS = FigureLimit("days", Decimal(45), Decimal(14), "payment")
LIMITS: Final = {"salary": SALARY, "purchase": PURCHASE, "terms": TERMS}


@pytest.mark.parametrize(("said", "measure", "low", "high"), FIGURES["measured"])
def test_the_words_around_a_number_say_what_it_is(said: str, measure: str, low: str, high: str) -> None:
    (figure,) = find_figures(said)
    assert (figure.measure, figure.low, figure.high) == (measure, Decimal(low), Decimal(high))


@pytest.mark.parametrize("said", FIGURES["no_figures"])
def test_counts_clocks_years_and_codes_are_no_figures(said: str) -> None:
    assert find_figures(said) == ()


def test_currency_period_and_off_are_kept() -> None:
    (rent,) = find_figures("it is $1,250 a month")
    assert (rent.currency, rent.per) == ("USD", "month")
    (cut,) = find_figures("take five hundred pounds off")
    assert (cut.currency, cut.off) == ("GBP", True)


@pytest.mark.parametrize(("said", "limit", "value", "standing"), FIGURES["beside_limits"])
def test_a_figure_is_read_in_the_scale_of_its_limit(said: str, limit: str, value: str, standing: LimitStanding) -> None:
    (figure,) = find_figures(said)
    held = compare_figure(figure, [LIMITS[limit]])
    assert held is not None
    assert (held.value, held.standing) == (Decimal(value), standing)


def test_a_percentage_off_is_held_against_the_list_price() -> None:
    limit = FigureLimit("money", Decimal(900), Decimal(1000), list_price=Decimal(1000))
    (figure,) = find_figures("we need fifteen percent off")
    held = compare_figure(figure, [limit])
    assert held is not None
    assert (held.value, held.standing) == (Decimal(850), "past_limit")


def test_what_is_far_from_the_limit_or_in_other_money_is_about_something_else() -> None:
    euros = FigureLimit("money", Decimal(900), Decimal(800), currency="EUR", per="month")
    for said in ("our turnover was twelve million", "it costs 850 dollars", "it costs 850 euros a year"):
        assert not any(compare_figure(figure, [euros]) for figure in find_figures(said))


@given(st.integers(1, 10**9), st.integers(1, 10**9), st.integers(1, 10**9))
def test_the_floor_is_never_past_the_limit_and_order_is_kept(floor: int, target: int, value: int) -> None:
    limit = FigureLimit("money", Decimal(floor), Decimal(target))
    assert limit.standing(Decimal(floor)) != "past_limit"
    assert limit.standing(Decimal(target)) == "at_target"
    order = ("past_limit", "on_the_way", "at_target")
    better = value + (1 if target >= floor else -1)
    assert order.index(limit.standing(Decimal(better))) >= order.index(limit.standing(Decimal(value)))


def held(said: str, **members: Any) -> list[tuple[str, Decimal, str]]:
    """What is held of a sentence: topic, value, standing."""
    read = read_figures(find_figures(said), example_session(**members).terms, "them")
    return [(one.limit.topic, one.value, one.standing) for one in read if one.limit.is_mine]


def heard(said: str, *, speaker: Any = "them", quoted: bool = True, **members: Any) -> Any:
    """The offer that a sentence makes."""
    session = example_session(**members)
    read = read_figures(find_figures(said), session.terms, speaker)
    return detected_offer(session, read, speaker=speaker, utterance_id="u7", quoted=quoted)


def negotiation_limits(session: NegotiationSession) -> tuple[FigureLimit, ...]:
    return tuple(one for one in limits_of(session.terms) if one.is_mine)


def test_walk_away_and_target_are_the_limit() -> None:
    days, price = negotiation_limits(example_session())
    assert (price.topic, price.floor, price.target) == ("price", Decimal(56000), Decimal(45000))
    assert (price.currency, price.more, price.measure) == ("EUR", False, "money")
    assert (days.topic, days.floor, days.target, days.more) == ("payment_days", 14, 60, True)


def test_without_a_floor_there_is_no_limit_and_without_a_target_the_best_of_the_range_is_one() -> None:
    assert negotiation_limits(example_session(walk_away=None)) == ()
    (price,) = negotiation_limits(example_session(walk_away={"package": {"price": "56000"}}, target=None))
    assert price.target == Decimal(40000)


def test_an_issue_without_a_range_is_inside_and_never_at_a_target_nobody_named() -> None:
    bare = {"name": "price", "type": "money"}
    terms = {"issues": [bare], "walk_away": {"package": {"price": "56000"}}, "target": None}
    assert held("we could do fifty thousand", **terms) == [("price", Decimal(50000), "inside")]
    assert held("it is sixty thousand", **terms) == [("price", Decimal(60000), "past_limit")]


def test_the_stricter_of_walk_away_and_hard_constraint_binds() -> None:
    rules = [
        {"issue": "price", "op": "<=", "value": "52000"},
        {"issue": "price", "op": "<=", "value": "30000", "hard": False},
    ]
    assert negotiation_limits(example_session(constraints=rules))[1].floor == Decimal(52000)


def test_the_alternative_is_the_floor_only_where_it_is_sure_and_no_walk_away_is_set() -> None:
    sure = {"value": {"package": {"price": "50000"}}}
    unsure = {**sure, "probability": 0.5}
    assert [one.floor for one in negotiation_limits(example_session(walk_away=None, batna=sure))] == [Decimal(50000)]
    assert negotiation_limits(example_session(walk_away=None, batna=unsure)) == ()
    assert negotiation_limits(example_session(batna=sure))[1].floor == Decimal(56000)


def test_a_walk_away_in_utility_is_a_price_where_price_is_all() -> None:
    (price,) = negotiation_limits(example_session(issues=[PRICE], walk_away={"utility": 0.25}, target=None))
    assert price.floor == Decimal(55000)


def test_a_discount_is_taken_off_a_price_that_was_asked_and_off_no_budget() -> None:
    asked = {"kind": "list_price", "value": "60000"}
    assert held("we could give you ten percent off", baseline=asked) == [("price", Decimal(54000), "on_the_way")]
    assert held("we could give you ten percent off", baseline={**asked, "kind": "budget"}) == []


def test_currency_and_period_are_those_of_the_issue() -> None:
    rent = {"name": "rent", "type": "money", "unit": "EUR/month", "range": {"min": 1, "max": 2000}}
    terms = {"issues": [rent], "walk_away": {"package": {"rent": "900"}}, "target": None}
    (limit,) = negotiation_limits(example_session(**terms))
    assert (limit.currency, limit.per) == ("EUR", "month")
    assert held("that is 950 euros a month", **terms) == [("rent", Decimal(950), "past_limit")]
    assert held("that is 950 euros a week", **terms) == []
    assert held("that is 950 dollars a month", **terms) == []


@pytest.mark.parametrize(("said", "topics"), FIGURES["about"])
def test_days_are_held_against_what_they_are_about(said: str, topics: list[str]) -> None:
    walk_away = {"package": {**FLOOR["package"], "delivery": 30}}
    found = held(said, issues=[PRICE, PAYMENT, DELIVERY], walk_away=walk_away, target=None)
    assert sorted(topic for topic, _, _ in found) == sorted(topics)


def test_what_is_heard_is_an_unconfirmed_offer_in_the_units_of_the_issues() -> None:
    offer = heard("we could do fifty two thousand, net thirty")
    assert offer.package == {"price": Decimal(52000), "payment_days": 30}
    assert (offer.by, offer.kind, offer.source) == ("them", "offer", "detected_in_speech")
    assert (offer.channel, offer.claimed_final, offer.override) == ("call", False, False)
    assert offer.rationale.startswith("Heard in u7, offer: “")
    assert "fifty two thousand" in offer.rationale
    assert heard("fifty two thousand", quoted=False).rationale is None


@pytest.mark.parametrize("speaker", ["me", "them"])
def test_agreeing_to_a_figure_aloud_accepts_nothing(speaker: str) -> None:
    offer = heard("deal, we accept fifty thousand and that is final", speaker=speaker)
    assert (offer.by, offer.kind, offer.claimed_final) == (speaker, "offer", False)


def test_of_two_figures_for_one_issue_the_last_said_counts() -> None:
    assert heard("not fifty five thousand but fifty two thousand").package == {"price": 52000}


@pytest.mark.parametrize("said", ["we have thirty people", "good morning", "a bonus of ten percent"])
def test_a_figure_that_fits_no_issue_makes_no_offer(said: str) -> None:
    assert heard(said) is None


def test_only_a_figure_of_theirs_is_heard_beyond_the_range() -> None:
    said = "we would pay seventy thousand"
    assert heard(said, speaker="them").package == {"price": 70000}
    assert heard(said, speaker="me") is None


def test_an_issue_without_a_floor_still_hears_its_figures() -> None:
    assert heard("we could do fifty thousand", walk_away=None).package == {"price": 50000}


@given(st.text(max_size=200))
def test_nothing_said_moves_a_limit(said: str) -> None:
    session = example_session()
    before = negotiation_limits(session)
    read = read_figures(find_figures(said), session.terms, "them")
    detected_offer(session, read, speaker="them", utterance_id="u")
    assert negotiation_limits(session) == before
