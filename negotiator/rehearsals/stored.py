"""A rehearsal as it is stored: the person, what it remembers and the turns, as JSON and back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias

import orjson

from negotiator.rehearsals.counterpart.interests import Interests, Stake
from negotiator.rehearsals.counterpart.person import Person, PersonMemory, Ploy
from negotiator.rehearsals.counterpart.remarks import Remark
from negotiator.terms.issues import Issue, IssueType, Package, Scalar, canonical_value
from negotiator.terms.terms import Terms, decode_terms, encode_terms
from negotiator.terms.terms_view import package_view

Side: TypeAlias = Literal["me", "them"]
TurnAction: TypeAlias = Literal["offer", "say", "wait", "accept", "leave"]
RehearsalState: TypeAlias = Literal["running", "agreed", "left_by_me", "left_by_them"]


@dataclass(frozen=True, slots=True)
class RehearsalTurn:
    """One turn of either side; `number` counts both sides from 1, `at` is in milliseconds.

    `package` is complete: what a turn leaves out stays as that side named it before, or as the other side names it.
    An acceptance has the package that is accepted. `remarks` are what the user's words were heard as, `ploy` the tactic
    behind a turn of the counterpart's, which only the debrief tells. `final` marks an offer that was called final,
    `withdraws` one that takes the offer before back.
    """

    number: int
    at: int
    by: Side
    action: TurnAction
    package: Package | None = None
    said: str = ""
    remarks: tuple[Remark, ...] = ()
    final: bool = False
    withdraws: bool = False
    ploy: Ploy | None = None


def canonical_package(terms: Terms, package: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """The package with the canonical values of its issues; a KeyError names what is no issue."""
    kinds: dict[str, IssueType] = {issue.name: issue.type for issue in terms.issues}
    return {name: canonical_value(kinds[name], value) for name, value in package.items()}


@dataclass(frozen=True, slots=True)
class StoredRehearsal:
    """One rehearsal. `person` and `memory` are the counterpart's side, which nobody is shown before it is over.

    `worded_by` says whose words the last sentence is in. Moments are milliseconds.
    """

    id: str
    negotiation: str
    seed: int
    state: RehearsalState
    terms: Terms
    person: Person
    memory: PersonMemory
    turns: tuple[RehearsalTurn, ...]
    result: dict[str, Any]
    revision: int
    created_at: int
    updated_at: int
    worded_by: str = "engine"


def encode_person(person: Person) -> bytes:
    """The person without the issues, which the terms have."""
    plain = {
        field.name: getattr(person, field.name)
        for field in fields(person)
        if field.name not in {"interests", "opening"}
    }
    stakes = [
        {
            "issue": stake.name,
            "floor": stake.floor,
            "ask": stake.ask,
            "weight": stake.weight,
            "worths": None if stake.worths is None else list(stake.worths.items()),
        }
        for stake in person.interests.stakes
    ]
    return _json({**plain, "stakes": stakes, "opening": dict(person.opening)})


def decode_person(stored: bytes, terms: Terms) -> Person:
    row: dict[str, Any] = orjson.loads(stored)
    issues = {issue.name: issue for issue in terms.issues}
    stakes = tuple(_stake(issues[stake["issue"]], stake) for stake in row.pop("stakes"))
    return Person(interests=Interests(stakes), opening=canonical_package(terms, row.pop("opening")), **row)


def encode_progress(terms: Terms, memory: PersonMemory, turns: Sequence[RehearsalTurn], worded_by: str) -> bytes:
    rows = [replace(turn, package=turn.package and package_view(terms, turn.package)) for turn in turns]
    return _json({"memory": memory, "turns": rows, "worded_by": worded_by})


def decode_progress(stored: bytes, terms: Terms) -> tuple[PersonMemory, tuple[RehearsalTurn, ...], str]:
    """The memory, the turns and whose words the last sentence is in."""
    row: dict[str, Any] = orjson.loads(stored)
    memory: dict[str, Any] = row["memory"]
    memory["offers"] = tuple(canonical_package(terms, offer) for offer in memory["offers"])
    for name in ("theirs", "before"):
        if memory.get(name) is not None:
            memory[name] = canonical_package(terms, memory[name])
    turns = tuple(_turn(terms, turn) for turn in row["turns"])
    return PersonMemory(**memory), turns, row["worded_by"]


def stored_rehearsal(row: Sequence[Any]) -> StoredRehearsal:
    """A rehearsal from its columns, in the order of the table without the owner."""
    key, negotiation, seed, state, terms, person, progress, result, *rest = row
    read = decode_terms(terms)
    memory, turns, worded_by = decode_progress(progress, read)
    return StoredRehearsal(
        key,
        negotiation,
        seed,
        state,
        read,
        decode_person(person, read),
        memory,
        turns,
        orjson.loads(result),
        *rest,
        worded_by=worded_by,
    )


def columns_of(rehearsal: StoredRehearsal) -> dict[str, Any]:
    terms = rehearsal.terms
    return {
        "state": rehearsal.state,
        "progress": encode_progress(terms, rehearsal.memory, rehearsal.turns, rehearsal.worded_by),
        "result": orjson.dumps(rehearsal.result),
        "updated_at": rehearsal.updated_at,
    }


def all_columns_of(rehearsal: StoredRehearsal) -> dict[str, Any]:
    """Every column but the owner."""
    return {
        **columns_of(rehearsal),
        "id": rehearsal.id,
        "negotiation": rehearsal.negotiation,
        "seed": rehearsal.seed,
        "terms": encode_terms(rehearsal.terms),
        "person": encode_person(rehearsal.person),
        "revision": rehearsal.revision,
        "created_at": rehearsal.created_at,
    }


def _json(row: Mapping[str, Any]) -> bytes:
    return orjson.dumps(row, default=str)


def _stake(issue: Issue, row: Mapping[str, Any]) -> Stake:
    worths = row["worths"]
    return Stake(
        issue,
        canonical_value(issue.type, row["floor"]),
        canonical_value(issue.type, row["ask"]),
        row["weight"],
        None if worths is None else {canonical_value(issue.type, value): worth for value, worth in worths},
    )


def _turn(terms: Terms, row: dict[str, Any]) -> RehearsalTurn:
    row["package"] = None if row["package"] is None else canonical_package(terms, row["package"])
    row["remarks"] = tuple(row["remarks"])
    return RehearsalTurn(**row)
