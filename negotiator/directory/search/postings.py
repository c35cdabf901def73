"""An inverted index in columns: which tools have a term, in which fields, and with which weight.

Indexed postings are sorted by term in four arrays. Later changes are kept in dictionaries until `merged` sorts both
together, possibly on a thread. A tool is identified by its slot, a small integer.
"""

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import Final

import numpy as np
from numpy.typing import NDArray

PostingSlots = NDArray[np.int32]
Impacts = NDArray[np.float32]
PostingFields = NDArray[np.uint8]
TermWeights = Mapping[str, tuple[float, int]]
"""The terms of one tool: the impact, and the fields with the term as bits."""

_NONE: Final = (np.empty(0, np.int32), np.empty(0, np.float32), np.empty(0, np.uint8))


@dataclass(frozen=True, slots=True)
class SortedPostings:
    """Postings sorted by term, then slot; those of term `t` are from `starts[t]` to `starts[t + 1]`."""

    starts: NDArray[np.int64]
    slots: PostingSlots
    impacts: Impacts
    fields: PostingFields


@dataclass(frozen=True, slots=True)
class PostingsMerge:
    """The input of a merge, so that the index may change while it runs."""

    main: SortedPostings
    stale: NDArray[np.bool_]
    entries: list[tuple[int, TermWeights]]
    terms: int


class PendingPostings:
    """Unsorted postings in columns."""

    def __init__(self) -> None:
        self.terms, self.slots = array("i"), array("i")
        self.impacts, self.fields = array("f"), array("B")


class Postings:
    """The postings of a catalogue."""

    def __init__(self) -> None:
        self._terms: dict[str, int] = {}
        self._main = SortedPostings(np.zeros(1, np.int64), *_NONE)
        self._stale = np.zeros(0, np.bool_)
        self._any_stale = False
        self._delta: dict[int, dict[int, tuple[float, int]]] = {}
        self._changed: dict[int, TermWeights] = {}
        self._meanwhile: dict[int, TermWeights] | None = None
        self._gathered = PendingPostings()

    @property
    def pending(self) -> int:
        """The number of tools that wait to be merged."""
        return len(self._changed)

    def put(self, slot: int, entry: TermWeights) -> None:
        """Replace the terms of the tool at this slot."""
        for term in self._changed.get(slot, ()):
            self._delta[self._terms[term]].pop(slot, None)
        if slot < len(self._stale) and not self._stale[slot]:
            self._stale[slot] = self._any_stale = True
        for term, weight in entry.items():
            self._delta.setdefault(self._number(term), {})[slot] = weight
        self._changed[slot] = entry
        if self._meanwhile is not None:
            self._meanwhile[slot] = entry

    def find(self, term: str) -> tuple[PostingSlots, Impacts, PostingFields]:
        """The tools with the term: ascending slots, impacts and field bits."""
        number = self._terms.get(term)
        if number is None:
            return _NONE
        main, fresh = self._sorted(number), self._delta.get(number)
        if not fresh:
            return main
        later = sorted(fresh)
        place = main[0].searchsorted(np.array(later, np.int32))
        return (
            np.insert(main[0], place, later),
            np.insert(main[1], place, [fresh[slot][0] for slot in later]),
            np.insert(main[2], place, [fresh[slot][1] for slot in later]),
        )

    def count(self, term: str) -> int:
        """The number of tools with the term."""
        return len(self.find(term)[0])

    def begin(self) -> PostingsMerge:
        """The input for `merged`; later changes are kept apart until `adopt`."""
        self._meanwhile = {}
        return PostingsMerge(
            self._main, self._stale.copy(), list(self._changed.items()), len(self._terms)
        )

    def adopt(self, merged: SortedPostings, slots: int) -> None:
        """Use the merged postings of `slots` tools and apply the changes made since `begin`."""
        later, self._meanwhile = self._meanwhile or {}, None
        self._main, self._stale, self._any_stale = merged, np.zeros(slots, np.bool_), False
        self._delta, self._changed = {}, {}
        for slot, entry in later.items():
            self.put(slot, entry)

    def bulk(self, entries: Iterable[tuple[int, TermWeights]], slots: int) -> None:
        """Put many tools at once, merged."""
        job = self.begin()
        rows = PendingPostings()
        for slot, entry in (*job.entries, *entries):
            if slot < len(job.stale):
                job.stale[slot] = True
            self._note(rows, slot, entry)
        self.adopt(_merged(job, rows), slots)

    def gather(self, slot: int, entry: TermWeights) -> None:
        """Add tools to a new index, each once; not searchable before `settle`."""
        self._note(self._gathered, slot, entry)

    def settle(self, slots: int) -> None:
        """Merge the gathered tools."""
        rows, self._gathered = self._gathered, PendingPostings()
        self.adopt(_merged(self.begin(), rows), slots)

    def merged(self, job: PostingsMerge) -> SortedPostings:
        """The old and the new postings sorted together."""
        rows = PendingPostings()
        for slot, entry in job.entries:
            self._note(rows, slot, entry)
        return _merged(job, rows)

    def _note(self, rows: "PendingPostings", slot: int, entry: TermWeights) -> None:
        rows.terms.extend(map(self._number, entry))
        rows.slots.extend(repeat(slot, len(entry)))
        rows.impacts.extend(impact for impact, _ in entry.values())
        rows.fields.extend(bits for _, bits in entry.values())

    def _sorted(self, number: int) -> tuple[PostingSlots, Impacts, PostingFields]:
        main = self._main
        if number >= len(main.starts) - 1:
            return _NONE
        here = slice(int(main.starts[number]), int(main.starts[number + 1]))
        slots, impacts, fields = main.slots[here], main.impacts[here], main.fields[here]
        if not self._any_stale:
            return slots, impacts, fields
        live = ~self._stale[slots]
        return slots[live], impacts[live], fields[live]

    def _number(self, term: str) -> int:
        return self._terms.setdefault(term, len(self._terms))


def _merged(job: PostingsMerge, rows: PendingPostings) -> SortedPostings:
    main, live = job.main, _live(job.main.slots, job.stale)
    owners = np.repeat(np.arange(len(main.starts) - 1, dtype=np.int32), np.diff(main.starts))[live]
    terms = np.concatenate((owners, np.frombuffer(rows.terms, np.int32)))
    slots = np.concatenate((main.slots[live], np.frombuffer(rows.slots, np.int32)))
    # All keys differ, so the sort need not be stable.
    order = np.argsort(terms.astype(np.int64) << 32 | slots)
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.bincount(terms))))
    impacts = np.concatenate((main.impacts[live], np.frombuffer(rows.impacts, np.float32)))
    fields = np.concatenate((main.fields[live], np.frombuffer(rows.fields, np.uint8)))
    return SortedPostings(starts, slots[order], impacts[order], fields[order])


def _live(slots: PostingSlots, stale: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return ~stale[slots] if len(slots) else np.zeros(0, np.bool_)
