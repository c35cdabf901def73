"""Concessions of both sides in utility, the likely limit of each side, and signs of bluffing.

Steps are classified after Hindriks, Jonker and Tykhonov (2007), "Analysis of Negotiation Dynamics". A sign carries a
likelihood ratio, P(observed | bluffing) / P(observed | sincere), and the offers it rests on. The ratios are assumed
priors of modest size, not estimates.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Literal, TypeAlias

from negotiator.advice.leverage.zone_of_agreement import MIN_UTILITY_STEP, Spread, likely_limit
from negotiator.terms.issues import Package, Scalar
from negotiator.terms.utility import Preferences, package_utility

Side: TypeAlias = Literal["me", "them"]
StepClass: TypeAlias = Literal["fortunate", "nice", "concession", "selfish", "silent", "unfortunate"]
MIN_STEP = MIN_UTILITY_STEP


@dataclass(frozen=True, slots=True)
class LedgerOffer:
    """An offer of one side, and the words that came with it.

    Each issue that its package leaves out keeps the side's previous value.
    """

    seq: int
    by: Side
    package: Package
    at: datetime | None = None
    claimed_final: bool = False
    valid_until: datetime | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class StatedClaim:
    """A claim of one side at place `seq` of the ledger: a limit, an alternative or a deadline.

    `package` is the claimed limit, `at` the claimed deadline. `detailed` is whether an alternative was described.
    """

    seq: int
    by: Side
    kind: Literal["walk_away", "alternative", "deadline"]
    package: Package | None = None
    at: datetime | None = None
    detailed: bool = False


@dataclass(frozen=True, slots=True)
class OfferStep:
    """The change from one offer of a side to its next: in its own utility and in the other side's.

    `ratio` is this concession divided by the previous one: below 1 the side slows down.
    """

    seq: int
    by: Side
    own: float
    other: float
    kind: StepClass
    ratio: float | None


@dataclass(frozen=True, slots=True)
class SideConcessions:
    """The steps of one side and their summary; None where there are too few steps.

    `conceded` is the total of own utility given up. `reciprocity` is the correlation of this side's steps with the
    preceding steps of the other side. `limit` needs three successive concessions, each smaller than the last.
    """

    steps: tuple[OfferStep, ...]
    conceded: float
    per_round: float | None
    per_hour: float | None
    reciprocity: float | None
    limit: Spread | None


@dataclass(frozen=True, slots=True)
class Concessions:
    """The concessions of both sides."""

    me: SideConcessions
    them: SideConcessions


@dataclass(frozen=True, slots=True)
class BluffSignal:
    """A sign that a claim of one side may be a bluff, its likelihood ratio, and the sentences of evidence."""

    name: str
    by: Side
    likelihood_ratio: float
    evidence: tuple[str, ...]


def step_class(own: float, other: float) -> StepClass:
    """The class of a step by the change of utility for its maker (`own`) and for the other side."""
    if abs(own) <= MIN_STEP and abs(other) <= MIN_STEP:
        return "silent"
    if own > MIN_STEP:
        return "fortunate" if other > MIN_STEP else "selfish"
    if other < -MIN_STEP:
        return "unfortunate"
    if abs(own) <= MIN_STEP:
        return "nice"
    return "concession"


def concession_analysis(ledger: Sequence[LedgerOffer], mine: Preferences, theirs: Preferences) -> Concessions:
    """The concessions of both sides in a ledger."""
    rows = completed_offers(ledger)
    steps = {
        "me": _steps([r for r in rows if r.by == "me"], mine, theirs),
        "them": _steps([r for r in rows if r.by == "them"], theirs, mine),
    }
    mid = {"me": _mids(rows, "me", mine), "them": _mids(rows, "them", theirs)}
    return Concessions(
        me=_summary(rows, steps["me"], steps["them"], mid["me"]),
        them=_summary(rows, steps["them"], steps["me"], mid["them"]),
    )


def completed_offers(ledger: Sequence[LedgerOffer]) -> list[LedgerOffer]:
    """The offers in rising `seq`, each partial package completed from the same side's earlier ones."""
    last: dict[Side, dict[str, Scalar]] = {"me": {}, "them": {}}
    rows: list[LedgerOffer] = []
    for row in sorted(ledger, key=lambda entry: entry.seq):
        last[row.by] = {**last[row.by], **row.package}
        whole = last[row.by]
        rows.append(LedgerOffer(row.seq, row.by, whole, row.at, row.claimed_final, row.valid_until))
    return rows


def _middle(preferences: Preferences, package: Package) -> float:
    return package_utility(preferences, package).middle


def _mids(rows: Sequence[LedgerOffer], by: Side, preferences: Preferences) -> list[float]:
    return [_middle(preferences, row.package) for row in rows if row.by == by]


def _steps(rows: Sequence[LedgerOffer], own: Preferences, other: Preferences) -> list[OfferStep]:
    steps: list[OfferStep] = []
    for before, after in pairwise(rows):
        moved = _middle(own, after.package) - _middle(own, before.package)
        given = _middle(other, after.package) - _middle(other, before.package)
        last = steps[-1].own if steps else 0.0
        ratio = moved / last if moved < -MIN_STEP and last < -MIN_STEP else None
        steps.append(OfferStep(after.seq, after.by, moved, given, step_class(moved, given), ratio))
    return steps


def _summary(
    rows: Sequence[LedgerOffer], steps: list[OfferStep], others: list[OfferStep], own: list[float]
) -> SideConcessions:
    conceded = -math.fsum(step.own for step in steps)
    return SideConcessions(
        steps=tuple(steps),
        conceded=conceded,
        per_round=conceded / len(steps) if steps else None,
        per_hour=_per_hour(rows, steps, conceded),
        reciprocity=_reciprocity(steps, others),
        limit=likely_limit(own),
    )


def _per_hour(rows: Sequence[LedgerOffer], steps: list[OfferStep], conceded: float) -> float | None:
    if not steps:
        return None
    times = [row.at for row in rows if row.by == steps[0].by and row.at is not None]
    hours = (times[-1] - times[0]).total_seconds() / 3600.0 if len(times) > 1 else 0.0
    return conceded / hours if hours > 0 and len(times) == len(steps) + 1 else None


def _reciprocity(steps: list[OfferStep], others: list[OfferStep]) -> float | None:
    """The correlation of each step's gain to the other side with the gain from the other side's preceding step."""
    pairs: list[tuple[float, float]] = []
    for step in steps:
        earlier = [other.other for other in others if other.seq < step.seq]
        if earlier:
            pairs.append((earlier[-1], step.other))
    if len(pairs) < 3:
        return None
    mean_x, mean_y = (math.fsum(p[k] for p in pairs) / len(pairs) for k in (0, 1))
    xx = math.fsum((x - mean_x) ** 2 for x, _ in pairs)
    yy = math.fsum((y - mean_y) ** 2 for _, y in pairs)
    xy = math.fsum((x - mean_x) * (y - mean_y) for x, y in pairs)
    if xx <= MIN_STEP**2 or yy <= MIN_STEP**2:
        return None
    return max(-1.0, min(1.0, xy / math.sqrt(xx * yy)))


FINAL_MOVED, FINAL_MOVED_AGAIN, FINAL_MOVED_MOST = 3.0, 1.5, 6.0
NO_SLOWDOWN, DEADLINE_MOVED, LIMIT_PASSED, VAGUE_ALTERNATIVE = 1.8, 2.0, 4.0, 1.3


def bluff_signals(
    ledger: Sequence[LedgerOffer], mine: Preferences, theirs: Preferences, *, claims: Sequence[StatedClaim] = ()
) -> tuple[BluffSignal, ...]:
    """Signs in offers and claims that a side may be bluffing, for both sides."""
    rows = completed_offers(ledger)
    found: list[BluffSignal] = []
    sides: tuple[tuple[Side, Preferences, Preferences], ...] = (("them", theirs, mine), ("me", mine, theirs))
    for by, own, other in sides:
        offers = [row for row in rows if row.by == by]
        stated = [claim for claim in sorted(claims, key=lambda c: c.seq) if claim.by == by]
        steps = _steps(offers, own, other)
        signs: list[tuple[str, float, list[str]]] = [
            _moved_after_final(steps, offers),
            _no_slowdown(steps, offers),
            _deadline_moved(offers, stated, other),
            _limit_passed(offers, stated, own),
            _vague_alternative(stated),
        ]
        found += [BluffSignal(name, by, ratio, tuple(lines)) for name, ratio, lines in signs if lines]
    return tuple(found)


def _moved_after_final(steps: list[OfferStep], offers: list[LedgerOffer]) -> tuple[str, float, list[str]]:
    lines = [
        f"Offer {before.seq} was called final, but offer {step.seq} gave more."
        for before, step in zip(offers, steps, strict=False)
        if before.claimed_final and step.own < -MIN_STEP
    ]
    ratio = min(FINAL_MOVED_MOST, FINAL_MOVED * FINAL_MOVED_AGAIN ** (len(lines) - 1))
    return "moved_after_final", ratio, lines


def _no_slowdown(steps: list[OfferStep], offers: list[LedgerOffer]) -> tuple[str, float, list[str]]:
    final = {row.seq for row in offers if row.claimed_final}
    lines = [
        f"Offer {last.seq} was called final, but its step was no smaller than the one before."
        for before, last in pairwise(steps)
        if last.seq in final and before.own < -MIN_STEP and last.own <= before.own + MIN_STEP
    ]
    return "no_slowdown_before_final", NO_SLOWDOWN, lines


def _deadline_moved(
    offers: list[LedgerOffer], stated: list[StatedClaim], other: Preferences
) -> tuple[str, float, list[str]]:
    dates = [claim for claim in stated if claim.kind == "deadline" and claim.at is not None]
    lines = [
        f"The deadline named at offer {a.seq} had become later by offer {b.seq}."
        for a, b in pairwise(dates)
        if a.at is not None and b.at is not None and b.at > a.at
    ]
    for before, after in pairwise(offers):
        if before.valid_until is None or after.at is None or after.at <= before.valid_until:
            continue
        if _middle(other, after.package) >= _middle(other, before.package) - MIN_STEP:
            lines.append(f"Offer {before.seq} had expired, and offer {after.seq} after it is no worse.")
    return "deadline_moved", DEADLINE_MOVED, lines


def _limit_passed(
    offers: list[LedgerOffer], stated: list[StatedClaim], own: Preferences
) -> tuple[str, float, list[str]]:
    lines: list[str] = []
    for claim in stated:
        if claim.kind != "walk_away" or claim.package is None:
            continue
        limit = _middle(own, claim.package)
        passed = [row.seq for row in offers if _middle(own, row.package) < limit - MIN_STEP]
        if passed:
            lines.append(f"Offer {passed[0]} goes beyond the limit claimed at offer {claim.seq}.")
    return "claimed_limit_passed", LIMIT_PASSED, lines


def _vague_alternative(stated: list[StatedClaim]) -> tuple[str, float, list[str]]:
    lines = [
        f"The alternative mentioned at offer {claim.seq} came without details."
        for claim in stated
        if claim.kind == "alternative" and not claim.detailed
    ]
    return "alternative_without_detail", VAGUE_ALTERNATIVE, lines
