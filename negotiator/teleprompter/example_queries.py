"""An owner's own examples at rest; every statement carries the owner."""
# pyright: reportAssignmentType=false
# SQLModel types __tablename__ as a declared attribute; a plain string is what it reads.

from dataclasses import dataclass
from typing import Final, Literal

from sqlalchemy import BigInteger, Index, LargeBinary, bindparam, delete, func, select, update
from sqlmodel import Field, SQLModel, col

from negotiator import values
from negotiator.store.statement import Query, Statement, Transaction, insertion
from negotiator.teleprompter.cues.catalogue import NEUTRAL

ExampleAction = Literal["used", "dismissed", "wrong"]

MAX_EXAMPLES: Final = 200
"""Examples an owner has at most; the oldest goes."""
ACTION_WEIGHTS: Final[dict[ExampleAction, float]] = {"used": 1.0, "wrong": 1.0, "dismissed": 0.5}


class CueExample(SQLModel, table=True):
    """A sentence of an owner's as a vector: float32 of `model`, standing for `cue`, or for ordinary talk (empty).

    `against` is the cue that was shown for it and refused. The words themselves are not kept.
    """

    __tablename__ = "cue_examples"
    __table_args__ = (Index("ix_cue_examples_owner_id", "owner", "id"),)

    id: str = Field(primary_key=True)
    owner: str
    origin: str | None
    cue: str
    against: str
    weight: float
    model: str
    vector: bytes = Field(sa_type=LargeBinary)
    created_at: int = Field(sa_type=BigInteger)


@dataclass(frozen=True, slots=True)
class ExampleLabel:
    """What a sentence stands for from now on: a cue, or ordinary talk and the cue it was mistaken for."""

    cue: str
    against: str = ""
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class LabelledVector:
    """A lesson with its sentence, float32 as bytes."""

    lesson: ExampleLabel
    vector: bytes


ExamplesVersion = tuple[int, str, str]
"""How many examples an owner has, the oldest and the newest: another set has another version."""

_theirs = col(CueExample.owner) == bindparam("holder")
_ADD = Statement(insertion(CueExample))
_ALL = Query(
    select(
        col(CueExample.cue), col(CueExample.against), col(CueExample.weight), col(CueExample.vector)
    )
    .where(_theirs, col(CueExample.model) == bindparam("model"))
    .order_by(col(CueExample.id)),
    lambda row: LabelledVector(ExampleLabel(row[0], row[1], float(row[2])), bytes(row[3])),
)
_VERSION = Query(
    select(func.count(), func.min(col(CueExample.id)), func.max(col(CueExample.id))).where(_theirs),
    lambda row: (int(row[0]), str(row[1] or ""), str(row[2] or "")),
)
_OLDEST_KEPT = Query(
    select(col(CueExample.id))
    .where(_theirs)
    .order_by(col(CueExample.id).desc())
    .offset(MAX_EXAMPLES - 1)
    .limit(1),
    lambda row: str(row[0]),
)
_TRIM = Statement(delete(CueExample).where(_theirs, col(CueExample.id) < bindparam("oldest")))
_MOVE = Statement(
    update(CueExample)
    .where(col(CueExample.owner) == bindparam("agent"))
    .values(owner=bindparam("user"), origin=bindparam("agent"))
)
_ERASE = Statement(delete(CueExample).where(_theirs))


def label_from_feedback(action: ExampleAction, cue: str) -> ExampleLabel:
    """What feedback on a cue's card teaches about the sentence that raised it.

    A card that was used makes it an example of the cue; a wrong one makes it ordinary talk, a dismissed one half so.
    """
    weight = ACTION_WEIGHTS[action]
    return (
        ExampleLabel(cue, weight=weight) if action == "used" else ExampleLabel(NEUTRAL, cue, weight)
    )


def add_example(
    tx: Transaction, owner: str, lesson: ExampleLabel, *, vector: bytes, model: str
) -> str:
    """Keep an example, and no more than 200 of them; answers its id."""
    name = values.new_id("exa")
    tx.run(
        _ADD,
        id=name,
        owner=owner,
        origin=None,
        cue=lesson.cue,
        against=lesson.against,
        weight=lesson.weight,
        model=model,
        vector=vector,
        created_at=values.now(),
    )
    _trim(tx, owner)
    return name


def examples_version(tx: Transaction, owner: str) -> ExamplesVersion:
    """The version of an owner's examples."""
    return tx.one(_VERSION, holder=owner) or (0, "", "")


def examples_of(
    tx: Transaction, owner: str, model: str
) -> tuple[ExamplesVersion, list[LabelledVector]]:
    """An owner's examples by this model, oldest first, with the version they are of."""
    return examples_version(tx, owner), tx.all(_ALL, holder=owner, model=model)


def move(tx: Transaction, agent_id: str, user_id: str) -> None:
    """Give an agent's examples to the user who claimed it; the newest of both are kept."""
    tx.run(_MOVE, agent=agent_id, user=user_id)
    _trim(tx, user_id)


def erase(tx: Transaction, principal: str) -> None:
    """Delete all examples of a principal."""
    tx.run(_ERASE, holder=principal)


def _trim(tx: Transaction, owner: str) -> None:
    oldest = tx.one(_OLDEST_KEPT, holder=owner)
    if oldest is not None:
        tx.run(_TRIM, holder=owner, oldest=oldest)
