"""The judged queries: enough of each type, split in halves, and about tools of the catalogue."""

import tomllib
from collections import Counter
from pathlib import Path
from typing import Final

from tests.quality.directory.judged_queries import QUERIES

CONTENT: Final = Path(__file__).parents[3] / "negotiator" / "directory" / "content"
GRADES: Final = ("perfect", "good", "related")
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
