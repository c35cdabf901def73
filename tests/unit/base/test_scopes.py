"""Scopes: known ones only, once each, in the order of the catalogue."""

from hypothesis import given
from hypothesis import strategies as st

from negotiator.base.scopes import ANONYMOUS, ASSISTANT, DIRECTORY, ordered, parse

KNOWN = [*ASSISTANT, *DIRECTORY]
NAMES = st.lists(st.sampled_from(KNOWN) | st.text(max_size=12))


@given(NAMES)
def test_ordering_keeps_the_known_ones_once_each_in_the_order_of_the_catalogue(names: list[str]) -> None:
    kept = ordered(names)
    assert set(kept) == set(names) & set(KNOWN)
    assert [KNOWN.index(name) for name in kept] == sorted({KNOWN.index(name) for name in kept})
    assert ordered(kept) == kept
    assert ordered(reversed(names)) == kept


@given(st.lists(st.sampled_from(KNOWN)))
def test_what_is_written_as_a_scope_string_is_read_again(names: list[str]) -> None:
    assert parse(" ".join(names)) == ordered(names)


def test_the_anonymous_scopes_are_four_of_the_assistant_s_eight() -> None:
    assert len(ASSISTANT) == 8
    assert len(ANONYMOUS) == 4
    assert list(ANONYMOUS) == ordered(ANONYMOUS)
    assert set(ANONYMOUS) <= set(ASSISTANT)


def test_no_scope_belongs_to_both_services() -> None:
    assert not set(ASSISTANT) & set(DIRECTORY)
