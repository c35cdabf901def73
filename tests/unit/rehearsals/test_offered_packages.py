"""What a text offers, in the units of the issues: a table of sentences of users in four talks."""

import tomllib
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.rehearsals.play import offer_in
from negotiator.terms.issues import Package, check_value
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.terms import Terms
from negotiator.terms.terms_parsing import parse_terms

TEXTS: Final = Path(__file__).with_name("offer_texts.toml")
LEAST_PRECISION: Final = 0.97
LEAST_RECALL: Final = 0.85


@cache
def table() -> Mapping[str, Any]:
    return tomllib.loads(TEXTS.read_text("utf-8"))


@cache
def terms_of(talk: str) -> Terms:
    return parse_terms(NegotiationBody.model_validate(table()[talk]["terms"]), lenient=True)


def texts() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for talk, rows in table().items():
        for text, package in rows["said"]:
            yield talk, text, package


def offered(talk: str, text: str, *theirs: Package) -> dict[str, Any]:
    package = offer_in(terms_of(talk), text, theirs=theirs)
    return {name: float(value) if isinstance(value, Decimal) else value for name, value in package.items()}


def test_of_the_values_that_are_read_and_offered_enough_agree() -> None:
    right = read = meant = 0
    for talk, text, package in texts():
        found = offered(talk, text).items()
        right += len(found & package.items())
        read += len(found)
        meant += len(package)
    assert right / read >= LEAST_PRECISION, f"{right} of {read} that were read"
    assert right / meant >= LEAST_RECALL, f"{right} of {meant} that were offered"


def test_the_table_has_two_hundred_sentences_of_four_talks() -> None:
    assert len({text for _, text, _ in texts()}) >= 200
    assert len(table()) == 4


@pytest.mark.parametrize(
    ("text", "package"),
    [
        ("13,200 works for me.", {"price": 13200}),
        ("Make it 13,200 then.", {"price": 13200}),
        ("13,200?", {}),
        ("13,200 is too much.", {}),
        ("Take another 200 off.", {"price": 13000}),
        ("You said 13,200.", {}),
    ],
)
def test_a_figure_of_the_other_side_is_offered_when_words_take_it(text: str, package: dict[str, Any]) -> None:
    assert offered("car", text, {"price": Decimal("13200")}) == package


def test_a_curved_apostrophe_is_read_as_a_straight_one() -> None:
    assert offered("renewal", "We’d sign for 24 months.") == {"contract_term": 24}


def test_a_value_that_an_issue_cannot_take_is_left_out() -> None:
    assert offered("renewal", "I could do 60 with a six month term.") == {"price": 60}


def test_several_sentences_are_read_one_by_one_and_the_last_figure_counts() -> None:
    text = "I could do 12,500. No, wait, 12,700 with winter tyres. Is 14,900 your list price?"
    assert offered("car", text) == {"price": 12700, "winter_tyres": True}


@given(text=st.text(max_size=200))
def test_any_text_is_read_to_values_that_the_issues_take(text: str) -> None:
    terms = terms_of("rent")
    package = offer_in(terms, f"{text} 1,000 with {text} a 24 month lease")
    for name, value in package.items():
        issue = terms.issue(name)
        assert issue is not None
        assert check_value(issue, value, "/package") == []
