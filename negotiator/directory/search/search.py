"""Answers searches: filters, the steps by which a query finds tools, scores, pages and facets.

A query first finds tools with that name, then tools that match every unit, then the same with corrected spelling, then
tools that match any unit. The answer says which step found them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import numpy as np

from negotiator.directory.search import ranking
from negotiator.directory.search.columns import Mask, Slots
from negotiator.directory.search.document_facts import SEARCHED_FIELDS
from negotiator.directory.search.index import SearchIndex, SortOrder
from negotiator.directory.search.query import (
    MatchStep,
    ParsedQuery,
    PinnedQuery,
    corrected_query,
    parse_query,
    word_by_word_query,
)
from negotiator.directory.search.ranking import Floats, Ints, UnitMatches

_ENOUGH: Final = 10
_MANY: Final = 2
_MOST: Final = 0.35
_ROUNDING: Final = 1e-3
"""When fewer than `_ENOUGH` tools match all of at least `_MANY` units, tools that match `_MOST` of their weight follow.
Weights are rounded, so their sums are compared with the margin `_ROUNDING`."""


@dataclass(frozen=True, slots=True)
class QueryLookup:
    """The matches of a query: tools per unit; per tool of the catalogue the score and the matched share.

    `whole` are the tools that match every unit, ascending.
    """

    parsed: ParsedQuery
    matched: list[UnitMatches]
    weights: tuple[float, ...]
    text: Floats
    covered: Floats
    whole: Slots

    def some(self, least: float) -> Slots:
        """The tools that match at least this share of the query's weight, and any of it, ascending."""
        if least >= 1:
            return self.whole
        reached = [(each.slots, self.covered.take(each.slots)) for each in self.matched]
        parts = [slots[(share > 0) & (share >= least - _ROUNDING)] for slots, share in reached]
        return np.unique(np.concatenate((self.whole, *parts)))


@dataclass(frozen=True, slots=True)
class QueryMatches:
    """The matches of a query before filters: the tools, those matched by name, and how the query was interpreted."""

    lookup: QueryLookup
    slots: Slots
    named: frozenset[int]
    frozen: PinnedQuery
    normalized: str


def allowed_slots(allowed: Mask | None, slots: Slots) -> Slots:
    """The tools that filters allow; None allows all."""
    return slots if allowed is None else slots[allowed.take(slots)]


def find_matches(
    index: SearchIndex, query: str, allowed: Mask | None, *, frozen: PinnedQuery | None, now: int
) -> QueryMatches:
    """The matches of a query; a later page repeats the interpretation in `frozen`."""
    parsed = parse_query(query, index.synonyms)
    if frozen is None:
        lookup, frozen = _find_step(index, parsed, allowed, now)
    else:
        parsed_again = corrected_query(parsed, dict(frozen.corrected), index.synonyms)
        parsed_again = (
            word_by_word_query(parsed_again, index.synonyms)
            if frozen.step == "any"
            else parsed_again
        )
        lookup = _match_units(index, parsed_again, frozen.weights)
    slots, named = lookup.some(frozen.least), index.named(lookup.parsed.joined)
    if named:
        slots = np.unique(np.concatenate((slots, np.array(named, np.int32))))
    return QueryMatches(lookup, slots, frozenset(named), frozen, parsed.normalized)


def match_scores(index: SearchIndex, found: QueryMatches, at: Slots) -> Ints:
    """The scores of these tools; a match by name exceeds all others."""
    worth = ranking.rank_scores(
        found.lookup.text.take(at),
        found.lookup.covered.take(at),
        standing=index.standing.at(at),
        age=np.int32(found.frozen.day) - index.day.at(at),
        worth=index.worth.at(at),
    )
    if found.named:
        worth[np.isin(at, list(found.named))] += ranking.HIGHEST_SCORE
    return worth


def _find_step(
    index: SearchIndex, parsed: ParsedQuery, allowed: Mask | None, now: int
) -> tuple[QueryLookup, PinnedQuery]:
    """Try the steps until one finds an allowed tool."""
    lookup, corrections = _match_units(index, parsed), dict[str, str]()
    step = _step(index, lookup, allowed)
    if step == "any":
        step, corrections, lookup = _correct(index, lookup, allowed)
    if (
        step == "any"
        and (loose := word_by_word_query(lookup.parsed, index.synonyms)) is not lookup.parsed
    ):
        lookup = _match_units(index, loose)
    least = 0.0 if step == "any" else _least(lookup, allowed)
    pairs = tuple(corrections.items())
    return lookup, PinnedQuery(step, pairs, lookup.weights, least, ranking.epoch_day(now))


def _match_units(
    index: SearchIndex, parsed: ParsedQuery, weights: tuple[float, ...] = ()
) -> QueryLookup:
    """Match every unit; weights are those of the first page, or new ones: rarer units weigh more."""
    size = len(index)
    matched = [index.match(unit) for unit in parsed.units]
    if len(weights) != len(matched):
        weights = tuple(
            ranking.inverse_document_frequency(len(each.slots), size) for each in matched
        )
    text, covered = ranking.text_scores(matched, weights, size)
    rarest = min((each.slots for each in matched), key=len, default=np.empty(0, np.int32))
    whole = rarest[covered.take(rarest) >= 1 - _ROUNDING]
    return QueryLookup(parsed, matched, weights, text, covered, whole)


def _correct(
    index: SearchIndex, lookup: QueryLookup, allowed: Mask | None
) -> tuple[MatchStep, dict[str, str], QueryLookup]:
    """Correct the query to a tool's name, since names are misspelt most; else correct words that no tool has."""
    parsed = lookup.parsed
    corrections_by_word, near = index.correct_words(parsed.words), index.correct_name(parsed.joined)
    attempts = [{parsed.normalized: near}] if near else []
    for corrections in (*attempts, *([corrections_by_word] if corrections_by_word else [])):
        lookup = _match_units(index, corrected_query(parsed, corrections, index.synonyms))
        if _step(index, lookup, allowed) != "any":
            return "repaired", corrections, lookup
    if not corrections_by_word:
        return "any", {}, _match_units(index, parsed) if attempts else lookup
    return "any", corrections_by_word, lookup


def _step(index: SearchIndex, lookup: QueryLookup, allowed: Mask | None) -> MatchStep:
    """The first step with an allowed tool: by name, by all units, or by any."""
    named = index.named(lookup.parsed.joined)
    if named and len(allowed_slots(allowed, np.array(named))):
        return "exact"
    return "all" if len(allowed_slots(allowed, lookup.whole)) else "any"


def _least(lookup: QueryLookup, allowed: Mask | None) -> float:
    """The least share of the query's weight that a tool must match: all of it, or most when few tools match all."""
    if len(lookup.matched) < _MANY:
        return 1.0
    return 1.0 if len(allowed_slots(allowed, lookup.whole)) >= _ENOUGH else _MOST


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A request for a page.

    `filters` are OR within a name and AND across names; `after` and `frozen` are `SearchPage.last` and
    `SearchPage.frozen` of the page before; `now` is in milliseconds.
    """

    query: str = ""
    filters: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    updated_since: int | None = None
    sort: SortOrder = "popularity"
    facets: Sequence[str] = ()
    facet_values: int = 20
    limit: int = 20
    now: int = 0
    after: tuple[Any, str] | None = None
    frozen: PinnedQuery | None = None


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A tool of a page; `score` (0 to 1) and `matched_on` are meaningful only with a query."""

    id: str
    score: float = 0.0
    matched_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchPage:
    """A page: its tools, the total of all pages, its end if more follow, and how the query was interpreted."""

    hits: list[SearchHit]
    total: int
    last: tuple[Any, str] | None
    normalized: str
    frozen: PinnedQuery | None
    facets: dict[str, list[tuple[str, int]]]


def search_page(index: SearchIndex, request: SearchRequest) -> SearchPage:
    masks = _masks(index, request)
    allowed = _every(masks)
    found, scores = None, None
    if request.query:
        found = find_matches(index, request.query, allowed, frozen=request.frozen, now=request.now)
        at = allowed_slots(allowed, found.slots)
        scores = match_scores(index, found, at)
    else:
        at = _all(index, allowed)
    keys = index.keys(request.sort, at, scores)
    places = _window(index, request, keys)
    page_places = places[: request.limit]
    follows, last = len(places) > len(page_places), page_places[-1:]
    return SearchPage(
        hits=_hits(
            index,
            at.take(page_places),
            found,
            scores if scores is None else scores.take(page_places),
        ),
        total=len(at),
        last=index.position(request.sort, int(keys[last[0]]), int(at[last[0]]))
        if follows
        else None,
        normalized=found.normalized if found else "",
        frozen=found.frozen if found else None,
        facets={name: _count(index, name, request, masks, found) for name in request.facets},
    )


def _masks(index: SearchIndex, request: SearchRequest) -> dict[str, Mask]:
    """The tools that each filter allows; filters that allow all are left out."""
    size = len(index)
    named = request.filters.items()
    masks = {name: index.facets[name].mask(values, size) for name, values in named}
    if "status" not in masks and not index.all_visible:
        masks["status"] = index.visible()
    if request.updated_since is not None:
        masks["updated_since"] = index.updated.first(size) >= request.updated_since
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


def _hits(
    index: SearchIndex, at: Slots, found: QueryMatches | None, scores: Ints | None
) -> list[SearchHit]:
    slots: list[int] = at.tolist()
    if found is None or scores is None:
        return [SearchHit(index.ids[slot]) for slot in slots]
    bits = np.zeros(len(slots), np.uint8)
    for each in found.lookup.matched:
        if len(each.slots):
            place = each.slots.searchsorted(at)
            present = each.slots.take(place, mode="clip") == at
            bits |= each.fields.take(place, mode="clip") * present
    parts = np.minimum(scores, ranking.HIGHEST_SCORE) / ranking.HIGHEST_SCORE
    return [
        SearchHit(index.ids[slot], score, _named(field_bits, exact=slot in found.named))
        for slot, score, field_bits in zip(slots, parts.tolist(), bits.tolist(), strict=True)
    ]


@cache
def _named(bits: int, *, exact: bool) -> tuple[str, ...]:
    """The fields whose bits are set, after `exact` when the query is the tool's name."""
    fields = tuple(name for bit, name in enumerate(SEARCHED_FIELDS) if bits >> bit & 1)
    return ("exact", *fields) if exact else fields


def _count(
    index: SearchIndex,
    name: str,
    request: SearchRequest,
    masks: Mapping[str, Mask],
    found: QueryMatches | None,
) -> list[tuple[str, int]]:
    """A facet's values with counts; all filters apply but the facet's own, so that its other values are visible."""
    allowed = _every(masks, but=name)
    slots = _all(index, allowed) if found is None else allowed_slots(allowed, found.slots)
    return index.facets[name].counts(slots, request.facet_values)
