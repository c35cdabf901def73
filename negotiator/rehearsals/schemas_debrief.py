"""The debrief of a rehearsal on the wire. Money is a decimal string in all; `words` have it for one unit too."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from typing_extensions import TypedDict

from negotiator.base.values import format_money
from negotiator.rehearsals.counterpart.person import Hardness, PersonKind, Ploy
from negotiator.rehearsals.debrief import Debrief, OfferPoint, PassedOwnLimit
from negotiator.rehearsals.debrief_words import DebriefWords, SaidAmount
from negotiator.rehearsals.record import RehearsalState, Side, TurnAction
from negotiator.terms.issues import Package
from negotiator.terms.terms_view import package_view, value_view


class SaidPackage(TypedDict):
    """A package and how it is said."""

    package: dict[str, Any]
    words: str


class SaidMoney(TypedDict):
    """An amount in all, null where no money says it, and how it is said."""

    money: str | None
    words: str


class LeftPart(TypedDict):
    """What one issue adds to what was left on the table; below zero where the best deal is worse on it."""

    issue: str
    deal: str | float | bool
    best: str | float | bool
    money: str | None
    words: str


class LeftOnTable(TypedDict):
    """What the best deal was better by than the deal, or than no deal; `turn` is the one that cost most of it."""

    money: str | None
    currency: str | None
    utility: float | None
    words: str
    turn: int | None
    parts: list[LeftPart]


class SameTerms(SaidPackage):
    """The deal at the last price that they would have signed it at."""

    money: str | None


class OpeningView(SaidPackage):
    """The user's first offer."""

    turn: int
    against_target: SaidMoney | None


OfferChangeView = TypedDict(
    "OfferChangeView",
    {"turn": int, "by": Side, "from": SaidPackage, "to": SaidPackage, "money": str | None, "words": str},
)
"""An offer that is worse for its own side than the one before; `money` is what it costs or brings the user."""


class PassedOwnLimitView(TypedDict):
    """A limit of the user's that an offer or the deal passed; `issue` is null for the walk-away as a whole."""

    turn: int
    issue: str | None
    money: str | None
    words: str


class UnansweredPloyView(TypedDict):
    """A tactic of theirs that the user gave in to in turn `reply`."""

    turn: int
    reply: int
    ploy: Ploy
    money: str | None
    words: str


class DebriefPoint(SaidPackage):
    """A turn with a package, for the chart: its worth to the user, its price, and the last price they would sign."""

    turn: int
    by: Side
    action: TurnAction
    utility: float
    price: str | None
    floor_price: str | None
    final: bool
    withdraws: bool
    lost: str | None


class DebriefLevels(TypedDict):
    """Worths to the user that a chart draws as lines."""

    target: float | None
    walk_away: float
    best_deal: float | None


class AttemptView(TypedDict):
    """Another rehearsal of the same negotiation with the same person."""

    id: str
    created_at: str
    score: int
    money: str | None
    state: RehearsalState


class DebriefView(TypedDict):
    """What a rehearsal that is over shows."""

    rehearsal_id: str
    state: RehearsalState
    score: int
    kind: PersonKind
    hardness: Hardness
    seed: int
    floor: SaidPackage
    deal: SaidPackage | None
    best_deal: SaidPackage | None
    same_terms: SameTerms | None
    left_on_table: LeftOnTable
    opening: OpeningView | None
    first_mover: Side | None
    moves: list[OfferChangeView]
    own_limits_passed: list[PassedOwnLimitView]
    unanswered: list[UnansweredPloyView]
    sentences: list[str]
    try_next: str
    lesson: str
    ledger: list[DebriefPoint]
    levels: DebriefLevels
    attempts: list[AttemptView]


def debrief_view(
    debrief: Debrief,
    *,
    rehearsal_id: str,
    kind: PersonKind,
    hardness: Hardness,
    seed: int,
    attempts: Sequence[AttemptView] = (),
) -> DebriefView:
    """The debrief as JSON; `attempts` are the other rehearsals of the same person."""
    words = DebriefWords(debrief)
    return {
        "rehearsal_id": rehearsal_id,
        "state": debrief.state,
        "score": debrief.score,
        "kind": kind,
        "hardness": hardness,
        "seed": seed,
        "floor": _package(words, debrief.floor),
        "deal": None if debrief.deal is None else _package(words, debrief.deal),
        "best_deal": None if debrief.best is None else _package(words, debrief.best),
        "same_terms": _same_terms(words),
        "left_on_table": _left(words),
        "opening": _opening(words),
        "first_mover": debrief.first_mover,
        "moves": _moves(words),
        "own_limits_passed": [_passed(words, one) for one in debrief.passed],
        "unanswered": _unanswered(words),
        "sentences": list(words.sentences()),
        "try_next": words.try_next(),
        "lesson": words.lesson(),
        "ledger": [_point(words, point) for point in debrief.points],
        "levels": {"target": debrief.target, "walk_away": debrief.reservation, "best_deal": debrief.best_utility},
        "attempts": list(attempts),
    }


def _package(words: DebriefWords, package: Package) -> SaidPackage:
    return {"package": package_view(words.debrief.terms, package), "words": words.package(package)}


def _money(said: SaidAmount) -> SaidMoney:
    return {"money": said.money, "words": said.words}


def _same_terms(words: DebriefWords) -> SameTerms | None:
    package, said = words.debrief.last_price, words.last_price()
    if package is None or said is None:
        return None
    shown = package_view(words.debrief.terms, package)
    return {"package": shown, "words": said.words, "money": said.money}


def _left(words: DebriefWords) -> LeftOnTable:
    found, said = words.debrief, words.left()
    worst, terms = found.costliest, words.debrief.terms
    parts: list[LeftPart] = []
    for part in found.parts:
        issue, amount = terms.issue(part.issue), words.part(part)
        parts.append(
            {
                "issue": part.issue,
                "deal": value_view(issue, part.deal, terms.currency),
                "best": value_view(issue, part.best, terms.currency),
                "money": amount.money,
                "words": amount.words,
            }
        )
    return {
        "money": said.money,
        "currency": terms.currency,
        "utility": found.left,
        "words": said.words,
        "turn": None if worst is None else worst.turn,
        "parts": parts,
    }


def _opening(words: DebriefWords) -> OpeningView | None:
    opening, beside = words.debrief.opening, words.against_target()
    if opening is None:
        return None
    return {
        "turn": opening.turn,
        "against_target": None if beside is None else _money(beside),
        **_package(words, opening.package),
    }


def _moves(words: DebriefWords) -> list[OfferChangeView]:
    return [
        {
            "turn": move.turn,
            "by": move.by,
            "from": _package(words, move.before),
            "to": _package(words, move.after),
            **_money(words.move(move)),
        }
        for move in words.debrief.moves
    ]


def _passed(words: DebriefWords, one: PassedOwnLimit) -> PassedOwnLimitView:
    return {"turn": one.turn, "issue": one.issue, **_money(words.passed(one))}


def _unanswered(words: DebriefWords) -> list[UnansweredPloyView]:
    return [
        {"turn": one.turn, "reply": one.reply, "ploy": one.ploy, **_money(words.unanswered(one))}
        for one in words.debrief.unanswered
    ]


def _point(words: DebriefWords, point: OfferPoint) -> DebriefPoint:
    found = words.debrief
    loss = next((one for one in found.losses if one.turn == point.turn), None)

    def amount(at: Decimal | None) -> str | None:
        return None if at is None else format_money(at, found.terms.currency)

    return {
        **_package(words, point.package),
        "turn": point.turn,
        "by": point.by,
        "action": point.action,
        "utility": point.utility,
        "price": amount(point.price),
        "floor_price": amount(point.floor_price),
        "final": point.final,
        "withdraws": point.withdraws,
        "lost": None if loss is None or point.by == "them" else words.amount(loss.utility, loss.money).money,
    }
