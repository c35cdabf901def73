"""The price to expect in a negotiation, as amounts and in words."""

from collections.abc import Sequence
from decimal import Decimal
from time import process_time
from typing import Any

from negotiator.advice.expected_price import ExpectedPrice, expected_price
from negotiator.advice.leverage.concessions import LedgerOffer, Side
from negotiator.negotiations.schemas_advice import LeverageBody
from negotiator.terms.terms_parsing import parse_terms
from negotiator.terms.wording import Wording

CAR: dict[str, Any] = {
    "title": "Used Golf",
    "role": "buyer",
    "currency": "EUR",
    "issues": [{"name": "price", "type": "money", "range": {"min": "9000", "max": "14000"}}],
    "target": {"package": {"price": "10800"}},
    "walk_away": {"package": {"price": "12500"}},
}
CRM: dict[str, Any] = {
    "title": "CRM renewal, 80 seats",
    "role": "buyer",
    "currency": "EUR",
    "issues": [
        {
            "name": "seat",
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
    "target": {"package": {"seat": "45", "term": 12}},
    "walk_away": {"package": {"seat": "56", "term": 24}},
}
SALARY: dict[str, Any] = {
    "title": "Senior engineer",
    "role": "candidate",
    "currency": "EUR",
    "issues": [
        {"name": "salary", "type": "money", "range": {"min": "80000", "max": "110000"}},
        {"name": "bonus", "label": "Signing bonus", "type": "money", "range": {"min": "0", "max": "9000"}},
    ],
    "target": {"package": {"salary": "100000", "bonus": "5000"}},
    "walk_away": {"package": {"salary": "88000", "bonus": "0"}},
}


def told(*offers: tuple[Side, dict[str, Any]]) -> tuple[LedgerOffer, ...]:
    """A ledger of these offers."""
    return tuple(LedgerOffer(place + 1, by, package) for place, (by, package) in enumerate(offers))


def at(by: Side, price: object) -> tuple[Side, dict[str, Any]]:
    """An offer of a price."""
    return by, {"price": str(price)}


def expected(body: dict[str, Any], offers: Sequence[LedgerOffer] = (), **members: Any) -> ExpectedPrice:
    """The forecast of a described negotiation."""
    terms = parse_terms(LeverageBody.model_validate(body), lenient=True)
    found = expected_price(Wording(terms), offers, **members)
    assert found is not None
    return found


def test_before_anybody_speaks_it_rests_on_target_limit_and_range() -> None:
    found = expected(CAR)
    assert Decimal(10_800) < found.price < Decimal(12_500)
    assert found.low < found.price < found.high <= Decimal(12_500)
    assert found.rests_on == ("the range of the price", "your target", "your limit")


def test_a_list_price_stands_for_the_first_offer_of_a_seller() -> None:
    found = expected({**CAR, "baseline": {"kind": "list_price", "value": "12900"}})
    assert "the list price" in found.rests_on
    dearer = expected({**CAR, "baseline": {"kind": "list_price", "value": "13900"}})
    assert found.price < dearer.price
    seller = {**CAR, "role": "seller", "target": {"package": {"price": "12500"}}}
    seller = {**seller, "walk_away": {"package": {"price": "10800"}}}
    assert "your list price" in expected({**seller, "baseline": {"kind": "list_price", "value": "13500"}}).rests_on


def test_comparable_deals_count_until_both_have_spoken() -> None:
    cheap = Decimal(10_900)
    found = expected(CAR, comparable=cheap)
    assert found.price < expected(CAR).price
    assert "what comparable deals end at" in found.rests_on
    offers = told(at("them", 13_500), at("me", 10_500))
    assert expected(CAR, offers, comparable=cheap) == expected(CAR, offers)


def test_the_sentence_says_the_price_the_interval_and_what_it_rests_on() -> None:
    offers = told(at("them", 13_500), at("me", 10_500))
    assert expected(CAR, offers).text == (
        "Expect about €12,100 (between €11,500 and €12,450). This is based on the first offer of each side and your "
        "limit."
    )


def test_steps_are_described_in_words() -> None:
    offers = told(
        at("them", 14_000),
        at("me", 10_000),
        at("them", 13_200),
        at("me", 10_400),
        at("them", 12_800),
        at("me", 10_800),
        at("them", 12_600),
    )
    assert expected(CAR, offers).rests_on == (
        "where both sides stand now",
        "the midpoint of the first offers",
        "their three steps, each about half as large as the one before",
        "your two steps, the last about as large as the one before",
        "your limit",
    )
    uneven = told(*(at("them", price) for price in (14_000, 13_600, 13_400, 13_200)), at("me", 10_000))
    assert "their three steps" in expected(CAR, uneven).rests_on
    still = told(at("them", 14_000), at("me", 10_000), at("them", 14_000))
    assert "the fact that they have not moved" in expected(CAR, still).rests_on


def test_a_unit_price_has_its_total() -> None:
    offers = told(("them", {"seat": "58", "term": 12}), ("me", {"seat": "44"}))
    found = expected(CRM, offers)
    assert found.total is not None
    assert found.total.price == found.price * 80 * 12
    assert found.total.low < found.total.price < found.total.high
    assert " per seat and month (between " in found.text
    assert " in all on their last terms. This is based on " in found.text
    assert expected(CRM).text.count(" on your target's terms.") == 1
    assert found.deal_probability is None


def test_an_offer_on_another_issue_changes_nothing() -> None:
    offers = told(("them", {"seat": "58", "term": 12}), ("me", {"seat": "44", "term": 12}))
    more = (*offers, LedgerOffer(3, "them", {"term": 24}))
    one, other = expected(CRM, offers), expected(CRM, more)
    assert (one.price, one.low, one.high) == (other.price, other.low, other.high)


def test_the_order_in_which_the_sides_spoke_changes_nothing() -> None:
    one = told(at("them", 14_000), at("me", 10_000), at("them", 13_200), at("me", 10_400))
    other = told(at("me", 10_000), at("me", 10_400), at("them", 14_000), at("them", 13_200))
    assert expected(CAR, one) == expected(CAR, other) == expected(CAR, one[::-1])


def test_with_two_money_issues_the_sentence_names_the_one() -> None:
    found = expected(SALARY)
    assert found.issue == "salary"
    assert found.text.startswith("For the salary, expect about €")
    assert Decimal(88_000) <= found.low <= found.price <= found.high


def test_the_own_limit_is_kept_to_the_cent() -> None:
    for limit in ("12499.995", "12500", "10900.01"):
        body = {**CAR, "walk_away": {"package": {"price": limit}}}
        for offers in ((), told(at("them", 14_000)), told(at("them", 14_000), at("me", 9_000))):
            assert expected(body, offers).high <= Decimal(limit)


def test_buyer_and_seller_of_mirrored_talks_expect_mirrored_prices() -> None:
    buyer = expected(CAR, told(at("them", 13_500), at("me", 10_500), at("them", 13_000)))
    mirrored = {
        **CAR,
        "role": "seller",
        "target": {"package": {"price": "12200"}},
        "walk_away": {"package": {"price": "10500"}},
    }
    seller = expected(mirrored, told(at("them", 9_500), at("me", 12_500), at("them", 10_000)))
    assert buyer.price - 9_000 == 14_000 - seller.price
    assert (buyer.low - 9_000, buyer.high - 9_000) == (14_000 - seller.high, 14_000 - seller.low)


def test_without_a_price_or_without_room_nothing_is_expected() -> None:
    terms = parse_terms(
        LeverageBody.model_validate(
            {**CAR, "issues": [{"name": "days", "type": "integer", "range": {"min": 1, "max": 9}}],
             "target": None, "walk_away": None}
        ),
        lenient=True,
    )  # fmt: skip
    assert expected_price(Wording(terms)) is None
    estimate = {"walk_away": {"low": "12600", "likely": "12800", "high": "13000"}}
    body = LeverageBody.model_validate({**CAR, "their_estimate": estimate})
    assert expected_price(Wording(parse_terms(body, lenient=True))) is None


def test_two_hundred_offers_on_fifty_issues_are_fast() -> None:
    others = [{"name": f"issue_{n}", "type": "number", "range": {"min": 0, "max": 9}} for n in range(49)]
    body = {**CAR, "issues": [*CAR["issues"], *others]}
    package = {f"issue_{n}": n % 10 for n in range(49)}
    offers = tuple(
        LedgerOffer(n + 1, "me" if n % 2 else "them", {**package, "price": str(10_000 + n if n % 2 else 14_000 - n)})
        for n in range(200)
    )
    started = process_time()
    expected(body, offers)
    assert process_time() - started < 1.0
