"""Answers searches: filters, orders, pages and facets of what a query matches."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Final

import numpy as np

from negotiator.directory.search import ranking
from negotiator.directory.search.columns import Mask, Slots
from negotiator.directory.search.document_facts import field_names
from negotiator.directory.search.index import SearchIndex
from negotiator.directory.search.matching import BEST, IndexScope, QueryMatches, find_matches
from negotiator.directory.search.ranking import Ints
from negotiator.directory.search.request import SearchHit, SearchPage, SearchRequest
from negotiator.directory.search.text_index import fields_of
from negotiator.directory.search.vectors import SentenceVector

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


def _scores(index: SearchIndex, matches: QueryMatches, vector: SentenceVector | None) -> Ints:
    """The scores of the matches: those with the name are above all others, those not among the best below."""
    found, pinned = matches.found, matches.frozen
    at = found.slots
    scores = ranking.rank_scores(
        found.text,
        found.covered,
        standing=index.numbers["standing"].at(at),
        age=np.int32(pinned.day) - index.numbers["day"].at(at),
        worth=index.numbers["worth"].at(at),
        likeness=None if vector is None or pinned.near is None else index.vectors.likeness(vector, at),
    )
    if matches.named:
        scores[np.isin(at, matches.named)] += ranking.HIGHEST_SCORE
    if pinned.floor:
        scores[found.preliminary <= pinned.floor] -= ranking.HIGHEST_SCORE
    return scores


def _hits(index: SearchIndex, at: Slots, found: QueryMatches | None, scores: Ints | None) -> list[SearchHit]:
    slots: list[int] = at.tolist()
    if found is None or scores is None:
        return [SearchHit(index.ids[slot]) for slot in slots]
    fields: list[int] = fields_of(found.units, at).tolist()
    highest = ranking.HIGHEST_SCORE
    raised = [score + highest if score < 0 else score for score in scores.tolist()]
    named = frozenset(found.named)
    return [
        SearchHit(index.ids[slot], _shown_score(score), _matched_fields(bits, exact=slot in named))
        for slot, score, bits in zip(slots, raised, fields, strict=True)
    ]


def _shown_score(score: int) -> float:
    """A score as answers have it, 0 to 1."""
    return max(0, min(score, ranking.HIGHEST_SCORE)) / ranking.HIGHEST_SCORE


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
