"""A described negotiation with its offers, as the session and the ledger that a stored one would have."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from negotiator.base.errors import FieldError, ValidationFailed
from negotiator.negotiations import states
from negotiator.negotiations.lifecycle import check_deadline
from negotiator.negotiations.offer_queries import OfferRow
from negotiator.negotiations.schemas_advice import DescribedOffer
from negotiator.negotiations.session import NegotiationSession
from negotiator.terms.issues import Package
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.terms import Terms
from negotiator.terms.terms_parsing import parse_terms
from negotiator.terms.terms_view import package_view
from negotiator.terms.utility import check_package, without_ranges


def described_negotiation(
    body: NegotiationBody, offers: Sequence[DescribedOffer], now: int
) -> tuple[NegotiationSession, list[OfferRow]]:
    """An active session and its rows, which exist in memory only; 422 for what opening it or offering would refuse.

    `now` is in milliseconds since the epoch.
    """
    try:
        terms = parse_terms(body)
        check_deadline(terms)
    except ValidationFailed as invalid:
        raise ValidationFailed([replace(one, pointer=f"/negotiation{one.pointer}") for one in invalid.errors]) from None
    packages = _packages(terms, offers)
    session = NegotiationSession("", "", b"", terms, created_at=now, state=states.ACTIVE, offers=len(offers))
    return session, [
        _row(place + 1, sent, package, now) for place, (sent, package) in enumerate(zip(offers, packages, strict=True))
    ]


def _packages(terms: Terms, offers: Sequence[DescribedOffer]) -> list[Package]:
    """The packages in the form of the ledger; as there, only a value of theirs may lie outside its range."""
    found: list[FieldError] = []
    for place, sent in enumerate(offers):
        issues = without_ranges(terms.issues) if sent.by == "them" else terms.issues
        found += check_package(issues, sent.package, f"/offers/{place}/package")
    if found:
        raise ValidationFailed(found)
    return [package_view(terms, sent.package) for sent in offers]


def _row(seq: int, sent: DescribedOffer, package: Package, now: int) -> OfferRow:
    content: dict[str, Any] = {
        "package": package,
        "claimed_final": sent.claimed_final or sent.kind == "final",
        "rationale": None,
    }
    return OfferRow(
        id=f"offer {seq}",
        seq=seq,
        at=now,
        side=sent.by,
        kind="offer",
        source="typed",
        answers=None,
        confirms=None,
        valid_until=None,
        approval="",
        content=content,
    )
