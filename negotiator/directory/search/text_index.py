"""Finds the tools that have the words of a query, and scores them by the fields that have them.

A score is made of constants of the query and of the tool's own fields: it depends on the query and the tool alone, not
on which other tools this process has seen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from negotiator.base.bounded_cache import BoundedCache
from negotiator.directory.search.columns import Mask, Slots
from negotiator.directory.search.document_facts import FIELD_IMPACTS
from negotiator.directory.search.request import Demand
from negotiator.directory.search.terms import Phrase, QueryUnit

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

    def adding(self, tools: Mapping[int, TermFields]) -> Self:
        """The index with these tools, by slot, in place of what it has of them."""
        if not tools:
            return self
        slots = np.fromiter(tools, np.int32, len(tools))
        holders = np.full(max(len(self.holders), int(slots.max()) + 1), -1, np.int32)
        holders[: len(self.holders)] = self.holders
        holders[slots] = len(self.segments)
        found = replace(self, segments=(*self.segments, _segment(tools)), holders=holders)
        while len(found.segments) > 1:
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


_SHARES: Final = 64
_FRACTIONS: Final = 2**12
"""A unit adds its share of the query's weight in 1/64 as an integer, and its weighted impact as a fraction in 1/2^12.
float32 holds such sums exactly in whatever order they are added."""
HEAVY: Final = 0.35
"""A unit with this share of the query's weight says what is looked for."""
_FEW: Final = 2_000
"""Up to so many tools are looked up in each unit; more are added up over the whole catalogue."""
_UNITS: Final = 8 * 2**20
"""Bytes of units with several phrases that are kept."""

Floats = NDArray[np.float32]


def _impacts() -> Floats:
    """The impact of a term by the bits of its fields: that of the field where it counts most."""
    found = np.zeros(2 ** len(FIELD_IMPACTS), np.float32)
    for place, impact in enumerate(FIELD_IMPACTS):
        having = np.arange(len(found)) >> place & 1 == 1
        found[having] = np.maximum(found[having], np.float32(impact))
    return found


_IMPACTS: Final = _impacts()


@dataclass(frozen=True, slots=True)
class UnitMatches:
    """The tools that match a unit in ascending slots: the place of each one's impact in `impacts`, and the fields."""

    slots: Slots
    codes: NDArray[np.uint16]
    impacts: Floats
    fields: NDArray[np.uint16]

    @property
    def tools(self) -> int:
        """The number of tools that match."""
        return len(self.slots)

    def scores(self, share: float, whole: int) -> Floats:
        """What a tool scores by its code: `whole`, and as a fraction `share` times the impact."""
        fractions = np.rint(self.impacts * np.float32(share * _FRACTIONS))
        return np.maximum(fractions, 1) + np.float32(whole * _FRACTIONS)


@dataclass(frozen=True, slots=True)
class TextMatches:
    """Tools in ascending slots: how well each matches, which share of the query it matches (0 to 1 by weight), and the
    preliminary score by which the best are taken. `every` are the slots of all, taken or not.
    """

    slots: Slots
    text: Floats
    covered: Floats
    preliminary: Floats
    every: Slots

    @property
    def total(self) -> int:
        """The number of all tools that match."""
        return len(self.every)

    @property
    def floor(self) -> float:
        """The preliminary score below which matches are left out; 0 when none is."""
        return float(self.preliminary.min()) if self.total > len(self.slots) else 0.0

    def union(self, slots: Sequence[int]) -> "TextMatches":
        """These and other tools, which match nothing of the text."""
        if not slots:
            return self
        added = np.setdiff1d(np.array(slots, np.int32), self.slots)
        if not len(added):
            return self
        places = self.slots.searchsorted(added)
        return TextMatches(
            np.insert(self.slots, places, added),
            np.insert(self.text, places, 0),
            np.insert(self.covered, places, 0),
            np.insert(self.preliminary, places, np.inf),
            np.union1d(self.every, added).astype(np.int32),
        )


class TextIndex:
    """The terms of tools."""

    def __init__(self) -> None:
        self.postings = InvertedIndex()
        self._units = BoundedCache[tuple[tuple[float, Phrase], ...], UnitMatches](_UNITS)

    def use(self, postings: InvertedIndex) -> None:
        """Answer from this state from now on."""
        self.postings = postings
        self._units.clear()

    def units(self, units: Sequence[QueryUnit]) -> list[UnitMatches]:
        """The tools that match each unit of a query."""
        return list(map(self._unit, units))

    def _unit(self, unit: QueryUnit) -> UnitMatches:
        phrases = unit.phrases
        if len(phrases) == 1 and len(phrases[0][1]) == 1:
            found = self.postings.find(phrases[0][1][0])
            return UnitMatches(found.slots, found.fields, _IMPACTS, found.fields)
        known = self._units.get(phrases)
        if known is None:
            known = self._joined(phrases)
            size = known.slots.nbytes + known.codes.nbytes + known.fields.nbytes
            self._units.put(phrases, known, size)
        return known

    def match(
        self,
        units: Sequence[UnitMatches],
        weights: Sequence[float],
        demand: Demand,
        factors: Floats,
        *,
        allowed: Mask | None = None,
        best: int | None = None,
    ) -> TextMatches:
        """The tools that match the units as demanded and are allowed; only the best if so many are more.

        `factors` are those of the preliminary scores of all tools.
        """
        total = sum(weights) or 1.0
        parts = [
            (weight / total, unit, unit.scores(weight / total, whole))
            for unit, weight, whole in zip(units, weights, whole_shares(weights), strict=True)
            if weight
        ]
        if not parts or (demand == "every" and len(parts) < len(units)):
            return _NONE
        if len(parts) == 1:
            _, unit, scores = parts[0]
            slots, sums = unit.slots, scores.take(unit.codes)
        elif demand == "every" and min(len(unit.slots) for _, unit, _ in parts) <= _FEW:
            slots, sums = _looked_up(parts)
        else:
            slots, sums = _added_up(parts, demand, len(factors))
        if allowed is not None:
            held = allowed.take(slots)
            slots, sums = slots[held], sums[held]
        if not len(slots):
            return _NONE
        every, preliminary = slots, sums * factors.take(slots)
        if best is not None and len(slots) > best:
            taken = preliminary.argpartition(len(slots) - best)[-best:]
            taken.sort()
            slots, sums, preliminary = slots[taken], sums[taken], preliminary[taken]
        sums = sums * np.float32(1 / _FRACTIONS)
        whole = np.floor(sums)
        return TextMatches(slots, sums - whole, whole * np.float32(1 / _SHARES), preliminary, every)

    def _joined(self, phrases: Sequence[tuple[float, Phrase]]) -> UnitMatches:
        """The tools that match any of the phrases, with the impact of the best and the fields of all."""
        found = [(weight, *self._phrase(phrase)) for weight, phrase in phrases]
        slots = np.concatenate([each for _, each, _, _ in found])
        impacts = np.concatenate([np.float32(weight) * impact for weight, _, impact, _ in found])
        fields = np.concatenate([each for _, _, _, each in found])
        if not len(slots):
            return UnitMatches(slots, fields, _IMPACTS, fields)
        order = slots.argsort(kind="stable")
        slots, impacts, fields = slots[order], impacts[order], fields[order]
        firsts = np.flatnonzero(np.diff(slots, prepend=-1))
        impacts = np.maximum.reduceat(impacts, firsts)
        fields = np.bitwise_or.reduceat(fields, firsts)
        different, codes = np.unique(impacts, return_inverse=True)
        return UnitMatches(slots[firsts], codes.astype(np.uint16), different, fields)

    def _phrase(self, phrase: Phrase) -> tuple[Slots, Floats, NDArray[np.uint16]]:
        """The tools with all terms of a phrase: the mean of the terms' impacts, and the fields that have any."""
        first, *rest = map(self.postings.find, dict.fromkeys(phrase))
        slots, impacts, fields = first.slots, _IMPACTS.take(first.fields), first.fields
        for other in rest:
            places, same = _places(other, slots)
            added = other.fields.take(places[same])
            slots, fields = slots[same], fields[same] | added
            impacts = impacts[same] + _IMPACTS.take(added)
        return slots, impacts / np.float32(1 + len(rest)), fields


def _places(found: Postings | UnitMatches, slots: Slots) -> tuple[NDArray[np.int64], Mask]:
    """Where tools are among the found ones, and whether they are."""
    if not len(found.slots):
        return np.zeros(len(slots), np.int64), np.zeros(len(slots), np.bool_)
    places = found.slots.searchsorted(slots)
    return places, found.slots.take(places, mode="clip") == slots


def fields_of(units: Sequence[UnitMatches], slots: Slots) -> NDArray[np.uint16]:
    """The fields of each tool that match any of the units, as bits."""
    fields = np.zeros(len(slots), np.uint16)
    for unit in units:
        places, same = _places(unit, slots)
        fields[same] |= unit.fields.take(places[same])
    return fields


_Part = tuple[float, UnitMatches, Floats]
_FLOATS: Final = np.empty(0, np.float32)
_NONE: Final = TextMatches(NO_POSTINGS.slots, _FLOATS, _FLOATS, _FLOATS, NO_POSTINGS.slots)


def _looked_up(parts: Sequence[_Part]) -> tuple[Slots, Floats]:
    """The tools that match all parts and their scores: those of the rarest, looked up in the others."""
    (_, rarest, scores), *others = sorted(parts, key=lambda part: len(part[1].slots))
    slots, sums = rarest.slots, scores.take(rarest.codes)
    for _, unit, added in others:
        places, same = _places(unit, slots)
        slots, sums = slots[same], sums[same] + added.take(unit.codes.take(places[same]))
    return slots, sums


def _added_up(parts: Sequence[_Part], demand: Demand, size: int) -> tuple[NDArray[np.int64], Floats]:
    """The tools that match the parts as demanded and their scores, added up over all `size` tools."""
    sums, found = np.zeros(size, np.float32), np.zeros(size, np.uint8)
    heavy = [unit for share, unit, _ in parts if share >= HEAVY]
    counted = heavy if demand == "most" and heavy else [unit for _, unit, _ in parts]
    least = len(parts) if demand == "every" else 2 if demand == "most" and not heavy else 1
    for _, unit, scores in parts:
        sums[unit.slots] += scores.take(unit.codes)
    for unit in counted:
        found[unit.slots] += 1
    slots = np.flatnonzero(found >= least)
    return slots, sums.take(slots)


def whole_shares(weights: Sequence[float]) -> list[int]:
    """The weights as integers that add up to 64, each at least 1 unless it is 0."""
    total = sum(weights) or 1.0
    shares = [max(1, round(weight / total * _SHARES)) if weight else 0 for weight in weights]
    if any(shares):
        shares[shares.index(max(shares))] += _SHARES - sum(shares)
    return shares
