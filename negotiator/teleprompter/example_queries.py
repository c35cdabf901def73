"""An owner's own examples at rest; every statement carries the owner."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import bindparam, delete, func, select
from sqlmodel import col

from negotiator.base import values
from negotiator.store.statement import Query, RowInsertion, Statement, Transaction
from negotiator.teleprompter.cues.catalogue import NEUTRAL
from negotiator.teleprompter.schemas import FeedbackAction
from negotiator.teleprompter.tables import CueExample

MAX_EXAMPLES: Final = 200
"""Examples an owner has at most; the oldest goes."""
ACTION_WEIGHTS: Final[dict[FeedbackAction, float]] = {"used": 1.0, "wrong": 1.0, "dismissed": 0.5}


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
_ADD = RowInsertion(CueExample)
_ALL = Query(
    select(col(CueExample.cue), col(CueExample.against), col(CueExample.weight), col(CueExample.vector))
    .where(_theirs, col(CueExample.model) == bindparam("model"))
    .order_by(col(CueExample.id)),
    lambda row: LabelledVector(ExampleLabel(row[0], row[1], float(row[2])), bytes(row[3])),
)
_VERSION = Query(
    select(func.count(), func.min(col(CueExample.id)), func.max(col(CueExample.id))).where(_theirs),
    lambda row: (int(row[0]), str(row[1] or ""), str(row[2] or "")),
)
_OLDEST_KEPT = Query(
    select(col(CueExample.id)).where(_theirs).order_by(col(CueExample.id).desc()).offset(MAX_EXAMPLES - 1).limit(1),
    lambda row: str(row[0]),
)
_TRIM = Statement(delete(CueExample).where(_theirs, col(CueExample.id) < bindparam("oldest")))


def label_from_feedback(action: FeedbackAction, cue: str) -> ExampleLabel:
    """What feedback on a cue's card teaches about the sentence that raised it.

    A card that was used makes it an example of the cue; a wrong one makes it ordinary talk, a dismissed one half so.
    """
    weight = ACTION_WEIGHTS[action]
    return ExampleLabel(cue, weight=weight) if action == "used" else ExampleLabel(NEUTRAL, cue, weight)


def add_example(tx: Transaction, owner: str, lesson: ExampleLabel, *, vector: bytes, model: str) -> str:
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
    trim(tx, owner)
    return name


def examples_version(tx: Transaction, owner: str) -> ExamplesVersion:
    """The version of an owner's examples."""
    return tx.one(_VERSION, holder=owner) or (0, "", "")


def examples_of(tx: Transaction, owner: str, model: str) -> tuple[ExamplesVersion, list[LabelledVector]]:
    """An owner's examples by this model, oldest first, with the version they are of."""
    return examples_version(tx, owner), tx.all(_ALL, holder=owner, model=model)


def trim(tx: Transaction, owner: str) -> None:
    """Delete the owner's oldest examples beyond the newest 200."""
    oldest = tx.one(_OLDEST_KEPT, holder=owner)
    if oldest is not None:
        tx.run(_TRIM, holder=owner, oldest=oldest)
