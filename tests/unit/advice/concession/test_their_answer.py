"""A yes, a no and other prices in what the other side says about the user's offer."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.advice.concession.their_answer import TheirAnswer, read_answer
from negotiator.advice.leverage.concessions import LedgerOffer
from negotiator.terms.issues import Issue, IssueRange

PRICE = Issue("price", "money", range=IssueRange(Decimal(11000), Decimal(15000)))
THEIRS = LedgerOffer(1, "them", {"price": "14900.00"})
MINE = LedgerOffer(2, "me", {"price": "12300.00"})
THEIRS_AGAIN = LedgerOffer(3, "them", {"price": "14200.00"})
WAITING, ANSWERED = (THEIRS, MINE), (THEIRS, MINE, THEIRS_AGAIN)


def answer(words: str, offers: tuple[LedgerOffer, ...] = WAITING) -> TheirAnswer:
    return read_answer(words, PRICE, offers)


@pytest.mark.parametrize(
    "words",
    [
        "Deal!",
        "OK, agreed.",
        "Deal! When can you pick it up?",
        "You can have it for 12,300.",
        "Alright, twelve thousand three hundred, you've got a deal",
        "It's yours.",
        "That works for me",
        "Fine with us, let's do it",
        "Abgemacht, 12.300 Euro",
        "I'll take it",
        "Done. 12300.",
        "OK, €12,300 it is.",
        "Yes, 12k3 is fine",
        "12,300? You've got yourself a car.",
        "All right, 12,300.",
    ],
)
def test_a_yes_accepts_the_last_offer(words: str) -> None:
    assert answer(words).agrees == "yes"


@pytest.mark.parametrize(
    "words",
    [
        "No deal.",
        "OK, 12,300 is too low",
        "12,300 is less than I paid for it",
        "We have a deal at 13,500",
        "That would be a deal if you came up a little",
        "I can't accept that",
        "I agree that it is a fine car",
        "Are we done with this?",
        "Deal?",
        "We are not agreed",
        "It's a great deal for you",
        "Somebody else said deal",
        "We've already sold it",
        "Let me think about it",
        "",
    ],
)
def test_what_is_no_yes_accepts_nothing(words: str) -> None:
    assert answer(words).agrees == "no"


@pytest.mark.parametrize(
    "words",
    [
        "Deal, but only if you pay cash",
        "All right, 12,300, if you pick it up this week.",
        "You can have it for 12,300 once I have the money",
    ],
)
def test_a_yes_under_a_condition_is_none_yet(words: str) -> None:
    assert answer(words).agrees == "perhaps"


@pytest.mark.parametrize(
    "words",
    [
        "Deal, 12½ thousand",
        "Sure, 12,300 pounds",
        "Yes, €12,300 minus the deposit",
        "Agreed, for both cars",
        "Agreed, without the winter tyres",
        "Yes, 12,300 a year",
        "Yes, -12,300",
        "Agreed, 14",
        "Deal. The winter tyres stay with me.",
    ],
)
def test_a_yes_beside_anything_that_is_not_understood_is_none_yet(words: str) -> None:
    assert read_answer(words, PRICE, WAITING, "EUR").agrees == "perhaps"


@pytest.mark.parametrize("words", ["I agree it is a bit excessive.", "I agree with my wife that the price is too low."])
def test_to_agree_with_something_else_is_no_yes(words: str) -> None:
    assert answer(words) == TheirAnswer()


@pytest.mark.parametrize(
    "words", ["The car is sold as seen.", "It is gone through inspection.", "The tyres are sold separately."]
)
def test_how_something_is_sold_does_not_end_the_talk(words: str) -> None:
    assert answer(words) == TheirAnswer()


def test_after_another_offer_of_theirs_a_yes_counts_with_the_figure_only() -> None:
    assert answer("OK, deal", ANSWERED).agrees == "perhaps"
    assert answer("OK, deal, 12,300", ANSWERED).agrees == "yes"
    assert answer("OK, deal, 14,200", ANSWERED).agrees == "no"
    assert answer("OK, deal", (THEIRS,)).agrees == "no"


@pytest.mark.parametrize(
    "words",
    [
        "It's sold, sorry.",
        "Somebody else bought it this morning",
        "Sorry, I sold it an hour ago.",
        "I sold it an hour ago.",
        "The flat is already taken.",
        "It's no longer available",
        "Das Auto ist leider verkauft",
    ],
)
def test_what_is_gone_is_heard(words: str) -> None:
    assert answer(words) == TheirAnswer(is_gone=True)


@pytest.mark.parametrize("words", ["Is it sold?", "It is almost sold", "If it is gone, it is gone"])
def test_what_may_be_gone_is_not(words: str) -> None:
    assert not answer(words).is_gone


@given(st.text(max_size=300))
@settings(max_examples=200)
def test_any_words_are_read(words: str) -> None:
    assert answer(words, ANSWERED).agrees in {"no", "perhaps", "yes"}


def test_without_a_price_only_the_words_count() -> None:
    assert read_answer("Deal", None, WAITING).agrees == "yes"
