"""nDCG@10 of the directory's search beside its sentence vectors alone.

    python -m tests.quality.directory.measure_queries [FILE ...] [--each]

A file is JSON, `[{"text", "language", "type", "grades": {slug: grade}}]`, or TOML as `queries.toml`. In one run: ours,
and its sentence vectors alone. Nothing is stored. `--each` prints every query with both scores. `MODELS` names the
folder of built models.
"""

import asyncio
import json
import os
import sys
import tempfile
import tomllib
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from negotiator.directory.catalogue_index import LANGUAGES_FILE, SYNONYMS_FILE, ToolVectors
from negotiator.directory.search import languages, terms
from negotiator.directory.search.index import SearchIndex
from negotiator.directory.search.request import IndexEntry, SearchRequest
from negotiator.directory.search.search import search_page
from negotiator.memory.embedding.minilm_embedder import choose_embedder
from tests.conftest import MODELS
from tests.helpers.search_entries import reader
from tests.quality.directory.judged_queries import AT, ENTRIES, FILE, GRADES, gain

Search = Callable[[str], list[str]]
MANY: Final = 100


def read(path: Path) -> list[dict[str, Any]]:
    """The judged queries of a file, with `grades` by slug."""
    if path.suffix == ".json":
        return json.loads(path.read_text())
    return [
        {
            "text": query["text"],
            "type": f"{query.get('split', 'tune')} {query.get('type', 'task')}",
            "language": query.get("language", "en"),
            "grades": {slug: grade for name, grade in GRADES.items() for slug in query.get(name, [])},
        }
        for query in tomllib.loads(path.read_text())["query"]
    ]


def ndcg(found: Sequence[str], grades: dict[str, int]) -> float:
    """The gain of the first ten of what was found against the best there is."""
    best = gain(sorted(grades.values(), reverse=True)[:10])
    return gain([grades.get(slug, 0) for slug in found[:10]]) / best if best else 0.0


class Searches:
    """Both searches over the same entries."""

    def __init__(self, entries: Sequence[IndexEntry], vectors: ToolVectors) -> None:
        self.index = SearchIndex(terms.load_synonyms(SYNONYMS_FILE), languages.load_translator(LANGUAGES_FILE))
        self.index.put(entries)
        self.slugs = [str(entry.document["slug"]) for entry in entries]
        self.queries: dict[str, Any] = {}
        self.vectors = vectors
        self.documents = reader(*entries)

    async def learn(self, texts: Sequence[str]) -> None:
        """Compute the vectors of the tools and of these queries."""
        await self.vectors.fill(self.index, self.documents)
        for text in texts:
            for written in (text, self.english(text)):
                self.queries[written] = await self.vectors.of_query(written)

    def english(self, text: str) -> str:
        """The text that ours searches for."""
        translated = self.index.translate(text)
        return translated.text if translated else text

    def ours(self, text: str) -> list[str]:
        named = self.index.named(terms.joined(text))
        wanted = SearchRequest(
            query=text,
            sort="relevance",
            limit=10,
            now=AT,
            vector=None if named else self.queries[self.english(text)],
            translated=self.index.translate(text),
        )
        return [self.slugs[self.index.slot(hit.id)] for hit in search_page(self.index, wanted).hits]

    def meaning(self, text: str) -> list[str]:
        """Sentence vectors alone."""
        likeness = self.index.vectors.all_likeness(self.queries[text], len(self.index))
        return [self.slugs[slot] for slot in np.argsort(-likeness, kind="stable")[:MANY].tolist()]


async def measure(paths: Sequence[Path], *, each: bool = False) -> None:
    """Print the table of every file, by type and by language."""
    models = Path(os.environ.get("MODELS", MODELS))
    embedder = choose_embedder("", key="", model="", models=models)
    with tempfile.TemporaryDirectory() as folder:
        searches = Searches(ENTRIES, ToolVectors(embedder, Path(folder)))
        for path in paths:
            queries = read(path)
            await searches.learn([query["text"] for query in queries])
            report(path.name, queries, searches, each=each)
    await embedder.close()


def report(name: str, queries: Sequence[dict[str, Any]], searches: Searches, *, each: bool) -> None:
    """Print the table of one file."""
    kinds: dict[str, Search] = {"ours": searches.ours, "vectors": searches.meaning}
    groups: dict[str, list[list[float]]] = defaultdict(list)
    for query in queries:
        found = [ndcg(search(query["text"]), query["grades"]) for search in kinds.values()]
        language = query.get("language", "en")
        for group in (query.get("type", ""), f"language {language}", "all"):
            groups[group].append(found)
        if each:
            first = searches.ours(query["text"])
            sys.stdout.write(f"{found[0]:.2f} {found[1]:.2f} {query['text']!r} {first}\n")
    heads, rule = " | ".join(kinds), "---:|" * len(kinds)
    sys.stdout.write(f"\n| {name} | queries | {heads} |\n|---|---:|{rule}\n")
    for group, rows in sorted(groups.items()):
        means = np.mean(rows, axis=0)
        figures = " | ".join(f"{mean:.3f}" for mean in means)
        sys.stdout.write(f"| {group} | {len(rows)} | {figures} |\n")


if __name__ == "__main__":
    arguments = [each for each in sys.argv[1:] if each != "--each"]
    asyncio.run(measure([Path(each) for each in arguments] or [FILE], each="--each" in sys.argv))
