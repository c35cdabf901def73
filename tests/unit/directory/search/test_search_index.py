"""The index and its words: what must hold for any tools and any query."""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from negotiator.base import values
from negotiator.directory.catalogue_index import LANGUAGES_FILE
from negotiator.directory.search.languages import QueryTranslator, load_translator
from negotiator.directory.search.request import IndexEntry, SearchRequest
from negotiator.directory.search.search import search_page
from negotiator.directory.search.spelling import KnownWords, NearWord, allowed_edits, nearest_word, phonetic_key
from negotiator.directory.search.terms import Synonyms, parse_query, words
from tests.helpers import lane
from tests.helpers.search_entries import AT, entry, ids, indexed

WORDS = ["vector", "database", "mail", "agent", "speech", "graph", "cloud", "notes"]
GROWING_PAGES = 10 if lane.is_quick() else 25
KEYS = 18
"""Each is added by itself."""


@given(st.text(max_size=200))
def test_words_are_folded_once_and_for_all(text: str) -> None:
    found = words(text)
    assert words(" ".join(found)) == found
    assert all(0 < len(word) <= 40 for word in found)
    asked = parse_query(text, Synonyms())
    assert len(asked.words) <= 16
    assert len(asked.units) <= len(asked.words)


def nearest(word: str, known: Sequence[str], **tools: int) -> NearWord | None:
    """The nearest of the known words, by way of the fuzzy search; each is in as many tools as said, else in one."""
    every = KnownWords()
    every.learn(known)
    candidates = every.near(word, allowed_edits(word))
    return nearest_word(word, candidates, lambda each: tools.get(each, 0) if tools else 1)


@settings(deadline=None, max_examples=40)
@given(st.text("abcdef", min_size=1, max_size=10), st.lists(st.text("abcdef", min_size=3, max_size=10)))
def test_the_nearest_word_is_the_nearest_there_is(word: str, known: list[str]) -> None:
    found = nearest(word, known)
    distances = {other: OSA.distance(word, other) for other in known}
    within = [
        distance
        for other, distance in distances.items()
        if distance <= allowed_edits(word)
        and (distance < 2 or len(word) >= 8 or other[0] == word[0] or phonetic_key(other) == phonetic_key(word))
    ]
    if found is None:
        assert within == []
    else:
        assert found.slips == distances[found.word] == min([*within, found.slips])
        assert found.slips <= allowed_edits(word) + (phonetic_key(found.word) == phonetic_key(word))


def test_of_equally_near_words_the_likelier_and_then_the_more_frequent_is_meant() -> None:
    known = ["slack", "stack", "slash", "server", "surfer"]

    def word(wrong: str, **tools: int) -> str | None:
        found = nearest(wrong, known, **tools)
        return found and found.word

    assert word("slakc", slack=1, stack=9, slash=1) == "slack"
    assert word("slask", slack=3, stack=1, slash=9) == "slash"
    assert word("slask", slack=3, stack=1, slash=0) == "slack"
    assert word("surver", server=1, surfer=9) == "server"


def test_what_sounds_alike_is_found_over_one_slip_more() -> None:
    for wrong, right in (("codeks", "codex"), ("frase", "phrase"), ("codeling", None)):
        found = nearest(wrong, ["codex", "phrase"])
        assert (found and found.word) == right
    assert [phonetic_key(word) for word in ("video", "vdeo", "kwik", "quick")] == ["vd", "vd", "kwk", "kwk"]


def test_words_written_apart_or_together_by_mistake_are_mended() -> None:
    index = indexed(entry("Alpha", "production cluster"), entry("Beta", "vector database"))
    assert index.correct_words(["pro", "duction", "cluster"]) == {"pro duction": "production"}
    assert index.correct_words(["vectordatabase"]) == {"vectordatabase": "vector database"}
    found = search_page(index, SearchRequest(query="clust er production", sort="relevance", now=AT))
    assert ids(found) == [index.ids[0]]
    assert found.frozen is not None
    assert (found.frozen.step, found.frozen.corrected) == (
        "repaired", (("clust er", "cluster"),),
    )  # fmt: skip


def test_a_changed_tool_still_says_which_fields_have_the_words() -> None:
    first, second = entry("A", "vector", key="tool_1"), entry("B", "vector", key="tool_2")
    index = indexed(first, second)
    index.put([entry("A", "vector", key="tool_1", at=AT + 1)])
    found = search_page(index, SearchRequest(query="vector", sort="relevance", now=AT))
    assert [hit.matched_on for hit in found.hits] == [("summary",), ("summary",)]


@settings(max_examples=40)
@given(st.data())
def test_pages_skip_and_repeat_nothing_while_the_catalogue_grows(data: st.DataObject) -> None:
    rng = random.Random(data.draw(st.integers(0, 10_000)))  # noqa: S311  not a secret

    def some(number: int) -> IndexEntry:
        return entry(f"T{number}", " ".join(rng.sample(WORDS, rng.randint(1, 4))), at=AT + number)

    first = [some(number) for number in range(rng.randint(1, 40))]
    index = indexed(*first)
    query = " ".join(rng.sample(WORDS, data.draw(st.integers(0, 2))))
    orders = ["popularity", "updated", "created", "name", *(["relevance"] if query else [])]
    sort: Any = data.draw(st.sampled_from(orders))
    wanted: dict[str, Any] = {"query": query, "sort": sort, "limit": rng.randint(1, 7), "now": AT}
    got = search_page(index, SearchRequest(**wanted))
    every: dict[str, Any] = {**wanted, "limit": 1000}
    whole = set(ids(search_page(index, SearchRequest(**every))))
    seen, number = ids(got), 1000
    turned = 0
    while got.last is not None:
        # It stops growing at some time: pages of one, in an order where what is new comes last, would never end.
        if (turned := turned + 1) <= GROWING_PAGES:
            index.put([some(number := number + 1) for _ in range(rng.randint(0, 3))])
        got = search_page(index, SearchRequest(**wanted, after=got.last, frozen=got.frozen))
        seen += ids(got)
    assert len(seen) == len(set(seen))
    assert whole <= set(seen)


@settings(max_examples=4, deadline=None)
@given(st.integers(0, 10_000))
def test_how_a_tool_got_into_the_index_does_not_matter(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311  not a secret
    keys = [values.new_id("tool") for _ in range(KEYS)]

    def some(key: str) -> IndexEntry:
        return entry(f"T{key[-4:]}", " ".join(rng.sample(WORDS, 3)), key=key)

    newest = {key: some(key) for key in keys}
    fresh, grown = indexed(*newest.values()), indexed()
    for key in rng.sample(keys, len(keys)):
        grown.put([some(key)])
    grown.put(list(newest.values()))
    late = some(keys[0])
    grown.put([late])
    fresh.put([late])
    for query in ("vector", "graph mail", "notes cloud speech", "vectr"):
        wanted = SearchRequest(query=query, sort="relevance", limit=100, now=AT, facets=("kind",))
        ours, theirs = search_page(grown, wanted), search_page(fresh, wanted)
        assert [(hit.id, hit.score) for hit in ours.hits] == [(hit.id, hit.score) for hit in theirs.hits]
        assert (ours.total, ours.facets) == (theirs.total, theirs.facets)


def test_a_synonym_counts_less_than_the_word_and_a_wider_one_goes_one_way() -> None:
    synonyms = Synonyms([["tts", "text to speech"]], {"invoice": ["accounting"]})
    index = indexed(
        entry("A", "does tts"), entry("B", "does text to speech"), entry("C", "accounting"),
        entry("D", "invoice"), synonyms=synonyms,
    )  # fmt: skip

    def names(query: str) -> list[str]:
        found = search_page(index, SearchRequest(query=query, sort="relevance", now=AT))
        return [str(index.ids.index(hit.id)) for hit in found.hits]

    assert names("tts") == ["0", "1"]
    assert set(names("text to speech")) == {"0", "1"}
    assert names("invoice") == ["3", "2"]
    assert names("accounting") == ["2"]


def test_a_score_is_between_nought_and_one_and_a_deprecated_tool_has_half() -> None:
    index = indexed(entry("A", "vector"), entry("B", "vector", status="deprecated"))
    first, second = search_page(index, SearchRequest(query="vector", sort="relevance", now=AT)).hits
    assert 0 < second.score < first.score < 1
    assert np.isclose(second.score, first.score / 2, atol=0.001)


ENGLISH = frozenset(["notion", "pdf", "invoices", "email", "image", "chat", "agent", "the", "for", "notes"])


@pytest.fixture(scope="module")
def translator() -> QueryTranslator:
    """The words of the content."""
    return load_translator(LANGUAGES_FILE)


@pytest.mark.parametrize(
    ("text", "language", "english"),
    [
        ("Briefe schreiben", "de", "letter write"),
        ("Kundendatenbank", "de", "customer database"),
        ("eine Rechnungssoftware für Firmen", "de", "invoice company"),
        ("traduire une page", "fr", "translate page"),
        ("générateur d'images", "fr", "image generation"),
        ("base de datos vectorial", "es", "vector database"),
        ("mi correo en Notion", "es", "email notion"),
        ("PDF übersetzen", "de", "pdf translate"),
    ],
)
def test_words_are_read_in_any_inflection(translator: QueryTranslator, text: str, language: str, english: str) -> None:
    assert translator.translate(text, ENGLISH.__contains__) == (language, english)


def test_english_stays_as_it_is(translator: QueryTranslator) -> None:
    for text in ("invoices for notes", "chat agent", "image", "notion", "", "zzzz qqqq"):
        assert translator.translate(text, ENGLISH.__contains__) is None


@given(st.text(max_size=120))
def test_any_text_can_be_read(text: str) -> None:
    translated = load_translator(LANGUAGES_FILE).translate(text, lambda _: False)
    assert translated is None or translated.language in ("de", "fr", "es")
