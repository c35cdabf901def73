"""Likenesses of names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.directory.name_likeness import TrigramIndex, folded_name, trigrams

WORDS = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=20)


def jaccard_similarity(left: frozenset[str], right: frozenset[str]) -> float:
    """The share of trigrams that two names have in common, 0 to 1."""
    return len(left & right) / len(left | right)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Notion", "N0tion"),
        ("Notion", "Notion MCP Server"),
        ("GitHub", "Git-Hub (official)"),
        ("Stripe", "Strípe"),
        ("Linear", "Llnear"),
        ("OpenAI", "0penAI"),
        ("Paypal", "Раураl"),
        ("Summit", "Surnmit"),
    ],
)
def test_spelling_tricks_change_nothing(name: str, other: str) -> None:
    assert folded_name(name) == folded_name(other)


def test_a_name_of_nothing_but_common_words_is_still_a_name() -> None:
    assert folded_name("MCP Server") != folded_name("Official AI")


@given(st.lists(WORDS, min_size=1, max_size=8), WORDS)
def test_the_index_finds_what_a_comparison_of_all_finds(names: list[str], asked: str) -> None:
    held = TrigramIndex()
    for place, name in enumerate(names):
        held.put(str(place), name, protected=False)
    wanted = {
        str(place)
        for place, name in enumerate(names)
        if jaccard_similarity(trigrams(folded_name(name)), trigrams(folded_name(asked))) >= 0.8
    }
    assert {each.tool for each in held.like(asked)} == wanted
    assert not held.like(asked, besides=wanted)


def test_a_protected_name_is_guarded_more_widely() -> None:
    for name, protected, found in (("Stripe", False, 0), ("Stripe", True, 1)):
        held = TrigramIndex()
        held.put("tool_1", name, protected=protected)
        assert len(held.like("Stipe")) == found
        assert held.like("Stripes for tigers") == []


def test_a_name_that_was_changed_or_dropped_is_forgotten() -> None:
    held = TrigramIndex()
    held.put("tool_1", "Notion", protected=False)
    held.put("tool_1", "Linear", protected=False)
    assert held.like("Notion") == []
    held.drop("tool_1")
    assert held.like("Linear") == []
