"""The spoken parts of a plan: questions, script, objections with replies, tactics and counter-tactics.

Sentences for the other side contain no private number.
"""

from typing import Final

from negotiator.negotiations.plans.admissible_packages import AdmissiblePackages
from negotiator.negotiations.plans.brief import PlanBrief, figure
from negotiator.negotiations.plans.figure_sections import (
    ChosenPackages,
    PlanSection,
)
from negotiator.negotiations.plans.rendering import issue_label, may_be_said, package_in_words
from negotiator.negotiations.tactics.catalogue import TacticCatalogue, built_in_catalogue
from negotiator.negotiations.tactics.ranking import rank_tactics
from negotiator.negotiations.tactics.recognition import RecognisedTactic
from negotiator.negotiations.tactics.tactic import NegotiationRole, Tactic
from negotiator.negotiations.terms import BUYING_ROLES, SELLING_ROLES

WALK_AWAY_SCRIPT: Final = (
    "Thank you for the time you have put into this. As it stands we cannot make it work. "
    "If something changes on your side, we would be glad to pick it up again."
)

COUNTERPART_ROLES: Final[dict[str, NegotiationRole]] = {
    "buyer": "seller",
    "seller": "buyer",
    "employer": "candidate",
    "candidate": "employer",
    "landlord": "tenant",
    "tenant": "landlord",
}
USUAL_TACTICS: Final[dict[str, tuple[str, ...]]] = {
    "seller": ("tac_first_anchor", "tac_deadline", "tac_higher_authority"),
    "buyer": ("tac_competitive_bid", "tac_limited_budget", "tac_squeeze", "tac_nibble"),
    "employer": ("tac_policy_shield", "tac_limited_budget", "tac_exploding_offer"),
    "candidate": ("tac_competitive_bid", "tac_first_anchor", "tac_stalling"),
    "landlord": ("tac_social_proof", "tac_deadline", "tac_policy_shield"),
    "tenant": ("tac_limited_budget", "tac_competitive_bid", "tac_split_difference"),
    "party": ("tac_threat", "tac_split_difference", "tac_stalling"),
}


def question_rows(brief: PlanBrief, admissible: AdmissiblePackages) -> list[PlanSection]:
    """Questions to ask, and what their answers reveal."""
    rows: list[PlanSection] = [
        {
            "question": "What has to be true for you to sign this?",
            "reveals": "Their must-haves, and what they can do without.",
            "issue": None,
        }
    ]
    for issue in sorted(admissible.terms.issues, key=lambda one: -one.weight)[:4]:
        name = issue_label(issue)
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


def objection_rows(brief: PlanBrief, admissible: AdmissiblePackages) -> list[PlanSection]:
    """Likely objections, each with a reply, a fallback and evidence."""
    main = max(admissible.terms.issues, key=lambda one: one.weight)
    name, role = issue_label(main), brief.terms.role
    if role in BUYING_ROLES:
        first = (
            f"We cannot go that low on {name}.",
            f"What would have to change in the rest of the package for {name} to come down?",
        )
        second = (
            "Others pay more.",
            "What do they get for it that we do not? We would rather pay for what we use.",
        )
    elif role in SELLING_ROLES:
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


def script_section(
    brief: PlanBrief, admissible: AdmissiblePackages, chosen: ChosenPackages
) -> PlanSection:
    """Sentences to open, to resolve an impasse, and to close."""
    step, terms = chosen.opening, admissible.terms
    said = step is not None and may_be_said(admissible, step)
    if step is not None and said:
        offer = f"What we have in mind is {package_in_words(terms, step.package)}."
        why = _public_reason(brief)
        opening = f"Thank you for making time. {offer}{why} How does that sit with you?"
    else:
        opening = (
            "Thank you for making time. Before we talk numbers: what matters most to you here?"
        )
    others = [one for one in terms.issues if one.tradeable]
    pivot = (
        f"We seem to be stuck on one point. Let us look at the whole: if {issue_label(others[0])} is hard for you, "
        f"what could you do on {issue_label(others[1])}?"
        if len(others) > 1
        else "We seem to be stuck on the number. What besides the number could make this work for you?"
    )
    close = (
        "I think we are nearly there. If you can confirm these terms in writing, I can confirm ours today. "
        "Shall I write down what we have agreed?"
    )
    return {"opening": opening, "pivot": pivot, "close": close}


def tactic_rows(brief: PlanBrief) -> list[PlanSection]:
    """The tactics that fit, with the facts that support them."""
    items = rank_tactics(
        brief.situation,
        catalogue=built_in_catalogue(),
        own=brief.own_tactics,
        results=brief.results,
    )
    return [
        {
            "tactic_id": item.tactic.id,
            "name": item.tactic.name,
            "score": figure(item.score, f"engine:tactic_score:{item.tactic.id}"),
            "why": item.why,
            "when": item.when,
            "line": item.say,
            "memories": list(item.memories),
        }
        for item in items
    ]


def their_tactic_rows(brief: PlanBrief) -> list[PlanSection]:
    """Tactics the other side is likely to use, recognised ones first, with the best answers."""
    catalogue = built_in_catalogue().with_own(brief.own_tactics)
    seen = {move.tactic_id: move for move in brief.situation.recognised}
    if brief.situation.their_claimed_final:
        seen.setdefault("tac_final_offer_bluff", RecognisedTactic("tac_final_offer_bluff", "", 0.5))
    side = COUNTERPART_ROLES.get(brief.terms.role, "party")
    usual = [one for one in USUAL_TACTICS[side] if one not in seen]
    rows: list[PlanSection] = []
    for tactic_id in (*seen, *usual):
        tactic = catalogue.get(tactic_id)
        if tactic is not None:
            why = "Seen in this talk." if tactic_id in seen else "Common on the other side."
            rows.append(_their_move(catalogue, tactic, why))
    return rows


def _their_move(catalogue: TacticCatalogue, tactic: Tactic, why: str) -> PlanSection:
    answers = [catalogue.by_id[one] for one in tactic.countered_by[:3]]
    return {
        "tactic_id": tactic.id,
        "name": tactic.name,
        "why": why,
        "counters": [
            {"tactic_id": one.id, "name": one.name, "how": one.summary} for one in answers
        ],
    }


def _evidence(brief: PlanBrief) -> list[PlanSection]:
    """Benchmarks and memories that support a reply; without any, advice on what to bring."""
    rows: list[PlanSection] = [
        {"text": mark.label, "source": f"benchmark:{mark.id}"} for mark in brief.benchmarks[:2]
    ]
    rows += [{"text": note.text, "source": f"memory:{note.id}"} for note in brief.memories[:2]]
    return rows or [{"text": "Bring one comparable deal or a published measure.", "source": None}]


def _public_reason(brief: PlanBrief) -> str:
    """A sentence with a public benchmark; empty without one. Memories are private."""
    mark = next((mark for mark in brief.benchmarks if mark.public), None)
    if mark is None:
        return ""
    return f" That is in line with {mark.label}: {mark.value}."
