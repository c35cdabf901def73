"""Numbers in talk and in texts: each reader finds what is in `numbers.toml`, and all agree on what they can read."""

import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

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
    normalise_text,
    number_readings,
    number_runs,
    number_tokens,
    numbers_in,
)
from negotiator.numbers.words import german_compound, language_of
from negotiator.teleprompter.redaction import redact
from negotiator.teleprompter.spoken_figures import find_figures
from tests.helpers.spelled_numbers import spelled

TABLE: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("numbers.toml").read_text("utf-8"))
ONES = [*("", "ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf"),
        *("dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn")]  # fmt: skip
GERMAN_TENS = ["", "", *("zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig")]


def german(value: int) -> str:
    """The German word of 1 to 999,999."""
    if value >= 1000:
        return german(value // 1000) + "tausend" + (german(value % 1000) if value % 1000 else "")
    if value >= 100:
        return ONES[value // 100] + "hundert" + (german(value % 100) if value % 100 else "")
    if value < 20:
        return ONES[value]
    return (ONES[value % 10] + "und" if value % 10 else "") + GERMAN_TENS[value // 10]


def values(text: str) -> list[Decimal]:
    return [run.value for run in number_runs(number_tokens(text))]


@given(st.integers(2, 999_999_999))
def test_every_cardinal_in_words_is_read_back(value: int) -> None:
    assert values(f"we say {spelled(value)} for now") == [Decimal(value)]


@given(value=st.integers(2, 999_999))
def test_every_german_compound_is_read_back(value: int) -> None:
    assert german_compound(german(value)) == value
    assert values(f"wir sagen {german(value)} und nicht mehr") == [value]


@given(st.integers(0, 999_999_999))
def test_digits_with_and_without_commas_are_the_same(value: int) -> None:
    assert values(f"it is {value:,} now") == values(f"it is {value} now") == [Decimal(value)]


@given(st.text(max_size=300))
def test_any_text_is_read_without_an_error(text: str) -> None:
    for language in (None, "de", "fr", "es"):
        assert all(run.first < run.last for run in number_runs(number_tokens(text, language)))
    plain = normalise_text(text)
    for number in numbers_in(plain):
        assert 0 <= number.start < number.end <= len(plain)
        assert number.readings


@pytest.mark.parametrize(("said", "readings"), TABLE["spoken"])
def test_short_forms_and_words_of_any_language_have_their_readings(said: str, readings: list[str]) -> None:
    (run,) = number_runs(number_tokens(said))
    assert run.readings == tuple(Decimal(one) for one in readings)


@pytest.mark.parametrize("said", TABLE["not_spoken"])
def test_what_counts_nothing_or_is_read_in_part_is_no_number(said: str) -> None:
    assert values(said) == []


def test_two_numbers_side_by_side_stay_two() -> None:
    assert values("between ten and twelve") == [10, 12]
    assert values("10 12") == [10, 12]


@pytest.mark.parametrize(("said", "language"), TABLE["languages"])
def test_a_text_has_the_language_of_most_of_its_words(said: str, language: str) -> None:
    assert language_of(said.split()) == language


@pytest.mark.parametrize(("text", "value"), TABLE["written"])
def test_a_number_is_read_however_it_is_spelled(text: str, value: str) -> None:
    assert Decimal(value) in number_readings([text])


@pytest.mark.parametrize("text", TABLE["not_written"])
def test_words_that_only_contain_number_words_are_none(text: str) -> None:
    assert numbers_in(text) == []


@given(amount=st.integers(0, 10**9))
def test_every_grouping_of_an_amount_is_the_amount(amount: int) -> None:
    for text in (str(amount), f"{amount:,}", f"{amount:,}".replace(",", "."), f"{amount:,}".replace(",", " ")):
        assert Decimal(amount) in number_readings([text])


@pytest.mark.parametrize("text", ["1.250 900", "1,250'900", "9.500 000,5"])
def test_mixed_separators_are_read_without_a_fault(text: str) -> None:
    assert numbers_in(normalise_text(text))[0].readings


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
