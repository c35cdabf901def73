"""What the user says before a "no" or an "okay": a request, an offer, or neither."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.teleprompter.cues.requests import makes_request


@pytest.mark.parametrize(
    "said",
    [
        "would you take eight hundred for it",
        "could you do a bit better on the fee?",
        "how about sixty",
        "I could go to two twenty",
        "let's say 40",
        "would you be able to give something?",
        "Twelve hundred?",
        "we have a deal then",
        "any chance of a longer lease",
    ],
)
def test_a_request_or_an_offer_is_one(said: str) -> None:
    assert makes_request(said)


@pytest.mark.parametrize(
    "said",
    [
        "good morning, how was the trip?",
        "we moved to the new office in march",
        "how old is she?",
        "thanks, that is good to know",
        "which floor is it on?",
    ],
)
def test_talk_is_none(said: str) -> None:
    assert not makes_request(said)


@given(st.text(max_size=300))
def test_no_text_breaks_it(text: str) -> None:
    assert makes_request(text) in {True, False}
