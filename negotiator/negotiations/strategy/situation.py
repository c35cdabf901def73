"""What the next move is asked about: issues, my preferences, the clock and the offers so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Scalar = str | int | float | bool
OfferValues = Mapping[str, Scalar]
ValueKey = tuple[bool, Scalar]
Style = Literal["balanced", "firm", "cooperative"]
Side = Literal["me", "them"]

OPEN_ENDED_ROUNDS = 12


def typed_key(value: Scalar) -> ValueKey:
    """A dictionary key that keeps `True` apart from `1`, which JSON does and Python does not."""
    return isinstance(value, bool), value


@dataclass(frozen=True, slots=True)
class StrategyIssue:
    """A matter to settle and the values it may take, in the order they were listed."""

    name: str
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class StrategyPreferences:
    """Additive utility: `constant` plus one part-worth per issue (Keeney and Raiffa 1976).

    `part_worths` maps an issue to pairs of value and utility; a value without a pair is worth 0.
    `reservation_utility` is the floor, on the same scale: the utility of no agreement.
    """

    reservation_utility: float
    constant: float
    part_worths: Mapping[str, Sequence[tuple[Scalar, float]]]


@dataclass(frozen=True, slots=True)
class StrategyProgress:
    """Where the talk stands. A step is one round, in which each side speaks once.

    `step` counts from 0. `n_steps` and `relative_time` (0..1) are None when nobody set an end.
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
        """The number of rounds, known, inferred from the clock, or else a rolling guess."""
        if self.n_steps is not None:
            return max(self.n_steps, self.step + 1, 1)
        if self.relative_time:
            return max(round((self.step + 1) / self.relative_time), self.step + 1)
        return self.step + OPEN_ENDED_ROUNDS

    @property
    def remaining(self) -> int:
        """Rounds left, the present one included; at least 1."""
        return max(1, self.rounds - self.step)

    @property
    def time(self) -> float:
        """Share of the talk behind us, 0 at the first round and 1 at the last."""
        if self.n_steps is None and self.relative_time is not None:
            return min(1.0, max(0.0, self.relative_time))
        if not self.has_end:
            return self.step / (self.step + OPEN_ENDED_ROUNDS)
        return min(1.0, self.step / max(1, self.rounds - 1))


@dataclass(frozen=True, slots=True)
class StrategyOffer:
    """An offer already made, by whom, and what it is worth to me."""

    step: int
    by: Side
    offer: OfferValues
    my_utility: float


@dataclass(frozen=True, slots=True)
class StandingOffer:
    """Their live offer, which I may accept."""

    offer: OfferValues
    my_utility: float


@dataclass(frozen=True)
class StrategySituation:
    """Everything one piece of advice is made from.

    `history` is oldest first and holds the offer on the table as its last entry by them.
    """

    issues: tuple[StrategyIssue, ...]
    my_preferences: StrategyPreferences
    progress: StrategyProgress
    history: tuple[StrategyOffer, ...] = ()
    on_table: StandingOffer | None = None
    style: Style = "balanced"

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
        """Whether they still answer an offer I make in the last round: I opened the talk."""
        return self.history[0].by == "me" if self.history else self.on_table is None

    @property
    def offers_left(self) -> int:
        """How many more offers of mine they will still answer, the present one included."""
        return self.progress.remaining - (0 if self.i_speak_last else 1)

    def my_utility(self, offer: OfferValues) -> float | None:
        """What a package is worth to me; None when an issue or a value is unknown."""
        total = self.my_preferences.constant
        for issue in self.issues:
            if issue.name not in offer:
                return None
            worth = self.worths[issue.name].get(typed_key(offer[issue.name]))
            if worth is None:
                return None
            total += worth
        return total

    @cached_property
    def worths(self) -> dict[str, dict[ValueKey, float]]:
        """Part-worths by issue and listed value; a listed value nobody priced is worth 0."""
        priced = {
            name: {typed_key(value): worth for value, worth in pairs}
            for name, pairs in self.my_preferences.part_worths.items()
        }
        return {
            issue.name: {
                typed_key(value): priced.get(issue.name, {}).get(typed_key(value), 0.0)
                for value in issue.values
            }
            for issue in self.issues
        }
