"""The readers of numbers agree on what they all can read, and on tokens that one of them hands to another."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.advice.tactics.phrases import split_words
from negotiator.numbers.read import (
    COUNT_WORDS,
    CURRENCY_WORDS,
    SPOKEN_SCALES,
    TENS,
    UNITS,
    WRITTEN_SCALES,
    digit_runs,
    find_tokens,
    number_readings,
    number_runs,
    number_tokens,
)
from negotiator.teleprompter.redaction import redact
from negotiator.teleprompter.spoken_figures import find_figures
from tests.helpers.spelled_numbers import spelled

PIECES = [
    *("one", "two", "oh", "twelve", "forty-two", "hundred", "thousand", "a", "and", "half", "point", "double"),
    *("900", "1,250", "1.250", "42k", "12%", "5 %", "$900", "10:30", "2026-01-02", "12abc", "٣", "²", "1.2345", "a_b"),
    *("don't", "don’t", "price", "my number is", "jane dot doe at example dot com", "[card]", "to", "per month"),
    *(",", ".", "-", "_", "\n", "\t", "é", "İ", "(", ";", "4111 1111 1111 1111"),
]
TALK = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(["", " ", "  "])), max_size=12).map(
    lambda parts: "".join(piece + gap for piece, gap in parts)
)


@given(text=TALK | st.text(max_size=200))
def test_any_text_is_read_and_only_numbers_have_values(text: str) -> None:
    for token in number_tokens(text):
        assert token.start < token.end
        assert (token.kind == "number") == bool(token.readings)
    find_figures(redact(text))


@given(text=TALK | st.text(max_size=200))
def test_tokens_leave_out_blanks_only(text: str) -> None:
    at = 0
    for token in find_tokens(text):
        assert not text[at : token.start].strip()
        at = token.end
    assert not text[at:].strip()


@given(value=st.integers(2, 999_999_999))
def test_written_and_spoken_readers_agree_on_every_cardinal(value: int) -> None:
    for text in (spelled(value), str(value), f"{value:,}"):
        (run,) = number_runs(number_tokens(text))
        assert run.readings[0] in number_readings([text])


@given(digits=st.text("0123456789", min_size=1, max_size=12))
def test_digits_said_one_by_one_are_the_digits(digits: str) -> None:
    words = list(UNITS)
    (run,) = digit_runs(find_tokens(" ".join(words[int(digit)] for digit in digits)))
    assert run.text == digits


@pytest.mark.parametrize("word", sorted(COUNT_WORDS - {"dozen", "hundred", "thousand", "million"}))
def test_every_reader_knows_every_number_word(word: str) -> None:
    value = Decimal(UNITS.get(word, TENS.get(word, 0)))
    assert [run.value for run in number_runs(number_tokens(word))] == [value]
    assert number_readings([word]) == {value}
    assert [run.text for run in digit_runs(find_tokens(word))] == [str(value)]
    assert "#" in split_words(word, {})[0].keys


def test_scales_and_currencies_have_one_meaning() -> None:
    common = SPOKEN_SCALES.keys() & WRITTEN_SCALES.keys()
    assert {word: SPOKEN_SCALES[word] for word in common} == {word: WRITTEN_SCALES[word] for word in common}
    for word, code in CURRENCY_WORDS.items():
        [figure] = find_figures(f"the price is 900 {word}")
        assert figure.currency == code
