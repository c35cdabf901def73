"""Figures of an utterance recorded as unconfirmed offers; they count only after the user confirms them.

A detected figure is never an acceptance, never final and never binding.
"""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from negotiator.errors import Conflict
from negotiator.negotiations import offer_queries as ledger
from negotiator.negotiations import offers
from negotiator.negotiations.event_queries import Actor
from negotiator.negotiations.issues import Scalar, check_value, value_at_coordinate
from negotiator.negotiations.offer_history import DETECTED_SOURCE
from negotiator.negotiations.schemas_offers import RecordOffer
from negotiator.negotiations.session import NegotiationSession
from negotiator.store.statement import Transaction
from negotiator.teleprompter.cues.catalogue import Speaker
from negotiator.teleprompter.figures import (
    ComparedFigure,
    SpokenFigure,
    compare_with_relevant_limits,
    negotiation_scales,
)

CALL_CHANNEL: Final = "call"
_EXPECTED: Final = frozenset(
    {
        "not_active",
        "approval_pending",
        "ledger_full",
        "below_walk_away",
        "constraint_violated",
    }
)


def detected_offer(
    session: NegotiationSession,
    held: Sequence[ComparedFigure],
    *,
    found: Sequence[SpokenFigure],
    speaker: Speaker,
    utterance_id: str,
    quoted: bool = True,
) -> RecordOffer | None:
    """The offer that these figures make, in the units of the issues; None when none of them fits an issue.

    Figures that no limit holds are read by the ranges of the issues. Of several figures for one issue the last said
    counts. A value that the issue cannot take is left out; a figure of the other side may lie outside the range.
    `quoted` tells whether the words around the figures, which have to be redacted, may be kept as the rationale.
    """
    package: dict[str, Scalar] = {}
    quotes: dict[str, str] = {}
    for one in _read(session, held, found):
        issue = session.terms.issue(one.limit.topic)
        value = None if issue is None else value_at_coordinate(issue.type, one.value)
        if issue is not None and speaker == "them":
            issue = replace(issue, range=None)
        if issue is not None and value is not None and not check_value(issue, value, "/package"):
            package[issue.name] = value
            quotes[issue.name] = one.figure.quote
    if not package:
        return None
    said = " … ".join(dict.fromkeys(quotes.values()))
    return RecordOffer.model_validate(
        {
            "id": session.id,
            "by": speaker,
            "kind": "offer",
            "package": package,
            "rationale": f"Heard in {utterance_id}: “{said}”"[:2000] if quoted else None,
            "channel": CALL_CHANNEL,
            "source": DETECTED_SOURCE,
        }
    )


def _read(
    session: NegotiationSession, held: Sequence[ComparedFigure], found: Sequence[SpokenFigure]
) -> list[ComparedFigure]:
    """The figures in order, compared with limits, or with the ranges of issues without a limit."""
    loose = [figure for figure in found if not any(one.figure == figure for one in held)]
    read = [*held, *compare_with_relevant_limits(loose, negotiation_scales(session))]
    return sorted(read, key=lambda one: [*found, one.figure].index(one.figure))


def record_detected_offer(
    tx: Transaction, owner: str, offer: RecordOffer, *, actor: Actor
) -> dict[str, Any] | None:
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
    """Whether the last offer of this side has the same values."""
    last = next((row for row in reversed(rows) if row.side == offer.by), None)
    if last is None or last.package is None or last.package.keys() != (offer.package or {}).keys():
        return False
    pairs = [(value, last.package[name]) for name, value in (offer.package or {}).items()]
    return all(Decimal(str(one)) == Decimal(str(other)) for one, other in pairs)
