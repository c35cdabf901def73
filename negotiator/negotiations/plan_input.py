"""The plan of a stored negotiation, and its sentences that an advisor may reword."""

from collections.abc import Sequence
from typing import Final

from negotiator.advice.advisor import WordingRequest
from negotiator.advice.expected_price import expected_price
from negotiator.advice.leverage.assessment import assess_leverage
from negotiator.advice.plans.brief import PlanBrief
from negotiator.advice.plans.checks import BrokenPlan, outward_texts
from negotiator.advice.plans.evidence import AlternativeLead
from negotiator.advice.plans.generator import PlanDocument, make_plan
from negotiator.advice.tactics.tactic import Tactic
from negotiator.base import values
from negotiator.base.errors import Unavailable
from negotiator.negotiations import offer_history
from negotiator.negotiations.advisor_case import case_request
from negotiator.negotiations.offer_history import advised_terms
from negotiator.negotiations.offer_queries import OfferRow
from negotiator.negotiations.past_evidence import PastEvidence
from negotiator.negotiations.person_advice import comparable_price, offer_on_table, price_evidence
from negotiator.negotiations.session import NegotiationSession
from negotiator.negotiations.tactic_input import stored_tactic_situation
from negotiator.runtime.telemetry import logger
from negotiator.terms.wording import Wording

log = logger(__name__)
WORDING_PURPOSE: Final = "sentences of a prepared negotiation, to be said to the other side"
SUMMARY_MEMBERS: Final = ("who", "about", "at_stake", "first_move")
"""The sentences of a summary that tell of no aim and no limit; its text joins them with the others."""


def generate_plan(
    session: NegotiationSession,
    rows: list[OfferRow],
    tactics: tuple[Tactic, ...],
    *,
    leads: tuple[AlternativeLead, ...],
    past: PastEvidence,
) -> tuple[PlanDocument, WordingRequest]:
    """A plan of the present state, and what the advisor may reword of it. Raises 503 where none can be made."""
    brief = build_brief(session, rows, now=values.now(), own=tactics, alternatives=leads, past=past)
    try:
        plan = make_plan(brief)
    except BrokenPlan as fault:
        log.error("broken_plan", exc_info=fault)
        raise Unavailable("No plan can be made of these terms now. The negotiation is kept as it is.") from fault
    return plan, wording_request(plan, brief)


def build_brief(
    session: NegotiationSession,
    rows: Sequence[OfferRow],
    *,
    now: int,
    own: tuple[Tactic, ...] = (),
    alternatives: tuple[AlternativeLead, ...] = (),
    past: PastEvidence | None = None,
) -> PlanBrief:
    """The brief of a stored negotiation. Its `leverage` is None while an issue lacks its values.

    `now` is in milliseconds since the epoch, `own` are the user's tactics.
    """
    advised = advised_terms(session.terms, rows, now)
    terms, ledger = session.terms, offer_history.ledger_offers(rows)
    leverage = None if terms.unvalued else assess_leverage(terms, ledger, now=now)
    past = past or PastEvidence()
    comparable = comparable_price(terms, past.benchmarks)
    return PlanBrief(
        terms=terms,
        advised=advised,
        ledger=ledger,
        leverage=leverage,
        situation=stored_tactic_situation(terms, leverage, ledger, now=now, phase=None if ledger else "prepare"),
        own_tactics=own,
        alternatives=alternatives,
        memories=past.memories,
        results=past.results,
        benchmarks=past.benchmarks,
        evidence=price_evidence(terms, past.benchmarks),
        expected=expected_price(Wording(advised), ledger, comparable=comparable),
        now=now,
        on_table=offer_on_table(terms, ledger, offer_history.live_offers(rows, now, side="them")),
    )


def wording_request(plan: PlanDocument, brief: PlanBrief) -> WordingRequest:
    """What the advisor may word, by JSON pointer: the sentences for the other side, and of the summary for the user.

    The request names the numbers that must stay private.
    """
    texts = {"".join(f"/{part}" for part in place): text for place, text in outward_texts(plan)}
    summary = plan["summary"]
    named = [name for name in SUMMARY_MEMBERS if summary.get(name)] or ["text"]
    texts |= {f"/summary/{name}": summary[name] for name in named}
    return case_request(brief.terms, texts, WORDING_PURPOSE, offers=brief.ledger)
