"""The generator: one brief in, one whole plan out (reference §2.5). Same brief, same plan."""

from typing import Any, Final

from negotiator.negotiations.plans.brief import PlanBrief
from negotiator.negotiations.plans.making import advice, said, words
from negotiator.negotiations.plans.making.advice import Chosen
from negotiator.negotiations.plans.making.checks import check
from negotiator.negotiations.plans.paths.ground import Ground, lay
from negotiator.negotiations.plans.paths.schedule import (
    Step,
    concessions,
    opening,
    packages_alike,
    trades,
)
from negotiator.negotiations.plans.paths.showing import may_be_said

Plan = dict[str, Any]

SOURCES: Final[dict[str, str]] = {
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
"""What each rule of the engine does; a plan carries those it used."""
MOST_TRIED: Final = 2000
"""Better packages tried as an opening where the first would show a limit."""


def make_plan(brief: PlanBrief) -> Plan:
    """A battle plan with every section; a section that lacks its input is null or empty and named as a gap.

    Raises `BrokenPlan` when the plan breaks one of its own invariants, which is a fault of this code.
    """
    ground = lay(brief)
    chosen = choose(brief, ground)
    floor_from = "session:/batna/value" if ground.floor is not None else None
    plan: Plan = {
        "summary": words.summary(brief, ground),
        "objectives": words.objectives(ground, chosen),
        "zopa": advice.zopa(brief),
        "leverage": advice.leverage(brief),
        "opening_offer": advice.opening_offer(brief, ground, chosen),
        "target": advice.limit(ground, "target", ground.goal),
        "floor": advice.limit(ground, "walk_away", ground.floor, fallback=floor_from),
        "walk_away_script": said.WALK_AWAY,
        "concession_schedule": words.schedule_rows(ground, chosen),
        "trades": advice.trade_rows(ground, chosen),
        "questions": said.questions(brief, ground),
        "tactics": said.tactic_rows(brief),
        "objections": said.objections(brief, ground),
        "their_tactics": said.their_tactics(brief),
        "red_lines": advice.red_lines(brief, ground),
        "approvals": advice.approvals(ground, chosen),
        "information_gaps": words.gaps(brief),
        "alternatives": words.leads(brief),
        "script": said.script(brief, ground, chosen),
        "branches": words.branches(ground, chosen),
        "next_actions": words.next_actions(brief, ground, chosen),
    }
    plan["sources"] = _used(plan)
    check(plan, brief, ground, chosen=chosen)
    return plan


def choose(brief: PlanBrief, ground: Ground) -> Chosen:
    """The packages of the plan: the opening (made already, where I have offered), those beside it, the path, trades."""
    made = _said(ground)
    first = made or _sayable_opening(ground)
    path = concessions(ground, first, rounds=brief.terms.max_rounds)
    alike = [one for one in packages_alike(ground, first) if may_be_said(ground, one)]
    row = f"offer:{ground.said.seq}" if made and ground.said else None
    return Chosen(first, tuple(alike), tuple(path), tuple(trades(ground)), row)


def _sayable_opening(ground: Ground) -> Step | None:
    """The opening; if saying it would show a limit, the next better package that does not."""
    first = opening(ground)
    if first is None or may_be_said(ground, first):
        return first
    last = int((ground.edge.mine >= first.utility).sum())
    better = (
        Step(ground.package(place), float(ground.edge.mine[place]), 0.0)
        for place in range(last - 1, max(-1, last - 1 - MOST_TRIED), -1)
    )
    return next((step for step in better if may_be_said(ground, step)), first)


def _said(ground: Ground) -> Step | None:
    """My last offer as the start of what is still to come, if it keeps every limit."""
    if ground.said is None or not len(ground.edge.mine):
        return None
    package = dict(ground.said.package)
    whole = all(issue.name in package for issue in ground.terms.issues)
    if not whole or not ground.lawful(package):
        return None
    return Step(package, ground.worth(package), 0.0)


def _used(plan: Plan) -> dict[str, str]:
    found: set[str] = set()
    _collect(plan, found)
    return {rule: text for rule, text in SOURCES.items() if rule in found}


def _collect(part: Any, found: set[str]) -> None:
    if isinstance(part, dict):
        for name, value in part.items():  # pyright: ignore[reportUnknownVariableType]
            if name == "source" and isinstance(value, str) and value.startswith("engine:"):
                found.add(":".join(value.split(":")[:2]))
            _collect(value, found)
    elif isinstance(part, list):
        for item in part:  # pyright: ignore[reportUnknownVariableType]
            _collect(item, found)
