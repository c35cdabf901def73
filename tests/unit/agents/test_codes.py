"""Delegation codes as people type them."""

import re

from hypothesis import given
from hypothesis import strategies as st

from negotiator.agents.codes import ALPHABET, LENGTH, normalise

CODES = st.text(ALPHABET, min_size=LENGTH, max_size=LENGTH)
GAPS = st.lists(st.text(" -\t\n", max_size=3), min_size=LENGTH, max_size=LENGTH)


def test_the_alphabet_has_no_vowel_and_no_digit_to_misread() -> None:
    assert re.fullmatch("[BCDFGHJKLMNPQRSTVWXZ]{20}", ALPHABET)
    assert len(set(ALPHABET)) == 20


@given(CODES, GAPS, st.lists(st.booleans(), min_size=LENGTH, max_size=LENGTH))
def test_case_spaces_and_dashes_do_not_matter(
    code: str, gaps: list[str], lower: list[bool]
) -> None:
    typed = "".join(
        gap + (letter.lower() if down else letter)
        for letter, gap, down in zip(code, gaps, lower, strict=True)
    )
    assert normalise(typed) == code


@given(st.text(max_size=30))
def test_any_text_is_a_code_or_none(text: str) -> None:
    code = normalise(text)
    if code is None:
        return
    assert re.fullmatch(f"[{ALPHABET}]{{{LENGTH}}}", code)
    assert normalise(code) == code


@given(CODES, st.integers(0, LENGTH - 1), st.sampled_from("AEIOUY0189!_"))
def test_a_letter_outside_the_alphabet_makes_it_no_code(code: str, at: int, wrong: str) -> None:
    assert normalise(code[:at] + wrong + code[at + 1 :]) is None


@given(CODES, st.text(ALPHABET, min_size=1, max_size=4))
def test_a_code_has_twelve_letters(code: str, more: str) -> None:
    assert normalise(code + more) is None
    assert normalise(code[: -len(more)]) is None
