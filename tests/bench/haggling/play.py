"""Plays a negotiation of a case between an adviser and a scripted person, and keeps the ledger as the product does."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, Protocol, TypeAlias

from negotiator.base.values import HOUR, milliseconds
from negotiator.negotiations.offer_queries import OfferRow
from negotiator.rehearsals.counterpart.interests import Interests, Stake
from negotiator.rehearsals.counterpart.person import Person, PersonAnswer, PersonKind, Turn
from negotiator.terms.issues import Package, Scalar, coordinate, same_value
from negotiator.terms.negotiation_body import NegotiationBody
from negotiator.terms.terms import Terms
from negotiator.terms.terms_parsing import parse_terms
from negotiator.terms.terms_view import package_view
from tests.bench.haggling.counterparts import BenchKind, draw_counterpart

CASES: Final = Path(__file__).parent / "cases"
MAX_ROUNDS: Final = 14
"""A talk without an end is stopped here; no person is this patient."""
OPENED_AT: Final = "2031-01-13T09:00:00Z"
HOURS_A_ROUND: Final = 20.0
MoveAction: TypeAlias = Literal["offer", "accept", "leave", "wait"]


@dataclass(frozen=True, slots=True)
class Case:
    """One file of `cases`: the body of `POST /api/negotiations`, its terms, and the truth of the other side."""

    name: str
    negotiation: Mapping[str, Any]
    terms: Terms
    interests: Interests
    opened_at: int
    hours_a_round: float
    names_first: bool | None

    def without_end(self) -> "Case":
        """The same negotiation with no number of rounds and no deadline."""
        body = {k: v for k, v in self.negotiation.items() if k not in {"max_rounds", "deadline"}}
        estimate = {k: v for k, v in body.get("their_estimate", {}).items() if k != "deadline"}
        if estimate:
            body["their_estimate"] = estimate
        return replace(self, negotiation=body, terms=terms_of(body))


@dataclass(frozen=True, slots=True)
class TalkState:
    """Where the talk stands when an adviser is asked: moments in milliseconds, `round` counts the user's words."""

    case: Case
    round: int
    opened_at: int
    now: int

    @property
    def terms(self) -> Terms:
        """The terms of the negotiation."""
        return self.case.terms


@dataclass(frozen=True, slots=True)
class Move:
    """What an adviser says to do. `trades` names the issues on which it takes something back for a named return."""

    action: MoveAction
    package: Package | None = None
    said: str = ""
    trades: frozenset[str] = frozenset()


class Adviser(Protocol):
    """Advises the user of a negotiation, one move at a time; it sees the body and the ledger, never the person."""

    def advise(self, negotiation: Mapping[str, Any], ledger: Sequence[OfferRow], state: TalkState) -> Move:
        """The next move."""
        ...


@dataclass(frozen=True, slots=True)
class Talk:
    """A talk that is over: the ledger, the user's moves, the deal if there is one, who ended it and with what words."""

    case: Case
    person: Person
    seed: int
    ledger: tuple[OfferRow, ...]
    moves: tuple[Move, ...]
    deal: Package | None
    ended: str
    last_words: str

    @property
    def rounds(self) -> int:
        """The user's words."""
        return len(self.moves)


@cache
def load_case(name: str) -> Case:
    """The case of this name."""
    read = tomllib.loads((CASES / f"{name}.toml").read_text())
    body, them = read["negotiation"], read["them"]
    terms = terms_of(body)
    at = milliseconds(datetime.fromisoformat(them.get("opened_at", OPENED_AT)))
    assert at is not None
    return Case(
        name=name,
        negotiation=body,
        terms=terms,
        interests=_interests(terms, them),
        opened_at=at,
        hours_a_round=float(them.get("hours_a_round", HOURS_A_ROUND)),
        names_first=them.get("names_first"),
    )


def case_names() -> list[str]:
    """The names of all cases, in order."""
    return sorted(path.stem for path in CASES.glob("*.toml"))


def terms_of(body: Mapping[str, Any]) -> Terms:
    """The terms that the product makes of a body."""
    return parse_terms(NegotiationBody.model_validate(body))


def _interests(terms: Terms, them: Mapping[str, Any]) -> Interests:
    weights: Mapping[str, float] = them.get("weights", {})
    worths: Mapping[str, Mapping[Scalar, float]] = them.get("worths", {})
    stakes: list[Stake] = []
    for issue in terms.issues:
        known = worths.get(issue.name)
        if known is not None and issue.type == "boolean":
            known = dict[Scalar, float]({True: known["true"], False: known["false"]})
        floor, ask = (_value(issue.type, them[end][issue.name]) for end in ("floor", "first_ask"))
        stakes.append(Stake(issue, floor, ask, weights.get(issue.name, 1.0), known))
    return Interests(tuple(stakes)).weighted([1.0] * len(stakes))


def _value(kind: str, value: Scalar) -> Scalar:
    at = coordinate("money", value) if kind == "money" else None
    return value if at is None else at


class _Recorder:
    """The ledger of one talk, written as the product writes rows."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.rows: list[OfferRow] = []
        self.at = case.opened_at

    def add(
        self,
        side: str,
        kind: str,
        package: Package | None,
        *,
        said: str = "",
        final: bool = False,
        answers: str | None = None,
    ) -> OfferRow:
        shown = None if package is None else package_view(self.case.terms, package)
        seq = len(self.rows) + 1
        content: dict[str, Any] = {
            "package": shown,
            "complete": shown is not None and len(shown) == len(self.case.terms.issues),
            "conditions": None,
            "claimed_final": final,
            "rationale": said or None,
            "channel": None,
            "override": None,
            "approval": None,
            "utility_me": None,
            "utility_them_estimate": None,
            "concession_me": None,
            "concession_them": None,
        }
        row = OfferRow(
            id=f"off_{seq:026d}",
            seq=seq,
            at=self.at,
            side=side,
            kind=kind,
            source="typed",
            answers=answers,
            confirms=None,
            valid_until=None,
            approval="",
            content=content,
        )
        self.rows.append(row)
        return row

    def answer(self, given: PersonAnswer, package: Package) -> None:
        """The person's offer, with the withdrawal of the one before where it takes that back."""
        earlier = [row for row in self.rows if row.side == "them" and row.kind != "withdrawal"]
        if given.withdraws and earlier:
            self.add("them", "withdrawal", earlier[-1].package, answers=earlier[-1].id)
        kind = "final" if given.claimed_final else "counter" if self.rows else "offer"
        self.add("them", kind, package, said=given.moment, final=given.claimed_final)

    def live_package(self) -> Package | None:
        """What the other side has on the table, completed by its earlier offers."""
        found: dict[str, Scalar] = {}
        for row in self.rows:
            if row.side == "them" and row.kind != "withdrawal" and row.package is not None:
                found.update(row.package)
        return found or None


def play(case: Case, kind: BenchKind | PersonKind, seed: int, adviser: Adviser) -> Talk:
    """One talk. The same case, kind and seed meet every adviser with the same person."""
    counterpart = draw_counterpart(case.interests, kind, seed)
    person, ledger, moves = counterpart.person, _Recorder(case), list[Move]()
    first = case.names_first if case.names_first is not None else seed % 2 == 0
    end = _last_round(case)

    def over(deal: Package | None, ended: str, said: str = "") -> Talk:
        return Talk(case, person, seed, tuple(ledger.rows), tuple(moves), deal, ended, said)

    if first:
        given = counterpart.answer(Turn())
        ledger.answer(given, given.package or {})
    for spoken in range(MAX_ROUNDS):
        ledger.at = case.opened_at + round(spoken * case.hours_a_round * HOUR)
        state = TalkState(case, spoken, case.opened_at, ledger.at)
        move = adviser.advise(case.negotiation, tuple(ledger.rows), state)
        moves.append(move)
        if move.action == "accept":
            deal = ledger.live_package()
            if deal is None:
                raise ValueError(f"{case.name}: accepts where nothing is on the table")
            return over(deal, "accepted by the user", move.said)
        if move.action == "leave":
            return over(None, "left by the user", move.said)
        if spoken == end:
            return over(None, "time was up")
        turn = Turn()
        if move.action == "offer":
            if move.package is None:
                raise ValueError(f"{case.name}: an offer without a package")
            turn = Turn(move.package)
            ledger.add("me", "counter" if ledger.rows else "offer", move.package, said=move.said)
        left = None if end is None else end - 1 - spoken
        ledger.at += round(case.hours_a_round * HOUR / 2)
        given = counterpart.answer(turn, rounds_left=left)
        if given.action == "accept":
            return over(given.package, "accepted by them", given.moment)
        if given.action == "leave":
            ended = "ended by chance" if given.moment == "leaves_chance" else "left by them"
            return over(None, ended, given.moment)
        ledger.answer(given, _named(case.terms, given, ledger))
    return over(None, "no end")


def _last_round(case: Case) -> int | None:
    """The round in which the user can only accept or leave; None when no end is stated."""
    rounds = case.terms.max_rounds
    if case.terms.deadline is not None:
        hours = (case.terms.deadline - case.opened_at) / HOUR
        by_time = max(1, int(hours / case.hours_a_round) + 1)
        rounds = by_time if rounds is None else min(rounds, by_time)
    return rounds


def _named(terms: Terms, given: PersonAnswer, ledger: _Recorder) -> Package:
    """What the person names: now and then, of several issues, only those that it changes."""
    package = given.package or {}
    before = ledger.live_package()
    if before is None or len(package) < 3 or given.withdraws or len(ledger.rows) % 7 != 6:
        return package
    changed = {
        issue.name: package[issue.name]
        for issue in terms.issues
        if not same_value(issue.type, before[issue.name], package[issue.name])
    }
    return changed or package
