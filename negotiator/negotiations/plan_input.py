"""The brief of a stored negotiation, and the sentences of a plan that an advisor may reword."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict
from typing import Any, Final

from negotiator.advice.advisor import WordingRequest
from negotiator.advice.expected_price import expected_price
from negotiator.advice.leverage.assessment import assess_leverage
from negotiator.advice.plans.brief import PlanBrief
from negotiator.advice.plans.checks import outward_texts
from negotiator.advice.plans.evidence import AlternativeLead
from negotiator.advice.plans.generator import PlanDocument
from negotiator.advice.tactics.tactic import Tactic
from negotiator.negotiations import offer_history
from negotiator.negotiations.advisor_case import case_request
from negotiator.negotiations.offer_history import advised_terms
from negotiator.negotiations.offer_queries import OfferRow
from negotiator.negotiations.past_evidence import PastEvidence
from negotiator.negotiations.person_advice import comparable_price, offer_on_table, price_evidence
from negotiator.negotiations.session import NegotiationSession
from negotiator.negotiations.tactic_input import stored_tactic_situation
from negotiator.terms.wording import Wording

WORDING_PURPOSE: Final = "sentences of a prepared negotiation, to be said to the other side"
SUMMARY_MEMBERS: Final = ("who", "about", "at_stake", "first_move")
"""The sentences of a summary that tell of no aim and no limit; its text joins them with the others."""


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
    other = asdict(terms.other_party) if terms.other_party else {}
    past = past or PastEvidence()
    comparable = comparable_price(terms, past.benchmarks)
    return PlanBrief(
        terms=terms,
        advised=advised,
        counterparty=other,
        batna_description=terms.batna_details.description if terms.batna_details else None,
        ledger=ledger,
        leverage=leverage,
        situation=stored_tactic_situation(
            terms, leverage, ledger, now=now, counterparty=other, phase=None if ledger else "prepare"
        ),
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


def apply_wording(plan: PlanDocument, texts: Mapping[str, str]) -> PlanDocument:
    """A copy of the plan with the sentences of `texts`, which are keyed by JSON pointer.

    A sentence of the summary is replaced in its joined text as well.
    """
    changed = deepcopy(plan)
    summary = changed["summary"]
    for pointer, text in texts.items():
        *path, last = pointer.split("/")[1:]
        place: Any = changed
        for part in path:
            place = place[_step(place, part)]
        if place is summary and last != "text":
            summary["text"] = summary["text"].replace(place[last], text)
        place[last] = text
    return changed


def _step(place: object, part: str) -> str | int:
    return int(part) if isinstance(place, list) else part
