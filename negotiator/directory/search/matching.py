"""The steps by which a query finds tools: by name, by everything asked for, by corrected spelling, by any of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np

from negotiator.directory.search import ranking
from negotiator.directory.search.columns import Mask
from negotiator.directory.search.index import SearchIndex
from negotiator.directory.search.query import ParsedQuery, corrected_query, parse_query, word_by_word_query
from negotiator.directory.search.request import Demand, MatchStep, PinnedQuery
from negotiator.directory.search.text_index import TextMatches, UnitMatches
from negotiator.directory.search.vectors import SentenceVector

_ENOUGH: Final = 10
"""When fewer tools match all units, those that match most follow."""
BEST: Final = 400
"""Tools that are ranked first, by their preliminary score."""
_NEAR: Final = 0.3
NEIGHBOURS: Final = 30
_NOTHING_IS_NEAR: Final = 2.0
SCANNED: Final = 20_000
"""Up to `NEIGHBOURS` tools follow whose cosine with the query is at least `_NEAR`. Of more than `SCANNED` tools, all
are compared only if the words find too few."""


@dataclass(frozen=True, slots=True)
class IndexScope:
    """The tools of an index that filters allow, and those of the usual status (None: all), how many of the best are
    needed (None: all), and the query's sentence vector if meaning counts.
    """

    index: SearchIndex
    allowed: Mask | None = None
    usual: Mask | None = None
    best: int | None = None
    vector: SentenceVector | None = None

    @property
    def size(self) -> int:
        return len(self.index)

    @property
    def is_filtered(self) -> bool:
        return self.allowed is not self.usual

    @property
    def has_meaning(self) -> bool:
        return self.vector is not None and self.index.vectors.present

    def without_filters(self) -> Self:
        return replace(self, allowed=self.usual)

    def match(self, units: Sequence[UnitMatches], weights: Sequence[float], demand: Demand) -> TextMatches:
        factors = self.index.numbers["factor"].first(self.size)
        return self.index.texts.match(units, weights, demand, factors, allowed=self.allowed, best=self.best)

    def named(self, word: str) -> list[int]:
        named = self.index.named(word)
        return named if self.allowed is None else [slot for slot in named if self.allowed[slot]]

    def likest(self, most: int) -> list[float]:
        likest: list[float] = np.sort(self._likeness())[-most:].tolist()
        return likest

    def neighbours(self, least: float) -> list[int]:
        found: list[int] = np.flatnonzero(self._likeness() >= least).tolist()
        return found

    def _likeness(self) -> SentenceVector:
        assert self.vector is not None  # noqa: S101  `has_meaning` says so
        found = self.index.vectors.all_likeness(self.vector, self.size)
        return found if self.allowed is None else found * self.allowed


@dataclass(frozen=True, slots=True)
class QueryMatches:
    """The matches of a query in a scope: those of its words, by name and by meaning; and how it was interpreted."""

    units: list[UnitMatches]
    found: TextMatches
    named: Sequence[int]
    neighbours: Sequence[int]
    frozen: PinnedQuery
    normalized: str


@dataclass(frozen=True, slots=True)
class _Attempt:
    """What a parsed query finds: its units and their weights, the tools that match all of it, and the step."""

    parsed: ParsedQuery
    units: list[UnitMatches]
    weights: tuple[float, ...]
    every: TextMatches
    step: MatchStep


def find_matches(scope: IndexScope, query: str, *, frozen: PinnedQuery | None, now: int) -> QueryMatches:
    """The matches of a query; a later page repeats the interpretation in `frozen`."""
    parsed = parse_query(query, scope.index.synonyms)
    normalized = parsed.normalized
    if frozen is None:
        parsed, units, found, frozen = _interpret(scope, parsed, now)
    else:
        parsed = corrected_query(parsed, dict(frozen.corrected), scope.index.synonyms)
        if frozen.step in ("any", "meaning"):
            parsed = word_by_word_query(parsed, scope.index.synonyms)
        units = scope.index.texts.units(parsed.units)
        found = scope.match(units, frozen.weights, frozen.demand)
    named, others = scope.named(parsed.joined), _neighbours(scope, frozen.near)
    return QueryMatches(units, found, named, others, frozen, normalized)


_Reading = tuple[ParsedQuery, list[UnitMatches], TextMatches, PinnedQuery]


def _interpret(scope: IndexScope, parsed: ParsedQuery, now: int) -> _Reading:
    """The query as it reads without filters, so that a filter only takes tools away; as it reads among the tools that
    filters allow where that finds none of them.
    """
    if scope.is_filtered:
        read, units, _, frozen = _read(scope.without_filters(), parsed, now)
        found = scope.match(units, frozen.weights, frozen.demand)
        if found.total or scope.named(read.joined) or _neighbours(scope, frozen.near):
            return read, units, found, replace(frozen, floor=found.floor)
    return _read(scope, parsed, now)


def _read(scope: IndexScope, parsed: ParsedQuery, now: int) -> _Reading:
    parsed, units, found, frozen = _find_step(scope, parsed, now)
    return parsed, units, found, _with_near(scope, found, frozen)


def _with_near(scope: IndexScope, found: TextMatches, frozen: PinnedQuery) -> PinnedQuery:
    """How meaning counts: not for a name; else it orders, and the nearest follow where all that match are known."""
    if not scope.has_meaning or frozen.step == "exact":
        return frozen
    if found.floor or (scope.size > SCANNED and found.total >= _ENOUGH):
        return replace(frozen, near=_NOTHING_IS_NEAR)
    likest = scope.likest(NEIGHBOURS)
    near = round(max(min(likest, default=0.0), _NEAR), 4)
    step = frozen.step if found.total or max(likest, default=0.0) < near else "meaning"
    return replace(frozen, near=near, step=step)


def _neighbours(scope: IndexScope, near: float | None) -> Sequence[int]:
    """The tools in scope that are at least so near in meaning."""
    if not scope.has_meaning or near is None or near >= _NOTHING_IS_NEAR:
        return ()
    return scope.neighbours(near)


def _find_step(scope: IndexScope, parsed: ParsedQuery, now: int) -> _Reading:
    """Try the steps until one finds a tool."""
    attempt = _attempt(scope, parsed)
    step, corrections = attempt.step, dict[str, str]()
    if step == "any":
        attempt, corrections = _correct(scope, attempt)
        step = "any" if attempt.step == "any" else "repaired"
    demand: Demand = "every"
    if step == "any":
        loose = word_by_word_query(attempt.parsed, scope.index.synonyms)
        attempt, demand = _attempt(scope, loose), "any"
    elif attempt.every.total < _ENOUGH and len(attempt.parsed.units) > 1:
        demand = "most"
    parsed, units, weights, found = (attempt.parsed, attempt.units, attempt.weights, attempt.every)
    if demand != "every":
        found = scope.match(units, weights, demand)
    pairs, day = tuple(corrections.items()), ranking.epoch_day(now)
    pinned = PinnedQuery(step, pairs, weights, demand, found.floor, day, None)
    return parsed, units, found, pinned


def _attempt(scope: IndexScope, parsed: ParsedQuery) -> _Attempt:
    """Try the steps by name, by all units, or by any."""
    # Rarer units weigh more, and those that no tool has nothing.
    units = scope.index.texts.units(parsed.units)
    weights = tuple(ranking.inverse_document_frequency(unit.tools, scope.size) for unit in units)
    every = scope.match(units, weights, "every")
    step: MatchStep = "all" if every.total else "any"
    return _Attempt(parsed, units, weights, every, "exact" if scope.named(parsed.joined) else step)


def _correct(scope: IndexScope, attempt: _Attempt) -> tuple[_Attempt, Mapping[str, str]]:
    """Correct the query to a tool's name, since names are misspelt most; else correct words that no tool has."""
    parsed = attempt.parsed
    by_word, near = scope.index.correct_words(parsed.words), scope.index.correct_name(parsed.joined)
    whole = {parsed.normalized: near} if near else {}
    tried = attempt
    for corrections in filter(None, (whole, by_word)):
        corrected = corrected_query(parsed, corrections, scope.index.synonyms)
        tried = _attempt(scope, corrected)
        if tried.step != "any":
            return tried, corrections
    return (tried, by_word) if by_word else (attempt, {})
