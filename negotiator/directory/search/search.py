"""Finding tools for a query: the steps it goes, and what each that was found is worth.

A query is taken at its word first: tools of that name, then tools that have everything asked for, then the same with
misspelt words mended, then tools that have anything asked for. The answer says which step found them.

Asking the index for a page: filters, the query, the order, the facets.
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
"""A query of `_MANY` things or more that fewer than `_ENOUGH` tools answer whole is also answered by those that have
`_MOST` of it, below the others; weights are rounded, so that their sums are compared with a margin."""


@dataclass(frozen=True, slots=True)
class QueryLookup:
    """What the index has for a query: per unit the tools; per tool of the catalogue how well and how much of it is
    answered; `whole` are the tools that answer every unit, rising.
    """

    asked: ParsedQuery
    matched: list[UnitMatches]
    weights: tuple[float, ...]
    text: Floats
    covered: Floats
    whole: Slots

    def some(self, least: float) -> Slots:
        """The tools that answer at least this share of the query's weight, and any of it, rising."""
        if least >= 1:
            return self.whole
        reached = [(each.slots, self.covered.take(each.slots)) for each in self.matched]
        parts = [slots[(share > 0) & (share >= least - _ROUNDING)] for slots, share in reached]
        return np.unique(np.concatenate((self.whole, *parts)))


@dataclass(frozen=True, slots=True)
class QueryMatches:
    """What a query found before filters: which tools, rising, which of them by name, and how it was read."""

    looked: QueryLookup
    slots: Slots
    named: frozenset[int]
    frozen: PinnedQuery
    normalized: str


def allowed_slots(allowed: Mask | None, slots: Slots) -> Slots:
    """Those of the tools that filters allow; no mask allows all."""
    return slots if allowed is None else slots[allowed.take(slots)]


def find_matches(
    index: SearchIndex, query: str, allowed: Mask | None, *, frozen: PinnedQuery | None, now: int
) -> QueryMatches:
    """What a query finds; a later page is found as `frozen` says that the first one was."""
    asked = parse_query(query, index.synonyms)
    if frozen is None:
        looked, frozen = _walk(index, asked, allowed, now)
    else:
        again = corrected_query(asked, dict(frozen.corrected), index.synonyms)
        again = word_by_word_query(again, index.synonyms) if frozen.step == "any" else again
        looked = _look(index, again, frozen.weights)
    slots, named = looked.some(frozen.least), index.named(looked.asked.joined)
    if named:
        slots = np.unique(np.concatenate((slots, np.array(named, np.int32))))
    return QueryMatches(looked, slots, frozenset(named), frozen, asked.normalized)


def match_scores(index: SearchIndex, found: QueryMatches, at: Slots) -> Ints:
    """What each of these found tools is worth; one that is asked for by its name more than any other."""
    worth = ranking.rank_scores(
        found.looked.text.take(at),
        found.looked.covered.take(at),
        standing=index.standing.at(at),
        age=np.int32(found.frozen.day) - index.day.at(at),
        worth=index.worth.at(at),
    )
    if found.named:
        worth[np.isin(at, list(found.named))] += ranking.HIGHEST_SCORE
    return worth


def _walk(
    index: SearchIndex, asked: ParsedQuery, allowed: Mask | None, now: int
) -> tuple[QueryLookup, PinnedQuery]:
    """Walk the steps until one finds an allowed tool."""
    looked, corrections = _look(index, asked), dict[str, str]()
    step = _step(index, looked, allowed)
    if step == "any":
        step, corrections, looked = _mend(index, looked, allowed)
    if (
        step == "any"
        and (loose := word_by_word_query(looked.asked, index.synonyms)) is not looked.asked
    ):
        looked = _look(index, loose)
    least = 0.0 if step == "any" else _least(looked, allowed)
    pairs = tuple(corrections.items())
    return looked, PinnedQuery(step, pairs, looked.weights, least, ranking.epoch_day(now))


def _look(index: SearchIndex, asked: ParsedQuery, weights: tuple[float, ...] = ()) -> QueryLookup:
    """Look for every unit; weights are those of the list's first page, or made now: the rarer, the more."""
    size = len(index)
    matched = [index.match(unit) for unit in asked.units]
    if len(weights) != len(matched):
        weights = tuple(
            ranking.inverse_document_frequency(len(each.slots), size) for each in matched
        )
    text, covered = ranking.text_scores(matched, weights, size)
    rarest = min((each.slots for each in matched), key=len, default=np.empty(0, np.int32))
    whole = rarest[covered.take(rarest) >= 1 - _ROUNDING]
    return QueryLookup(asked, matched, weights, text, covered, whole)


def _mend(
    index: SearchIndex, looked: QueryLookup, allowed: Mask | None
) -> tuple[MatchStep, dict[str, str], QueryLookup]:
    """Mend the query as a whole to a tool's name, since names are what is misspelt most; else every word that no tool
    has.
    """
    asked = looked.asked
    mended, near = index.correct_words(asked.words), index.correct_name(asked.joined)
    attempts = [{asked.normalized: near}] if near else []
    for corrections in (*attempts, *([mended] if mended else [])):
        looked = _look(index, corrected_query(asked, corrections, index.synonyms))
        if _step(index, looked, allowed) != "any":
            return "repaired", corrections, looked
    if not mended:
        return "any", {}, _look(index, asked) if attempts else looked
    return "any", mended, looked


def _step(index: SearchIndex, looked: QueryLookup, allowed: Mask | None) -> MatchStep:
    """What finds an allowed tool: the query as a name, all of its units, or at most any of them."""
    named = index.named(looked.asked.joined)
    if named and len(allowed_slots(allowed, np.array(named))):
        return "exact"
    return "all" if len(allowed_slots(allowed, looked.whole)) else "any"


def _least(looked: QueryLookup, allowed: Mask | None) -> float:
    """How much of the query's weight a tool has to have: all of it, or most where few tools have all."""
    if len(looked.matched) < _MANY:
        return 1.0
    return 1.0 if len(allowed_slots(allowed, looked.whole)) >= _ENOUGH else _MOST


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A list that somebody asks for.

    `filters` are OR inside a name and AND across names; `after` and `frozen` are `Page.last` and `Page.frozen` of the
    page before, `now` is in milliseconds.
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
    """One tool of a page; `score` is 0 to 1, both it and `matched_on` say something only when there was a query."""

    id: str
    score: float = 0.0
    matched_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchPage:
    """A page: its tools, how many there are on all pages, where it ends if more follow, how the query was read."""

    hits: list[SearchHit]
    total: int
    last: tuple[Any, str] | None
    normalized: str
    frozen: PinnedQuery | None
    facets: dict[str, list[tuple[str, int]]]


def search_page(index: SearchIndex, wanted: SearchRequest) -> SearchPage:
    """The page that is asked for."""
    masks = _masks(index, wanted)
    allowed = _every(masks)
    found, scores = None, None
    if wanted.query:
        found = find_matches(index, wanted.query, allowed, frozen=wanted.frozen, now=wanted.now)
        at = allowed_slots(allowed, found.slots)
        scores = match_scores(index, found, at)
    else:
        at = _all(index, allowed)
    keys = index.keys(wanted.sort, at, scores)
    places = _window(index, wanted, keys)
    shown = places[: wanted.limit]
    follows, last = len(places) > len(shown), shown[-1:]
    return SearchPage(
        hits=_hits(index, at.take(shown), found, scores if scores is None else scores.take(shown)),
        total=len(at),
        last=index.position(wanted.sort, int(keys[last[0]]), int(at[last[0]])) if follows else None,
        normalized=found.normalized if found else "",
        frozen=found.frozen if found else None,
        facets={name: _count(index, name, wanted, masks, found) for name in wanted.facets},
    )


def _masks(index: SearchIndex, wanted: SearchRequest) -> dict[str, Mask]:
    """The tools that each filter allows; a filter that allows all is left out."""
    size = len(index)
    named = wanted.filters.items()
    masks = {name: index.facets[name].mask(values, size) for name, values in named}
    if "status" not in masks and not index.all_visible:
        masks["status"] = index.visible()
    if wanted.updated_since is not None:
        masks["updated_since"] = index.updated.first(size) >= wanted.updated_since
    return masks


def _every(masks: Mapping[str, Mask], *, but: str = "") -> Mask | None:
    """What every filter allows, one of them left out if it is named; None for everything."""
    chosen = [mask for name, mask in masks.items() if name != but or name == "status"]
    return np.logical_and.reduce(chosen) if chosen else None


def _all(index: SearchIndex, allowed: Mask | None) -> Slots:
    return np.arange(len(index)) if allowed is None else np.flatnonzero(allowed)


def _window(index: SearchIndex, wanted: SearchRequest, keys: Ints) -> Slots:
    """Places of the first `limit` and one more keys after the position, the greatest first."""
    most = wanted.limit + 1
    if wanted.after is None:
        chosen = keys.argpartition(-most)[-most:] if len(keys) > most else np.arange(len(keys))
    else:
        chosen = np.flatnonzero(keys < index.below(wanted.sort, wanted.after))
        if len(chosen) > most:
            chosen = chosen[keys[chosen].argpartition(-most)[-most:]]
    return chosen[keys[chosen].argsort()[::-1]]


def _hits(
    index: SearchIndex, at: Slots, found: QueryMatches | None, scores: Ints | None
) -> list[SearchHit]:
    slots: list[int] = at.tolist()
    if found is None or scores is None:
        return [SearchHit(index.ids[slot]) for slot in slots]
    bits = np.zeros(len(slots), np.uint8)
    for each in found.looked.matched:
        if len(each.slots):
            place = each.slots.searchsorted(at)
            there = each.slots.take(place, mode="clip") == at
            bits |= each.fields.take(place, mode="clip") * there
    parts = np.minimum(scores, ranking.HIGHEST_SCORE) / ranking.HIGHEST_SCORE
    return [
        SearchHit(index.ids[slot], score, _named(said, exact=slot in found.named))
        for slot, score, said in zip(slots, parts.tolist(), bits.tolist(), strict=True)
    ]


@cache
def _named(bits: int, *, exact: bool) -> tuple[str, ...]:
    """The fields whose bits are set, after `exact` where the query is the tool's name."""
    fields = tuple(name for bit, name in enumerate(SEARCHED_FIELDS) if bits >> bit & 1)
    return ("exact", *fields) if exact else fields


def _count(
    index: SearchIndex,
    name: str,
    wanted: SearchRequest,
    masks: Mapping[str, Mask],
    found: QueryMatches | None,
) -> list[tuple[str, int]]:
    """A facet's values with their counts: every filter counts but the facet's own, so that one sees what else there
    is to choose.
    """
    allowed = _every(masks, but=name)
    slots = _all(index, allowed) if found is None else allowed_slots(allowed, found.slots)
    return index.facets[name].counts(slots, wanted.facet_values)
