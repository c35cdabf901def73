"""Generates a battle plan from a brief. The same brief gives the same plan."""

from typing import Any, Final

from negotiator.negotiations.plans import dialogue_sections, figure_sections, text_sections
from negotiator.negotiations.plans.admissible_packages import (
    AdmissiblePackages,
    admissible_packages,
)
from negotiator.negotiations.plans.brief import PlanBrief
from negotiator.negotiations.plans.checks import check_plan
from negotiator.negotiations.plans.concession_path import (
    ConcessionStep,
    concession_steps,
    find_trades,
    opening_package,
    similar_packages,
)
from negotiator.negotiations.plans.figure_sections import ChosenPackages
from negotiator.negotiations.plans.rendering import may_be_said

PlanDocument = dict[str, Any]

ENGINE_SOURCES: Final[dict[str, str]] = {
    "engine:opening": "An undominated package that keeps every limit, part of the way from the target to the best, "
    "and not short of their likely walk-away.",
    "engine:aggressiveness": "How far from the floor to the best package the opening lies, from nothing to all.",
    "engine:equal_packages": "Undominated packages worth about as much to you as the opening.",
    "engine:concession": "From the opening towards the floor by ever smaller steps, with a reserve kept back.",
    "engine:utility": "Your additive utility of the package.",
    "engine:logrolling": "The exchange that costs you nothing and gives them most, by the weights you gave them.",
    "engine:target": "The expected agreement, or the middle between floor and best, as no target was given.",
    "engine:tactic_score": "The sum of the parts that the tactic's reasons name.",
}
"""A description of each rule of the engine; a plan includes those of the rules it used."""
MAX_OPENINGS_TRIED: Final = 2000
"""The number of better packages tried as an opening when the first would reveal a limit."""


def make_plan(brief: PlanBrief) -> PlanDocument:
    """A battle plan with every section; a section without its input is null or empty and listed as a gap.

    Raises `BrokenPlan` when the plan fails `check_plan`, which is a fault of this code.
    """
    admissible = admissible_packages(brief)
    chosen = choose_packages(brief, admissible)
    floor_from = "session:/batna/value" if admissible.floor is not None else None
    plan: PlanDocument = {
        "summary": text_sections.summary_section(brief, admissible),
        "objectives": text_sections.objective_rows(admissible, chosen),
        "zopa": figure_sections.zopa_section(brief),
        "leverage": figure_sections.leverage_section(brief),
        "opening_offer": figure_sections.opening_section(brief, admissible, chosen),
        "target": figure_sections.limit_section(admissible, "target", admissible.goal),
        "floor": figure_sections.limit_section(
            admissible, "walk_away", admissible.floor, fallback=floor_from
        ),
        "walk_away_script": dialogue_sections.WALK_AWAY_SCRIPT,
        "concession_schedule": text_sections.schedule_rows(admissible, chosen),
        "trades": figure_sections.trade_rows(admissible, chosen),
        "questions": dialogue_sections.question_rows(brief, admissible),
        "tactics": dialogue_sections.tactic_rows(brief),
        "objections": dialogue_sections.objection_rows(brief, admissible),
        "their_tactics": dialogue_sections.their_tactic_rows(brief),
        "red_lines": figure_sections.red_line_rows(brief, admissible),
        "approvals": figure_sections.approval_rows(admissible, chosen),
        "information_gaps": text_sections.gap_rows(brief),
        "alternatives": text_sections.lead_rows(brief),
        "script": dialogue_sections.script_section(brief, admissible, chosen),
        "branches": text_sections.branch_rows(admissible, chosen),
        "next_actions": text_sections.next_action_rows(brief, admissible, chosen),
    }
    plan["sources"] = _used(plan)
    check_plan(plan, brief, admissible, chosen=chosen)
    return plan


def choose_packages(brief: PlanBrief, admissible: AdmissiblePackages) -> ChosenPackages:
    """The packages of the plan; an offer that the user already made is the opening, if it keeps every limit."""
    made = _said(admissible)
    first = made or _sayable_opening(admissible)
    path = concession_steps(admissible, first, rounds=brief.terms.max_rounds)
    alike = [one for one in similar_packages(admissible, first) if may_be_said(admissible, one)]
    row = f"offer:{admissible.said.seq}" if made and admissible.said else None
    return ChosenPackages(first, tuple(alike), tuple(path), tuple(find_trades(admissible)), row)


def _sayable_opening(admissible: AdmissiblePackages) -> ConcessionStep | None:
    """The opening package or, if that would reveal a limit, the next better package that does not."""
    first = opening_package(admissible)
    if first is None or may_be_said(admissible, first):
        return first
    last = int((admissible.edge.mine >= first.utility).sum())
    better = (
        ConcessionStep(admissible.package(place), float(admissible.edge.mine[place]), 0.0)
        for place in range(last - 1, max(-1, last - 1 - MAX_OPENINGS_TRIED), -1)
    )
    return next((step for step in better if may_be_said(admissible, step)), first)


def _said(admissible: AdmissiblePackages) -> ConcessionStep | None:
    """The user's last offer as the start of the path, if it is complete and keeps every limit."""
    if admissible.said is None or not len(admissible.edge.mine):
        return None
    package = dict(admissible.said.package)
    whole = all(issue.name in package for issue in admissible.terms.issues)
    if not whole or not admissible.is_admissible(package):
        return None
    return ConcessionStep(package, admissible.worth(package), 0.0)


def _used(plan: PlanDocument) -> dict[str, str]:
    found: set[str] = set()
    _collect(plan, found)
    return {rule: text for rule, text in ENGINE_SOURCES.items() if rule in found}


def _collect(part: Any, found: set[str]) -> None:
    if isinstance(part, dict):
        for name, value in part.items():  # pyright: ignore[reportUnknownVariableType]
            if name == "source" and isinstance(value, str) and value.startswith("engine:"):
                found.add(":".join(value.split(":")[:2]))
            _collect(value, found)
    elif isinstance(part, list):
        for item in part:  # pyright: ignore[reportUnknownVariableType]
            _collect(item, found)
