"""Figures of an utterance recorded as unconfirmed offers; they count only after the user confirms them.

A detected figure is never an acceptance, never final and never binding.
"""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from negotiator.base.errors import Conflict
from negotiator.negotiations import offer_queries as ledger
from negotiator.negotiations import offers
from negotiator.negotiations.event_queries import Actor
from negotiator.negotiations.offer_history import DETECTED_SOURCE, OFFER_KINDS, as_said
from negotiator.negotiations.schemas_offers import RecordOffer
from negotiator.negotiations.session import NegotiationSession
from negotiator.store.statement import Transaction
from negotiator.teleprompter.cues.catalogue import Speaker
from negotiator.teleprompter.figures import ComparedFigure, EarlierFigure
from negotiator.terms.issues import Scalar, check_value, coordinate, value_at_coordinate

CALL_CHANNEL: Final = "call"
_EXPECTED: Final = frozenset(
    {"not_active", "approval_pending", "ledger_full", "below_walk_away", "constraint_violated"}
)


def detected_offer(
    session: NegotiationSession,
    read: Sequence[ComparedFigure],
    *,
    speaker: Speaker,
    utterance_id: str,
    quoted: bool = True,
) -> RecordOffer | None:
    """The offer that these figures make, in the units of the issues; None when none of them fits an issue.

    `read` are the figures of the utterance in order; of several for one issue the last counts. A value that the issue
    cannot take is left out; a figure of the other side may lie outside the range. `quoted` tells whether the words
    around the figures, which have to be redacted, may be kept as the rationale.
    """
    offered: dict[str, tuple[Scalar, ComparedFigure]] = {}
    for one in read:
        issue = session.terms.issue(one.limit.topic) if one.is_offer else None
        if issue is None:
            continue
        value = value_at_coordinate(issue.type, one.value)
        if not check_value(replace(issue, range=None) if speaker == "them" else issue, value, "/package"):
            offered[issue.name] = (value, one)
    if not offered:
        return None
    package = {name: value for name, (value, _) in offered.items()}
    quotes = {name: f"{one.kind}: “{one.figure.quote}”" for name, (_, one) in offered.items()}
    said = " … ".join(dict.fromkeys(quotes.values()))
    return RecordOffer.model_validate(
        {
            "id": session.id,
            "by": speaker,
            "kind": "offer",
            "package": package,
            "rationale": f"Heard in {utterance_id}, {said}"[:2000] if quoted else None,
            "channel": CALL_CHANNEL,
            "source": DETECTED_SOURCE,
        }
    )


def earlier_figures(rows: Sequence[ledger.OfferRow]) -> tuple[EarlierFigure, ...]:
    """The numbers in the offers of a ledger, oldest first, confirmed or not; without those that were misheard."""
    misheard = {row.answers for row in rows if row.kind == "withdrawal"}
    return tuple(
        EarlierFigure(topic, value, "me" if row.side == "me" else "them")
        for row in as_said(rows)
        if row.kind in OFFER_KINDS and not (row.source == DETECTED_SOURCE and row.id in misheard)
        for topic, said in (row.package or {}).items()
        if (value := coordinate("number", said)) is not None
    )


def record_detected_offer(tx: Transaction, owner: str, offer: RecordOffer, *, actor: Actor) -> dict[str, Any] | None:
    """Record what was heard under every rule of the ledger; the row's view, or None where the rules refuse it.

    Refused, and so not recorded: a talk that takes no offers now, a ledger that is full, a figure of mine below the
    walk-away or against a hard constraint. The same figures of the same side, heard again, are one row. 404 for a
    negotiation that is not there.
    """
    if _is_repeated(ledger.list_offers(tx, offer.id), offer):
        return None
    try:
        return offers.record_offer(tx, owner, offer, actor=actor, expected=None)
    except Conflict as refused:
        if refused.error not in _EXPECTED:
            raise
        return None


def _is_repeated(rows: Sequence[ledger.OfferRow], offer: RecordOffer) -> bool:
    last = next((row for row in reversed(as_said(rows)) if row.side == offer.by), None)
    if last is None or last.package is None or last.kind not in OFFER_KINDS:
        return False
    if last.package.keys() != (offer.package or {}).keys():
        return False
    pairs = [(value, last.package[name]) for name, value in (offer.package or {}).items()]
    return all(Decimal(str(one)) == Decimal(str(other)) for one, other in pairs)
