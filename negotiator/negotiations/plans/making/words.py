"""The sections of a plan that are mostly words. What is meant for the other side holds no private number.

Sentences are templates over the issues; whatever comes from the negotiation stands in them as it was written there.
"""

from typing import Any, Final

from negotiator.negotiations.plans.brief import PlanBrief, figure
from negotiator.negotiations.plans.making.advice import BUYING, SELLING, Chosen, Section
from negotiator.negotiations.plans.paths.ground import Ground
from negotiator.negotiations.plans.paths.schedule import Step
from negotiator.negotiations.plans.paths.showing import (
    figures,
    label,
    may_be_said,
    spoken_package,
)
from negotiator.negotiations.preferences.issues import Issue
from negotiator.negotiations.preferences.values import worth_of

TRIGGERS: Final = (
    "When they have answered your opening with a number of their own and a reason.",
    "When they have made a step of their own and ask for yours.",
    "When they have moved again; say that your room is getting small.",
    "Only against a concession of theirs on paper, after a pause.",
    "Only if it closes the deal in the same conversation.",
)
ASK_FOR: Final[dict[str, str]] = {
    "walk_away": "What is the least you would still agree to, before you would rather have no deal?",
    "target": "What result would you call a success, and why is it realistic?",
    "batna": "What exactly happens if there is no deal, and what is that worth?",
    "their_estimate": "Who has dealt with them before, and where did they give in?",
    "deadline": "By when does it have to be decided, on your side and on theirs?",
    "currency": "In which currency is it settled?",
}
WALK_AWAY: Final = (
    "Thank you for the time you have put into this. As it stands we cannot make it work. "
    "If something changes on your side, we would be glad to pick it up again."
)


def summary(brief: PlanBrief, ground: Ground) -> Section:
    """The situation in a few sentences, and every assumption as one."""
    terms = brief.terms
    about = ", ".join(label(issue) for issue in terms.issues)
    assumed = list(brief.leverage.assumptions) if brief.leverage else []
    if ground.stand_ins:
        names = ", ".join(ground.stand_ins)
        assumed.append(
            f"No range is given for {names}: it runs from your walk-away past your target."
        )
    if not ground.goal_given and ground.goal is not None:
        assumed.append("No target is given: the expected agreement, or the middle, stands in.")
    if terms.walk_away is None and ground.floor is not None:
        assumed.append("No walk-away is given: your best alternative stands in for it.")
    if terms.walk_away is None and ground.floor is None:
        assumed.append("No walk-away is known, so this plan has no floor and promises none.")
    text = f"{terms.title}. You are the {terms.role}; {brief.them} is across the table. It is about {about}."
    return {"text": text, "assumptions": list(dict.fromkeys(assumed))}


def objectives(ground: Ground, chosen: Chosen) -> list[Section]:
    """What to want, most important first, each with a measure."""
    terms, rows = ground.terms, list[Section]()
    if terms.target is not None:
        rows.append(
            {"objective": "Reach the target.", "measure": "The agreed package is worth it."}
        )
    if ground.floor is not None:
        rows.append(
            {
                "objective": "Never go below the floor.",
                "measure": "No deal rather than a worse one.",
            }
        )
    for issue in sorted(terms.issues, key=lambda one: -one.weight)[:3]:
        way = "high" if issue.direction == "higher" else "low"
        wanted = (
            f"Keep {label(issue)} {way}." if not issue.options else f"Get {label(issue)} right."
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


def schedule_rows(ground: Ground, chosen: Chosen) -> list[Section]:
    """The path of concessions: when, what, what for."""
    rows: list[Section] = []
    before = chosen.opening
    for place, step in enumerate(chosen.path):
        last = place == len(chosen.path) - 1
        trigger = TRIGGERS[-1] if last and place > 0 else TRIGGERS[min(place, len(TRIGGERS) - 2)]
        rows.append(
            {
                "trigger": trigger,
                "package": figures(ground.terms, step.package, "engine:concession"),
                "utility": {"value": round(step.utility, 6), "source": "engine:utility"},
                "gives": {"value": round(step.given, 6), "source": "engine:concession"},
                "ask_in_return": _ask(ground, before, step),
            }
        )
        before = step
    return rows


def questions(brief: PlanBrief, ground: Ground) -> list[Section]:
    """What to ask them, and what the answer is worth."""
    rows: list[Section] = [
        {
            "question": "What has to be true for you to sign this?",
            "reveals": "Their must-haves, and what they can do without.",
            "issue": None,
        }
    ]
    for issue in sorted(ground.terms.issues, key=lambda one: -one.weight)[:4]:
        name = label(issue)
        ask = (
            f"How did you arrive at your figure for {name}?"
            if issue.type == "money"
            else f"How important is {name} to you, compared with the rest?"
        )
        gets = (
            "Whether their number rests on anything." if issue.type == "money" else "Their weight."
        )
        rows.append({"question": ask, "reveals": gets, "issue": issue.name})
    if brief.counterparty.get("decision_maker") != "yes":
        rows.append(
            {
                "question": "Who else has to agree before this is final?",
                "reveals": "Their authority, and whether you talk to the one who decides.",
                "issue": None,
            }
        )
    if brief.terms.their_deadline is None:
        rows.append(
            {
                "question": "When do you need this settled?",
                "reveals": "Their deadline, and what waiting costs them.",
                "issue": None,
            }
        )
    return rows


def objections(brief: PlanBrief, ground: Ground) -> list[Section]:
    """What they will say against it, with a reply, a fallback and what to prove it with."""
    main = max(ground.terms.issues, key=lambda one: one.weight)
    name, role = label(main), brief.terms.role
    if role in BUYING:
        first = (
            f"We cannot go that low on {name}.",
            f"What would have to change in the rest of the package for {name} to come down?",
        )
        second = (
            "Others pay more.",
            "What do they get for it that we do not? We would rather pay for what we use.",
        )
    elif role in SELLING:
        first = (
            f"Your {name} is too high for us.",
            "Compared with what? Let us look at what is in it, line by line.",
        )
        second = (
            "We have cheaper offers.",
            "May I ask what they include? I would like to compare like with like.",
        )
    else:
        first = (
            f"Your {name} is not reasonable.",
            f"Which measure for {name} would you call fair, and who uses it?",
        )
        second = (
            "We will let others decide this.",
            "That is open to both of us. What would it cost you in time?",
        )
    third = (
        "I have no authority for that.",
        "Who has? Let us prepare together what they need in order to say yes.",
    )
    fallback = "Name the trade: less here against something else, never for nothing."
    return [
        {"objection": said, "reply": reply, "fallback": fallback, "evidence": _evidence(brief)}
        for said, reply in (first, second, third)
    ]


def gaps(brief: PlanBrief) -> list[Section]:
    """What is not known and would make the plan better, by the name of the missing member."""
    rows: list[Section] = []
    for name in brief.terms.missing:
        ask = ASK_FOR.get(name)
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


def script(brief: PlanBrief, ground: Ground, chosen: Chosen) -> Section:
    """What to say to open, to turn a standstill, and to close."""
    step, terms = chosen.opening, ground.terms
    said = step is not None and may_be_said(ground, step)
    if step is not None and said:
        offer = f"What we have in mind is {spoken_package(terms, step.package)}."
        why = _public_reason(brief)
        opening = f"Thank you for making time. {offer}{why} How does that sit with you?"
    else:
        opening = (
            "Thank you for making time. Before we talk numbers: what matters most to you here?"
        )
    others = [one for one in terms.issues if one.tradeable]
    pivot = (
        f"We seem to be stuck on one point. Let us look at the whole: if {label(others[0])} is hard for you, "
        f"what could you do on {label(others[1])}?"
        if len(others) > 1
        else "We seem to be stuck on the number. What besides the number could make this work for you?"
    )
    close = (
        "I think we are nearly there. If you can confirm these terms in writing, I can confirm ours today. "
        "Shall I write down what we have agreed?"
    )
    return {"opening": opening, "pivot": pivot, "close": close}


def branches(ground: Ground, chosen: Chosen) -> list[Section]:
    """If this, then that."""
    rows: list[Section] = []
    if ground.goal is not None:
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
    if ground.floor is not None:
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


def next_actions(brief: PlanBrief, ground: Ground, chosen: Chosen) -> list[Section]:
    """The three things to do now."""
    missing = set(brief.terms.missing)
    rows: list[Section] = []
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


def _ask(ground: Ground, before: Step | None, step: Step) -> str:
    """Something to get for a concession: the issue I hold worst that is not the one given on."""
    given = {n for n, value in step.package.items() if before and before.package.get(n) != value}
    others = [
        issue
        for issue in ground.terms.issues
        if issue.tradeable and issue.name not in given and _held(issue, step) < 1.0
    ]
    if others:
        wanted = max(others, key=lambda one: one.weight * (1.0 - _held(one, step)))
        return f"A step of theirs on {label(wanted)}."
    return "A step of theirs of at least the same size, or a firm date for signing."


def _held(issue: Issue, step: Step) -> float:
    return worth_of(issue, step.package[issue.name]) or 0.0


def _evidence(brief: PlanBrief) -> list[Section]:
    """What backs a reply: benchmarks and memories by id; without any, what to bring."""
    rows: list[Section] = [
        {"text": mark.label, "source": f"benchmark:{mark.id}"} for mark in brief.benchmarks[:2]
    ]
    rows += [{"text": note.text, "source": f"memory:{note.id}"} for note in brief.memories[:2]]
    return rows or [{"text": "Bring one comparable deal or a published measure.", "source": None}]


def _public_reason(brief: PlanBrief) -> str:
    """One sentence of evidence that may be said: benchmarks are public, memories are not."""
    if not brief.benchmarks:
        return ""
    mark = brief.benchmarks[0]
    return f" That is in line with {mark.label}: {mark.value}."


def leads(brief: PlanBrief) -> list[dict[str, Any]]:
    """Whom one could turn to instead."""
    return [{"name": one.name, "link": one.link, "why": one.why} for one in brief.alternatives]
