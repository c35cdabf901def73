"""The turns of a rehearsal. The person behind it is kept beside them, and is shown to nobody before the end."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from negotiator.rehearsals.counterpart.person import Ploy
from negotiator.rehearsals.counterpart.remarks import Remark
from negotiator.terms.issues import IssueType, Package, Scalar, canonical_value
from negotiator.terms.terms import Terms

Side: TypeAlias = Literal["me", "them"]
TurnAction: TypeAlias = Literal["offer", "say", "wait", "accept", "leave"]
RehearsalState: TypeAlias = Literal["running", "agreed", "left_by_me", "left_by_them"]


@dataclass(frozen=True, slots=True)
class RehearsalTurn:
    """One turn of either side; `number` counts both sides from 1, `at` is in milliseconds.

    `package` is complete: what a turn leaves out stays as that side named it before, or as the other side names it.
    An acceptance has the package that is accepted. `remarks` are what the user's words were heard as, `ploy` the tactic
    behind a turn of the counterpart's, which only the debrief tells. `final` marks an offer that was called final,
    `withdraws` one that takes the offer before back.
    """

    number: int
    at: int
    by: Side
    action: TurnAction
    package: Package | None = None
    said: str = ""
    remarks: tuple[Remark, ...] = ()
    final: bool = False
    withdraws: bool = False
    ploy: Ploy | None = None


def canonical_package(terms: Terms, package: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """The package with the canonical values of its issues; a KeyError names what is no issue."""
    kinds: dict[str, IssueType] = {issue.name: issue.type for issue in terms.issues}
    return {name: canonical_value(kinds[name], value) for name, value in package.items()}
