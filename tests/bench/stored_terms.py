"""What it costs to store and to load the terms of a negotiation over six issues: python -m tests.bench.stored_terms"""

import statistics
import timeit
from collections.abc import Callable
from typing import Any

from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.terms import Terms, decode_terms, encode_terms
from negotiator.terms.terms_parsing import parse_terms

SIX_ISSUES: dict[str, Any] = {
    "title": "Laptops for the Berlin office",
    "role": "buyer",
    "currency": "EUR",
    "counterparty": {"organisation": "Acme", "relationship": "ongoing", "decision_maker": "no"},
    "issues": [
        {
            "name": "price",
            "weight": 50,
            "their_weight": 40,
            "range": {"min": "40000.00", "max": "60000.00", "step": "500.00"},
            "value_points": [["40000", 1], ["50000", 0.7], ["60000", 0]],
            "multiples": [{"count": 1.5, "of": "batches"}, {"issue": "seats", "of": "seats"}],
        },
        {"name": "seats", "type": "integer", "weight": 10, "range": {"min": 50, "max": 200}},
        {
            "name": "payment",
            "type": "duration_days",
            "weight": 10,
            "direction": "higher",
            "range": {"min": 0, "max": 90, "step": 15},
        },
        {
            "name": "start",
            "type": "date",
            "weight": 5,
            "direction": "lower",
            "range": {"min": "2027-01-01", "max": "2027-06-30", "step": 7},
            "limit": "2027-05-07",
        },
        {"name": "support", "type": "enum", "weight": 15, "options": ["none", "email", "phone"]},
        {"name": "training", "type": "boolean", "weight": 10, "direction": "higher"},
    ],
    "target": {"package": {"price": "45000", "seats": 150, "support": "phone"}},
    "walk_away": {"package": {"price": "56000"}, "override_reason": "The budget."},
    "batna": {"description": "Stay", "value": {"utility": 0.2}, "probability": 0.5, "cost": "99.5"},
    "their_estimate": {
        "walk_away": {"low": "0.1", "likely": "0.25", "high": "0.5"},
        "priorities": ["price", "start"],
        "confidence": 0.6,
    },
    "deadline": "2099-01-01T00:00:00Z",
    "max_rounds": 8,
    "constraints": [{"issue": "support", "op": "in", "value": ["email", "phone"]}],
    "authority": {"limit": "52000", "approver": "Ada Lovelace"},
    "baseline": {"kind": "previous_price", "value": "58000", "evidence": ["Invoice 7"]},
    "allow": [{"issue": "price", "to": "57000", "in_return": {"payment": 60, "training": True}}],
    "arguments": ["Two screens are scratched.", {"fact": "I can pay at once.", "kind": "give", "worth": "20"}],
    "facts": {"me": {"rivals": 2}, "them": {"market": 0.4}},
}


def parsed(body: dict[str, Any]) -> Terms:
    """The terms of a body."""
    return parse_terms(NegotiationBody.model_validate(body))


def main() -> None:
    """Print the median of each step in microseconds."""
    terms = parsed(SIX_ISSUES)
    stored = encode_terms(terms)
    steps: dict[str, Callable[[], object]] = {
        "parse a request body": lambda: parsed(SIX_ISSUES),
        "encode": lambda: encode_terms(terms),
        "load (decode)": lambda: decode_terms(stored),
    }
    for name, step in steps.items():
        median = statistics.median(timeit.repeat(step, number=200, repeat=15)) / 200
        print(f"{name:22}{median * 1e6:8.0f} us")
    print(f"{'stored bytes':22}{len(stored):8}")


if __name__ == "__main__":
    main()
