"""The steps by which a query finds tools: by name, by everything asked for, by corrected spelling, by any of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np

from negotiator.directory.search import ranking
from negotiator.directory.search.columns import Mask
from negotiator.directory.search.index import SearchIndex
from negotiator.directory.search.query import (
    Demand,
    MatchStep,
    ParsedQuery,
    PinnedQuery,
    corrected_query,
    parse_query,
    word_by_word_query,
)
from negotiator.directory.search.text_index import TextMatches, UnitMatches
from negotiator.directory.search.vectors import SentenceVector

_ENOUGH: Final = 10
"""When fewer tools match all units, those that match most follow."""
BEST: Final = 400
"""Tools that are ranked first, by their preliminary score."""
_NEAR: Final = 0.3
_NEIGHBOURS: Final = 30
_NOTHING_IS_NEAR: Final = 2.0
_SCANNED: Final = 20_000
"""Up to `_NEIGHBOURS` tools follow whose cosine with the query is at least `_NEAR`. Of more than `_SCANNED` tools, all
are compared only if the words find too few."""


@dataclass(frozen=True, slots=True)
class QueryMatches:
    """The matches of a query that filters allow, those matched by name, and how the query was interpreted."""

    units: list[UnitMatches]
    found: TextMatches
    named: frozenset[int]
    frozen: PinnedQuery
    normalized: str


@dataclass(frozen=True, slots=True)
class QueryScope:
    """Where a query searches: the tools that filters allow, and those of the usual status (None: all), how many of the
    best are needed (None: all), and the query's sentence vector if meaning counts.
    """

    allowed: Mask | None = None
    usual: Mask | None = None
    best: int | None = None
    vector: SentenceVector | None = None

    @property
    def is_filtered(self) -> bool:
        """Whether more than the usual status is asked for."""
        return self.allowed is not self.usual

    def without_filters(self) -> Self:
        """The same search among all tools of the usual status."""
        return replace(self, allowed=self.usual)

    def match(
        self,
        index: SearchIndex,
        units: Sequence[UnitMatches],
        weights: Sequence[float],
        demand: Demand,
    ) -> TextMatches:
        """The tools in scope that match."""
        factors = index.factor.first(len(index))
        return index.texts.match(
            units, weights, demand, factors, allowed=self.allowed, best=self.best
        )

    def named(self, index: SearchIndex, parsed: ParsedQuery) -> list[int]:
        """The tools in scope with this name."""
        named = index.named(parsed.joined)
        return named if self.allowed is None else [slot for slot in named if self.allowed[slot]]


@dataclass(frozen=True, slots=True)
class _Attempt:
    """What a parsed query finds: its units and their weights, the tools that match all of it, and the step."""

    parsed: ParsedQuery
    units: list[UnitMatches]
    weights: tuple[float, ...]
    every: TextMatches
    step: MatchStep


def find_matches(
    index: SearchIndex, query: str, scope: QueryScope, *, frozen: PinnedQuery | None, now: int
) -> QueryMatches:
    """The matches of a query; a later page repeats the interpretation in `frozen`."""
    parsed = parse_query(query, index.synonyms)
    normalized = parsed.normalized
    if frozen is None:
        parsed, units, found, frozen = _interpret(index, parsed, scope, now)
    else:
        parsed = corrected_query(parsed, dict(frozen.corrected), index.synonyms)
        if frozen.step in ("any", "meaning"):
            parsed = word_by_word_query(parsed, index.synonyms)
        units = index.texts.units(parsed.units)
        found = scope.match(index, units, frozen.weights, frozen.demand)
    named = scope.named(index, parsed)
    others = [*named, *_neighbours(index, scope, frozen.near)]
    return QueryMatches(units, found.union(others), frozenset(named), frozen, normalized)


_Reading = tuple[ParsedQuery, list[UnitMatches], TextMatches, PinnedQuery]


def _interpret(index: SearchIndex, parsed: ParsedQuery, scope: QueryScope, now: int) -> _Reading:
    """The query as it reads without filters, so that a filter only takes tools away; as it reads among the tools that
    filters allow where that finds none of them.
    """
    if scope.is_filtered:
        read, units, _, frozen = _read(index, parsed, scope.without_filters(), now)
        found = scope.match(index, units, frozen.weights, frozen.demand)
        if found.total or scope.named(index, read) or _neighbours(index, scope, frozen.near):
            return read, units, found, replace(frozen, floor=_floor(found))
    return _read(index, parsed, scope, now)


def _read(index: SearchIndex, parsed: ParsedQuery, scope: QueryScope, now: int) -> _Reading:
    parsed, units, found, frozen = _find_step(index, parsed, scope, now)
    return parsed, units, found, _with_near(index, found, scope, frozen)


def _floor(found: TextMatches) -> float:
    """The preliminary score below which matches are left out."""
    return float(found.preliminary.min()) if found.total > len(found.slots) else 0.0


def _with_near(
    index: SearchIndex, found: TextMatches, scope: QueryScope, frozen: PinnedQuery
) -> PinnedQuery:
    """How meaning counts: not for a name; else it orders, and the nearest follow where all that match are known."""
    if scope.vector is None or not index.vectors.present or frozen.step == "exact":
        return frozen
    if found.total > len(found.slots) or (len(index) > _SCANNED and found.total >= _ENOUGH):
        return replace(frozen, near=_NOTHING_IS_NEAR)
    likeness = _likeness(index, scope, scope.vector)
    most = float(np.sort(likeness)[-_NEIGHBOURS:][0])
    near = round(max(most, _NEAR), 4)
    step = frozen.step if found.total or not (likeness >= near).any() else "meaning"
    return replace(frozen, near=near, step=step)


def _neighbours(index: SearchIndex, scope: QueryScope, near: float | None) -> list[int]:
    """The tools in scope that are at least so near in meaning."""
    if scope.vector is None or near is None or near >= _NOTHING_IS_NEAR:
        return []
    found: list[int] = np.flatnonzero(_likeness(index, scope, scope.vector) >= near).tolist()
    return found


def _likeness(index: SearchIndex, scope: QueryScope, vector: SentenceVector) -> SentenceVector:
    found = index.vectors.all_likeness(vector, len(index))
    return found if scope.allowed is None else found * scope.allowed


def _find_step(index: SearchIndex, parsed: ParsedQuery, scope: QueryScope, now: int) -> _Reading:
    """Try the steps until one finds a tool."""
    attempt = _attempt(index, parsed, scope)
    step, corrections = attempt.step, dict[str, str]()
    if step == "any":
        attempt, corrections = _correct(index, attempt, scope)
        step = "any" if attempt.step == "any" else "repaired"
    demand: Demand = "every"
    if step == "any":
        loose = word_by_word_query(attempt.parsed, index.synonyms)
        attempt, demand = _attempt(index, loose, scope), "any"
    elif attempt.every.total < _ENOUGH and len(attempt.parsed.units) > 1:
        demand = "most"
    parsed, units, weights, found = (
        attempt.parsed,
        attempt.units,
        attempt.weights,
        attempt.every,
    )
    if demand != "every":
        found = scope.match(index, units, weights, demand)
    pairs, day = tuple(corrections.items()), ranking.epoch_day(now)
    pinned = PinnedQuery(step, pairs, weights, demand, _floor(found), day, None)
    return parsed, units, found, pinned


def _attempt(index: SearchIndex, parsed: ParsedQuery, scope: QueryScope) -> _Attempt:
    """Try the steps by name, by all units, or by any."""
    size = len(index)
    # Rarer units weigh more, and those that no tool has nothing.
    units = index.texts.units(parsed.units)
    weights = tuple(ranking.inverse_document_frequency(len(unit.slots), size) for unit in units)
    every = scope.match(index, units, weights, "every")
    step: MatchStep = "all" if every.total else "any"
    return _Attempt(parsed, units, weights, every, "exact" if scope.named(index, parsed) else step)


def _correct(
    index: SearchIndex, attempt: _Attempt, scope: QueryScope
) -> tuple[_Attempt, dict[str, str]]:
    """Correct the query to a tool's name, since names are misspelt most; else correct words that no tool has."""
    parsed = attempt.parsed
    by_word, near = index.correct_words(parsed.words), index.correct_name(parsed.joined)
    whole = {parsed.normalized: near} if near else {}
    tried = attempt
    for corrections in filter(None, (whole, by_word)):
        corrected = corrected_query(parsed, corrections, index.synonyms)
        tried = _attempt(index, corrected, scope)
        if tried.step != "any":
            return tried, corrections
    return (tried, by_word) if by_word else (attempt, {})
