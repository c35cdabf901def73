"""How good the ranking is, held against judged queries; weights may be tuned on `tune` only.

nDCG@10 (Järvelin and Kekäläinen 2002) with gains 2^grade - 1, beside SQLite's FTS5 with the same weights over the
same entries. `pytest -s` prints the table that docs/decisions/0009-search.md shows.
"""

import random
import re
import sqlite3
import string
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from negotiator.directory.catalogue_index import LANGUAGES_FILE, SYNONYMS_FILE
from negotiator.directory.search import languages, terms
from negotiator.directory.search.index import SearchIndex
from negotiator.directory.search.request import SearchRequest
from negotiator.directory.search.search import search_page
from tests.quality.directory.judged_queries import AT, ENTRIES, FILE, GRADES, QUERIES, gain

LANGUAGE_QUERIES: Final = FILE.with_name("queries_languages.toml")
Search = Callable[[str], list[str]]


@pytest.fixture(scope="module")
def our_search() -> Search:
    """Our search over the content."""
    translator = languages.load_translator(LANGUAGES_FILE)
    index = SearchIndex(terms.load_synonyms(SYNONYMS_FILE), translator)
    index.put(ENTRIES)
    slugs = {entry.id: str(entry.document["slug"]) for entry in ENTRIES}

    def search(text: str) -> list[str]:
        translated = index.translate(text)
        wanted = SearchRequest(query=text, sort="relevance", limit=10, now=AT, translated=translated)
        return [slugs[hit.id] for hit in search_page(index, wanted).hits]

    return search


@pytest.fixture(scope="module")
def fts5_search() -> Search:
    """FTS5 with porter stems and the same field weights: all words, else any."""
    database = sqlite3.connect(":memory:")
    fields = ("name", "tags", "category", "summary", "description")
    database.execute(
        f"create virtual table t using fts5(slug unindexed, {', '.join(fields)}, tokenize='porter unicode61')"
    )
    for entry in ENTRIES:
        said = entry.document
        texts = [" ".join(said[f]) if f == "tags" else said[f] or "" for f in fields]
        database.execute("insert into t values (?, ?, ?, ?, ?, ?)", (said["slug"], *texts))

    def search(text: str) -> list[str]:
        words = [f'"{word}"' for word in re.findall(r"\w+", text)]
        for join in (" AND ", " OR "):
            asked = "select slug from t where t match ? order by bm25(t, 0, 10, 4, 3, 2, 1) limit 10"
            if found := database.execute(asked, (join.join(words),)).fetchall():
                return [str(row[0]) for row in found]
        return []

    return search


def ndcg(found: list[str], query: dict[str, Any]) -> float:
    """The gain of what was found against the best there is, over ten places."""
    grades = {slug: grade for name, grade in GRADES.items() for slug in query.get(name, [])}
    best = gain(sorted(grades.values(), reverse=True)[:10])
    return gain([grades.get(slug, 0) for slug in found[:10]]) / best


def mean(search: Search, **only: str) -> float:
    """Mean nDCG@10 over the queries of a split, of a type."""
    asked = [query for query in QUERIES if only.items() <= query.items()]
    return sum(ndcg(search(query["text"]), query) for query in asked) / len(asked)


def test_the_ranking_is_good_on_what_it_was_never_tuned_on(our_search: Search, fts5_search: Search) -> None:
    for split in ("tune", "held_out"):
        for kind in ("exact", "typo", "synonym", "task"):
            of = {"split": split, "type": kind}
            print(f"{split:9}{kind:9}{mean(our_search, **of):.3f}  {mean(fts5_search, **of):.3f}")  # noqa: T201
        found = mean(our_search, split=split), mean(fts5_search, split=split)
        print("{:18}{:.3f}  {:.3f}".format(split, *found))  # noqa: T201
    assert mean(our_search, split="tune") >= 0.88
    assert mean(our_search, split="held_out") >= 0.88
    assert mean(our_search, split="held_out") > mean(fts5_search, split="held_out") + 0.2


def test_queries_in_german_french_and_spanish_find_nearly_as_much(our_search: Search) -> None:
    asked = tomllib.loads(LANGUAGE_QUERIES.read_text())["query"]
    found: dict[str, list[float]] = defaultdict(list)
    for query in asked:
        found[query["language"]].append(ndcg(our_search(query["text"]), query))
    assert {language: len(each) >= 10 for language, each in found.items()} == {
        "de": True, "fr": True, "es": True,
    }  # fmt: skip
    for language, each in found.items():
        print(f"{language} {sum(each) / len(each):.3f}")  # noqa: T201
        assert sum(each) / len(each) >= 0.65


def test_a_tool_asked_for_by_its_name_comes_first(our_search: Search) -> None:
    for entry in ENTRIES:
        name = entry.document["name"]
        for text in (name, name.upper(), name.replace(" ", "-"), name.replace(" ", "")):
            first = our_search(text)[0]
            assert first == entry.document["slug"], text


def slipped(word: str, rng: random.Random) -> str:
    """A word with one slip: a letter lost, added, changed or changed places with its neighbour."""
    at, letter = rng.randrange(1, len(word)), rng.choice(string.ascii_lowercase)
    before, here, after = word[:at], word[at], word[at + 1 :]
    return rng.choice(
        [before + after, before + letter + here + after, before + letter + after,
         word[: at - 1] + here + word[at - 1] + after]
    )  # fmt: skip


def test_a_misspelt_name_still_comes_first(our_search: Search) -> None:
    rng, tried, found = random.Random(7), 0, 0  # noqa: S311  not a secret
    for entry in ENTRIES:
        name = str(entry.document["name"]).lower().split()
        place = max(range(len(name)), key=lambda each: len(name[each]))
        if len(name[place]) < 5 or not name[place].isalpha():
            continue
        wrong = [*name[:place], slipped(name[place], rng), *name[place + 1 :]]
        tried += 1
        found += our_search(" ".join(wrong))[:1] == [entry.document["slug"]]
    assert tried > 300
    assert found / tried >= 0.95


@pytest.mark.parametrize("query", ["vector database", "send mail", "speech to text", "image model"])
def test_a_filter_shows_as_many_tools_as_it_was_counted_with(query: str) -> None:
    index = SearchIndex(terms.load_synonyms(SYNONYMS_FILE))
    index.put(ENTRIES)
    wanted = SearchRequest(query=query, sort="relevance", limit=10, now=AT, facets=("pricing",))
    counted = search_page(index, wanted).facets["pricing"]
    assert counted
    for value, count in counted:
        within = replace(wanted, filters={"pricing": (value,)})
        assert (value, search_page(index, within).total) == (value, count)


CONTENT: Final = Path(__file__).parents[3] / "negotiator" / "directory" / "content"
LEAST: Final = {"exact": 40, "typo": 40, "synonym": 25, "task": 40}


def _slugs() -> set[str]:
    files = [tomllib.loads(path.read_text()) for path in CONTENT.glob("*.toml")]
    return {tool["slug"] for file in files for tool in file.get("tool", [])}


def test_every_judgement_names_a_tool_that_is_there_and_names_it_once() -> None:
    known = _slugs()
    for query in QUERIES:
        named = [slug for grade in GRADES for slug in query.get(grade, [])]
        assert len(named) == len(set(named)), query["text"]
        assert set(named) <= known, query["text"]


def test_every_query_has_a_perfect_answer_and_is_asked_once() -> None:
    assert all(query["perfect"] for query in QUERIES)
    texts = Counter(query["text"].casefold() for query in QUERIES)
    assert [text for text, times in texts.items() if times > 1] == []
    assert all(len(text) <= 256 and len(text.split()) <= 16 for text in texts)


def test_each_type_is_large_enough_and_halved() -> None:
    for kind, least in LEAST.items():
        splits = Counter(query["split"] for query in QUERIES if query["type"] == kind)
        assert splits.keys() == {"tune", "held_out"}
        assert splits.total() >= least
        assert abs(splits["tune"] - splits["held_out"]) <= 1
    assert {query["type"] for query in QUERIES} == LEAST.keys()
