"""The negotiation that the home page offers to look at: a software renewal in the middle of its talks."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

_DAYS_LEFT: Final = 18
_TERMS: Final[dict[str, Any]] = {
    "title": "Example: CRM renewal, 80 seats",
    "role": "buyer",
    "category": "saas",
    "kind": "renewal",
    "currency": "EUR",
    "counterparty": {"organisation": "Cloudwerk", "relationship": "ongoing"},
    "issues": [
        {
            "name": "price",
            "label": "Price per seat and month",
            "type": "money",
            "weight": 6,
            "range": {"min": 38, "max": 65, "step": "0.50"},
            "multiples": [{"count": 80, "of": "seats"}, {"count": 12, "of": "months a year"}],
        },
        {
            "name": "months",
            "label": "Contract term",
            "type": "integer",
            "unit": "months",
            "direction": "lower",
            "weight": 2,
            "range": {"min": 12, "max": 36, "step": 12},
        },
        {
            "name": "payment_days",
            "label": "Payment term",
            "type": "duration_days",
            "direction": "higher",
            "weight": 2,
            "range": {"min": 14, "max": 60},
        },
    ],
    "target": {"package": {"price": 45, "months": 12, "payment_days": 45}},
    "walk_away": {"package": {"price": 54, "months": 24, "payment_days": 30}},
    "batna": {
        "description": "the written quote of Nimbus",
        "value": {"package": {"price": 56, "months": 24, "payment_days": 30}},
    },
    "their_estimate": {"walk_away": {"low": 44, "likely": 48, "high": 54}},
    "baseline": {"kind": "previous_price", "value": 58},
    "example": True,
}
OFFERS: Final[tuple[dict[str, Any], ...]] = (
    {"by": "them", "package": {"price": 60, "months": 36, "payment_days": 14}},
    {"by": "me", "package": {"price": 43.5, "months": 12, "payment_days": 47}},
    {"by": "them", "package": {"price": 57, "months": 24, "payment_days": 30}},
)
"""The offers made so far, in order."""


def terms() -> dict[str, Any]:
    """The body that opens the example, with a deadline ahead."""
    deadline = datetime.now(UTC) + timedelta(days=_DAYS_LEFT)
    return {**_TERMS, "deadline": deadline.isoformat(timespec="seconds")}
