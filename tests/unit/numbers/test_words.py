"""Words as search sees them."""

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


@given(st.text())
@example("℠")  # folds only once it is taken apart
def test_any_text_is_read_the_same_when_it_was_folded_before(text: str) -> None:
    assert list(split_words(fold_text(text))) == list(split_words(text))
