"""The sections of a plan for the time before the talk: interests, standards, gaps, leads and next actions."""

from typing import Any

from negotiator.advice.concession.move_text import missing_inputs
from negotiator.advice.open_questions import gap_question
from negotiator.advice.plans.basis import PlanBasis
from negotiator.advice.plans.brief import PlanBrief
from negotiator.advice.plans.offer_sections import PlanSection
from negotiator.terms.plain_text import join_words, sentence


def interest_section(basis: PlanBasis) -> PlanSection:
    """What each side probably wants behind its positions; to be found out, not known."""
    content = basis.content
    return {"theirs": list(content.their_interests), "ours": list(content.our_interests)}


def standard_rows(basis: PlanBasis) -> list[PlanSection]:
    """Objective standards that count in this kind of talk, and how to get each."""
    return [{"standard": one.what, "how": one.how} for one in basis.content.standards]


def gap_rows(basis: PlanBasis) -> list[PlanSection]:
    """What is missing, by the name of the member, in the order of what it would change, with the question to put."""
    brief, path = basis.brief, basis.path
    rows: list[PlanSection] = []
    if path is not None:
        found = missing_inputs(path.aims, basis.words)
        rows += [{"missing": one.missing, "ask": one.ask, "why": one.why} for one in found]
    named = {row["missing"] for row in rows}
    for name in brief.terms.missing:
        if name not in named:
            rows.append({"missing": name, "ask": gap_question(basis.words, brief.terms.issues, name)})
    if not brief.benchmarks:
        rows.append({"missing": "benchmarks", "ask": "At which figures did comparable deals end?"})
    if brief.terms.batna is None and not brief.alternatives:
        rows.append({"missing": "alternatives", "ask": "Who else could you turn to?"})
    return rows


def next_action_rows(basis: PlanBasis) -> list[PlanSection]:
    """The three most important next actions."""
    brief, terms = basis.brief, basis.brief.terms
    missing = set(terms.missing)
    rows: list[PlanSection] = []
    if basis.they_spoke and basis.path is not None and basis.path.steps:
        rows.append({"action": "Answer their last offer with the next step of the schedule."})
    if missing & {"walk_away", "target"}:
        rows.append({"action": "Write down your walk-away and your target before you talk."})
    if terms.unvalued:
        labels = [basis.words.label(one) for one in terms.issues if one.name in terms.unvalued]
        rows.append({"action": sentence(f"Enter the range of possible values for {join_words(labels)}")})
    if brief.alternatives:
        names = ", ".join(lead.name for lead in brief.alternatives[:3])
        rows.append({"action": sentence(f"Get an offer from an alternative: {names}")})
    if "batna" in missing:
        rows.append({"action": "Find out what you would do without a deal, and what that is worth to you."})
    if not brief.benchmarks:
        rows += [{"action": one.how} for one in basis.content.standards[:1]]
    if "their_estimate" in missing:
        rows.append({"action": "Ask somebody who has dealt with them how far they went."})
    if basis.path is not None:
        rows.append({"action": "Say the opening aloud once, and practise staying silent after it."})
    rows += [
        {"action": "Ask your questions before any figure."},
        {"action": "Find out who decides, and by when."},
        {"action": "Right after the talk, write down what was said."},
    ]
    return rows[:3]


def lead_rows(brief: PlanBrief) -> list[dict[str, Any]]:
    """Possible alternatives to the other side, with links."""
    return [
        {"name": one.name, "link": one.link, "why": one.why} | ({"source": one.source} if one.source else {})
        for one in brief.alternatives
    ]
