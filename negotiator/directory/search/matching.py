"""The steps by which a query finds tools: by name, by everything asked for, by corrected spelling, by any of it.

They are the same for an index in the worker and for the database; a `QueryScope` is what they ask.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, Protocol, Self, TypeVar

from negotiator.directory.search import ranking
from negotiator.directory.search.query import (
    Demand,
    MatchStep,
    ParsedQuery,
    PinnedQuery,
    QueryUnit,
    corrected_query,
    parse_query,
    word_by_word_query,
)
from negotiator.directory.search.terms import Synonyms

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


class CountedUnit(Protocol):
    """A unit of a query, and how many tools match it."""

    @property
    def tools(self) -> int: ...


class FoundTools(Protocol):
    """The tools that match. Of more than `BEST` only the best may be known: those above the preliminary score `floor`,
    which is 0 where all are.
    """

    @property
    def total(self) -> int: ...

    @property
    def floor(self) -> float: ...


Unit = TypeVar("Unit", bound=CountedUnit)
Found_co = TypeVar("Found_co", bound=FoundTools, covariant=True)
Key_co = TypeVar("Key_co", covariant=True)


class QueryScope(Protocol[Unit, Found_co, Key_co]):
    """The tools among which a query is asked."""

    @property
    def synonyms(self) -> Synonyms: ...

    @property
    def size(self) -> int:
        """The number of all tools, in scope or not."""
        ...

    @property
    def is_filtered(self) -> bool:
        """Whether more than the usual status is asked for."""
        ...

    @property
    def has_meaning(self) -> bool:
        """Whether the query and the tools have sentence vectors."""
        ...

    def without_filters(self) -> Self:
        """The same search among all tools of the usual status."""
        ...

    def units(self, units: Sequence[QueryUnit]) -> list[Unit]:
        """The units, with the number of all tools that match each."""
        ...

    def match(self, units: Sequence[Unit], weights: Sequence[float], demand: Demand) -> Found_co:
        """The tools in scope that match the units as demanded."""
        ...

    def named(self, word: str) -> Sequence[Key_co]:
        """The tools in scope whose name or slug, written as one word, is this one."""
        ...

    def likest(self, most: int) -> Sequence[float]:
        """The greatest cosines of tools in scope with the query, at least 0, in no order."""
        ...

    def neighbours(self, least: float) -> Sequence[Key_co]:
        """The tools in scope with at least this cosine."""
        ...

    def correct_words(self, words: Sequence[str]) -> Mapping[str, str]:
        """Corrections of words that no tool has."""
        ...

    def correct_name(self, word: str) -> str | None:
        """The tool name nearest to a query written as one word."""
        ...


@dataclass(frozen=True, slots=True)
class QueryMatches(Generic[Unit, Found_co, Key_co]):
    """The matches of a query in a scope: those of its words, by name and by meaning; and how it was interpreted."""

    units: list[Unit]
    found: Found_co
    named: Sequence[Key_co]
    neighbours: Sequence[Key_co]
    frozen: PinnedQuery
    normalized: str


@dataclass(frozen=True, slots=True)
class _Attempt(Generic[Unit, Found_co]):
    """What a parsed query finds: its units and their weights, the tools that match all of it, and the step."""

    parsed: ParsedQuery
    units: list[Unit]
    weights: tuple[float, ...]
    every: Found_co
    step: MatchStep


def find_matches(
    scope: QueryScope[Unit, Found_co, Key_co], query: str, *, frozen: PinnedQuery | None, now: int
) -> QueryMatches[Unit, Found_co, Key_co]:
    """The matches of a query; a later page repeats the interpretation in `frozen`."""
    parsed = parse_query(query, scope.synonyms)
    normalized = parsed.normalized
    if frozen is None:
        parsed, units, found, frozen = _interpret(scope, parsed, now)
    else:
        parsed = corrected_query(parsed, dict(frozen.corrected), scope.synonyms)
        if frozen.step in ("any", "meaning"):
            parsed = word_by_word_query(parsed, scope.synonyms)
        units = scope.units(parsed.units)
        found = scope.match(units, frozen.weights, frozen.demand)
    named, others = scope.named(parsed.joined), _neighbours(scope, frozen.near)
    return QueryMatches(units, found, named, others, frozen, normalized)


_Reading = tuple[ParsedQuery, list[Unit], Found_co, PinnedQuery]


def _interpret(scope: QueryScope[Unit, Found_co, Any], parsed: ParsedQuery, now: int) -> _Reading[Unit, Found_co]:
    """The query as it reads without filters, so that a filter only takes tools away; as it reads among the tools that
    filters allow where that finds none of them.
    """
    if scope.is_filtered:
        read, units, _, frozen = _read(scope.without_filters(), parsed, now)
        found = scope.match(units, frozen.weights, frozen.demand)
        if found.total or scope.named(read.joined) or _neighbours(scope, frozen.near):
            return read, units, found, replace(frozen, floor=found.floor)
    return _read(scope, parsed, now)


def _read(scope: QueryScope[Unit, Found_co, Any], parsed: ParsedQuery, now: int) -> _Reading[Unit, Found_co]:
    parsed, units, found, frozen = _find_step(scope, parsed, now)
    return parsed, units, found, _with_near(scope, found, frozen)


def _with_near(scope: QueryScope[Any, Any, Any], found: FoundTools, frozen: PinnedQuery) -> PinnedQuery:
    """How meaning counts: not for a name; else it orders, and the nearest follow where all that match are known."""
    if not scope.has_meaning or frozen.step == "exact":
        return frozen
    if found.floor or (scope.size > SCANNED and found.total >= _ENOUGH):
        return replace(frozen, near=_NOTHING_IS_NEAR)
    likest = scope.likest(NEIGHBOURS)
    near = round(max(min(likest, default=0.0), _NEAR), 4)
    step = frozen.step if found.total or max(likest, default=0.0) < near else "meaning"
    return replace(frozen, near=near, step=step)


def _neighbours(scope: QueryScope[Any, Any, Key_co], near: float | None) -> Sequence[Key_co]:
    """The tools in scope that are at least so near in meaning."""
    if not scope.has_meaning or near is None or near >= _NOTHING_IS_NEAR:
        return ()
    return scope.neighbours(near)


def _find_step(scope: QueryScope[Unit, Found_co, Any], parsed: ParsedQuery, now: int) -> _Reading[Unit, Found_co]:
    """Try the steps until one finds a tool."""
    attempt = _attempt(scope, parsed)
    step, corrections = attempt.step, dict[str, str]()
    if step == "any":
        attempt, corrections = _correct(scope, attempt)
        step = "any" if attempt.step == "any" else "repaired"
    demand: Demand = "every"
    if step == "any":
        loose = word_by_word_query(attempt.parsed, scope.synonyms)
        attempt, demand = _attempt(scope, loose), "any"
    elif attempt.every.total < _ENOUGH and len(attempt.parsed.units) > 1:
        demand = "most"
    parsed, units, weights, found = (attempt.parsed, attempt.units, attempt.weights, attempt.every)
    if demand != "every":
        found = scope.match(units, weights, demand)
    pairs, day = tuple(corrections.items()), ranking.epoch_day(now)
    pinned = PinnedQuery(step, pairs, weights, demand, found.floor, day, None)
    return parsed, units, found, pinned


def _attempt(scope: QueryScope[Unit, Found_co, Any], parsed: ParsedQuery) -> _Attempt[Unit, Found_co]:
    """Try the steps by name, by all units, or by any."""
    # Rarer units weigh more, and those that no tool has nothing.
    units = scope.units(parsed.units)
    weights = tuple(ranking.inverse_document_frequency(unit.tools, scope.size) for unit in units)
    every = scope.match(units, weights, "every")
    step: MatchStep = "all" if every.total else "any"
    return _Attempt(parsed, units, weights, every, "exact" if scope.named(parsed.joined) else step)


def _correct(
    scope: QueryScope[Unit, Found_co, Any], attempt: _Attempt[Unit, Found_co]
) -> tuple[_Attempt[Unit, Found_co], Mapping[str, str]]:
    """Correct the query to a tool's name, since names are misspelt most; else correct words that no tool has."""
    parsed = attempt.parsed
    by_word, near = scope.correct_words(parsed.words), scope.correct_name(parsed.joined)
    whole = {parsed.normalized: near} if near else {}
    tried = attempt
    for corrections in filter(None, (whole, by_word)):
        corrected = corrected_query(parsed, corrections, scope.synonyms)
        tried = _attempt(scope, corrected)
        if tried.step != "any":
            return tried, corrections
    return (tried, by_word) if by_word else (attempt, {})
