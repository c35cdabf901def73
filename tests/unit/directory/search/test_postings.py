"""The inverted index beside a dictionary of tools: whatever is added in whatever order, it finds the same."""

from collections.abc import Mapping
from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.directory.search.postings import InvertedIndex

TERMS: Final = "abcdef"
Tools = dict[int, dict[str, int]]
batches = st.lists(
    st.dictionaries(st.integers(0, 8), st.dictionaries(st.sampled_from(TERMS), st.integers(1, 511)), max_size=4),
    max_size=12,
)


def found(index: InvertedIndex, term: str) -> list[tuple[int, int]]:
    """The slots of a term with their fields."""
    postings = index.find(term)
    return list(zip(postings.slots.tolist(), postings.fields.tolist(), strict=True))


def expect(index: InvertedIndex, tools: Mapping[int, Mapping[str, int]]) -> None:
    for term in TERMS:
        having = sorted((slot, terms[term]) for slot, terms in tools.items() if term in terms)
        assert found(index, term) == having
        assert index.count(term) == len(having)


@settings(max_examples=60, deadline=None)
@given(batches, st.booleans())
def test_the_newest_terms_of_each_tool_are_found_however_segments_are_merged(added: list[Tools], merging: bool) -> None:
    index, tools = InvertedIndex(), Tools()
    for batch in added:
        before, known = index, dict(tools)
        index = index.adding(batch, merging=merging)
        tools |= batch
        expect(index, tools)
        expect(before, known)
    expect(index.merged(), tools)


@settings(max_examples=40, deadline=None)
@given(batches)
def test_a_restored_index_finds_what_the_stored_one_found(added: list[Tools]) -> None:
    index, tools = InvertedIndex(), {slot: {"a": 1} for slot in range(9)}
    index = index.adding(tools)
    for batch in added:
        index, tools = index.adding(batch, merging=False), tools | batch
    restored = InvertedIndex.restored(len(tools), *index.state())
    expect(restored, tools)
    expect(restored.adding({3: {"f": 2}}), {**tools, 3: {"f": 2}})


def test_segments_stay_few_though_tools_are_added_one_by_one() -> None:
    index = InvertedIndex().adding({slot: {"a": 1, "b": 1} for slot in range(20_000)})
    for slot in range(500):
        index = index.adding({slot: {"a": 2}})
    assert len(index.segments) == 2
    assert index.count("a") == 20_000
