"""The spoken sections of a plan: script, questions, objections with answers, reactions, tactics and counter-tactics.

Sentences for the other side contain no private number.
"""

from typing import Final

from negotiator.advice.plans.basis import PlanBasis
from negotiator.advice.plans.brief import PlanBrief, figure
from negotiator.advice.plans.case_template import main_issue
from negotiator.advice.plans.offer_sections import PlanSection, first_or_wait
from negotiator.advice.tactics.catalogue import TacticCatalogue, built_in_catalogue
from negotiator.advice.tactics.ranking import rank_tactics
from negotiator.advice.tactics.recognition import RecognisedTactic
from negotiator.advice.tactics.tactic import Tactic
from negotiator.advice.words.sentences import parts, table
from negotiator.terms.limits import shows_limit
from negotiator.terms.plain_text import noun_phrase, sentence
from negotiator.terms.terms import COUNTERPART_ROLES

MAX_ISSUE_QUESTIONS: Final = 2


def question_rows(basis: PlanBasis) -> list[PlanSection]:
    """Questions to ask, and what their answers reveal."""
    terms, rows = basis.brief.terms, list[PlanSection]()
    for one in basis.content.questions:
        rows.append({"question": one.ask, "reveals": one.reveals, "issue": None})
    others = [one for one in terms.issues if one is not main_issue(terms) and one.their_weight is None]
    for issue in sorted(others, key=lambda one: -one.weight)[:MAX_ISSUE_QUESTIONS]:
        ask = sentence(f"How much weight do you put on {noun_phrase(basis.words.label(issue))}").rstrip(".") + "?"
        rows.append({"question": ask, "reveals": "What they would give in return.", "issue": issue.name})
    if terms.other_party is None or terms.other_party.decision_maker != "yes":
        ask, reveals = (
            "Who else has to agree before this is final?",
            "Whether you are talking to the person who decides.",
        )
        rows.append({"question": ask, "reveals": reveals, "issue": None})
    if terms.their_deadline is None:
        ask, reveals = ("By when do you need this settled?", "Their deadline, and what waiting costs them.")
        rows.append({"question": ask, "reveals": reveals, "issue": None})
    return rows


def objection_rows(basis: PlanBasis) -> list[PlanSection]:
    """Likely objections of this case, each with an answer, a fallback and evidence."""
    return [
        {"objection": one.they, "reply": one.answer, "fallback": one.fallback, "evidence": _evidence(basis)}
        for one in basis.content.objections
    ]


def script_section(basis: PlanBasis) -> dict[str, str]:
    """What to say: to open, to offer, to show that they are understood, when it gets stuck, and to close."""
    terms, words = basis.brief.terms, basis.words
    main, offer = main_issue(terms), _offer(basis)
    others = [one for one in terms.issues if one.tradeable and one is not main]
    told = parts(
        "plan_script",
        content=basis.content,
        voice=words.voice,
        offer=offer,
        speaks=offer and first_or_wait(basis)["advice"] in {"first", "answer"},
        topic=noun_phrase(words.label(main)),
        other=noun_phrase(words.label(max(others, key=lambda one: one.weight))) if others else "",
        has_alternative=terms.batna is not None or bool(terms.batna_details and terms.batna_details.description),
    )
    return {name: text for name, text in told.items() if text}


def branch_rows(basis: PlanBasis) -> list[PlanSection]:
    """Advice for the ways in which the other side may react, each with what to say where words help."""
    content, rows = basis.content, list[PlanSection]()
    floor = basis.path is not None and basis.path.aims.floor >= 0
    if basis.brief.terms.target is not None:
        asks = [one.text for one in content.closing_asks[:1]]
        extra = asks[0] if asks else "one small thing"
        rows.append({"if": "Their offer reaches your target.", "then": sentence(f"Ask for {extra}, then accept")})
    if basis.path is not None and basis.path.steps:
        rows.append(
            {"if": "They move.", "then": "Take the next step and ask for what it names. Take only that one step."}
        )
    rows.append({"if": "They do not move.", "then": "Hold your offer and ask what the obstacle is.",
                 "say": "What makes this hard for you?"})  # fmt: skip
    rows.append({"if": "They take something back.", "then": "Do not follow. Keep your offer as it is.",
                 "say": "What has changed since we last spoke?"})  # fmt: skip
    limit = (
        "If it is worse than your limit, leave politely."
        if floor
        else "Take a break and decide on your limit before you answer."
    )
    rows.append({"if": "They call it final.", "then": f"{content.final.do} {limit}", "say": content.final.say})
    rows.append({"if": "They name a deadline.", "then": content.deadline.do, "say": content.deadline.say})
    rows.append({"if": "They go silent.", "then": content.silence.do, "say": content.silence.say})
    return rows


def tactic_rows(brief: PlanBrief) -> list[PlanSection]:
    """The tactics that fit, with the facts that support them."""
    items = rank_tactics(brief.situation, catalogue=built_in_catalogue(), own=brief.own_tactics, results=brief.results)
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
    seen = {move.tactic_id: move for move in brief.situation.recognised or ()}
    if brief.situation.their_claimed_final:
        seen.setdefault("tac_final_offer_bluff", RecognisedTactic("tac_final_offer_bluff", "", 0.5))
    side = COUNTERPART_ROLES.get(brief.terms.role, "party")
    usual = [one for one in table("plan")["usual_tactics"][side] if one not in seen]
    rows: list[PlanSection] = []
    for tactic_id in (*seen, *usual):
        tactic = catalogue.get(tactic_id)
        if tactic is not None:
            why = "They used it in this talk." if tactic_id in seen else "Common on the other side."
            rows.append(_their_move(catalogue, tactic, why))
    return rows


def _their_move(catalogue: TacticCatalogue, tactic: Tactic, why: str) -> PlanSection:
    answers = [catalogue.by_id[one] for one in tactic.countered_by[:3]]
    return {
        "tactic_id": tactic.id,
        "name": tactic.name,
        "why": why,
        "counters": [{"tactic_id": one.id, "name": one.name, "how": one.summary} for one in answers],
    }


def _offer(basis: PlanBasis) -> str:
    """The sentences that name the opening or the present offer; empty where it would show a limit."""
    if basis.path is None or shows_limit(basis.terms, basis.path.now.package):
        return ""
    return parts(
        "plan_offer",
        voice=basis.words.voice,
        package=basis.words.package(basis.path.now.package),
        has_opened=basis.has_opened,
        compared=next((mark for mark in basis.brief.benchmarks if mark.public), None),
    )["offer"]


def _evidence(basis: PlanBasis) -> list[PlanSection]:
    """Benchmarks and memories that support a reply; without any, what to bring."""
    brief = basis.brief
    rows: list[PlanSection] = [{"text": mark.label, "source": f"benchmark:{mark.id}"} for mark in brief.benchmarks[:2]]
    rows += [{"text": note.text, "source": f"memory:{note.id}"} for note in brief.memories[:2]]
    standard = basis.content.standards[0]
    return rows or [{"text": sentence(f"Evidence to bring: {standard.what}"), "source": None}]
