"""The stored form of terms."""

from decimal import Decimal

import orjson
import pytest
from hypothesis import given, settings

from negotiator.advice.passed_limits import past_limits_view
from negotiator.terms.limits import is_below_floor, own_limit
from negotiator.terms.terms import TERMS_VERSION, decode_terms, encode_terms
from negotiator.terms.terms_view import terms_of_view, terms_view
from negotiator.terms.wording import Wording
from tests.bench.stored_terms import SIX_ISSUES, parsed
from tests.helpers.generated_talks import SEEDS, talk
from tests.unit.advice.plans.plan_cases import CASES, case

_READ = ("title", "role", "currency", "issues", "counterparty", "target", "walk_away", "allow")


@pytest.mark.parametrize("name", CASES)
def test_stored_terms_are_read_back_as_they_were(name: str) -> None:
    terms = case(name).brief.terms
    stored = encode_terms(terms)
    assert encode_terms(decode_terms(stored)) == stored
    assert terms_view(decode_terms(stored)) == terms_view(terms)


def test_every_field_of_a_full_negotiation_is_read_back() -> None:
    terms = parsed(SIX_ISSUES)
    assert decode_terms(encode_terms(terms)) == terms


def test_terms_stored_before_limits_and_trades_are_read_back() -> None:
    terms = parsed(SIX_ISSUES)
    row = orjson.loads(encode_terms(terms))
    del row["terms"]["allowed"], row["terms"]["assumed_directions"]
    for issue in row["terms"]["preferences"]["issues"]:
        del issue["limit"], issue["multiples"]
    read = decode_terms(orjson.dumps(row))
    price = read.issues[0]
    assert (read.allowed, price.limit, price.multiples) == ((), None, ())
    assert own_limit(read, price) == Decimal(56000)


@settings(max_examples=50)
@given(seed=SEEDS)
def test_a_view_is_read_back_as_the_issues_and_limits_that_it_shows(seed: int) -> None:
    known = talk(seed)
    shown = terms_view(known.terms)
    read = terms_of_view(shown)
    assert [shown[name] for name in _READ] == [terms_view(read)[name] for name in _READ]
    for offer in known.offers:
        assert Wording(read).package(offer.package) == Wording(known.terms).package(offer.package)
        assert past_limits_view(read, offer.package) == past_limits_view(known.terms, offer.package)
        below = (is_below_floor(terms, offer.package, binding=True) for terms in (read, known.terms))
        assert len(set(below)) == 1


def test_the_stored_form_says_its_version() -> None:
    assert orjson.loads(encode_terms(parsed(SIX_ISSUES)))["v"] == TERMS_VERSION
