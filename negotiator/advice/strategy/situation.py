"""The input of the next move: issues, the user's preferences, the progress and the offers so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

Scalar = str | int | float | bool
OfferValues = Mapping[str, Scalar]
ValueKey = tuple[bool, Scalar]
Style = Literal["balanced", "firm", "cooperative"]
Side = Literal["me", "them"]

OPEN_ENDED_ROUNDS = 12
FORBIDDEN_LOSS = 1.0


def typed_key(value: Scalar) -> ValueKey:
    """A dictionary key under which `True` and `1` differ, as they do in JSON but not in Python."""
    return isinstance(value, bool), value


def numeric_scale(values: Sequence[Scalar]) -> tuple[float, ...] | None:
    """The values as coordinates where all of them are numbers, otherwise None."""
    found = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    return tuple(map(float, found)) if len(found) == len(values) else None


@dataclass(frozen=True, slots=True)
class StrategyIssue:
    """An issue and its possible values, in the order of the request.

    `scale` is the coordinate of each value on an ordered issue, such as its amount of money; None where the values have
    no order. `forbidden` holds the values that the user neither proposes nor accepts. `opposed` is the chance, from 0
    to 1, that the other side wants the opposite; None leaves it to be learned.
    """

    name: str
    values: tuple[Scalar, ...]
    scale: tuple[float, ...] | None = None
    forbidden: frozenset[ValueKey] = frozenset()
    opposed: float | None = None


@dataclass(frozen=True, slots=True)
class StrategyPreferences:
    """Additive utility: `constant` plus one part-worth per issue (Keeney and Raiffa 1976).

    `part_worths` maps an issue to pairs of value and utility; a value without a pair is worth 0.
    `reservation_utility` is the utility of no agreement, on the same scale.
    """

    reservation_utility: float
    constant: float
    part_worths: Mapping[str, Sequence[tuple[Scalar, float]]]


@dataclass(frozen=True, slots=True)
class PreferenceHints:
    """What is believed of the other side's utility; what is left out is unknown.

    `part_worths` have any scale, on which `reservation_utility` lies too; without them it lies from 0 to 1. `weights`
    are positive or 0, on any scale. `confidence` is from 0 to 1, None where it was not said. `last_offer` is the
    package at which they are expected to stop, such as one at their walk-away price.
    """

    part_worths: Mapping[str, Sequence[tuple[Scalar, float]]] = field(
        default_factory=dict[str, Sequence[tuple[Scalar, float]]]
    )
    weights: Mapping[str, float] = field(default_factory=dict[str, float])
    reservation_utility: float | None = None
    confidence: float | None = None
    last_offer: OfferValues | None = None


@dataclass(frozen=True, slots=True)
class StrategyProgress:
    """The progress of the negotiation. A step is one round, in which each side makes one move.

    `step` counts from 0. `n_steps` (the number of rounds) and `relative_time` (0 to 1) are None when no end is known.
    """

    step: int
    n_steps: int | None = None
    relative_time: float | None = None

    @property
    def has_end(self) -> bool:
        """Whether an end is known, by rounds or by time."""
        return self.n_steps is not None or self.relative_time is not None

    @property
    def rounds(self) -> int:
        """The number of rounds: known, else inferred from `relative_time`, else `step + OPEN_ENDED_ROUNDS`."""
        if self.n_steps is not None:
            return max(self.n_steps, self.step + 1, 1)
        if self.relative_time:
            return max(round((self.step + 1) / self.relative_time), self.step + 1)
        return self.step + OPEN_ENDED_ROUNDS

    @property
    def remaining(self) -> int:
        """The number of rounds left, including the present one; at least 1."""
        return max(1, self.rounds - self.step)

    @property
    def time(self) -> float:
        """The share of the negotiation that is over: 0 in the first round, 1 in the last."""
        if self.n_steps is None and self.relative_time is not None:
            return min(1.0, max(0.0, self.relative_time))
        if not self.has_end:
            return self.step / (self.step + OPEN_ENDED_ROUNDS)
        return min(1.0, self.step / max(1, self.rounds - 1))


@dataclass(frozen=True, slots=True)
class StrategyOffer:
    """An offer already made, its side, and its utility to me; `final` where they called it their last."""

    step: int
    by: Side
    offer: OfferValues
    my_utility: float
    final: bool = False


@dataclass(frozen=True, slots=True)
class StandingOffer:
    """Their live offer, which I may accept."""

    offer: OfferValues
    my_utility: float


@dataclass(frozen=True)
class StrategySituation:
    """The whole input of one piece of advice.

    `history` is oldest first and includes the offer on the table as its last entry by the other side. `hints` are what
    the asker believes of the other side's preferences.
    """

    issues: tuple[StrategyIssue, ...]
    my_preferences: StrategyPreferences
    progress: StrategyProgress
    history: tuple[StrategyOffer, ...] = ()
    on_table: StandingOffer | None = None
    style: Style = "balanced"
    hints: PreferenceHints | None = None

    @cached_property
    def theirs(self) -> tuple[StrategyOffer, ...]:
        """Their offers, oldest first."""
        return tuple(past for past in self.history if past.by == "them")

    @cached_property
    def mine(self) -> tuple[StrategyOffer, ...]:
        """My offers, oldest first."""
        return tuple(past for past in self.history if past.by == "me")

    @property
    def i_speak_last(self) -> bool:
        """Whether I made the first offer, so that the other side still answers my offer of the last round."""
        return self.history[0].by == "me" if self.history else self.on_table is None

    @property
    def offers_left(self) -> int:
        """The number of my offers that the other side will still answer, including the present one."""
        return self.progress.remaining - (0 if self.i_speak_last else 1)

    def my_utility(self, offer: OfferValues) -> float | None:
        """My utility of a package; None when it lacks an issue or has an unknown value.

        With a forbidden value a package is worth less than no agreement.
        """
        total, forbidden = self.my_preferences.constant, False
        for issue in self.issues:
            if issue.name not in offer:
                return None
            key = typed_key(offer[issue.name])
            worth = self.worths[issue.name].get(key)
            if worth is None:
                return None
            total += worth
            forbidden = forbidden or key in issue.forbidden
        floor = self.my_preferences.reservation_utility
        return min(total, floor - FORBIDDEN_LOSS) if forbidden else total

    @cached_property
    def worths(self) -> dict[str, dict[ValueKey, float]]:
        """My part-worths by issue and value; a value without one is worth 0."""
        priced = {
            name: {typed_key(value): worth for value, worth in pairs}
            for name, pairs in self.my_preferences.part_worths.items()
        }
        return {
            issue.name: {
                typed_key(value): priced.get(issue.name, {}).get(typed_key(value), 0.0) for value in issue.values
            }
            for issue in self.issues
        }
