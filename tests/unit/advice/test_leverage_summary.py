"""What an assessment of leverage says in words (docs/contract 6.6)."""

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.advice.expected_price import expected_price
from negotiator.advice.leverage.assessment import assess_leverage
from negotiator.advice.leverage.factor_words import FACTOR_WORDS, factor_explanation
from negotiator.advice.leverage.power import FACTOR_NAMES, SIDES, split_power
from negotiator.advice.leverage_summary import MAX_QUESTIONS, LeverageSummary, summarise_leverage
from negotiator.base.values import DAY, timestamp
from negotiator.negotiations.schemas_advice import LeverageBody
from negotiator.terms.terms import NO_FACTS, SideFacts, Terms
from negotiator.terms.terms_parsing import parse_terms
from negotiator.terms.wording import Wording

NOW = 1_900_000_000_000


def at_day(days: float) -> str:
    """The moment so many days from now."""
    return timestamp(int(NOW + days * DAY))


def limit(low: int, likely: int, high: int, **members: Any) -> dict[str, Any]:
    """An estimate of the other side's walk-away, in money."""
    return {"walk_away": {"low": str(low), "likely": str(likely), "high": str(high)}, **members}


CAR: dict[str, Any] = {
    "title": "Used Golf",
    "role": "buyer",
    "currency": "EUR",
    "issues": [{"name": "price", "type": "money", "range": {"min": "11000", "max": "16000"}}],
    "target": {"package": {"price": "12500"}},
    "walk_away": {"package": {"price": "14000"}},
}
CRM: dict[str, Any] = {
    "title": "CRM renewal, 80 seats",
    "role": "buyer",
    "currency": "EUR",
    "counterparty": {"organisation": "Cloudwerk"},
    "issues": [
        {
            "name": "price_per_seat",
            "label": "Price per seat and month",
            "type": "money",
            "weight": 5,
            "range": {"min": "38", "max": "65"},
        },
        {
            "name": "term",
            "label": "Contract term",
            "type": "integer",
            "unit": "months",
            "direction": "lower",
            "weight": 2,
            "range": {"min": 12, "max": 36, "step": 12},
        },
    ],
    "target": {"package": {"price_per_seat": "45", "term": 12}},
    "walk_away": {"package": {"price_per_seat": "56", "term": 24}},
    "batna": {"description": "Nimbus (49 a seat).", "value": {"package": {"price_per_seat": "56", "term": 24}}},
}
SALARY: dict[str, Any] = {
    "title": "Senior engineer",
    "role": "candidate",
    "currency": "EUR",
    "issues": [{"name": "salary", "label": "Base salary", "type": "money", "range": {"min": "80000", "max": "110000"}}],
    "target": {"package": {"salary": "100000"}},
    "walk_away": {"package": {"salary": "88000"}},
}
PARTS: dict[str, Any] = {
    "title": "Machine parts",
    "role": "seller",
    "currency": "USD",
    "issues": [{"name": "price", "type": "money", "range": {"min": "900", "max": "1500"}}],
    "walk_away": {"package": {"price": "1000"}},
    "their_estimate": limit(1200, 1200, 1200),
}

CASES: dict[str, tuple[dict[str, Any], str]] = {
    "a car of whose seller nothing is known": (
        CAR,
        "It is not known yet who needs this deal more, so neither side counts as the stronger one. It cannot be said "
        "yet whether there is room for a deal, because nothing is known about their limit; you can go up to €14,000. "
        "Finding a good second offer would strengthen your side quite a bit. Ask them next: What do others pay you "
        "for this?",
    ),
    "a car with three others like it": (
        {**CAR, "facts": {"me": {"rivals": 3}}, "their_estimate": limit(12800, 13400, 14500)},
        "The seller seems to need this deal more than you do: you can turn to 3 others. Nothing else is known about "
        "the power of either side. There is probably room for a deal (a chance of about 9 in 10): you can go up to "
        "€14,000, and you estimate that they can go down to about €13,400 (between €12,800 and €14,500); the split of "
        "power points to about €13,700. Finding a good second offer would strengthen your side quite a bit. Ask them "
        "next: What do others pay you for this?",
    ),
    "a car whose seller wants too much": (
        {**CAR, "their_estimate": limit(14500, 15000, 15500), "deadline": at_day(3)},
        "You seem to need this deal more than the seller does: you have only 3 days to decide. Nothing else is known "
        "about the power of either side. As things stand, there is no room for a deal: you can go up to €14,000, and "
        "you estimate that they can go down to about €15,000 (between €14,500 and €15,500). Finding a good second "
        "offer would strengthen your side quite a bit. Ask them next: What do others pay you for this?",
    ),
    "a renewal with a good alternative": (
        {**CRM, "deadline": at_day(40), "their_estimate": {"deadline": at_day(9)}},
        "Cloudwerk needs this deal much more than you do: you have an alternative (“Nimbus 49 a seat”) to fall back "
        "on and you have 40 days to decide while they have 9 days. It cannot be said yet whether there is room for a "
        "deal, because nothing is known about their limit. Improving your best alternative halfway to your target "
        "would strengthen your side quite a bit. Ask them next: What do others pay you for this?",
    ),
    "a renewal in which both can gain": (
        {
            **CRM,
            "batna": None,
            "their_estimate": {"walk_away": {"low": 0.2, "likely": 0.3, "high": 0.4, "unit": "utility"}},
            "facts": {"me": {"dependency": 0.8}, "them": {"dependency": 0.2}},
        },
        "You seem to need this deal a little more than Cloudwerk does: ending the relationship would cost you more "
        "than them. Nothing else is known about the power of either side. There is room for a deal: some combinations "
        "of terms are better for both sides than no deal; the split of power points to roughly this: €56 per seat "
        "and month and a term of 12 months (80 seats × €56 × 12 months = €53,760). Finding a good second offer would "
        "strengthen your side quite a bit and would turn the balance in your favour. Find out next: What will you do "
        "if there is no deal, and what is that worth to you?",
    ),
    "a salary with little time": (
        {
            **SALARY,
            "deadline": at_day(6),
            "facts": {"me": {"rivals": 1}, "them": {"rivals": 3}},
            "batna": {"description": "Stay in the present job.", "value": {"package": {"salary": "86000"}}},
            "their_estimate": limit(95000, 98000, 104000, confidence=0.6),
        },
        "You seem to need this deal a little more than the employer does: you have only 6 days to decide and you can "
        "turn to one other while they can turn to 3 others. Against that, you have an alternative at €86,000 (“Stay "
        "in the present job”) to fall back on. There is room for a deal: you can go down to €88,000, and you estimate "
        "that they can go up to about €98,000 (between €95,000 and €104,000); the split of power points to about "
        "€93,000. Improving your best alternative halfway to your target would strengthen your side quite a bit and "
        "would turn the balance in your favour. Ask them next: What range have you planned for this position?",
    ),
    "parts whose buyer is bound already": (
        {
            **PARTS,
            "facts": {
                "me": {"dependency": 0.9, "authority": 0.9, "commitment": 0.2},
                "them": {"dependency": 0.2, "authority": 0.2, "commitment": 0.7},
            },
        },
        "Neither side clearly needs this deal more than the other. In your favour, you can decide more freely than "
        "they can and they are already more committed to this deal than you are; against you, ending the relationship "
        "would cost you more than them. There is room for a deal: you can go down to $1,000, and you estimate that "
        "they can go up to $1,200; the split of power points to about $1,100. Finding a good second offer would "
        "strengthen your side quite a bit. Find out next: What will you do if there is no deal, and what is that "
        "worth to you?",
    ),
    "parts whose power the user judged": (
        {**PARTS, "judgements": dict.fromkeys(FACTOR_NAMES, 1.0) | {"time": -0.5, "market": 0.9}},
        "The buyer needs this deal much more than you do: in your own judgement the alternatives favour you, the "
        "competition favours you and the cost of ending the relationship favours you. There is room for a deal: you "
        "can go down to $1,000, and you estimate that they can go up to $1,200; the split of power points to about "
        "$1,180. Gaining enough time to wait twice as long would strengthen your side a little.",
    ),
}


def summary_of(body: dict[str, Any]) -> LeverageSummary:
    """The summary of a body, as the stateless form makes it."""
    given = {name: member for name, member in body.items() if member is not None}
    terms = parse_terms(LeverageBody.model_validate(given), lenient=True)
    return summarise(replace(terms, judgements=body.get("judgements", {})))


def summarise(terms: Terms) -> LeverageSummary:
    return summarise_leverage(Wording(terms), assess_leverage(terms, now=NOW), now=NOW)


def summary_with_forecast(body: dict[str, Any]) -> LeverageSummary:
    """The summary of a body with the forecast of its price."""
    terms = parse_terms(LeverageBody.model_validate(body), lenient=True)
    words = Wording(terms)
    return summarise_leverage(words, assess_leverage(terms), expected_price(words), now=NOW)


@pytest.mark.parametrize("name", CASES)
def test_an_ordinary_case_is_told_in_words(name: str) -> None:
    body, expected = CASES[name]
    assert summary_of(body).text == expected


def test_a_package_beyond_an_own_limit_is_said_to_be_one_unless_the_user_allows_it() -> None:
    price, term = CRM["issues"]
    wide = {
        **CRM,
        "issues": [{**price, "their_weight": 1}, {**term, "their_weight": 4}],
        "their_estimate": {"walk_away": {"low": 0.2, "likely": 0.3, "high": 0.4, "unit": "utility"}},
    }
    beyond = "the split of power alone points beyond your limit on contract term: €"
    assert beyond in summary_of(wide).room
    allowed = {"issue": "term", "to": 36, "in_return": {"price_per_seat": "56"}}
    assert "points to roughly this" in summary_of({**wide, "allow": [allowed]}).room


def test_every_member_of_a_summary_can_be_shown_by_itself() -> None:
    found = summary_of({**CAR, "their_estimate": limit(12800, 13000, 13500)})
    assert found.who_needs_it_more in found.text
    assert found.room in found.text
    assert found.would_shift_most in found.text
    first = found.find_out_next[0]
    assert first.question in found.text
    assert (first.ask, first.why) == ("them", "Their limit is known only roughly.")
    assert first.effect == "Depending on the answer, the split of power points to a price between €13,400 and €13,800."
    assert first.share_low is None
    second = found.find_out_next[1]
    assert second.effect == ("The answer can change the picture a lot: a difference of about €140 in the price.")
    assert (second.share_low, second.share_high) == (pytest.approx(0.3475, abs=1e-3), 0.5)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("The Morgans", "The Morgans seem to need this deal more than you do"),
        ("Ann and Bob", "Ann and Bob seem to need this deal more than you do"),
        ("The Glass", "The Glass seems to need this deal more than you do"),
        ("Smith and Sons Machine Tools", "Smith and Sons Machine Tools seems to need this deal"),
    ],
)
def test_a_plural_name_takes_a_plural_verb(name: str, told: str) -> None:
    body = {**CAR, "facts": {"me": {"rivals": 3}}, "counterparty": {"name": name}}
    assert summary_of(body).who_needs_it_more.startswith(told)


@pytest.mark.parametrize(
    ("days", "told"), [(0.5, "less than a day"), (1, "1 day"), (90, "90 days"), (122, "4 months"), (1600, "4 years")]
)
def test_the_time_left_is_told_as_people_do(days: float, told: str) -> None:
    body = {**CAR, "deadline": at_day(days), "their_estimate": {"deadline": at_day(days * 3)}}
    assert f"you have {told} to decide while they have" in summary_of(body).who_needs_it_more


def test_an_alternative_that_is_named_without_its_worth_is_asked_for() -> None:
    body = {**CAR, "batna": {"description": "The Passat of the dealer in Celle: two years older, and no heater."}}
    found = summary_of(body)
    named = "The Passat of the dealer in Celle: two years older"
    assert found.would_shift_most.startswith(
        f"Turning your alternative (“{named}”) into a firm and good second offer would strengthen your side"
    )
    asked = next(one for one in found.find_out_next if named in one.question)
    assert asked.why == "You named it without its worth, so it does not count yet."


def test_a_missing_limit_is_found_out_before_anything_else() -> None:
    nothing = {name: CAR[name] for name in ("title", "role", "currency", "issues")}
    found = summary_of(nothing)
    assert found.room.endswith("neither your limit nor theirs is known.")
    assert [question.ask for question in found.find_out_next[:2]] == ["yourself", "them"]
    assert found.find_out_next[0].question.startswith("From which point on")
    theirs = summary_of({**nothing, "their_estimate": limit(12000, 12500, 13000)})
    assert theirs.room.endswith("your own limit is not known.")


def test_a_price_that_is_estimated_where_the_deal_is_about_more_is_not_called_unknown() -> None:
    found = summary_of({**CRM, "their_estimate": {"walk_away": {"low": 40, "likely": 44, "high": 50, "unit": "money"}}})
    assert found.room.endswith("because your estimate of their limit is a price alone, and the deal is about more.")


def test_a_stateless_body_of_part_worths_is_told_in_words() -> None:
    from negotiator.negotiations.engine_input import described_terms

    body = {
        "my_preferences": {
            "part_worths": {"site": [["north", 0.7], ["south", 0.0]], "gift": [[True, 0.3], [False, 0]]},
            "reservation_utility": 0.2,
        },
        "their_preferences": {
            "part_worths": {"site": [["north", 0.1], ["south", 0.2]], "gift": [[True, 0], [False, 0.8]]},
            "reservation_utility": 0.1,
        },
    }
    found = summarise(described_terms(LeverageBody.model_validate(body)))
    assert found.room == (
        "There is room for a deal: some combinations of terms are better for both sides than no deal; the split of "
        "power points to roughly this: north site and no gift."
    )


# Properties

SHARE = st.none() | st.floats(0, 1)
SIDE_FACTS = st.fixed_dictionaries(
    {},
    optional={
        "delay_cost_per_day": st.floats(0, 1),
        "rivals": st.integers(0, 30),
        **{
            name: st.floats(0, 1)
            for name in ("dependency", "information", "market", "authority", "commitment", "relationship")
        },
    },
)
AMOUNT = st.integers(10_000, 20_000)
ENDS = st.lists(AMOUNT, min_size=3, max_size=3).map(lambda ends: limit(*sorted(ends)))
TEXTS = st.sampled_from(
    ["Stay here", "a_second_offer", "Plan (B)", "None", "Keep the old one; sell later.", "", "x" * 300]
)


@st.composite
def bodies(draw: st.DrawFn) -> dict[str, Any]:
    """Bodies of one price or a price and a term, in which anything may be known or not."""
    issues = [
        {"name": "price_per_unit", "type": "money", "range": {"min": "10000", "max": "20000"}},
        {"name": "term_months", "type": "integer", "direction": "lower", "range": {"min": 6, "max": 36}},
    ][: draw(st.integers(1, 2))]

    def worth() -> dict[str, Any]:
        values = {"price_per_unit": str(draw(AMOUNT)), "term_months": draw(st.integers(6, 36))}
        return {"package": {name: values[name] for name in list(values)[: len(issues)]}}

    body: dict[str, Any] = {
        "title": "Talk",
        "role": draw(st.sampled_from(["buyer", "seller", "candidate", "employer", "party"])),
        "currency": draw(st.sampled_from(["EUR", "JPY", "CHF", None])),
        "issues": issues,
        "facts": {"me": draw(SIDE_FACTS), "them": draw(SIDE_FACTS)},
        "judgements": draw(st.dictionaries(st.sampled_from(FACTOR_NAMES), st.floats(-1, 1), max_size=9)),
    }
    for name in ("walk_away", "target"):
        if draw(st.booleans()):
            body[name] = worth()
    if draw(st.booleans()):
        body["batna"] = {"description": draw(TEXTS) or None, "value": worth()}
    if draw(st.booleans()):
        body["their_estimate"] = draw(ENDS)
        if len(issues) > 1:
            low, likely, high = sorted(draw(st.lists(st.integers(0, 100), min_size=3, max_size=3)))
            body["their_estimate"]["walk_away"] = {
                "low": low / 100,
                "likely": likely / 100,
                "high": high / 100,
                "unit": draw(st.sampled_from(["utility", "money"])),
            }
    if draw(st.booleans()):
        body["deadline"] = at_day(draw(st.floats(-5, 300)))
    if draw(st.booleans()):
        body["counterparty"] = {"name": draw(st.sampled_from(["Ann Lee", "ACME", "o_k", "-"]))}
    return body


def texts_of(found: LeverageSummary) -> list[str]:
    """Every text of a summary."""
    asked = [(one.question, one.why, one.effect) for one in found.find_out_next]
    return [
        found.text,
        found.who_needs_it_more,
        found.room,
        found.would_shift_most,
        *(text for three in asked for text in three),
    ]


@given(bodies())
def test_every_sentence_is_whole(body: dict[str, Any]) -> None:
    found = summary_of(body)
    for text in texts_of(found):
        assert text[0].isupper() or text[0] == "o", text
        assert text[-1] in ".?", text
        assert not re.search(r"[{}_]|\bNone\b|\bnan\b|\binf\b|  |\.\.|[,;:]\.|\d\.\d{3}", text), text
        assert not re.search(r"\b(\w+) \1\b", text), text
        assert text.count("(") == text.count(")"), text
    assert len(re.findall(r"[.?](?= [A-Z]|$)", found.text)) <= 6


@given(bodies())
def test_every_forecast_is_a_whole_sentence(body: dict[str, Any]) -> None:
    given_ = {name: member for name, member in body.items() if member is not None}
    text = summary_with_forecast(given_).expected
    if text:
        assert re.match(r"(Expect|For the .+, expect) about ", text), text
        assert re.search(r". This is based on .+\.$", text), text
        assert not re.search(r"[{}_]|\bNone\b|\bnan\b|\binf\b|  |\.\.|[,;:]\.|\d\.\d{3}", text), text


def test_a_forecast_takes_the_place_of_the_price_that_the_split_of_power_points_to() -> None:
    body = {**CAR, "their_estimate": limit(12800, 13000, 13500)}
    assert "the split of power points to" in summary_of(body).room
    found = summary_with_forecast(body)
    assert "the split of power points to" not in found.room
    assert found.expected in found.text
    assert len(re.findall(r"[.?](?= [A-Z]|$)", found.text)) <= 7


@given(bodies())
def test_what_is_to_be_found_out_comes_in_order_of_its_effect(body: dict[str, Any]) -> None:
    terms = parse_terms(LeverageBody.model_validate({k: v for k, v in body.items() if v is not None}), lenient=True)
    terms = replace(terms, judgements=body["judgements"])
    found = summarise(terms).find_out_next
    assert len(found) <= MAX_QUESTIONS
    assert len({one.question for one in found}) == len(found)
    swings = [
        one.share_high - one.share_low for one in found if one.share_low is not None and one.share_high is not None
    ]
    assert swings == sorted(swings, reverse=True)
    power = assess_leverage(terms, now=NOW).power
    if len(found) < MAX_QUESTIONS:
        assert len(swings) == sum(fact.high - fact.low >= 0.005 for fact in power.unknown)


def test_unknown_factors_are_explained_in_nine_different_sentences() -> None:
    found = split_power(NO_FACTS, NO_FACTS)
    explained = [share.explanation for share in found.factors]
    assert len(set(explained)) == len(FACTOR_NAMES)
    assert "Nobody has said what ending the relationship would cost either side." in explained


@pytest.mark.parametrize(
    ("name", "value", "known", "expected"),
    [
        ("alternatives", 0.4, SIDES, "Your best alternative is better than theirs."),
        ("alternatives", -0.4, SIDES, "Their best alternative is better than yours."),
        ("time", 0.05, SIDES, "Waiting costs both sides about the same."),
        ("dependency", -0.3, SIDES, "Ending the relationship would cost you more than them."),
        ("information", 0.3, SIDES, "You know more about their limits than they know about yours."),
        ("information", -0.3, SIDES, "They know more about your limits than you know about theirs."),
        ("commitment", 0.3, SIDES, "They are already more committed to this deal than you are."),
        ("authority", -0.15, ("me",), "You need somebody's approval. Their side of this is not known."),
        ("authority", 0.3, ("them",), "They need somebody's approval. Your side of this is not known."),
        ("competition", 0.0, ("me",), "You have hardly anybody else to turn to. Their side of this is not known."),
    ],
)
def test_a_factor_is_explained_in_a_plain_sentence(
    name: str, value: float, known: tuple[Any, ...], expected: str
) -> None:
    assert factor_explanation(name, value, frozenset(known)) == expected


def test_a_judged_factor_is_said_to_be_the_users_own_judgement() -> None:
    found = factor_explanation("market", -0.5, frozenset(), judged=True)
    assert found == "In your own judgement, the market favours them."


def test_every_factor_has_its_words() -> None:
    assert set(FACTOR_WORDS) == set(FACTOR_NAMES)


def test_a_fact_that_is_known_is_not_asked_for() -> None:
    me = SideFacts(alternative=0.5, days_left=10)
    unknown = {(fact.factor, fact.side) for fact in split_power(me, NO_FACTS).unknown}
    assert not unknown & {("alternatives", "me"), ("time", "me")}
    assert ("time", "them") in unknown
