"""Delegation codes as people type them."""

import re

from hypothesis import given
from hypothesis import strategies as st

from negotiator.agents.delegation import CODE_ALPHABET, CODE_LENGTH, normalise_code

CODES = st.text(CODE_ALPHABET, min_size=CODE_LENGTH, max_size=CODE_LENGTH)
GAPS = st.lists(st.text(" -\t\n", max_size=3), min_size=CODE_LENGTH, max_size=CODE_LENGTH)


def test_the_alphabet_has_no_vowel_and_no_digit_to_misread() -> None:
    assert re.fullmatch("[BCDFGHJKLMNPQRSTVWXZ]{20}", CODE_ALPHABET)
    assert len(set(CODE_ALPHABET)) == 20


@given(CODES, GAPS, st.lists(st.booleans(), min_size=CODE_LENGTH, max_size=CODE_LENGTH))
def test_case_spaces_and_dashes_do_not_matter(code: str, gaps: list[str], lower: list[bool]) -> None:
    typed = "".join(
        gap + (letter.lower() if down else letter) for letter, gap, down in zip(code, gaps, lower, strict=True)
    )
    assert normalise_code(typed) == code


@given(st.text(max_size=30))
def test_any_text_is_a_code_or_none(text: str) -> None:
    code = normalise_code(text)
    if code is None:
        return
    assert re.fullmatch(f"[{CODE_ALPHABET}]{{{CODE_LENGTH}}}", code)
    assert normalise_code(code) == code


@given(CODES, st.integers(0, CODE_LENGTH - 1), st.sampled_from("AEIOUY0189!_"))
def test_a_letter_outside_the_alphabet_makes_it_no_code(code: str, at: int, wrong: str) -> None:
    assert normalise_code(code[:at] + wrong + code[at + 1 :]) is None


@given(CODES, st.text(CODE_ALPHABET, min_size=1, max_size=4))
def test_a_code_has_twelve_letters(code: str, more: str) -> None:
    assert normalise_code(code + more) is None
    assert normalise_code(code[: -len(more)]) is None
