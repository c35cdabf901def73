"""The inverted index: which tools have a term, and in which fields. It is never changed; `adding` makes another.

As in Lucene, tools are added in segments, and a segment counts only for those tools that no later one has. Neighbours
are merged when the later one is no longer much smaller, so that there are few and each posting is copied seldom.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

_SMALLER: Final = 8
"""How many times smaller a segment is than the one before it, or they are merged."""
_SMALLEST: Final = 2_000
"""Postings that a segment counts as at least."""

TermFields = Mapping[str, int]
"""The fields that have each term of a tool, as bits."""


@dataclass(frozen=True, slots=True)
class Postings:
    """The tools that have a term in ascending slots, and the fields that have it, as bits."""

    slots: NDArray[np.int32]
    fields: NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class _Segment:
    """The terms of some tools: the postings of term n are between the starts n and n + 1.

    `complete` says whether no later segment has any of the tools.
    """

    terms: dict[str, int]
    starts: list[int]
    postings: Postings
    tools: int
    complete: bool = True

    def __len__(self) -> int:
        return self.starts[-1]


@dataclass(frozen=True, slots=True)
class InvertedIndex:
    """Segments, and by slot the number of the segment that has the tool."""

    segments: tuple[_Segment, ...] = ()
    holders: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))

    def adding(self, tools: Mapping[int, TermFields], *, merging: bool = True) -> Self:
        """The index with these tools, by slot, in place of what it has of them."""
        if not tools:
            return self
        slots = np.fromiter(tools, np.int32, len(tools))
        holders = np.full(max(len(self.holders), int(slots.max()) + 1), -1, np.int32)
        holders[: len(self.holders)] = self.holders
        holders[slots] = len(self.segments)
        found = replace(self, segments=(*self.segments, _segment(tools)), holders=holders)
        while merging and len(found.segments) > 1:
            before, last = map(len, found.segments[-2:])
            if before > _SMALLER * max(last, _SMALLEST):
                break
            found = found.merged(len(found.segments) - 2)
        return found._marked()

    def merged(self, first: int = 0) -> Self:
        """The index with the segments from `first` on as one."""
        if len(self.segments) <= first + 1:
            return self
        segment = _merged(self.segments, self.holders, first)
        holders = np.minimum(self.holders, first)
        return replace(self, segments=(*self.segments[:first], segment), holders=holders)

    def count(self, term: str) -> int:
        """The number of tools with a term."""
        number = 0
        for place, segment in enumerate(self.segments):
            found = segment.terms.get(term)
            if found is not None:
                number += (
                    segment.starts[found + 1] - segment.starts[found]
                    if segment.complete
                    else len(self._held(place, found).slots)
                )
        return number

    def find(self, term: str) -> Postings:
        """The tools that have the term."""
        found = [
            self._held(place, segment.terms[term])
            for place, segment in enumerate(self.segments)
            if term in segment.terms
        ]
        if len(found) == 1:
            return found[0]
        if not found:
            return NO_POSTINGS
        slots, fields = (
            np.concatenate([each.slots for each in found]),
            np.concatenate([each.fields for each in found]),
        )
        order = slots.argsort()
        return Postings(slots[order], fields[order])

    def state(self) -> tuple[list[str], dict[str, NDArray[Any]]]:
        """What `restored` needs: the terms, and arrays by name."""
        whole = self.merged()
        segment = whole.segments[0] if whole.segments else _segment({})
        arrays: dict[str, NDArray[Any]] = {
            "starts": np.array(segment.starts),
            "postings": segment.postings.slots,
            "posted": segment.postings.fields,
        }
        return list(segment.terms), arrays

    @classmethod
    def restored(cls, tools: int, terms: Sequence[str], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The index of so many tools that gave this state."""
        postings = Postings(arrays["postings"], arrays["posted"])
        numbers = {term: number for number, term in enumerate(terms)}
        starts: list[int] = arrays["starts"].tolist()
        if len(starts) != len(numbers) + 1 or not starts[-1] == len(postings.slots) == len(postings.fields):
            raise ValueError("postings are missing")
        return cls((_Segment(numbers, starts, postings, tools),), np.zeros(tools, np.int32))

    def _held(self, place: int, term: int) -> Postings:
        segment = self.segments[place]
        part = slice(segment.starts[term], segment.starts[term + 1])
        found = Postings(segment.postings.slots[part], segment.postings.fields[part])
        if segment.complete:
            return found
        held = self.holders.take(found.slots) == place
        return Postings(found.slots[held], found.fields[held])

    def _marked(self) -> Self:
        """The same, with every segment knowing whether it is complete."""
        numbers = np.bincount(self.holders[self.holders >= 0], minlength=len(self.segments))
        return replace(
            self,
            segments=tuple(
                replace(segment, complete=bool(number == segment.tools))
                for segment, number in zip(self.segments, numbers, strict=True)
            ),
        )


NO_POSTINGS: Final = Postings(np.empty(0, np.int32), np.empty(0, np.uint16))


def _segment(tools: Mapping[int, TermFields]) -> _Segment:
    terms: dict[str, int] = {}
    numbers = np.fromiter((terms.setdefault(term, len(terms)) for each in tools.values() for term in each), np.int64)
    fields = np.fromiter(chain.from_iterable(each.values() for each in tools.values()), np.uint16)
    lengths = [len(each) for each in tools.values()]
    slots = np.repeat(np.fromiter(tools, np.int32, len(tools)), lengths)
    return _sorted(terms, numbers, slots, fields, len(tools))


def _merged(segments: Sequence[_Segment], holders: NDArray[np.int32], first: int) -> _Segment:
    """The segments from `first` on as one, without what none of them holds."""
    terms: dict[str, int] = {}
    parts: list[tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16]]] = []
    for place, segment in enumerate(segments[first:], first):
        known = np.fromiter(
            (terms.setdefault(term, len(terms)) for term in segment.terms), np.int64, len(segment.terms)
        )
        numbers = known.repeat(np.diff(segment.starts))
        slots, fields = segment.postings.slots, segment.postings.fields
        held = holders.take(slots) == place
        parts.append((numbers[held], slots[held], fields[held]))
    numbers, slots, fields = map(np.concatenate, zip(*parts, strict=True))
    return _sorted(terms, numbers, slots, fields, int((holders >= first).sum()))


def _sorted(
    terms: dict[str, int], numbers: NDArray[np.int64], slots: NDArray[np.int32], fields: NDArray[np.uint16], tools: int
) -> _Segment:
    """A segment of these postings, of the terms with these numbers."""
    order = (numbers << 32 | slots).argsort(kind="stable")
    ends = np.bincount(numbers, minlength=len(terms)).cumsum()
    starts: list[int] = [0, *ends.tolist()]
    return _Segment(terms, starts, Postings(slots[order], fields[order]), tools)
