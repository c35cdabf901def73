"""A battle plan on the wire (docs/contract 6.8)."""

from typing import Any

from pydantic import Field
from typing_extensions import TypedDict

from negotiator.negotiations.schemas_negotiations import NegotiationId

SectionRows = list[dict[str, Any]]


class MakeBattlePlan(NegotiationId):
    """The negotiation to plan for; everything else is read from it."""


class BattlePlanId(NegotiationId):
    """One version of a plan."""

    plan_id: str = Field(description="The plan's id, pln_….")


class BattlePlanHead(TypedDict):
    """Which version this is, and whether the negotiation has moved on since."""

    id: str
    negotiation_id: str
    version: int
    made_from_revision: int
    stale: bool
    worded_by: str
    created_at: str


class BattlePlanView(BattlePlanHead):
    """A whole plan. Numbers are figures, `{"value", "source"}`; `sources` spells out the engine's rules.

    `words` beside a figure or a package is how it is said.
    """

    title: str
    case: str
    summary: dict[str, Any]
    overview: SectionRows
    objectives: SectionRows
    interests: dict[str, list[str]]
    standards: SectionRows
    zopa: dict[str, Any]
    leverage: dict[str, Any] | None
    expected: dict[str, Any] | None
    opening_offer: dict[str, Any] | None
    target: dict[str, Any] | None
    floor: dict[str, Any] | None
    walk_away_script: str
    concession_schedule: SectionRows
    offered_together: SectionRows
    trades: SectionRows
    allowed_trades: SectionRows
    questions: SectionRows
    tactics: SectionRows
    objections: SectionRows
    their_tactics: SectionRows
    red_lines: SectionRows
    approvals: SectionRows
    information_gaps: SectionRows
    alternatives: SectionRows
    script: dict[str, str]
    branches: SectionRows
    closing_asks: list[str]
    low_cost_gives: list[str]
    next_actions: SectionRows
    sources: dict[str, str]


class BattlePlanList(TypedDict):
    """A page of versions, newest first, without their sections."""

    items: list[BattlePlanHead]
    next_cursor: str | None
