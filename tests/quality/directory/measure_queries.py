"""nDCG@10 of the directory's search beside its parts.

    python -m tests.quality.directory.measure_queries [FILE ...] [--each]

A file is JSON, `[{"text", "language", "type", "grades": {slug: grade}}]`, or TOML as `queries.toml`. In one run: ours;
BM25 alone (tantivy with its own English stemmer over the same texts); sentence vectors alone (the same as ours); and
both fused by reciprocal ranks (Cormack et al. 2009, k = 60). Nothing is stored. `--each` prints every query with the
score of ours and of the fusion. `MODELS` names the folder of built models.
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
import tantivy

from negotiator.directory.catalogue_index import LANGUAGES_FILE, SYNONYMS_FILE
from negotiator.directory.search import languages, terms
from negotiator.directory.search.index import IndexEntry, SearchIndex
from negotiator.directory.search.search import SearchRequest, search_page
from negotiator.directory.tool_vectors import ToolVectors
from negotiator.memory.embedding.embedder_selection import choose_embedder
from tests.conftest import MODELS
from tests.helpers.search_entries import reader
from tests.quality.directory.judged_queries import AT, ENTRIES, FILE, GRADES, gain

Search = Callable[[str], list[str]]
MANY: Final = 100
RANK_CONSTANT: Final = 60


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
    """The four searches over the same entries."""

    def __init__(self, entries: Sequence[IndexEntry], vectors: ToolVectors) -> None:
        self.index = SearchIndex(terms.load_synonyms(SYNONYMS_FILE), languages.load_translator(LANGUAGES_FILE))
        self.index.put(entries)
        self.slugs = [str(entry.document["slug"]) for entry in entries]
        self.queries: dict[str, Any] = {}
        self.vectors = vectors
        self.documents = reader(*entries)
        builder = tantivy.SchemaBuilder()
        builder.add_unsigned_field("slot", stored=True)
        builder.add_text_field("text", tokenizer_name="en_stem")
        self.plain = tantivy.Index(builder.build())
        writer = self.plain.writer(15_000_000, 1)
        for slot, entry in enumerate(entries):
            said = entry.document
            texts = (said["name"], *said["tags"], said["summary"], said["description"] or "")
            document = tantivy.Document()
            document.add_unsigned("slot", slot)
            document.add_text("text", " ".join((*texts, said["category"], *said["subcategories"])))
            writer.add_document(document)
        writer.commit()
        self.plain.reload()

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

    def words(self, text: str) -> list[str]:
        """tantivy's BM25."""
        query, _ = self.plain.parse_query_lenient(text, ["text"])
        searcher = self.plain.searcher()
        hits = searcher.search(query, MANY).hits
        return [self.slugs[int(searcher.doc(at).get_first("slot") or 0)] for _, at in hits]

    def meaning(self, text: str) -> list[str]:
        """Sentence vectors alone."""
        likeness = self.index.vectors.all_likeness(self.queries[text], len(self.index))
        return [self.slugs[slot] for slot in np.argsort(-likeness, kind="stable")[:MANY].tolist()]

    def fused(self, text: str) -> list[str]:
        """Both by reciprocal ranks."""
        scores: dict[str, float] = defaultdict(float)
        for found in (self.words(text), self.meaning(text)):
            for rank, slug in enumerate(found, 1):
                scores[slug] += 1 / (RANK_CONSTANT + rank)
        return sorted(scores, key=lambda slug: -scores[slug])


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
    kinds: dict[str, Search] = {
        "ours": searches.ours,
        "BM25": searches.words,
        "vectors": searches.meaning,
        "fused by ranks": searches.fused,
    }
    groups: dict[str, list[list[float]]] = defaultdict(list)
    for query in queries:
        found = [ndcg(search(query["text"]), query["grades"]) for search in kinds.values()]
        language = query.get("language", "en")
        for group in (query.get("type", ""), f"language {language}", "all"):
            groups[group].append(found)
        if each:
            first = searches.ours(query["text"])
            sys.stdout.write(f"{found[0]:.2f} {found[3]:.2f} {query['text']!r} {first}\n")
    heads, rule = " | ".join(kinds), "---:|" * len(kinds)
    sys.stdout.write(f"\n| {name} | queries | {heads} |\n|---|---:|{rule}\n")
    for group, rows in sorted(groups.items()):
        means = np.mean(rows, axis=0)
        figures = " | ".join(f"{mean:.3f}" for mean in means)
        sys.stdout.write(f"| {group} | {len(rows)} | {figures} |\n")


if __name__ == "__main__":
    arguments = [each for each in sys.argv[1:] if each != "--each"]
    asyncio.run(measure([Path(each) for each in arguments] or [FILE], each="--each" in sys.argv))
