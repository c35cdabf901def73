"""Two rehearsals whose figures are checked by hand: the price of a used car, and a renewal of eighty seats."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from negotiator.rehearsals.counterpart.interests import Interests, Stake
from negotiator.rehearsals.counterpart.person import Person, Ploy, draw_person
from negotiator.rehearsals.counterpart.remarks import Remark
from negotiator.rehearsals.debrief import Debrief
from negotiator.rehearsals.stored import RehearsalState, RehearsalTurn, Side, TurnAction
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.terms import Terms
from negotiator.terms.terms_parsing import parse_terms

Row = tuple[Side, TurnAction, str | None]
CAR: Final = parse_terms(
    NegotiationBody.model_validate(
        {
            "title": "Used VW Golf",
            "role": "buyer",
            "category": "vehicles",
            "currency": "EUR",
            "issues": [{"name": "price", "type": "money", "range": {"min": "9000", "max": "14000"}}],
            "target": {"package": {"price": "10800"}},
            "walk_away": {"package": {"price": "12500"}},
        }
    )
)
TALK: Final[tuple[Row, ...]] = (
    ("me", "offer", "10800"),
    ("them", "offer", "13500"),
    ("me", "offer", "11300"),
    ("them", "offer", "13000"),
    ("me", "offer", "11900"),
    ("them", "offer", "12400"),
    ("me", "accept", "12400"),
)


def owner(floor: str = "11500") -> Person:
    """An owner who signs at this price and no lower."""
    interests = Interests((Stake(CAR.issues[0], floor, "13500", 1.0),))
    return replace(draw_person(interests, "fair", 1), interests=interests, floor=0.0)


def turns_of(
    rows: Sequence[Row], *, ploys: dict[int, Ploy] | None = None, remarks: dict[int, Remark] | None = None
) -> list[RehearsalTurn]:
    return [
        RehearsalTurn(
            number=number,
            at=number,
            by=by,
            action=action,
            package=None if price is None else {"price": Decimal(price)},
            ploy=(ploys or {}).get(number),
            remarks=(remarks[number],) if remarks and number in remarks else (),
        )
        for number, (by, action, price) in enumerate(rows, 1)
    ]


def car_debrief(
    rows: Sequence[Row] = TALK,
    state: RehearsalState = "agreed",
    *,
    terms: Terms = CAR,
    person: Person | None = None,
    **of_turns: Any,
) -> Debrief:
    return Debrief(terms, person or owner(), turns_of(rows, **of_turns), state)


SEATS: Final = parse_terms(
    NegotiationBody.model_validate(
        {
            "title": "CRM renewal, 80 seats",
            "role": "buyer",
            "category": "software",
            "currency": "EUR",
            "issues": [
                {
                    "name": "seat_price",
                    "label": "Price per seat and month",
                    "type": "money",
                    "weight": 0.8,
                    "range": {"min": "40", "max": "60"},
                },
                {
                    "name": "term",
                    "label": "Contract term",
                    "type": "integer",
                    "unit": "months",
                    "direction": "lower",
                    "weight": 0.2,
                    "range": {"min": 12, "max": 36, "step": 12},
                },
            ],
            "target": {"package": {"seat_price": "45", "term": 12}},
            "walk_away": {"package": {"seat_price": "56", "term": 24}},
        }
    )
)


def seats_debrief() -> Debrief:
    """They sign at €50 with 12 months; a year more is worth €2.50 to the user and €3 to them."""
    price, term = SEATS.issues
    stakes = (Stake(price, "50", "60", 0.625), Stake(term, 12, 36, 0.375))
    person = replace(draw_person(Interests(stakes), "fair", 1), interests=Interests(stakes), floor=0.0)
    packages: list[tuple[Side, TurnAction, str, int]] = [
        ("me", "offer", "45", 12),
        ("them", "offer", "58", 36),
        ("me", "offer", "52", 24),
        ("them", "accept", "52", 24),
    ]
    turns = [
        RehearsalTurn(n, n, by, action, {"seat_price": Decimal(at), "term": months})
        for n, (by, action, at, months) in enumerate(packages, 1)
    ]
    return Debrief(SEATS, person, turns, "agreed")
