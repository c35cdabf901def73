"""An in-memory search index over one owner's memories: BM25 over words, cosine over vectors, times recency and trust.

BM25 after Robertson and Zaragoza (2009). A word of a query may be answered by several terms, each with a weight; a word
that no text has is answered by terms that are spelled like it.

Both scores are added as numbers, not as ranks: a convex combination loses less than reciprocal rank fusion and needs no
tuning to a corpus (Bruch, Gai and Ingber 2023, "An Analysis of Fusion Functions for Hybrid Retrieval"; measured in
docs/benchmarks.md). Recency and trust change the order; they hide nothing.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any, Final, Literal

import numpy as np
import orjson
from rapidfuzz import fuzz, process

from negotiator.base.values import DAY
from negotiator.memory.glossary import QueryTerm

_SATURATION: Final = 1.2
_LENGTH: Final = 0.75
_SPELLED_ALIKE: Final = 78
_SPELLING_WEIGHT: Final = 0.7
_SHORTEST_MISSPELLED: Final = 4

KeywordArray = Any


class KeywordIndex:
    """An inverted index. Rows are only appended: a changed text is a new row."""

    def __init__(self) -> None:
        self._postings: dict[str, array[int]] = {}
        """For each term the rows that have it, each followed by how often."""
        self._by_initial: dict[str, list[str]] = {}
        self._lengths = array("i")
        self._norm: KeywordArray = np.zeros(0, np.float32)

    def __len__(self) -> int:
        return len(self._lengths)

    def extend(self, texts: Sequence[Sequence[str]]) -> None:
        """Add texts, each as its list of terms."""
        for terms in texts:
            for term, count in Counter(terms).items():
                if term not in self._postings:
                    self._postings[term] = array("i")
                    self._by_initial.setdefault(term[:1], []).append(term)
                self._postings[term].extend((len(self), count))
            self._lengths.append(len(terms))

    def scores(self, query: Iterable[QueryTerm]) -> KeywordArray:
        """The share of the query that each row matches: float32 [rows].

        1 is a text of average length in which every word occurs once, 0 a text without any. A rare word weighs more
        than a common one; a word that occurs in no text weighs most.
        """
        found = np.zeros(len(self), np.float32)
        norm, whole = self._length_norm(), 0.0
        for alternatives in query:
            rows, scores = self._matches(self._spelled(alternatives), norm)
            rarity = log(1 + (len(self) - len(rows) + 0.5) / (len(rows) + 0.5))
            whole += rarity
            found[rows] += rarity * scores
        return found / np.float32(whole) if whole else found

    def _matches(self, alternatives: QueryTerm, norm: KeywordArray) -> tuple[KeywordArray, KeywordArray]:
        """The rows that have one of the terms, and the score of the best of them in each row."""
        parts: list[tuple[KeywordArray, KeywordArray]] = []
        for term, weight in alternatives.items():
            rows, counts = self._of(term)
            if len(rows):
                parts.append((rows, weight * (_SATURATION + 1) * counts / (counts + norm[rows])))
        if len(parts) < 2:
            return parts[0] if parts else _NOWHERE
        rows, places = np.unique(np.concatenate([rows for rows, _ in parts]), return_inverse=True)
        scores = np.zeros(len(rows), np.float32)
        np.maximum.at(scores, places, np.concatenate([scores for _, scores in parts]))
        return rows, scores

    def _spelled(self, alternatives: QueryTerm) -> QueryTerm:
        """The terms; if no text has any of them, those that are spelled like the first, with the same initial."""
        word = next(iter(alternatives))
        if len(word) < _SHORTEST_MISSPELLED or any(term in self._postings for term in alternatives):
            return alternatives
        return _spelled_alike(word, self._by_initial.get(word[0], []))

    def _of(self, term: str) -> tuple[KeywordArray, KeywordArray]:
        """The rows in which a term occurs, and how often."""
        if term not in self._postings:
            return _NOWHERE
        pairs = np.array(self._postings[term]).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1].astype(np.float32)

    def _length_norm(self) -> KeywordArray:
        """BM25's length normalisation of each row."""
        if len(self._norm) != len(self):
            lengths = np.array(self._lengths, np.float32)
            ratio = lengths / max(1.0, float(lengths.mean()))
            self._norm = _SATURATION * (1 - _LENGTH + _LENGTH * ratio)
        return self._norm


def _spelled_alike(word: str, known: Sequence[str]) -> QueryTerm:
    """Up to three of the known terms that are spelled like a word."""
    near = process.extract(word, known, scorer=fuzz.ratio, limit=3, score_cutoff=_SPELLED_ALIKE)
    return {term: _SPELLING_WEIGHT for term, _, _ in near}


_NOWHERE: Final = np.zeros(0, np.int32), np.zeros(0, np.float32)


RankingMode = Literal["hybrid", "semantic", "keyword"]

MAX_CANDIDATES: Final = 50
KEYWORD_WEIGHT: Final = 1.0
"""The weight of the keyword score; the semantic score weighs one."""
_HALF_LIFE_MS: Final = 180 * DAY
_FRESH: Final = 0.3
_TRUST: Final = np.array([0.5, 0.85, 1.0, 1.1])
_NO_EXPIRY: Final = 2**62
_GONE: Final = -1
_STATUSES: Final = ("active", "pending", "superseded", "quarantined")
ACTIVE: Final = frozenset({"active"})
_EMPTY_ROWS: Final = np.zeros(0, np.int64)
_ROW_COST: Final = 600
_FACTS_COST: Final = 2_500

IndexArray = Any
IndexPredicate = Callable[[Mapping[str, Any]], bool]


@dataclass(frozen=True, slots=True)
class IndexedMemory:
    """A memory for the index: its terms, its vector, its JSON view, and the columns that every search reads.

    `vector` is None when another model made it; the memory is then found by its words only. `created` and `expires` are
    milliseconds. The score of an `ageless` memory does not fall with time.
    """

    id: str
    terms: Sequence[str]
    vector: bytes | None
    document: bytes
    status: str
    trust: int
    ageless: bool
    created: int
    expires: int | None


@dataclass(frozen=True, slots=True)
class RankedRow:
    """The parts of the score of a row; a rank is None where the row is not among the best in that list."""

    score: float
    semantic: float
    keyword: float
    semantic_rank: int | None
    keyword_rank: int | None
    recency: float
    trust: float


class MemoryIndex:
    """Rows in order of arrival; a changed memory leaves its old row and takes a new one."""

    def __init__(self, stamp: int) -> None:
        self.stamp = stamp
        self.outdated = False
        """Whether some memory's vector is to be made anew."""
        self._places: dict[str, int] = {}
        self._ids: list[str] = []
        self._documents: list[bytes] = []
        self._facts: dict[int, Mapping[str, Any]] = {}
        self._keywords = KeywordIndex()
        self._columns = _Columns()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, memory: str) -> bool:
        return memory in self._places

    @property
    def cost(self) -> int:
        """Approximate size in bytes."""
        rows = self._bytes + _ROW_COST * len(self._ids)
        return self._columns.vectors.nbytes + rows + _FACTS_COST * len(self._facts)

    @property
    def stale(self) -> bool:
        """Whether so many rows are unused that the index should be rebuilt."""
        return len(self._ids) > 64 and len(self._ids) > 2 * len(self._places)

    def put(self, memories: Sequence[IndexedMemory]) -> None:
        """Add memories, or new versions of memories."""
        for memory in memories:
            if (old := self._places.get(memory.id)) is not None:
                self._columns.facts["status"][old] = _GONE
            self._places[memory.id] = len(self._ids)
            self._ids.append(memory.id)
            self._documents.append(memory.document)
            self._bytes += len(memory.document)
        self._keywords.extend([memory.terms for memory in memories])
        self._columns.extend(memories)

    def search(
        self,
        terms: Sequence[QueryTerm],
        vector: IndexArray | None,
        mode: RankingMode,
        *,
        now: int,
        statuses: frozenset[str] = ACTIVE,
        keep: IndexPredicate | None = None,
    ) -> Iterator[tuple[str, RankedRow]]:
        """Ids, best first: at most the first fifty by meaning and the first fifty by words.

        `terms` are none in semantic mode, `vector` is None in keyword mode; `statuses` and `keep` say which memories
        may be found.
        """
        columns = self._columns
        allowed = columns.allowed(statuses, now)
        if keep is not None:
            for row in np.flatnonzero(allowed):
                allowed[row] = keep(self._read(int(row)))
        nearest = _EMPTY_ROWS if vector is None else columns.nearest(vector, allowed)
        words = self._keywords.scores(terms)
        matching = top_rows(words, np.flatnonzero((words > 0) & allowed))
        rows = np.unique(np.concatenate([nearest, matching]))
        facts, semantic, keyword = columns.facts[rows], columns.cosines(vector, rows), words[rows]
        recency, trust = _recency(facts, now), _TRUST[facts["trust"]]
        # Rounded before they are compared, so that the order agrees with the scores in the answer.
        scores = (_matched(semantic, keyword, mode).astype(np.float64) * recency * trust).round(6)
        semantic_ranks, keyword_ranks = (
            {row: rank for rank, row in enumerate(leading.tolist(), 1)} for leading in (nearest, matching)
        )
        for at in np.lexsort((rows, -scores)).tolist():  # ties in order of row
            row = int(rows[at])
            yield (
                self._ids[row],
                RankedRow(
                    score=float(scores[at]),
                    semantic=float(semantic[at]),
                    keyword=float(keyword[at]),
                    semantic_rank=semantic_ranks.get(row),
                    keyword_rank=keyword_ranks.get(row),
                    recency=float(recency[at]),
                    trust=float(trust[at]),
                ),
            )

    def nearest(
        self, stored: bytes | IndexArray, *, now: int, statuses: frozenset[str] = ACTIVE
    ) -> list[tuple[Mapping[str, Any], float]]:
        """The views and the cosines of the five closest to a vector, as it is stored or as an array; closest first."""
        if not len(self):
            return []
        columns, vector = self._columns, np.frombuffer(stored, np.float32)
        rows = columns.nearest(vector, columns.allowed(statuses, now))[:5]
        cosines = columns.cosines(vector, rows)
        return [
            (orjson.loads(self._documents[int(row)]), float(cosine)) for row, cosine in zip(rows, cosines, strict=True)
        ]

    def facts(self, memory: str) -> Mapping[str, Any]:
        """A memory's view."""
        found: Mapping[str, Any] = orjson.loads(self._documents[self._places[memory]])
        return found

    def read(self) -> None:
        """Parse every memory's view, as filters need it; slow the first time."""
        for row in self._places.values():
            self._read(row)

    def _read(self, row: int) -> Mapping[str, Any]:
        if row not in self._facts:
            self._facts[row] = orjson.loads(self._documents[int(row)])
        return self._facts[row]


_COLUMNS: Final = np.dtype(
    [
        *(("expires", np.int64), ("created", np.int64), ("status", np.int8)),
        *(("trust", np.int8), ("ageless", np.bool_), ("comparable", np.bool_)),
    ]
)


class _Columns:
    """The vectors of an index and what every search reads beside them, by row, grown by doubling; the first `_used`
    rows count.
    """

    def __init__(self) -> None:
        self.vectors: IndexArray = np.zeros((0, 0), np.float32)
        self.facts: IndexArray = np.zeros(0, _COLUMNS)
        self._used = 0

    def allowed(self, statuses: frozenset[str], now: int) -> IndexArray:
        """Which rows have one of the statuses and have not expired."""
        facts = self.facts[: self._used]
        # The last entry is that of `_GONE`.
        wanted = np.array([*(status in statuses for status in _STATUSES), False])
        return wanted[facts["status"]] & (facts["expires"] > now)

    def nearest(self, vector: IndexArray, allowed: IndexArray) -> IndexArray:
        """The allowed rows closest to a vector, closest first."""
        if self.vectors.shape[1] != len(vector):
            return _EMPTY_ROWS
        rows = np.flatnonzero(allowed & self.facts["comparable"][: self._used])
        return top_rows(self.vectors[: self._used] @ vector, rows)

    def cosines(self, vector: IndexArray | None, rows: IndexArray) -> IndexArray:
        """The cosine of these rows; zeros without a vector of the same dimension."""
        if vector is None or self.vectors.shape[1] != len(vector):
            return np.zeros(len(rows), np.float32)
        return self.vectors[rows] @ vector

    def extend(self, memories: Sequence[IndexedMemory]) -> None:
        """Append these memories' values as rows."""
        if not memories:
            return
        found = [memory.vector for memory in memories if memory.vector is not None]
        start, self._used = self._used, self._used + len(memories)
        self._grow(self._used, max(self.vectors.shape[1], len(found[0]) // 4 if found else 0))
        none = bytes(4 * self.vectors.shape[1])
        joined = b"".join([memory.vector or none for memory in memories])
        self.vectors[start : self._used] = np.frombuffer(joined, np.float32).reshape(len(memories), -1)
        self.facts[start : self._used] = [
            (
                *(_NO_EXPIRY if memory.expires is None else memory.expires, memory.created),
                *(_STATUSES.index(memory.status), memory.trust, memory.ageless, memory.vector is not None),
            )
            for memory in memories
        ]

    def _grow(self, rows: int, width: int) -> None:
        """Allocate at least `rows` rows of `width` dimensions; rows before the first vector are widened to it."""
        if (capacity := len(self.facts)) >= rows and self.vectors.shape[1] == width:
            return
        capacity = max(rows, 2 * capacity) if rows > capacity else capacity
        self.vectors = _enlarged(self.vectors, (capacity, width))
        self.facts = _enlarged(self.facts, (capacity,))


def _enlarged(old: IndexArray, shape: tuple[int, ...]) -> IndexArray:
    new = np.zeros(shape, old.dtype)
    new[tuple(map(slice, old.shape))] = old
    return new


def top_rows(scores: IndexArray, rows: IndexArray) -> IndexArray:
    """The `MAX_CANDIDATES` of these rows with the highest scores, best first; among equals the older row."""
    selected = scores[rows]
    if len(rows) > MAX_CANDIDATES:
        # Rows that tie with the last place stay, so that the cut is deterministic.
        threshold = np.partition(selected, len(rows) - MAX_CANDIDATES)[len(rows) - MAX_CANDIDATES]
        rows = rows[selected >= threshold]
        selected = scores[rows]
    return rows[np.lexsort((rows, -selected))][:MAX_CANDIDATES]


def _matched(semantic: IndexArray, keyword: IndexArray, mode: RankingMode) -> IndexArray:
    """The score of each candidate, of its cosine and its share of the query's words, before recency and trust."""
    meaning = np.maximum(semantic, 0)
    match mode:
        case "semantic":
            return meaning
        case "keyword":
            return keyword
        case "hybrid":
            # The share counts squared: one common word says little, all words together much.
            words = np.minimum(keyword, 1) ** 2
            return (meaning + KEYWORD_WEIGHT * words) / (1 + KEYWORD_WEIGHT)


def _recency(facts: IndexArray, now: int) -> IndexArray:
    age = np.maximum(0, now - facts["created"]) / _HALF_LIFE_MS
    return np.where(facts["ageless"], 1.0, 1 - _FRESH + _FRESH * np.exp2(-age))
