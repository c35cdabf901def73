"""Asking the index for a page: filters, the query, the order, the facets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from negotiator.directory.search import finding, ranking
from negotiator.directory.search.finding import Found, allows
from negotiator.directory.search.held.columns import Mask, Slots
from negotiator.directory.search.held.facts import FIELDS
from negotiator.directory.search.index import Index, Sort
from negotiator.directory.search.ranking import Ints
from negotiator.directory.search.text.plan import Frozen


@dataclass(frozen=True, slots=True)
class Wanted:
    """A list that somebody asks for.

    `filters` are OR inside a name and AND across names; `after` and `frozen` are `Page.last` and `Page.frozen` of the
    page before, `now` is in milliseconds.
    """

    query: str = ""
    filters: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    updated_since: int | None = None
    sort: Sort = "popularity"
    facets: Sequence[str] = ()
    facet_values: int = 20
    limit: int = 20
    now: int = 0
    after: tuple[Any, str] | None = None
    frozen: Frozen | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One tool of a page; `score` is 0 to 1, both it and `matched_on` say something only when there was a query."""

    id: str
    score: float = 0.0
    matched_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its tools, how many there are on all pages, where it ends if more follow, how the query was read."""

    hits: list[Hit]
    total: int
    last: tuple[Any, str] | None
    normalized: str
    frozen: Frozen | None
    facets: dict[str, list[tuple[str, int]]]


def page(index: Index, wanted: Wanted) -> Page:
    """The page that is asked for."""
    masks = _masks(index, wanted)
    allowed = _every(masks)
    found, scores = None, None
    if wanted.query:
        found = finding.find(index, wanted.query, allowed, frozen=wanted.frozen, now=wanted.now)
        at = allows(allowed, found.slots)
        scores = finding.scores(index, found, at)
    else:
        at = _all(index, allowed)
    keys = index.keys(wanted.sort, at, scores)
    places = _window(index, wanted, keys)
    shown = places[: wanted.limit]
    follows, last = len(places) > len(shown), shown[-1:]
    return Page(
        hits=_hits(index, at.take(shown), found, scores if scores is None else scores.take(shown)),
        total=len(at),
        last=index.position(wanted.sort, int(keys[last[0]]), int(at[last[0]])) if follows else None,
        normalized=found.normalized if found else "",
        frozen=found.frozen if found else None,
        facets={name: _count(index, name, wanted, masks, found) for name in wanted.facets},
    )


def _masks(index: Index, wanted: Wanted) -> dict[str, Mask]:
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


def _all(index: Index, allowed: Mask | None) -> Slots:
    return np.arange(len(index)) if allowed is None else np.flatnonzero(allowed)


def _window(index: Index, wanted: Wanted, keys: Ints) -> Slots:
    """Places of the first `limit` and one more keys after the position, the greatest first."""
    most = wanted.limit + 1
    if wanted.after is None:
        chosen = keys.argpartition(-most)[-most:] if len(keys) > most else np.arange(len(keys))
    else:
        chosen = np.flatnonzero(keys < index.below(wanted.sort, wanted.after))
        if len(chosen) > most:
            chosen = chosen[keys[chosen].argpartition(-most)[-most:]]
    return chosen[keys[chosen].argsort()[::-1]]


def _hits(index: Index, at: Slots, found: Found | None, scores: Ints | None) -> list[Hit]:
    slots: list[int] = at.tolist()
    if found is None or scores is None:
        return [Hit(index.ids[slot]) for slot in slots]
    bits = np.zeros(len(slots), np.uint8)
    for each in found.looked.matched:
        if len(each.slots):
            place = each.slots.searchsorted(at)
            there = each.slots.take(place, mode="clip") == at
            bits |= each.fields.take(place, mode="clip") * there
    parts = np.minimum(scores, ranking.TOP) / ranking.TOP
    return [
        Hit(index.ids[slot], score, _named(said, exact=slot in found.named))
        for slot, score, said in zip(slots, parts.tolist(), bits.tolist(), strict=True)
    ]


@cache
def _named(bits: int, *, exact: bool) -> tuple[str, ...]:
    """The fields whose bits are set, after `exact` where the query is the tool's name."""
    fields = tuple(name for bit, name in enumerate(FIELDS) if bits >> bit & 1)
    return ("exact", *fields) if exact else fields


def _count(
    index: Index, name: str, wanted: Wanted, masks: Mapping[str, Mask], found: Found | None
) -> list[tuple[str, int]]:
    """A facet's values with their counts: every filter counts but the facet's own, so that one sees what else there
    is to choose.
    """
    allowed = _every(masks, but=name)
    slots = _all(index, allowed) if found is None else allows(allowed, found.slots)
    return index.facets[name].counts(slots, wanted.facet_values)
