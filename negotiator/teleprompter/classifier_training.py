"""Trains cue classifiers: the shipped training sums, stored in a file, and a user's examples added to them.

Training takes seconds and depends on the shipped phrasings and the embedder only, so it is done once for all processes.
Adding a user's few examples takes a tenth of a second.
"""

import hashlib
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np
import orjson

from negotiator.memory.embedding.trained_file import write_arrays
from negotiator.runtime.telemetry import logger
from negotiator.teleprompter.cues import classifier as method
from negotiator.teleprompter.cues.catalogue import SPEAKERS, CueCatalogue, Speaker
from negotiator.teleprompter.cues.classifier import CueClassifier, Landmarks, TrainingSums, Vectors, training_sums
from negotiator.teleprompter.cues.matcher import CueMatch
from negotiator.teleprompter.queries import LabelledVector

OWN_WEIGHT: Final = 2.0
"""How much an owner's example counts beside a shipped one."""
REFUSAL_NEARNESS: Final = 0.65
"""From which cosine a sentence is the refused one in other words: paraphrases have .69 to .94, other sentences of the
same cue .54 at the 99th percentile, in the held-out wordings."""
REFUSALS_TO_SUPPRESS: Final = 3.0
"""So many refusals of near sentences take a card away altogether; fewer make it less sure."""
_FORM: Final = 1
_PARTS: Final = ("vectors", "whitening", "gram", "moment", "weights")
_BROKEN: Final = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile)
log = logger(__name__)


@dataclass(frozen=True, slots=True)
class UserClassifier:
    """A speaker's head with what its owner refused: vectors [refusals, dimensions], of which cue, how much each counts.

    A card that was used counts against its refusal: its weight is negative.
    """

    head: CueClassifier
    vectors: Vectors | None = None
    against: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()

    def with_refusals(self, matches: Sequence[CueMatch], heard: Vectors) -> tuple[CueMatch, ...]:
        """The matches less sure where their owner refused the card for nearly these words, surest first."""
        if self.vectors is None or not matches:
            return tuple(matches)
        near = (heard @ self.vectors.T).max(axis=0) >= REFUSAL_NEARNESS
        refused: dict[str, float] = {}
        for is_near, cue, weight in zip(near.tolist(), self.against, self.weights, strict=True):
            if is_near:
                refused[cue] = refused.get(cue, 0.0) + weight
        if not refused:
            return tuple(matches)
        shares = {
            cue: 1.0 - min(max(count, 0.0), REFUSALS_TO_SUPPRESS) / REFUSALS_TO_SUPPRESS
            for cue, count in refused.items()
        }
        cooled = [
            replace(match, confidence=round(match.confidence * shares.get(match.cue_id, 1.0), 3)) for match in matches
        ]
        kept = [match for match in cooled if match.confidence > 0]
        return tuple(sorted(kept, key=lambda one: (-one.confidence, one.cue_id)))


@dataclass(frozen=True, slots=True)
class ShippedClassifiers:
    """The training sums of both speakers and the classifiers solved from them."""

    lessons: Mapping[Speaker, TrainingSums]
    taught: Mapping[Speaker, UserClassifier] = field(default_factory=dict[Speaker, UserClassifier])

    def with_own(self, speaker: Speaker, examples: Iterable[LabelledVector]) -> UserClassifier:
        """The speaker's classifier with an owner's examples; examples of removed cues are left out."""
        lessons = self.lessons[speaker]
        known = frozenset(lessons.labels)
        mine = [
            one
            for one in examples
            if (one.lesson.cue or one.lesson.against) in known
            and len(one.vector) == 4 * lessons.landmarks.vectors.shape[1]
        ]
        if not mine:
            return self.taught[speaker]
        rows = np.vstack([np.frombuffer(one.vector, np.float32) for one in mine])
        for weight in sorted({one.lesson.weight for one in mine}):
            chosen = [at for at, one in enumerate(mine) if one.lesson.weight == weight]
            labels = [mine[at].lesson.cue for at in chosen]
            lessons = lessons.adding(rows[chosen], labels, weight=OWN_WEIGHT * weight)
        said = [one.lesson for one in mine]
        return UserClassifier(
            lessons.head(),
            rows,
            tuple(one.against or one.cue for one in said),
            tuple(one.weight if one.against else -one.weight for one in said),
        )


def train_shipped(catalogue: CueCatalogue, vectors: Mapping[Speaker, Vectors]) -> ShippedClassifiers:
    """Learn from the catalogue's examples, whose vectors these are; takes seconds of one core."""
    lessons: dict[Speaker, TrainingSums] = {
        speaker: training_sums(
            [cue.id for cue in catalogue.of(speaker)],
            vectors[speaker],
            [label for _, label in catalogue.examples(speaker)],
        )
        for speaker in SPEAKERS
    }
    return ShippedClassifiers(lessons, {speaker: UserClassifier(lessons[speaker].head()) for speaker in SPEAKERS})


def shipped_file(folder: Path, catalogue: CueCatalogue, model: str) -> Path:
    """Where the lessons of this catalogue by this model are kept: named by a digest of all that they depend on."""
    told = [
        _FORM,
        method.RIDGE,
        method.SHARPNESS,
        method.LANDMARKS,
        *([list(map(list, catalogue.examples(speaker))) for speaker in SPEAKERS]),
    ]
    whose = hashlib.sha256(model.encode()).hexdigest()[:8]
    return folder / f"cues-{whose}-{hashlib.sha256(orjson.dumps(told)).hexdigest()[:16]}.npz"


def read_shipped(file: Path) -> ShippedClassifiers | None:
    """The contents of a file; None when it does not exist or cannot be read."""
    if not file.exists():
        return None
    lessons: dict[Speaker, TrainingSums] = {}
    taught: dict[Speaker, UserClassifier] = {}
    try:
        with file.open("rb") as source, np.load(source, allow_pickle=False) as kept:
            for speaker in SPEAKERS:
                labels = tuple(str(one) for one in kept[f"{speaker}_labels"])
                vectors, whitening, gram, moment, weights = (kept[f"{speaker}_{part}"] for part in _PARTS)
                marks = Landmarks(vectors, whitening)
                lessons[speaker] = TrainingSums(labels, marks, gram, moment)
                taught[speaker] = UserClassifier(CueClassifier(labels, marks, weights))
                side = len(vectors)
                if not (gram.shape == (side, side) and weights.shape == (side, len(labels))):
                    raise ValueError("the parts do not fit together")
    except _BROKEN as fault:
        log.warning("the lessons cannot be read and are learned again", detail=repr(fault))
        return None
    return ShippedClassifiers(lessons, taught)


def write_shipped(file: Path, shipped: ShippedClassifiers) -> None:
    """Write the file atomically, and delete files of another catalogue by the same model."""
    parts: dict[str, np.ndarray] = {}
    for speaker, lessons in shipped.lessons.items():
        marks, weights = lessons.landmarks, shipped.taught[speaker].head.weights
        values = (marks.vectors, marks.whitening, lessons.gram, lessons.moment, weights)
        parts |= {f"{speaker}_{part}": value for part, value in zip(_PARTS, values, strict=True)}
        parts[f"{speaker}_labels"] = np.array(lessons.labels)
    write_arrays(file, parts)
