"""Drafts to the other side, held against the move that was advised."""

import time
import tomllib
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings

from negotiator.advice.concession import move_text
from negotiator.advice.concession.move import person_move
from negotiator.advice.concession.reply_check import UNSAFE, HeldMove, check_reply
from negotiator.advice.leverage.concessions import LedgerOffer
from negotiator.negotiations.person_advice import held_move
from negotiator.terms.issues import Package
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.terms import Argument
from negotiator.terms.terms_parsing import parse_terms
from negotiator.terms.wording import Wording
from tests.helpers.generated_talks import NOW, SEEDS, talk

DRAFTS: Final = tomllib.loads(Path(__file__).with_name("reply_drafts.toml").read_text("utf-8"))
SAID: Final = "I have looked at many cars like yours. I can do 12,300."
CAR: Final[dict[str, Any]] = {
    "title": "Used Golf",
    "role": "buyer",
    "currency": "EUR",
    "issues": [{"name": "price", "label": "Price", "type": "money", "range": {"min": "5000", "max": "16000"}}],
    "target": {"price": "12500"},
    "walk_away": {"price": "14000"},
    "batna": {"description": "the same model from the dealer in Kassel", "price": "14200"},
}
FACTS: Final = (
    Argument("The service was missed twice"),
    Argument("I pay in cash", "fact"),
    Argument("My lease ends on Sunday", shareable=False),
)
SOFTWARE: Final[dict[str, Any]] = {
    "title": "CRM renewal, 80 seats",
    "role": "buyer",
    "currency": "EUR",
    "issues": [
        {"name": "price", "label": "Price per seat and month", "type": "money", "range": {"min": 38, "max": 65},
         "multiples": [{"count": 80, "of": "seats"}, {"count": 12, "of": "months a year"}]},
        {"name": "months", "label": "Contract term", "type": "integer", "unit": "months", "direction": "lower",
         "range": {"min": 12, "max": 36, "step": 12}},
        {"name": "days", "label": "Payment term", "type": "duration_days", "direction": "higher",
         "range": {"min": 14, "max": 60}},
    ],
    "target": {"price": 45, "months": 12, "days": 50},
    "walk_away": {"price": 54, "months": 24, "days": 30},
    "batna": {"description": "the written quote of Nimbus", "price": 56, "months": 24, "days": 30},
}  # fmt: skip
FLAT: Final[dict[str, Any]] = {
    "title": "Flat",
    "role": "tenant",
    "issues": [
        {"name": "start", "label": "Start date", "type": "date", "direction": "lower",
         "range": {"min": "2031-02-01", "max": "2031-06-01"}},
        {"name": "notice", "label": "Notice period", "type": "integer", "unit": "months", "direction": "lower",
         "range": {"min": 1, "max": 6}},
    ],
    "walk_away": {"start": "2031-05-01", "notice": 5},
}  # fmt: skip
TALKS: Final[dict[str, tuple[dict[str, Any], list[tuple[str, Package]], Package]]] = {
    "car": (CAR, [("them", {"price": "14900"}), ("me", {"price": "12300"}), ("them", {"price": "13900"})],
            {"price": Decimal(12600)}),
    "software": (SOFTWARE, [("me", {"price": "43.50", "months": 12, "days": 47}),
                            ("them", {"price": "60", "months": 36, "days": 14})],
                 {"price": Decimal(46), "months": 12, "days": 45}),
    "flat": (FLAT, [], {"start": "2031-03-01", "notice": 3}),
}  # fmt: skip


def held(name: str, utterance: str = "", **more: Any) -> HeldMove:
    body, said, package = TALKS[name]
    terms = replace(parse_terms(NegotiationBody.model_validate(body)), arguments=FACTS if name == "car" else ())
    offers = tuple(
        LedgerOffer(seq, "me" if by == "me" else "them", one, words=SAID if by == "me" else "")
        for seq, (by, one) in enumerate(said, 1)
    )
    on_table = offers[-1].package if offers else None
    move = person_move(terms, offers, now=NOW, on_table=on_table, words=utterance or None, answer=utterance or None)
    return replace(held_move(move, terms, offers, utterance, package), **more)


def kinds(draft: str, move: HeldMove) -> set[str]:
    problems, _ = check_reply(draft, move)
    assert all(one.mend.endswith((".", "?", "!")) and "_" not in one.mend for one in problems)
    return {one.kind for one in problems}


@pytest.mark.parametrize(
    ("name", "draft", "utterance", "expected"), [(name, *case) for name, cases in DRAFTS.items() for case in cases]
)
def test_a_draft_has_just_these_problems(name: str, draft: str, utterance: str, expected: str) -> None:
    assert kinds(draft, held(name, utterance)) == set(expected.split()), check_reply(draft, held(name, utterance))


def test_a_yes_is_fine_where_the_advice_is_to_accept() -> None:
    accepting = held("car", action="accept", package={"price": Decimal(13900)})
    assert kinds("Deal!", accepting) == set()
    assert kinds("13,900 it is. Let's put it in writing.", accepting) == set()
    assert kinds("I can do 13,000.", accepting) == {"other_figure", "missing_figure"}


def test_no_offer_and_no_yes_where_the_advice_is_to_leave() -> None:
    leaving = held("car", action="walk_away", package=None)
    assert kinds("Thank you for your time. As it stands I cannot make it work.", leaving) == set()
    assert kinds("I can do 12,600.", leaving) == {"other_figure"}
    assert kinds("Deal!", leaving) == {"accepts"}


def test_what_the_other_side_knows_is_not_private() -> None:
    talk_ = held("car")
    open_ = replace(talk_, offers=[*talk_.offers, LedgerOffer(4, "them", {"price": "14000"})])
    assert kinds("You wanted 14,000. I can do 12,600.", open_) == set()


def test_a_mend_names_the_offer() -> None:
    (first, *_), offers = check_reply("I can do 13,000.", held("car"))
    assert first.mend == "Write €12,600: that is the offer."
    assert offers == [{"price": Decimal(13000)}]


@pytest.mark.parametrize("part", ["9 8 7 6 ", "I can do 12,600 today. ", "a. ", "[", "my limit ", "why? 1k2 "])
def test_the_longest_draft_is_read_in_time(part: str) -> None:
    begun = time.perf_counter()
    check_reply((part * 4000)[:4000], held("car", "Why so low? " * 300))
    assert time.perf_counter() - begun < 3


@given(SEEDS)
@settings(max_examples=40)
def test_the_engine_s_own_words_are_safe(seed: int) -> None:
    made = talk(seed)
    move = person_move(made.terms, made.offers, now=NOW, on_table=made.on_table, words=made.words, answer=made.words)
    said = move_text.say(move, Wording(move.path.aims.terms))
    assert not UNSAFE & kinds(said, held_move(move, made.terms, made.offers, made.words))
