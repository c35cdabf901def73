"""A talk with a scripted person as the turns of a rehearsal."""

from collections.abc import Mapping
from typing import Final

from negotiator.rehearsals.counterpart.person import Ploy
from negotiator.rehearsals.stored import RehearsalState, RehearsalTurn, Side
from negotiator.terms.issues import Package
from tests.bench.haggling.play import Talk

_ENDS: Final[Mapping[str, tuple[Side, RehearsalState]]] = {
    "accepted by the user": ("me", "agreed"),
    "accepted by them": ("them", "agreed"),
    "left by the user": ("me", "left_by_me"),
    "left by them": ("them", "left_by_them"),
    "ended by chance": ("them", "left_by_them"),
    "time was up": ("them", "left_by_them"),
    "no end": ("them", "left_by_them"),
}


def rehearsal_turns(talk: Talk) -> tuple[list[RehearsalTurn], RehearsalState]:
    """The turns of a talk, and how it ended; time that is up counts as their leaving."""
    found: list[RehearsalTurn] = []
    named: dict[Side, Package] = {}
    withdraws = False
    for row in talk.ledger:
        by: Side = "me" if row.side == "me" else "them"
        if row.kind == "withdrawal":
            withdraws = True
            continue
        package = {**named.get("me" if by == "them" else "them", {}), **named.get(by, {}), **(row.package or {})}
        named[by] = package
        found.append(
            RehearsalTurn(
                number=len(found) + 1,
                at=row.at,
                by=by,
                action="offer",
                package=package,
                final=bool(row.content["claimed_final"]),
                withdraws=withdraws,
                ploy=_ploy(talk, row.content["rationale"]) if by == "them" else None,
            )
        )
        withdraws = False
    by, state = _ENDS[talk.ended]
    at = talk.ledger[-1].at if talk.ledger else talk.case.opened_at
    end = "accept" if state == "agreed" else "leave"
    found.append(RehearsalTurn(len(found) + 1, at, by, end, talk.deal))
    return found, state


def _ploy(talk: Talk, moment: str | None) -> Ploy | None:
    """The tactic behind a turn of the person's, by the kind of thing that it said."""
    match moment:
        case "opening":
            return "extreme_anchor" if talk.person.kind == "extreme_anchor" else None
        case "takes_back":
            return "takes_back"
        case "final" if talk.person.kind == "deadline_bluff":
            return "deadline_bluff"
        case "repeat":
            return "flat_refusal"
        case _:
            return None
