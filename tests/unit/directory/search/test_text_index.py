"""How tools with the words of a query are found: looked up one by one or added up, with facets or without."""

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.directory.search import text_index
from negotiator.directory.search.request import SearchRequest
from negotiator.directory.search.search import search_page
from negotiator.directory.search.terms import Synonyms
from negotiator.directory.search.text_index import InvertedIndex
from tests.helpers.search_entries import AT, entry, ids, indexed

WORDS: Final = ("vector", "database", "mail", "agent", "speech", "graph", "cloud", "notes")
MANY: Final = 450
"""More than are ranked by their whole score."""
SYNONYMS: Final = Synonyms([["mail", "graph notes"], ["agent", "bot"]])


def test_tools_that_are_looked_up_score_as_those_that_are_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(7)  # noqa: S311  not a secret
    index = indexed(
        *(entry(f"T{n}", " ".join(rng.sample(WORDS, rng.randint(1, 5)))) for n in range(200)), synonyms=SYNONYMS
    )
    queries = [" ".join(rng.sample(WORDS, rng.randint(2, 3))) for _ in range(30)]
    wanted = [SearchRequest(query=text, sort="relevance", now=AT) for text in queries]
    looked_up = [search_page(index, each) for each in wanted]
    monkeypatch.setattr(text_index, "_FEW", -1)
    assert [search_page(index, each) for each in wanted] == looked_up
    assert {page.frozen.demand for page in looked_up if page.frozen} >= {"every", "most"}


def test_facets_count_every_match_and_change_no_order() -> None:
    index = indexed(*(entry(f"T{n}", "vector", tags=["x"] * (n % 2)) for n in range(MANY)))
    plain = SearchRequest(query="vector", sort="relevance", now=AT, limit=MANY)
    without, faceted = (search_page(index, each) for each in (plain, replace(plain, facets=("kind", "tag"))))
    assert ids(without) == ids(faceted)
    assert (without.total, faceted.total) == (MANY, MANY)
    assert faceted.facets == {"kind": [("app", MANY)], "tag": [("x", MANY // 2)]}


def test_a_phrase_counts_only_where_all_of_its_words_are() -> None:
    index = indexed(entry("A", "mail"), entry("B", "graph notes"), entry("C", "graph"), synonyms=SYNONYMS)
    found = search_page(index, SearchRequest(query="mail", sort="relevance", now=AT))
    assert ids(found) == index.ids[:2]
    assert found.hits[0].score > found.hits[1].score
    assert [hit.matched_on for hit in found.hits] == [("summary",), ("summary",)]


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


def extended(index: InvertedIndex, batch: Tools, smaller: int) -> InvertedIndex:
    """The index with this batch; 0 leaves every segment by itself."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(text_index, "_SMALLER", smaller)
        return index.adding(batch)


def expect(index: InvertedIndex, tools: Mapping[int, Mapping[str, int]]) -> None:
    for term in TERMS:
        having = sorted((slot, terms[term]) for slot, terms in tools.items() if term in terms)
        assert found(index, term) == having
        assert index.count(term) == len(having)


@settings(max_examples=60, deadline=None)
@given(batches, st.sampled_from((0, 8)))
def test_the_newest_terms_of_each_tool_are_found_however_segments_are_merged(added: list[Tools], smaller: int) -> None:
    index, tools = InvertedIndex(), Tools()
    for batch in added:
        before, known = index, dict(tools)
        index = extended(index, batch, smaller)
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
        index, tools = extended(index, batch, smaller=0), tools | batch
    restored = InvertedIndex.restored(len(tools), *index.state())
    expect(restored, tools)
    expect(restored.adding({3: {"f": 2}}), {**tools, 3: {"f": 2}})


def test_segments_stay_few_though_tools_are_added_one_by_one() -> None:
    index = InvertedIndex().adding({slot: {"a": 1, "b": 1} for slot in range(20_000)})
    for slot in range(500):
        index = index.adding({slot: {"a": 2}})
    assert len(index.segments) == 2
    assert index.count("a") == 20_000
