"""How tools with the words of a query are found: looked up one by one or added up, with facets or without."""

import random
from dataclasses import replace
from typing import Final

import pytest

from negotiator.directory.search import text_index
from negotiator.directory.search.request import SearchRequest
from negotiator.directory.search.search import search_page
from negotiator.directory.search.terms import Synonyms
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
