"""Words as search sees them."""

from unicodedata import normalize

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from negotiator.base.search_terms import fold_text, split_words, stemmed_terms


def test_one_word_has_one_stem_in_all_its_forms() -> None:
    assert stemmed_terms("negotiating") == stemmed_terms("negotiated") == stemmed_terms("Negotiates")


def test_accents_case_and_width_do_not_matter() -> None:
    assert list(split_words("Ｃafé RÉSUMÉ")) == ["cafe", "resume"]


def test_a_number_stays_one_word_and_its_thousands_are_not_parted() -> None:
    assert list(split_words("$10,000 or 12.5% in 2,5")) == ["10000", "or", "12.5", "in", "2,5"]


def test_a_question_of_stop_words_alone_is_still_a_question() -> None:
    assert stemmed_terms("what is it") == ["what", "is", "it"]
    assert stemmed_terms("what is the price") == ["price"]


@pytest.mark.parametrize(
    ("one", "other"), [("パンダ", "ハンダ"), ("データベース", "テータヘース"), ("й", "и"), ("पानी", "पनि"), ("ที่", "ท")]
)
def test_marks_that_are_letters_tell_words_apart_however_they_are_composed(one: str, other: str) -> None:
    assert list(split_words(f"{one} {other}")) == [one, other]
    assert list(split_words(normalize("NFD", one))) == [one]


@pytest.mark.parametrize(("one", "other"), [("Άλφα", "αλφα"), ("مُحَمَّد", "محمد"), ("שָׁלוֹם", "שלום"), ("1️⃣", "1")])
def test_accents_and_optional_points_do_not_matter_in_any_script(one: str, other: str) -> None:
    assert list(split_words(one)) == [other]


@given(st.text())
@example("℠")  # folds only once it is taken apart
def test_any_text_is_read_the_same_when_it_was_folded_before(text: str) -> None:
    assert list(split_words(fold_text(text))) == list(split_words(text))
