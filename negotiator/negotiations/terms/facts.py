"""What a negotiation's body says about the power of both sides, as `SideFacts`."""

from dataclasses import replace
from typing import Final

from negotiator.negotiations.leverage.power import NOTHING_KNOWN, SideFacts
from negotiator.negotiations.schemas.parts import NO_ESTIMATE, SideFactsBody
from negotiator.negotiations.schemas.session import NegotiationBody

_DAY: Final = 86_400_000
_NEEDS: Final = {"new": 0.3, "ongoing": 0.5, "strategic": 0.8}
_DECIDES: Final = {"yes": 0.9, "no": 0.2}
_BOUND: Final = 0.35


def side_facts(body: NegotiationBody) -> tuple[SideFacts, SideFacts]:
    """Facts of both sides: those given, and those that other members imply where none is given.

    The relationship is needed by both alike; who decides tells their authority; a limit tells mine; the
    confidence of the estimate tells how well I know their limits.
    """
    given = body.facts
    me = _read(given.me if given else None)
    them = _read(given.them if given else None)
    other = body.counterparty
    theirs = body.their_estimate or NO_ESTIMATE
    if other is not None and other.relationship is not None:
        need = _NEEDS[other.relationship]
        me = replace(me, relationship=need if me.relationship is None else me.relationship)
        them = replace(them, relationship=need if them.relationship is None else them.relationship)
    if other is not None and them.authority is None and other.decision_maker is not None:
        them = replace(them, authority=_DECIDES.get(other.decision_maker))
    if me.authority is None and body.authority is not None:
        me = replace(me, authority=_BOUND)
    if me.information is None and theirs.confidence is not None:
        me = replace(me, information=theirs.confidence)
    return me, them


def days_left(deadline: int | None, now: int) -> float | None:
    """Days until a deadline, 0 once it has passed."""
    return None if deadline is None else max(0.0, (deadline - now) / _DAY)


def _read(body: SideFactsBody | None) -> SideFacts:
    return NOTHING_KNOWN if body is None else SideFacts(**body.model_dump())
