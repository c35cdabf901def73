"""The search index of one process: tools by slot, their terms, facts and orders."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from negotiator.bounded_cache import BoundedCache
from negotiator.directory.search import document_facts, ranking
from negotiator.directory.search.columns import FacetColumn, Mask, NumberColumn, Slots
from negotiator.directory.search.postings import Postings, SortedPostings
from negotiator.directory.search.query import QueryUnit
from negotiator.directory.search.ranking import UnitMatches
from negotiator.directory.search.spelling import SpellingVocabulary
from negotiator.directory.search.terms import Synonyms, joined, stem

SortOrder = Literal["relevance", "popularity", "updated", "created", "name"]
VISIBLE_STATUSES: Final = ("active", "deprecated")
_WIDE: Final = {"tag": 12, "subcategory": 3, "interface": 7, "publisher": 2}
_SINGLE: Final = (
    *("category", "kind", "auth", "pricing", "licence"),
    *("open_source", "verified", "status"),
)
_BULK: Final = 512
_RANK_BITS: Final = 21
_MATCH_CACHE_BYTES: Final = 16 * 2**20
_UNIT: Final = 500
"""Bytes of overhead of a cached match. `_MATCH_CACHE_BYTES` is the size of that cache in bytes."""


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A tool to index; times in milliseconds."""

    id: str
    document: dict[str, Any]
    saves: int
    created_at: int
    updated_at: int


class SearchIndex:
    """All tools, searchable. Not thread-safe, except for `postings.merged`."""

    def __init__(self, synonyms: Synonyms) -> None:
        self.synonyms = synonyms
        self.postings = Postings()
        self.ids: list[str] = []
        self.facets = {name: FacetColumn() for name in _SINGLE} | {
            name: FacetColumn(width) for name, width in _WIDE.items()
        }
        self.saves, self.updated = NumberColumn(np.int64), NumberColumn(np.int64)
        self.created, self.day = NumberColumn(np.int64), NumberColumn(np.int32)
        self.standing, self.worth = NumberColumn(np.float32), NumberColumn(np.float32)
        self._slots: dict[str, int] = {}
        self._names: list[str] = []
        self._exact: dict[str, tuple[int, ...]] = {}
        self._exact_of: list[tuple[str, ...]] = []
        self._vocabulary, self._nicknames = SpellingVocabulary(), SpellingVocabulary(shortest=3)
        self._by_id: list[str] = []
        self._rank = NumberColumn(np.int64)
        self._in_order = True
        self._visible: Mask | None = None
        self._all_visible = True
        self._by_name: list[tuple[str, str]] = []
        self._name_rank: NDArray[np.int64] | None = None
        self._changed: dict[str, IndexEntry] = {}
        self._matched = BoundedCache[QueryUnit, UnitMatches](_MATCH_CACHE_BYTES)

    def __len__(self) -> int:
        return len(self.ids)

    def put(self, entries: Sequence[IndexEntry]) -> None:
        """Add tools or new versions of them."""
        placed = [(self._place(entry), entry) for entry in entries]
        terms = ((slot, self._read(slot, entry)) for slot, entry in placed)
        if len(entries) >= _BULK:
            self.postings.bulk(terms, len(self))
        else:
            for slot, entry in terms:
                self.postings.put(slot, entry)
        self._forget()

    def gather(self, entries: Iterable[IndexEntry]) -> None:
        """Add tools to a new index; they are searchable after `settle`."""
        for entry in entries:
            if entry.id in self._slots:
                self._changed[entry.id] = entry
                continue
            slot = self._place(entry)
            self.postings.gather(slot, self._read(slot, entry))

    def settle(self) -> None:
        """Make the gathered tools searchable."""
        self.postings.settle(len(self))
        changed, self._changed = self._changed, {}
        self.put(list(changed.values()))

    def adopt(self, merged: SortedPostings) -> None:
        """Use postings that were merged on a thread."""
        self.postings.adopt(merged, len(self))
        self._forget()

    def match(self, unit: QueryUnit) -> UnitMatches:
        """The tools that match a unit, cached for recent units."""
        matched = self._matched.get(unit)
        if matched is None:
            matched = ranking.match_unit(self.postings, unit, len(self))
            self._matched.put(unit, matched, _UNIT + matched.size)
        return matched

    def slot(self, key: str) -> int:
        """The slot of an indexed tool."""
        return self._slots[key]

    def named(self, word: str) -> list[int]:
        """The tools whose name or slug, written as one word, is this one."""
        return list(self._exact.get(word, ()))

    def visible(self) -> Mask:
        """The tools that lists show by default; read-only."""
        if self._visible is None:
            self._visible = self.facets["status"].mask(VISIBLE_STATUSES, len(self))
            self._all_visible = bool(self._visible.all())
        return self._visible

    @property
    def all_visible(self) -> bool:
        """Whether no tool is hidden from lists."""
        self.visible()
        return self._all_visible

    def correct_words(self, words: Sequence[str]) -> dict[str, str]:
        """Corrections of words that no tool has: two words joined, a similar word, or a word split in two."""
        unknown = {word for word in words if self._count(word) == 0}
        found = {
            f"{one} {two}": one + two
            for one, two in pairwise(words)
            if not unknown.isdisjoint((one, two)) and self._count(one + two)
        }
        unknown.difference_update(*(pair.split() for pair in found))
        for word in words:
            if word in unknown:
                near = self._vocabulary.nearest(word, self._count)
                if read := near.word if near else self._vocabulary.pieces(word, self._count):
                    found[word] = read
        return found

    def correct_name(self, word: str) -> str | None:
        """The tool name nearest to a query written as one word; None when none is near, or a word is nearer."""
        near = self._nicknames.nearest(word, lambda each: len(self._exact.get(each, ())))
        other = self._vocabulary.nearest(word, self._count)
        if near is None or (other is not None and other[:2] < near[:2]):
            return None
        written = (self._names[slot] for slot in self._exact[near.word])
        return min((name for name in written if joined(name) == near.word), default=near.word)

    def keys(
        self, sort: SortOrder, at: Slots, scores: NDArray[np.int64] | None
    ) -> NDArray[np.int64]:
        """A unique number for each of these tools; lists are in descending order.

        `scores` are for `relevance`.
        """
        if sort == "name":
            return -self._ranked_by_name().take(at)
        column = {"popularity": self.saves, "updated": self.updated, "created": self.created}
        values = scores if sort == "relevance" else column[sort].at(at)
        assert values is not None  # noqa: S101  relevance requires a query
        return values << _RANK_BITS | self._ranked().take(at)

    def position(self, sort: SortOrder, key: int, slot: int) -> tuple[Any, str]:
        """The position of a tool in an order, valid in every process: the sort value and the id."""
        return self._names[slot] if sort == "name" else key >> _RANK_BITS, self.ids[slot]

    def below(self, sort: SortOrder, position: tuple[Any, str]) -> int:
        """The key that everything after a position is smaller than; the tool at it may be gone."""
        value, key = position
        if sort == "name":
            self._ranked_by_name()
            return 1 - bisect_right(self._by_name, (value, key))
        self._ranked()
        return (value << _RANK_BITS) | bisect_left(self._by_id, key)

    def counts(self, facet: str) -> dict[str, int]:
        """The number of visible tools for each value of a facet."""
        return dict(self.facets[facet].counts(np.flatnonzero(self.visible()), len(self) + 1))

    def newest(self, facet: str, value: str) -> int:
        """When a tool with this value last changed; 0 when there is none."""
        times = self.updated.first(len(self))[self.facets[facet].mask((value,), len(self))]
        return int(times.max()) if len(times) else 0

    def _place(self, entry: IndexEntry) -> int:
        slot = self._slots.get(entry.id)
        if slot is None:
            slot = self._slots[entry.id] = len(self.ids)
            self.ids.append(entry.id)
            self._names.append("")
            self._exact_of.append(())
            self._in_order = self._in_order and (not self._by_id or entry.id > self._by_id[-1])
            self._rank.put(slot, slot)
            self._by_id.append(entry.id)
        self.saves.put(slot, entry.saves)
        self.created.put(slot, entry.created_at)
        self.updated.put(slot, entry.updated_at)
        self.day.put(slot, ranking.epoch_day(entry.updated_at))
        return slot

    def _read(self, slot: int, entry: IndexEntry) -> Mapping[str, tuple[float, int]]:
        read = document_facts.read_facts(entry.document)
        self._names[slot] = read.name
        self.standing.put(slot, ranking.query_independent_score(entry.saves, read.quality))
        self.worth.put(slot, ranking.status_factor(entry.document["status"]))
        for name, values in read.facets.items():
            self.facets[name].put(slot, values)
        for name in self._exact_of[slot]:
            self._exact[name] = tuple(each for each in self._exact[name] if each != slot)
        self._exact_of[slot] = read.exact
        for name in read.exact:
            self._exact[name] = (*self._exact.get(name, ()), slot)
        self._vocabulary.add(read.surfaces)
        self._nicknames.add(read.exact)
        return read.terms

    def _forget(self) -> None:
        """Drop everything derived from the tools."""
        self._name_rank = self._visible = None
        self._matched.clear()

    def _count(self, word: str) -> int:
        return self.postings.count(stem(word))

    def _ranked(self) -> NDArray[np.int64]:
        """The rank of every tool by id. Ids rise with time, so a new tool nearly always ranks last."""
        if not self._in_order:
            order = sorted(range(len(self)), key=self.ids.__getitem__)
            self._by_id = [self.ids[slot] for slot in order]
            for place, slot in enumerate(order):
                self._rank.put(slot, place)
            self._in_order = True
        return self._rank.first(len(self))

    def _ranked_by_name(self) -> NDArray[np.int64]:
        if self._name_rank is None:
            pairs = [(name, self.ids[slot]) for slot, name in enumerate(self._names)]
            order = sorted(range(len(pairs)), key=pairs.__getitem__)
            self._by_name = [pairs[slot] for slot in order]
            self._name_rank = np.empty(len(order), np.int64)
            self._name_rank[order] = np.arange(len(order))
        return self._name_rank
