"""Cursors: opened by the list they were sealed for, refused in every other shape."""

import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from negotiator.base.errors import InvalidRequest
from negotiator.http.cursors import Cursors

CURSORS = Cursors(b"secret")
POSITIONS = st.text(max_size=40)
BOUND = st.lists(st.none() | st.text(max_size=8), max_size=3)
LETTERS = st.sampled_from(string.ascii_letters + string.digits + "-_.=+/ ")


def refused(cursor: str, *bound: object) -> bool:
    """Whether the cursor is refused in the words of the contract."""
    with pytest.raises(InvalidRequest) as raised:
        CURSORS.open(cursor, *bound)
    return raised.value.error == "invalid_cursor"


@given(POSITIONS, BOUND)
def test_a_cursor_opens_for_the_list_it_was_sealed_for(position: str, bound: list[object]) -> None:
    assert CURSORS.open(CURSORS.seal(position, *bound), *bound) == position


@given(POSITIONS, BOUND, BOUND)
def test_a_cursor_of_another_list_is_refused(position: str, bound: list[object], other: list[object]) -> None:
    assume([str(value) for value in bound] != [str(value) for value in other])
    assert refused(CURSORS.seal(position, *bound), *other)


@given(POSITIONS, st.data())
def test_an_altered_cursor_is_refused(position: str, data: st.DataObject) -> None:
    cursor = CURSORS.seal(position, "owner")
    at = data.draw(st.integers(0, len(cursor) - 1))
    altered = cursor[:at] + data.draw(LETTERS) + cursor[at + 1 :]
    assume(altered != cursor)
    assert refused(altered, "owner")


@pytest.mark.parametrize("letter", string.ascii_letters + string.digits + "-_")
def test_no_other_spelling_of_the_signature_counts(letter: str) -> None:
    cursor = CURSORS.seal("neg_1", "owner")
    if letter != cursor[-1]:
        assert refused(cursor[:-1] + letter, "owner")


@given(POSITIONS, st.text(min_size=1, max_size=600))
def test_a_lengthened_or_cut_cursor_is_refused(position: str, more: str) -> None:
    cursor = CURSORS.seal(position, "owner")
    assert refused(cursor + more, "owner")
    assert refused(cursor[: -min(len(more), len(cursor))], "owner")


@given(st.text(max_size=200))
def test_any_text_is_refused(text: str) -> None:
    assert refused(text, "owner")


def test_another_secret_s_cursor_is_refused() -> None:
    assert refused(Cursors(b"other").seal("neg_1", "owner"), "owner")
