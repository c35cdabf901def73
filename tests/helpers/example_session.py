"""Negotiations to hear figures in."""

from typing import Any

from negotiator.negotiations.session import NegotiationSession
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.terms_parsing import parse_terms

PRICE: dict[str, Any] = {"name": "price", "type": "money", "range": {"min": "40000", "max": "60000"}}
PAYMENT: dict[str, Any] = {
    "name": "payment_days",
    "type": "duration_days",
    "direction": "higher",
    "range": {"min": 0, "max": 90},
}
DELIVERY: dict[str, Any] = {
    "name": "delivery",
    "type": "duration_days",
    "direction": "lower",
    "range": {"min": 0, "max": 90},
}
FLOOR: dict[str, Any] = {"package": {"price": "56000", "payment_days": 14}}


def example_session(**members: Any) -> NegotiationSession:
    """A buyer's talk about a price and the days of payment."""
    sent = {
        "title": "Laptops",
        "role": "buyer",
        "currency": "EUR",
        "issues": [PRICE, PAYMENT],
        "walk_away": FLOOR,
        "target": {"package": {"price": "45000", "payment_days": 60}},
        **members,
    }
    body = NegotiationBody.model_validate(sent)
    return NegotiationSession("neg_1", "usr_1", b"{}", parse_terms(body, lenient=True), 0)
