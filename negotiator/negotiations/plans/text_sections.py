"""The sections of a plan that are mostly text.

Sentences are templates over the issues, with names and values as the negotiation has them. Sentences for the other
side contain no private number.
"""

from typing import Any, Final

from negotiator.negotiations.issues import Issue, worth_of
from negotiator.negotiations.plans.admissible_packages import AdmissiblePackages
from negotiator.negotiations.plans.brief import PlanBrief, figure
from negotiator.negotiations.plans.concession_path import ConcessionStep
from negotiator.negotiations.plans.figure_sections import ChosenPackages, PlanSection
from negotiator.negotiations.plans.rendering import issue_label, package_figures

CONCESSION_TRIGGERS: Final = (
    "When they have answered your opening with a number of their own and a reason.",
    "When they have made a step of their own and ask for yours.",
    "When they have moved again; say that your room is getting small.",
    "Only against a concession of theirs on paper, after a pause.",
    "Only if it closes the deal in the same conversation.",
)
GAP_QUESTIONS: Final[dict[str, str]] = {
    "walk_away": "What is the least you would still agree to, before you would rather have no deal?",
    "target": "What result would you call a success, and why is it realistic?",
    "batna": "What exactly happens if there is no deal, and what is that worth?",
    "their_estimate": "Who has dealt with them before, and where did they give in?",
    "deadline": "By when does it have to be decided, on your side and on theirs?",
    "currency": "In which currency is it settled?",
}


def summary_section(brief: PlanBrief, admissible: AdmissiblePackages) -> PlanSection:
    """A summary of the negotiation, and one sentence per assumption."""
    terms = brief.terms
    about = ", ".join(issue_label(issue) for issue in terms.issues)
    assumed = list(brief.leverage.assumptions) if brief.leverage else []
    if admissible.stand_ins:
        names = ", ".join(admissible.stand_ins)
        assumed.append(
            f"No range is given for {names}: it runs from your walk-away past your target."
        )
    if not admissible.goal_given and admissible.goal is not None:
        assumed.append("No target is given: the expected agreement, or the middle, stands in.")
    if terms.walk_away is None and admissible.floor is not None:
        assumed.append("No walk-away is given: your best alternative stands in for it.")
    if terms.walk_away is None and admissible.floor is None:
        assumed.append("No walk-away is known, so this plan has no floor and promises none.")
    text = f"{terms.title}. You are the {terms.role}; {brief.them} is across the table. It is about {about}."
    return {"text": text, "assumptions": list(dict.fromkeys(assumed))}


def objective_rows(admissible: AdmissiblePackages, chosen: ChosenPackages) -> list[PlanSection]:
    """The objectives, most important first, each with its measure."""
    terms, rows = admissible.terms, list[PlanSection]()
    if terms.target is not None:
        rows.append(
            {"objective": "Reach the target.", "measure": "The agreed package is worth it."}
        )
    if admissible.floor is not None:
        rows.append(
            {
                "objective": "Never go below the floor.",
                "measure": "No deal rather than a worse one.",
            }
        )
    for issue in sorted(terms.issues, key=lambda one: -one.weight)[:3]:
        way = "high" if issue.direction == "higher" else "low"
        wanted = (
            f"Keep {issue_label(issue)} {way}."
            if not issue.options
            else f"Get {issue_label(issue)} right."
        )
        weight = figure(
            round(issue.weight, 4), f"session:/issues/{terms.issues.index(issue)}/weight"
        )
        rows.append(
            {"objective": wanted, "measure": "Its share of your utility.", "weight": weight}
        )
    if chosen.trades:
        rows.append({"objective": "Trade before you concede.", "measure": "A trade below is made."})
    return rows


def schedule_rows(admissible: AdmissiblePackages, chosen: ChosenPackages) -> list[PlanSection]:
    """The concession path: the trigger of each step, its package, and what to ask in return."""
    rows: list[PlanSection] = []
    before = chosen.opening
    for place, step in enumerate(chosen.path):
        last = place == len(chosen.path) - 1
        trigger = (
            CONCESSION_TRIGGERS[-1]
            if last and place > 0
            else CONCESSION_TRIGGERS[min(place, len(CONCESSION_TRIGGERS) - 2)]
        )
        rows.append(
            {
                "trigger": trigger,
                "package": package_figures(admissible.terms, step.package, "engine:concession"),
                "utility": {"value": round(step.utility, 6), "source": "engine:utility"},
                "gives": {"value": round(step.given, 6), "source": "engine:concession"},
                "ask_in_return": _ask(admissible, before, step),
            }
        )
        before = step
    return rows


def gap_rows(brief: PlanBrief) -> list[PlanSection]:
    """Missing information that would improve the plan, by the name of the member, with a question to ask."""
    rows: list[PlanSection] = []
    for name in brief.terms.missing:
        ask = GAP_QUESTIONS.get(name)
        if ask is None and name.endswith("their_weight"):
            ask = "How much does it matter to them, compared with the other issues?"
        if ask is None and name.endswith("weight"):
            ask = "How much does it matter to you, compared with the other issues?"
        if ask is None and name.endswith("range"):
            ask = "What are the best and the worst value anybody could imagine here?"
        rows.append({"missing": name, "ask": ask or "What is it, and who would know?"})
    if not brief.benchmarks:
        rows.append({"missing": "benchmarks", "ask": "What did comparable deals end at?"})
    if brief.terms.batna is None and not brief.alternatives:
        rows.append({"missing": "alternatives", "ask": "Who else could you turn to?"})
    return rows


def branch_rows(admissible: AdmissiblePackages, chosen: ChosenPackages) -> list[PlanSection]:
    """Advice for the ways in which the other side may react."""
    rows: list[PlanSection] = []
    if admissible.goal is not None:
        rows.append(
            {
                "if": "Their offer reaches your target.",
                "then": "Ask for one small thing, then accept.",
            }
        )
    if chosen.path:
        rows.append(
            {
                "if": "They move.",
                "then": "Take the next step of the schedule, with its ask, not two.",
            }
        )
    rows.append(
        {
            "if": "They do not move.",
            "then": "Hold, ask what stands in the way, offer a trade instead.",
        }
    )
    if admissible.floor is not None:
        rows.append(
            {
                "if": "They call it final and it is below your floor.",
                "then": "Say the walk-away lines and leave.",
            }
        )
    else:
        rows.append(
            {
                "if": "They call it final.",
                "then": "Take a break; settle your walk-away before you answer.",
            }
        )
    rows.append(
        {
            "if": "They name a deadline.",
            "then": "Ask what happens after it, and keep to your schedule.",
        }
    )
    return rows


def next_action_rows(
    brief: PlanBrief, admissible: AdmissiblePackages, chosen: ChosenPackages
) -> list[PlanSection]:
    """The three most important next actions."""
    missing = set(brief.terms.missing)
    rows: list[PlanSection] = []
    if any(row.by == "them" for row in brief.ledger):
        rows.append({"action": "Answer their last offer with the next package of the schedule."})
    if missing & {"walk_away", "target"}:
        rows.append({"action": "Write down your walk-away and your target before you talk."})
    if brief.terms.unvalued:
        rows.append({"action": f"Give the range of {', '.join(brief.terms.unvalued)}."})
    if brief.alternatives:
        names = ", ".join(lead.name for lead in brief.alternatives[:3])
        rows.append({"action": f"Get an offer from an alternative: {names}."})
    if "batna" in missing:
        rows.append({"action": "Find out what you do if there is no deal, and what it is worth."})
    if "their_estimate" in missing:
        rows.append({"action": "Estimate their walk-away: ask someone who has dealt with them."})
    if not brief.benchmarks:
        rows.append({"action": "Find a comparable deal to cite."})
    if chosen.opening is not None:
        rows.append({"action": "Rehearse the opening aloud once, and the silence after it."})
    rows += [
        {"action": "Ask your questions before any number."},
        {"action": "Agree with your own side who decides, and by when."},
        {"action": "Write down what was said right after the talk."},
    ]
    return rows[:3]


def _ask(
    admissible: AdmissiblePackages, before: ConcessionStep | None, step: ConcessionStep
) -> str:
    """What to ask for a concession: a step on the weighted issue with most to gain that the concession leaves alone."""
    given = {n for n, value in step.package.items() if before and before.package.get(n) != value}
    others = [
        issue
        for issue in admissible.terms.issues
        if issue.tradeable and issue.name not in given and _held(issue, step) < 1.0
    ]
    if others:
        wanted = max(others, key=lambda one: one.weight * (1.0 - _held(one, step)))
        return f"A step of theirs on {issue_label(wanted)}."
    return "A step of theirs of at least the same size, or a firm date for signing."


def _held(issue: Issue, step: ConcessionStep) -> float:
    return worth_of(issue, step.package[issue.name]) or 0.0


def lead_rows(brief: PlanBrief) -> list[dict[str, Any]]:
    """Possible alternatives to the other side, with links."""
    return [
        {"name": one.name, "link": one.link, "why": one.why}
        | ({"source": one.source} if one.source else {})
        for one in brief.alternatives
    ]
