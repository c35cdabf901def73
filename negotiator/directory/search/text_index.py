"""The inverted index of one process: tantivy in memory, a cache that is derived from the catalogue.

A tool is a document with its slot and its terms. A term of a tool is written with the field where it counts most, and a
query scores by a constant for each field: a tool's score depends on the query and the tool alone, not on which other
tools this process has merged. A known word or name is a document too, for fuzzy search.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import tantivy
from numpy.typing import NDArray

from negotiator.directory.search.columns import NumberColumn
from negotiator.directory.search.document_facts import FIELD_IMPACTS, SearchFacts
from negotiator.directory.search.query import Demand, QueryUnit
from negotiator.directory.search.spelling import SHORTEST_WORD, phonetic_key

_SHARES: Final = 64
_FRACTIONS: Final = 2**12
"""A unit adds its share of the query's weight in 1/64 as an integer, and its weighted impact as a fraction in 1/2^12.
float32 holds such sums exactly in whatever order they are added, and after a factor they can still be told."""
_HEAVY: Final = 0.35
"""A unit with this share of the query's weight says what is looked for."""
_HEAP: Final = 20_000_000
_BUILDING_HEAP: Final = 400_000_000
"""Bytes that the library may use before it writes a part of the index; every part costs each query."""

_QUERIES: Final = 10_000
"""Tokens whose queries are kept."""
_LEVEL_MARK: Final = "~"
_IMPACTS: Final = sorted(set(FIELD_IMPACTS))
_LEVELS: Final = {impact: level for level, impact in enumerate(_IMPACTS)}


@dataclass(frozen=True, slots=True)
class TextMatches:
    """Tools in ascending slots: how well each matches, which share of the query it matches (0 to 1 by weight), and the
    preliminary score by which the best are taken. `total` counts all, taken or not.
    """

    slots: NDArray[np.int64]
    text: NDArray[np.float32]
    covered: NDArray[np.float32]
    preliminary: NDArray[np.float32]
    total: int

    def only(self, mask: NDArray[np.bool_]) -> "TextMatches":
        """Those where the mask is true."""
        slots, text, covered = self.slots[mask], self.text[mask], self.covered[mask]
        return TextMatches(slots, text, covered, self.preliminary[mask], len(slots))

    def union(self, slots: Sequence[int]) -> "TextMatches":
        """These and other tools, which match nothing of the text."""
        if not slots:
            return self
        added = np.setdiff1d(np.array(slots, np.int64), self.slots)
        if not len(added):
            return self
        places = self.slots.searchsorted(added)
        return TextMatches(
            np.insert(self.slots, places, added),
            np.insert(self.text, places, 0),
            np.insert(self.covered, places, 0),
            np.insert(self.preliminary, places, np.inf),
            self.total + len(added),
        )


class TextIndex:
    """Terms of tools and known words, in memory or in a folder that is this process's own. Changes are searchable
    after `commit`. `building` is for a whole catalogue.
    """

    def __init__(self, folder: Path | None = None, *, building: bool = False) -> None:
        builder = tantivy.SchemaBuilder()
        builder.add_unsigned_field("slot", indexed=True, fast=True)
        builder.add_text_field("terms", tokenizer_name="words", index_option="basic")
        builder.add_float_field("standing", fast=True)
        builder.add_unsigned_field("number", fast=True)
        for field in ("word", "name", "sound"):
            builder.add_text_field(field, tokenizer_name="raw", index_option="basic")
        self._schema = builder.build()
        self.folder = folder
        self._index = tantivy.Index(self._schema, path=str(folder) if folder else None)
        split = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        self._index.register_tokenizer("words", split)
        self._writer = self._index.writer(_BUILDING_HEAP if building else _HEAP, 1)
        self._searcher = self._index.searcher()
        self._known: dict[str, dict[str, int]] = {"word": {}, "name": {}}
        self._texts: list[str] = []
        self._learned: list[tuple[str, str]] = []
        self.factors = NumberColumn(np.float64)
        self._levels: dict[str, int] = {}
        self._tools: dict[str, int] = {}
        self._counts: dict[QueryUnit, int] = {}
        self._queries: dict[str, tantivy.Query] = {}

    def put(self, slot: int, facts: SearchFacts, factor: float, *, replaces: bool = False) -> None:
        """Set the facts of a tool and the factor of its preliminary score, at least 1."""
        if replaces:
            # By query: by term, the library takes the number for a signed one and deletes nothing.
            self._writer.delete_documents_by_query(self._slot(slot))
        tokens: list[str] = []
        for term, place in facts.terms.items():
            level = _LEVELS[FIELD_IMPACTS[place]]
            self._levels[term] = self._levels.get(term, 0) | 1 << level
            tokens.append(f"{term}{_LEVEL_MARK}{level}")
        tokens += (
            _facet(name, value)
            for name, values in facts.facets.items()
            for value in values
            if value
        )
        document = tantivy.Document()
        document.add_unsigned("slot", slot)
        # The library scores by log2(2 + standing).
        document.add_float("standing", 2.0**factor - 2)
        document.add_text("terms", " ".join(tokens))
        self._writer.add_document(document)

    def learn(self, field: str, words: Iterable[str]) -> None:
        """Make words findable by `near`: `field` is `word` or `name`. Numbers and very short words are left out."""
        known = self._known[field]
        for word in words:
            if len(word) >= SHORTEST_WORD - 1 and word not in known and not word.isdigit():
                known[word] = len(self._texts)
                self._texts.append(word)
                self._learned.append((field, word))

    def commit(self) -> tantivy.Searcher:
        """Write the changes; the searcher that sees them, for `use`."""
        # Words come after the tools: those of a whole catalogue are then side by side, which searches pass faster.
        for field, word in self._learned:
            document = tantivy.Document()
            document.add_unsigned("number", self._known[field][word])
            document.add_text(field, word)
            if word.isalpha() and len(word) >= SHORTEST_WORD:
                document.add_text("sound", field + phonetic_key(word))
            self._writer.add_document(document)
        self._learned.clear()
        self._writer.commit()
        self._index.reload()
        return self._index.searcher()

    def built(self) -> None:
        """Make all that was put searchable; from now on little is put at a time."""
        self.use(self.commit())
        self._writer.wait_merging_threads()
        self._writer = self._index.writer(_HEAP, 1)

    def use(self, searcher: tantivy.Searcher) -> None:
        """Answer from this searcher from now on."""
        self._searcher = searcher
        self._counts.clear()

    def recount(self, removed: Iterable[str], added: Iterable[str]) -> None:
        """Note which terms a tool has no more, and which it has now."""
        for term in removed:
            self._tools[term] -= 1
        for term in added:
            self._tools[term] = self._tools.get(term, 0) + 1

    def count(self, term: str) -> int:
        """The number of tools with a term."""
        return self._tools.get(term, 0)

    def count_unit(self, unit: QueryUnit) -> int:
        """The number of tools with any phrase of a unit."""
        phrases = unit.phrases
        if len(phrases) == 1 and len(phrases[0][1]) == 1:
            return self.count(phrases[0][1][0])
        found = self._counts.get(unit)
        if found is None:
            query = _any([self._phrase(phrase) for _, phrase in phrases])
            # The library's types lack this member.
            result: Any = self._searcher.search(query, 1)
            found = self._counts[unit] = int(result.count)
        return found

    def close(self) -> None:
        """Write everything to the folder; nothing can be put afterwards."""
        self.use(self.commit())
        self._writer.wait_merging_threads()

    def state(self) -> dict[str, Any]:
        """What `restore` needs beside the folder."""
        return {
            "known": self._known,
            "levels": self._levels,
            "tools": self._tools,
            "documents": self._searcher.num_docs,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take over what `state` gave; ValueError when the folder is another one."""
        if self._searcher.num_docs != state["documents"]:
            raise ValueError("documents of the text index are missing")
        self._known, self._levels, self._tools = state["known"], state["levels"], state["tools"]
        self._texts = [""] * sum(map(len, self._known.values()))
        for known in self._known.values():
            for word, number in known.items():
                self._texts[number] = word

    def match(
        self,
        units: Sequence[QueryUnit],
        weights: Sequence[float],
        demand: Demand,
        *,
        filters: Mapping[str, Sequence[str]] | None = None,
        best: int | None = None,
    ) -> TextMatches:
        """The tools that match the units as demanded and have a value of every filter; only the best if so many are
        more.
        """
        total = sum(weights) or 1.0
        parts = [
            (weight / total, self._scored(unit, weight / total, whole))
            for unit, weight, whole in zip(units, weights, _whole_shares(weights), strict=True)
            if weight
        ]
        if not parts or (demand == "every" and len(parts) < len(units)):
            return _NONE
        query = _demanded(parts, demand)
        if filters:
            made = [query, *(self._filter(name, values) for name, values in filters.items())]
            query = tantivy.Query.boolean_query([(tantivy.Occur.Must, each) for each in made])
        return self._matches(query, best)

    def near(self, field: str, word: str, most: int) -> list[str]:
        """Known words within `most` errors of a word, and those that sound alike."""
        if most == 0:
            return []
        made = tantivy.Query
        query = _any(
            [
                made.fuzzy_term_query(self._schema, field, word, distance=most),
                made.term_query(self._schema, "sound", field + phonetic_key(word)),
            ]
        )
        hits = self._searcher.search(query, max(1, self._searcher.num_docs), count=False).hits
        numbers = self._searcher.fast_field_values("number", [address for _, address in hits])
        return [self._texts[int(number or 0)] for number in numbers]

    def _slot(self, slot: int) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, "slot", slot)

    def _filter(self, name: str, values: Sequence[str]) -> tantivy.Query:
        any_value = _any([self._term(_facet(name, value)) for value in values])
        return tantivy.Query.const_score_query(any_value, 0.0)

    def _term(self, token: str) -> tantivy.Query:
        found = self._queries.get(token)
        if found is None:
            if len(self._queries) >= _QUERIES:
                self._queries.clear()
            found = tantivy.Query.term_query(self._schema, "terms", token, "basic")
            self._queries[token] = found
        return found

    def _phrase(self, phrase: Sequence[str]) -> tantivy.Query:
        words = [
            _any([self._term(token) for _, token in self._tokens(term)])
            for term in dict.fromkeys(phrase)
        ]
        if len(words) == 1:
            return words[0]
        return tantivy.Query.boolean_query([(tantivy.Occur.Must, word) for word in words])

    def _tokens(self, term: str) -> list[tuple[int, str]]:
        """The levels of impact that the term has in some tool, and its token for each."""
        levels = _set_bits(self._levels.get(term, 0))
        return [(level, f"{term}{_LEVEL_MARK}{level}") for level in levels]

    def _scored(self, unit: QueryUnit, share: float, whole: int) -> tantivy.Query:
        """A query whose score is `whole`, and as a fraction `share` times the impact of the best phrase."""
        if len(unit.phrases) == 1 and len(unit.phrases[0][1]) == 1:
            ((weight, (term,)),) = unit.phrases
            # No tool has two of these, so the sum is the only one, and faster than the largest.
            return _any(self._impacts(term, whole, share * weight))
        found: list[tantivy.Query] = []
        for weight, phrase in unit.phrases:
            terms = list(dict.fromkeys(phrase))
            parts = [
                self._impacts(term, whole if place == 0 else 0, share * weight / len(terms))
                for place, term in enumerate(terms)
            ]
            if not all(parts):
                continue
            if len(parts) == 1:
                found += parts[0]
            else:
                musts = [(tantivy.Occur.Must, _any(part)) for part in parts]
                found.append(tantivy.Query.boolean_query(musts))
        if not found:
            return tantivy.Query.empty_query()
        return found[0] if len(found) == 1 else tantivy.Query.disjunction_max_query(found)

    def _impacts(self, term: str, whole: int, factor: float) -> list[tantivy.Query]:
        """A query for each level that the term has in some tool; the score is `whole` and `factor` times the impact."""
        return [
            tantivy.Query.const_score_query(
                self._term(token),
                whole + max(1, round(factor * _IMPACTS[level] * _FRACTIONS)) / _FRACTIONS,
            )
            for level, token in self._tokens(term)
        ]

    def _matches(self, query: tantivy.Query, best: int | None) -> TextMatches:
        most = best or max(1, self._searcher.num_docs)
        result: Any = self._searcher.search(query, most, weight_by_field="standing")
        if not result.hits:
            return _NONE
        numbers = self._searcher.fast_field_values("slot", [address for _, address in result.hits])
        slots = np.array(numbers, np.int64)
        order = slots.argsort()
        slots, weighted = slots[order], np.array([score for score, _ in result.hits])[order]
        sums = np.rint(weighted / self.factors.at(slots) * _FRACTIONS) / _FRACTIONS
        whole = np.floor(sums)
        return TextMatches(
            slots,
            (sums - whole).astype(np.float32),
            (whole / _SHARES).astype(np.float32),
            weighted.astype(np.float32),
            result.count,
        )


_FLOATS: Final = np.empty(0, np.float32)
_NONE: Final = TextMatches(np.empty(0, np.int64), _FLOATS, _FLOATS, _FLOATS, 0)


def _demanded(parts: Sequence[tuple[float, tantivy.Query]], demand: Demand) -> tantivy.Query:
    """The parts, each with its share of the query's weight, as one query."""
    if len(parts) == 1:
        return parts[0][1]
    must, should = tantivy.Occur.Must, tantivy.Occur.Should
    if demand == "every":
        return tantivy.Query.boolean_query([(must, part) for _, part in parts])
    light = [(should, part) for share, part in parts if share < _HEAVY]
    if demand == "any":
        return _any([part for _, part in parts])
    if len(light) == len(parts):
        return tantivy.Query.boolean_query(light, minimum_number_should_match=2)
    heavy = _any([part for share, part in parts if share >= _HEAVY])
    return tantivy.Query.boolean_query([(must, heavy), *light])


def _facet(name: str, value: str) -> str:
    """A value that tools are filtered by as a term, which has no space."""
    return f"{name}={'_'.join(value.split())}"


def _any(queries: Sequence[tantivy.Query]) -> tantivy.Query:
    if len(queries) <= 1:
        return queries[0] if queries else tantivy.Query.empty_query()
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])


@lru_cache(maxsize=2 ** len(_IMPACTS))
def _set_bits(bits: int) -> tuple[int, ...]:
    return tuple(place for place in range(len(_IMPACTS)) if bits >> place & 1)


def _whole_shares(weights: Sequence[float]) -> list[int]:
    """The weights as integers that add up to 256, each at least 1 unless it is 0."""
    total = sum(weights) or 1.0
    shares = [max(1, round(weight / total * _SHARES)) if weight else 0 for weight in weights]
    if any(shares):
        shares[shares.index(max(shares))] += _SHARES - sum(shares)
    return shares
