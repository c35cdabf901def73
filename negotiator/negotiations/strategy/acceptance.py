"""Whether what is on the table is enough.

Accept when it is worth at least what I would ask next (AC_next, Baarslag et al. 2014), when no
further word of mine will be heard, or, in the closing round and in talks without an end, when it
is worth at least what going on is expected to bring; never below the floor.
"""

from __future__ import annotations

from dataclasses import dataclass

from negotiator.negotiations.strategy.situation import Situation
from negotiator.negotiations.strategy.target import Plan

CLOSING_ROUNDS = 1
MARGIN = {"balanced": 0.0, "firm": 0.03, "cooperative": -0.03}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Accept or not, and the plain reason."""

    accept: bool
    reason: str


def judge(situation: Situation, plan: Plan, ask: float) -> Verdict:
    """Weigh the offer on the table against asking for `ask` (my utility) and the plan's value."""
    table = situation.on_table
    floor = situation.my_preferences.reservation_utility
    if table is None:
        return Verdict(False, "There is no offer on the table yet.")
    if not table.my_utility >= floor:
        return Verdict(False, "Their offer is worth less to you than no agreement.")
    if table.my_utility >= ask:
        return Verdict(True, "Their offer is worth at least as much as what you would ask next.")
    if situation.progress.has_end and situation.offers_left <= 0:
        return Verdict(True, "This is the last word in the talk, and it beats no agreement.")
    ending = situation.progress.remaining <= CLOSING_ROUNDS or not situation.progress.has_end
    if ending and table.my_utility >= plan.value + MARGIN[situation.style]:
        return Verdict(True, "Going on is not expected to bring more than this offer does.")
    return Verdict(False, "Going on is expected to bring more than their offer does.")
