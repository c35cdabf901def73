"""From a stored negotiation to a brief, and the sentences of a plan that may be worded."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, Final

from negotiator.negotiations.advice.situations import stored
from negotiator.negotiations.advisor.advisor import Wording
from negotiator.negotiations.experience import Experience
from negotiator.negotiations.ledger import standing
from negotiator.negotiations.ledger.rows import Row
from negotiator.negotiations.leverage.assess import assess
from negotiator.negotiations.plans.brief import PlanBrief
from negotiator.negotiations.plans.evidence import Lead
from negotiator.negotiations.plans.making.checks import outward_texts, unsayable
from negotiator.negotiations.plans.making.plan import Plan
from negotiator.negotiations.session import Session
from negotiator.negotiations.suggestions.situation import tactic_situation
from negotiator.negotiations.tactics.tactic import Tactic

PURPOSE: Final = "sentences of a prepared negotiation, to be said to the other side"


def gather(
    session: Session,
    rows: Sequence[Row],
    *,
    now: int,
    own: tuple[Tactic, ...] = (),
    alternatives: tuple[Lead, ...] = (),
    past: Experience | None = None,
) -> PlanBrief:
    """The brief of a stored negotiation and its ledger; without ranges there is no leverage in it."""
    terms, ledger = session.terms, standing.ledger_offers(rows)
    leverage = None if terms.unvalued else assess(stored(terms, rows, now))
    counterparty = session.body.counterparty
    other = counterparty.model_dump() if counterparty else {}
    batna, past = session.body.batna, past or Experience()
    return PlanBrief(
        terms=terms,
        counterparty=other,
        batna_description=batna.description if batna else None,
        ledger=ledger,
        leverage=leverage,
        situation=tactic_situation(
            terms,
            leverage,
            ledger,
            now=now,
            counterparty=other,
            phase=None if ledger else "prepare",
        ),
        own_tactics=own,
        alternatives=alternatives,
        memories=past.memories,
        results=past.results,
        benchmarks=past.benchmarks,
    )


def wording(plan: Plan, brief: PlanBrief) -> Wording:
    """What an advisor may word: only what is meant to be said; fields are named by JSON pointers."""
    texts = {"".join(f"/{part}" for part in place): text for place, text in outward_texts(plan)}
    return Wording(texts, PURPOSE, secrets=unsayable(brief))


def reworded(plan: Plan, texts: Mapping[str, str]) -> Plan:
    """The plan with these sentences in their places."""
    changed = deepcopy(plan)
    for pointer, text in texts.items():
        *path, last = pointer.split("/")[1:]
        place: Any = changed
        for part in path:
            place = place[_step(place, part)]
        place[last] = text
    return changed


def _step(place: object, part: str) -> str | int:
    return int(part) if isinstance(place, list) else part
