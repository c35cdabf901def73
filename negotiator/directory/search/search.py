"""Answers searches: filters, orders, pages and facets of what a query matches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import log
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from negotiator.directory.search.columns import Mask, SentenceVector, Slots
from negotiator.directory.search.document_facts import epoch_day, field_names
from negotiator.directory.search.index import SearchIndex
from negotiator.directory.search.request import Demand, MatchStep, PinnedQuery, SearchHit, SearchPage, SearchRequest
from negotiator.directory.search.terms import ParsedQuery, corrected_query, parse_query, word_by_word_query
from negotiator.directory.search.text_index import TextMatches, UnitMatches, fields_of

HIGHEST_SCORE: Final = 10_000
"""A score of 1.0, as the integer that lists are ordered by."""
_TEXT: Final = 0.70
_FRESHNESS: Final = 0.05
_MEANING: Final = 0.7
_FRESH: Final = np.float32(_FRESHNESS) * np.exp(-np.arange(4000) / 365).astype(np.float32)
"""The freshness part of the score, by age in days."""

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Days = NDArray[np.int32]
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
    pairs, day = tuple(corrections.items()), epoch_day(now)
    pinned = PinnedQuery(step, pairs, weights, demand, found.floor, day, None)
    return parsed, units, found, pinned


def _attempt(scope: IndexScope, parsed: ParsedQuery) -> _Attempt:
    """Try the steps by name, by all units, or by any."""
    # Rarer units weigh more, and those that no tool has nothing.
    units = scope.index.texts.units(parsed.units)
    weights = tuple(inverse_document_frequency(unit.tools, scope.size) for unit in units)
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


_FACET_VALUES: Final = 20
"""Values of a facet that are counted, the most frequent ones."""


def search_page(index: SearchIndex, request: SearchRequest) -> SearchPage:
    masks = _masks(index, request)
    allowed = _every(masks)
    found, scores = None, None
    if request.query:
        found, counted = _matches(index, request, masks)
        at, total, scores = (found.found.slots, found.found.total, _scores(index, found, request.vector))
    else:
        at, counted = _all(index, allowed), None
        total = len(at)
    keys = index.keys(request.sort, at, scores)
    places = _window(index, request, keys)
    page_places = places[: request.limit]
    follows, last = len(places) > len(page_places), page_places[-1:]
    return SearchPage(
        hits=_hits(index, at.take(page_places), found, scores if scores is None else scores.take(page_places)),
        total=total,
        last=index.position(request.sort, int(keys[last[0]]), int(at[last[0]])) if follows else None,
        normalized=found.normalized if found else "",
        frozen=found.frozen if found else None,
        facets={name: _count(index, name, request, masks, counted) for name in request.facets},
    )


def _matches(
    index: SearchIndex, request: SearchRequest, masks: Mapping[str, Mask]
) -> tuple[QueryMatches, Slots | None]:
    """The matches of the query; and all that match it whatever the filters, if facets are counted."""
    by_relevance = request.sort == "relevance"
    usual = masks.get("status")
    scope = IndexScope(
        index,
        _every(masks) if masks.keys() - {"status"} else usual,
        usual,
        BEST if by_relevance and request.after is None else None,
        request.vector if by_relevance else None,
    )
    text = request.translated[1] if request.translated else request.query
    found = _with_others(find_matches(scope, text, frozen=request.frozen, now=request.now))
    if request.translated:
        found = replace(found, frozen=replace(found.frozen, translated=request.translated))
    if not request.facets:
        return found, None
    if not scope.is_filtered:
        return found, found.found.every
    wide = IndexScope(index, vector=scope.vector)
    again = _with_others(find_matches(wide, text, frozen=found.frozen, now=request.now))
    return found, again.found.every


def _with_others(found: QueryMatches) -> QueryMatches:
    """The matches with the tools of that name and those near in meaning among them."""
    return replace(found, found=found.found.union([*found.named, *found.neighbours]))


def _masks(index: SearchIndex, request: SearchRequest) -> dict[str, Mask]:
    """The tools that each filter allows; filters that allow all are left out."""
    size = len(index)
    named = request.filters.items()
    masks = {name: index.facets[name].mask(values, size) for name, values in named}
    if "status" not in masks and not index.all_visible:
        masks["status"] = index.visible()
    if request.updated_since is not None:
        masks["updated_since"] = index.numbers["updated"].first(size) >= request.updated_since
    return masks


def _every(masks: Mapping[str, Mask], *, but: str = "") -> Mask | None:
    """The tools that every filter allows, except the filter `but`; None for all tools."""
    selected = [mask for name, mask in masks.items() if name != but or name == "status"]
    return np.logical_and.reduce(selected) if selected else None


def _all(index: SearchIndex, allowed: Mask | None) -> Slots:
    return np.arange(len(index)) if allowed is None else np.flatnonzero(allowed)


def _window(index: SearchIndex, request: SearchRequest, keys: Ints) -> Slots:
    """The places of the first `limit` + 1 keys after the position, greatest first."""
    most = request.limit + 1
    if request.after is None:
        selected = keys.argpartition(-most)[-most:] if len(keys) > most else np.arange(len(keys))
    else:
        selected = np.flatnonzero(keys < index.below(request.sort, request.after))
        if len(selected) > most:
            selected = selected[keys[selected].argpartition(-most)[-most:]]
    return selected[keys[selected].argsort()[::-1]]


def inverse_document_frequency(tools: int, among: int) -> float:
    """BM25's inverse document frequency of a word that `tools` of `among` have, to four places; 0 for none."""
    return 0.0 if tools == 0 else round(log(1 + (among - tools + 0.5) / (tools + 0.5)), 4)


def rank_scores(
    text: Floats, covered: Floats, *, standing: Floats, age: Days, worth: Floats, likeness: Floats | None = None
) -> Ints:
    """An integer score per tool, less than `HIGHEST_SCORE`. All arrays cover the same tools; `age` in days.

    Popularity, quality and freshness only order what the text matches. `likeness` is how near each is in meaning.
    """
    whole = np.float32(_TEXT) * text * covered + standing + _FRESH.take(age, mode="clip")
    if likeness is not None:
        whole = (whole + np.float32(_MEANING) * likeness) / np.float32(1 + _MEANING)
    return (whole * worth * np.float32(HIGHEST_SCORE - 1)).astype(np.int64)


def _scores(index: SearchIndex, matches: QueryMatches, vector: SentenceVector | None) -> Ints:
    """The scores of the matches: those with the name are above all others, those not among the best below."""
    found, pinned = matches.found, matches.frozen
    at = found.slots
    scores = rank_scores(
        found.text,
        found.covered,
        standing=index.numbers["standing"].at(at),
        age=np.int32(pinned.day) - index.numbers["day"].at(at),
        worth=index.numbers["worth"].at(at),
        likeness=None if vector is None or pinned.near is None else index.vectors.likeness(vector, at),
    )
    if matches.named:
        scores[np.isin(at, matches.named)] += HIGHEST_SCORE
    if pinned.floor:
        scores[found.preliminary <= pinned.floor] -= HIGHEST_SCORE
    return scores


def _hits(index: SearchIndex, at: Slots, found: QueryMatches | None, scores: Ints | None) -> list[SearchHit]:
    slots: list[int] = at.tolist()
    if found is None or scores is None:
        return [SearchHit(index.ids[slot]) for slot in slots]
    fields: list[int] = fields_of(found.units, at).tolist()
    highest = HIGHEST_SCORE
    raised = [score + highest if score < 0 else score for score in scores.tolist()]
    named = frozenset(found.named)
    return [
        SearchHit(index.ids[slot], max(0, min(score, highest)) / highest, _matched_fields(bits, exact=slot in named))
        for slot, score, bits in zip(slots, raised, fields, strict=True)
    ]


@cache
def _matched_fields(bits: int, *, exact: bool) -> tuple[str, ...]:
    """The fields with these bits, after `exact` for the tool's name; `meaning` when there are none."""
    fields = field_names(bits)
    return ("exact", *fields) if exact else fields or ("meaning",)


def _count(
    index: SearchIndex, name: str, request: SearchRequest, masks: Mapping[str, Mask], matched: Slots | None
) -> list[tuple[str, int]]:
    """A facet's values with counts; all filters apply but the facet's own, so that its other values are visible."""
    allowed = _every(masks, but=name)
    if matched is None:
        slots = _all(index, allowed)
    else:
        slots = matched if allowed is None else matched[allowed.take(matched)]
    return index.facets[name].counts(slots, _FACET_VALUES)
