"""Generates a battle plan from a brief. The same brief gives the same plan."""

from dataclasses import asdict
from typing import Any, Final

from negotiator.advice.plans import dialogue_sections, offer_sections, standing_sections
from negotiator.advice.plans.basis import plan_basis
from negotiator.advice.plans.brief import PlanBrief
from negotiator.advice.plans.checks import check_plan, figures_in, texts_in
from negotiator.advice.words.sentences import table

PlanDocument = dict[str, Any]

ENGINE_SOURCES: Final[dict[str, str]] = table("plan")["sources"]
"""A description of each rule of the engine; a plan includes those of the rules it used."""


def make_plan(brief: PlanBrief) -> PlanDocument:
    """A battle plan with every section; a section without its input is null or empty and listed as a gap.

    Raises `BrokenPlan` when the plan fails `check_plan`, which is a fault of this code.
    """
    basis = plan_basis(brief)
    content = basis.content
    plan: PlanDocument = {
        "title": brief.terms.title,
        "case": basis.case.name,
        "summary": standing_sections.summary_section(basis),
        "overview": standing_sections.overview_rows(basis),
        "objectives": standing_sections.objective_rows(basis),
        "interests": {"theirs": list(content.their_interests), "ours": list(content.our_interests)},
        "standards": [{"standard": one.what, "how": one.how} for one in content.standards],
        "zopa": standing_sections.zopa_section(brief),
        "leverage": standing_sections.leverage_section(basis),
        "expected": standing_sections.expected_section(basis),
        "opening_offer": offer_sections.opening_section(basis),
        "target": offer_sections.limit_section(basis, "target"),
        "floor": offer_sections.limit_section(basis, "walk_away"),
        "walk_away_script": content.leave,
        "concession_schedule": offer_sections.schedule_rows(basis),
        "offered_together": offer_sections.together_rows(basis),
        "trades": offer_sections.trade_rows(basis),
        "allowed_trades": offer_sections.allowed_rows(basis),
        "questions": dialogue_sections.question_rows(basis),
        "tactics": dialogue_sections.tactic_rows(brief),
        "objections": dialogue_sections.objection_rows(basis),
        "their_tactics": dialogue_sections.their_tactic_rows(brief),
        "red_lines": offer_sections.red_line_rows(basis),
        "approvals": offer_sections.approval_rows(basis),
        "information_gaps": standing_sections.gap_rows(basis),
        "alternatives": [
            {name: text for name, text in asdict(lead).items() if text or name != "source"}
            for lead in brief.alternatives
        ],
        "script": dialogue_sections.script_section(basis),
        "branches": dialogue_sections.branch_rows(basis),
        "closing_asks": [one.text for one in content.closing_asks],
        "low_cost_gives": [one.text for one in content.gives],
        "next_actions": standing_sections.next_action_rows(basis),
    }
    plan["sources"] = _used(plan)
    check_plan(plan, basis)
    return plan


def _used(plan: PlanDocument) -> dict[str, str]:
    """The rules of the engine among the sources of figures and of texts."""
    sources = [str(one["source"]) for one in figures_in(plan)]
    sources += [text for place, text in texts_in(plan) if place[-1] == "source"]
    found = {":".join(source.split(":")[:2]) for source in sources}
    return {rule: text for rule, text in ENGINE_SOURCES.items() if rule in found}
