"""Asking the index for a page: filters, the steps a query goes, the order, the facets.

A query is taken at its word first: tools of that name, then tools that have everything asked for, then the same with
misspelt words mended, then tools that have anything asked for. The answer says which step found them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from negotiator.directory.search import ranking
from negotiator.directory.search.held.columns import Mask
from negotiator.directory.search.held.facts import FIELDS
from negotiator.directory.search.index import Index, Sort
from negotiator.directory.search.ranking import Matched
from negotiator.directory.search.text.plan import (
    Asked,
    Frozen,
    Step,
    loosened,
    repaired,
    understand,
)

_ENOUGH: Final = 10
_MANY: Final = 2
_MOST: Final = 0.35
_ROUNDING: Final = 1e-3
"""A query of `_MANY` things or more that fewer than `_ENOUGH` tools answer whole is also answered by those that have
`_MOST` of it, below the others; weights are rounded, so that their sums are compared with a margin."""


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


@dataclass(frozen=True, slots=True)
class Found:
    """What a query found before filters: which tools, which of them by name, their scores, how it was read."""

    hits: Mask
    exact: Mask
    scores: NDArray[np.int64]
    matched: list[Matched]
    frozen: Frozen
    normalized: str = ""


def page(index: Index, wanted: Wanted) -> Page:
    """The page that is asked for."""
    size = len(index)
    masks = _masks(index, wanted)
    allowed = _every(masks.values(), size)
    found = _find(index, wanted, allowed) if wanted.query else None
    mask = allowed & found.hits if found else allowed
    keys = index.keys(wanted.sort, found.scores if found else None)
    slots = _window(index, wanted, keys, mask)
    shown = slots[: wanted.limit]
    return Page(
        hits=_hits(index, shown, found),
        total=int(np.count_nonzero(mask)),
        last=index.position(wanted.sort, keys, shown[-1]) if len(slots) > len(shown) else None,
        normalized=found.normalized if found else "",
        frozen=found.frozen if found else None,
        facets={name: _count(index, name, wanted, masks, found) for name in wanted.facets},
    )


def _masks(index: Index, wanted: Wanted) -> dict[str, Mask]:
    size = len(index)
    named = wanted.filters.items()
    masks = {name: index.facets[name].mask(values, size) for name, values in named}
    masks.setdefault("status", index.visible())
    if wanted.updated_since is not None:
        masks["updated_since"] = index.updated.first(size) >= wanted.updated_since
    return masks


def _every(masks: Iterable[Mask], size: int) -> Mask:
    together = np.ones(size, np.bool_)
    for mask in masks:
        together &= mask
    return together


def _find(index: Index, wanted: Wanted, allowed: Mask) -> Found:
    """What a query finds, and how it was read."""
    asked = understand(wanted.query, index.synonyms)
    return replace(_walk(index, wanted, asked, allowed), normalized=asked.normalized)


def _walk(index: Index, wanted: Wanted, asked: Asked, allowed: Mask) -> Found:
    """Walk the steps until one finds an allowed tool; on later pages, the step that the first one ended at."""
    frozen = wanted.frozen
    if frozen is not None:
        asked = repaired(asked, dict(frozen.corrected), index.synonyms)
        asked = loosened(asked, index.synonyms) if frozen.step == "any" else asked
        return _score(index, _look(index, asked, frozen.weights), frozen)
    looked, corrections = _look(index, asked), dict[str, str]()
    step = _step(index, looked, allowed)
    if step == "any":
        step, corrections, looked = _mend(index, looked, allowed)
    if step == "any":
        looked = _look(index, loosened(looked.asked, index.synonyms))
    least = 0.0 if step == "any" else _least(looked, allowed)
    day, pairs = ranking.today(wanted.now), tuple(corrections.items())
    return _score(index, looked, Frozen(step, pairs, looked.weights, least, day))


@dataclass(frozen=True, slots=True)
class Looked:
    """What the index has for a query: per unit the tools, and per tool how well and how much of it is answered."""

    asked: Asked
    matched: list[Matched]
    weights: tuple[float, ...]
    text: ranking.Floats
    covered: ranking.Floats

    def whole(self) -> Mask:
        """The tools that answer every unit."""
        if not all(len(each.slots) for each in self.matched):
            return np.zeros(len(self.covered), np.bool_)
        return self.covered >= 1 - _ROUNDING


def _look(index: Index, asked: Asked, weights: tuple[float, ...] = ()) -> Looked:
    """Look for every unit; weights are those of the list's first page, or made now: the rarer, the more."""
    size = len(index)
    matched = [ranking.match(index.postings, unit, size) for unit in asked.units]
    if len(weights) != len(matched):
        weights = tuple(ranking.rarity(len(each.slots), size) for each in matched)
    return Looked(asked, matched, weights, *ranking.text_scores(matched, weights, size))


def _mend(index: Index, looked: Looked, allowed: Mask) -> tuple[Step, dict[str, str], Looked]:
    """Mend the query as a whole to a tool's name, since names are what is misspelt most; else every word that no tool
    has.
    """
    asked = looked.asked
    mended, near = index.mend(asked.words), index.mend_name(asked.joined)
    attempts = [{asked.normalized: near}] if near else []
    for corrections in (*attempts, *([mended] if mended else [])):
        looked = _look(index, repaired(asked, corrections, index.synonyms))
        if _step(index, looked, allowed) != "any":
            return "repaired", corrections, looked
    if not mended:
        return "any", {}, _look(index, asked) if attempts else looked
    return "any", mended, looked


def _step(index: Index, looked: Looked, allowed: Mask) -> Step:
    """What finds an allowed tool: the query as a name, all of its units, or at most any of them."""
    if allowed[index.named(looked.asked.joined)].any():
        return "exact"
    return "all" if (allowed & looked.whole()).any() else "any"


def _least(looked: Looked, allowed: Mask) -> float:
    """How much of the query's weight a tool has to have: all of it, or most where few tools have all."""
    if len(looked.matched) < _MANY:
        return 1.0
    whole = np.count_nonzero(allowed & looked.whole())
    return 1.0 if whole >= _ENOUGH else _MOST


def _score(index: Index, looked: Looked, frozen: Frozen) -> Found:
    size = len(index)
    covered = looked.covered
    exact = np.zeros(size, np.bool_)
    exact[index.named(looked.asked.joined)] = True
    hits = (covered > 0) & (covered >= frozen.least - _ROUNDING) | exact
    at = np.flatnonzero(hits)
    scores = np.zeros(size, np.int64)
    scores[at] = ranking.scores(
        looked.text[at],
        covered[at],
        standing=index.standing.first(size)[at],
        age=frozen.day - ranking.today(index.updated.first(size)[at]),
        deprecated=index.facets["status"].mask(("deprecated",), size)[at],
    )
    scores[exact] += ranking.TOP
    return Found(hits, exact, scores, looked.matched, frozen)


def _window(index: Index, wanted: Wanted, keys: NDArray[np.int64], mask: Mask) -> list[int]:
    """The first `limit` and one more of the masked tools after the position, the greatest key first."""
    at = np.flatnonzero(mask)
    if wanted.after is not None:
        at = at[keys[at] < index.below(wanted.sort, wanted.after)]
    most = wanted.limit + 1
    if len(at) > most:
        at = at[np.argpartition(keys[at], -most)[-most:]]
    return at[np.argsort(-keys[at])].tolist()


def _hits(index: Index, slots: list[int], found: Found | None) -> list[Hit]:
    if found is None:
        return [Hit(index.ids[slot]) for slot in slots]
    at = np.array(slots, np.int32)
    bits = np.zeros(len(slots), np.uint8)
    for each in found.matched:
        if len(each.slots):
            place = np.searchsorted(each.slots, at)
            place[place == len(each.slots)] = 0
            bits |= np.where(each.slots[place] == at, each.fields[place], np.uint8(0))
    scores = np.minimum(found.scores[at], ranking.TOP) / ranking.TOP
    told = zip(slots, scores.tolist(), bits.tolist(), found.exact[at].tolist(), strict=True)
    return [
        Hit(index.ids[slot], score, ("exact", *_named(said)) if exact else _named(said))
        for slot, score, said, exact in told
    ]


@cache
def _named(bits: int) -> tuple[str, ...]:
    """The fields whose bits are set."""
    return tuple(name for bit, name in enumerate(FIELDS) if bits >> bit & 1)


def _count(
    index: Index, name: str, wanted: Wanted, masks: Mapping[str, Mask], found: Found | None
) -> list[tuple[str, int]]:
    """A facet's values with their counts: every filter counts but the facet's own, so that one sees what else there
    is to choose.
    """
    size = len(index)
    mask = _every((mask for key, mask in masks.items() if key != name or key == "status"), size)
    if found is not None:
        mask &= found.hits
    return index.facets[name].counts(mask, wanted.facet_values)
