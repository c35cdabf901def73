"""A negotiation's terms as pure values: what every piece of advice and every check is made from."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from negotiator.negotiations.issues import Issue, Scalar
from negotiator.negotiations.leverage.power import NO_FACTS, SideFacts
from negotiator.negotiations.leverage.zone_of_agreement import Estimate
from negotiator.negotiations.utility import Preferences, Worth


@dataclass(frozen=True, slots=True)
class Constraint:
    """A rule on one issue; `values` holds the single value, or the list of `in` and `not_in`."""

    issue: str
    op: Literal["<=", ">=", "<", ">", "==", "!=", "in", "not_in"]
    values: tuple[Scalar, ...]
    hard: bool = True


@dataclass(frozen=True, slots=True)
class Authority:
    """What may be agreed to without approval: at least `least`, and no worse a price than `prices`."""

    least: Worth | None = None
    prices: tuple[Decimal, ...] = ()
    approver: str | None = None


@dataclass(frozen=True, slots=True)
class Terms:
    """A negotiation without its ledger and its life.

    `walk_away`, `target` and `batna` are as given; `certain` is what the alternative is surely worth, chance and cost
    counted, and `batna_uncertain` whether there was any to count. `unvalued` names issues whose range is not known.
    Times are milliseconds since the epoch.
    """

    title: str
    role: str
    category: str
    kind: str
    currency: str | None
    preferences: Preferences
    walk_away: Worth | None = None
    target: Worth | None = None
    batna: Worth | None = None
    certain: float | None = None
    batna_uncertain: bool = False
    their_walk_away: Estimate | None = None
    their_target: Worth | None = None
    their_batna: Worth | None = None
    deadline: int | None = None
    their_deadline: int | None = None
    max_rounds: int | None = None
    constraints: tuple[Constraint, ...] = ()
    authority: Authority = Authority()
    me: SideFacts = NO_FACTS
    them: SideFacts = NO_FACTS
    unvalued: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def issues(self) -> tuple[Issue, ...]:
        """The issues, in order."""
        return self.preferences.issues

    def issue(self, name: str) -> Issue | None:
        """The issue of this name."""
        return issue_named(self.issues, name)

    @property
    def price(self) -> Issue | None:
        """The issue that amounts of money speak of: the first one of type money."""
        return next((issue for issue in self.issues if issue.type == "money"), None)


def issue_named(issues: Sequence[Issue], name: str) -> Issue | None:
    """The issue of this name."""
    return next((issue for issue in issues if issue.name == name), None)
