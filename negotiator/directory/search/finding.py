"""Finding tools for a query: the steps it goes, and what each that was found is worth.

A query is taken at its word first: tools of that name, then tools that have everything asked for, then the same with
misspelt words mended, then tools that have anything asked for. The answer says which step found them.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from negotiator.directory.search import ranking
from negotiator.directory.search.held.columns import Mask, Slots
from negotiator.directory.search.index import Index
from negotiator.directory.search.ranking import Floats, Ints, Matched
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
class Looked:
    """What the index has for a query: per unit the tools; per tool of the catalogue how well and how much of it is
    answered; `whole` are the tools that answer every unit, rising.
    """

    asked: Asked
    matched: list[Matched]
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
class Found:
    """What a query found before filters: which tools, rising, which of them by name, and how it was read."""

    looked: Looked
    slots: Slots
    named: frozenset[int]
    frozen: Frozen
    normalized: str


def allows(allowed: Mask | None, slots: Slots) -> Slots:
    """Those of the tools that filters allow; no mask allows all."""
    return slots if allowed is None else slots[allowed.take(slots)]


def find(
    index: Index, query: str, allowed: Mask | None, *, frozen: Frozen | None, now: int
) -> Found:
    """What a query finds; a later page is found as `frozen` says that the first one was."""
    asked = understand(query, index.synonyms)
    if frozen is None:
        looked, frozen = _walk(index, asked, allowed, now)
    else:
        again = repaired(asked, dict(frozen.corrected), index.synonyms)
        again = loosened(again, index.synonyms) if frozen.step == "any" else again
        looked = _look(index, again, frozen.weights)
    slots, named = looked.some(frozen.least), index.named(looked.asked.joined)
    if named:
        slots = np.unique(np.concatenate((slots, np.array(named, np.int32))))
    return Found(looked, slots, frozenset(named), frozen, asked.normalized)


def scores(index: Index, found: Found, at: Slots) -> Ints:
    """What each of these found tools is worth; one that is asked for by its name more than any other."""
    worth = ranking.scores(
        found.looked.text.take(at),
        found.looked.covered.take(at),
        standing=index.standing.at(at),
        age=np.int32(found.frozen.day) - index.day.at(at),
        worth=index.worth.at(at),
    )
    if found.named:
        worth[np.isin(at, list(found.named))] += ranking.TOP
    return worth


def _walk(index: Index, asked: Asked, allowed: Mask | None, now: int) -> tuple[Looked, Frozen]:
    """Walk the steps until one finds an allowed tool."""
    looked, corrections = _look(index, asked), dict[str, str]()
    step = _step(index, looked, allowed)
    if step == "any":
        step, corrections, looked = _mend(index, looked, allowed)
    if step == "any" and (loose := loosened(looked.asked, index.synonyms)) is not looked.asked:
        looked = _look(index, loose)
    least = 0.0 if step == "any" else _least(looked, allowed)
    pairs = tuple(corrections.items())
    return looked, Frozen(step, pairs, looked.weights, least, ranking.today(now))


def _look(index: Index, asked: Asked, weights: tuple[float, ...] = ()) -> Looked:
    """Look for every unit; weights are those of the list's first page, or made now: the rarer, the more."""
    size = len(index)
    matched = [index.match(unit) for unit in asked.units]
    if len(weights) != len(matched):
        weights = tuple(ranking.rarity(len(each.slots), size) for each in matched)
    text, covered = ranking.text_scores(matched, weights, size)
    rarest = min((each.slots for each in matched), key=len, default=np.empty(0, np.int32))
    whole = rarest[covered.take(rarest) >= 1 - _ROUNDING]
    return Looked(asked, matched, weights, text, covered, whole)


def _mend(
    index: Index, looked: Looked, allowed: Mask | None
) -> tuple[Step, dict[str, str], Looked]:
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


def _step(index: Index, looked: Looked, allowed: Mask | None) -> Step:
    """What finds an allowed tool: the query as a name, all of its units, or at most any of them."""
    named = index.named(looked.asked.joined)
    if named and len(allows(allowed, np.array(named))):
        return "exact"
    return "all" if len(allows(allowed, looked.whole)) else "any"


def _least(looked: Looked, allowed: Mask | None) -> float:
    """How much of the query's weight a tool has to have: all of it, or most where few tools have all."""
    if len(looked.matched) < _MANY:
        return 1.0
    return 1.0 if len(allows(allowed, looked.whole)) >= _ENOUGH else _MOST
