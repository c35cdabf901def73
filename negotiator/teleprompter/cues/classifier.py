"""A light head over sentence vectors: kernel ridge regression, solved, not trained (Saunders et al. 1998).

Each cue is one column that is 1 for its own phrasings and 0 elsewhere; ordinary talk is a column of its own. A text is
described by its nearness to some of the examples, the landmarks (Nystroem, Williams and Seeger 2001), which told
phrasings apart better in cross-validation than the bare vector. All that has to be kept of the examples are two sums
(`Lessons`), so that a user's own are added to the shipped ones, and the whole solved again, within milliseconds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from negotiator.teleprompter.cues.catalogue import NEUTRAL

RIDGE: Final = 0.3
SHARPNESS: Final = 2.0
LANDMARKS: Final = 1024

Vectors = NDArray[np.float32]
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Landmarks:
    """The examples that texts are compared with, [landmarks, dimensions], and their whitening matrix."""

    vectors: Vectors
    whitening: Numbers

    def nearness(self, vectors: Vectors) -> Numbers:
        """[texts, landmarks]: 1 for the landmark itself, towards 0 for what is far."""
        alike = (vectors @ self.vectors.T).astype(np.float64)
        return np.exp(SHARPNESS * (alike - 1.0))


@dataclass(frozen=True, slots=True)
class CueClassifier:
    """Weights [landmarks, labels]; the last label is `NEUTRAL`."""

    labels: tuple[str, ...]
    landmarks: Landmarks
    weights: Numbers

    def scores(self, vectors: Vectors) -> Numbers:
        """[texts, labels]: about 1 for an example of the label, about 0 for anything else."""
        return self.landmarks.nearness(vectors) @ self.weights


@dataclass(frozen=True, slots=True)
class TrainingSums:
    """The sufficient statistics of the examples: X'WX and X'WY, with W the weights."""

    labels: tuple[str, ...]
    landmarks: Landmarks
    gram: Numbers
    moment: Numbers

    def adding(self, vectors: Vectors, labels: Sequence[str], *, weight: float = 1.0) -> "TrainingSums":
        """With these examples as well, each counted `weight` times; a KeyError names an unknown label."""
        column = {label: at for at, label in enumerate(self.labels)}
        rows = self.landmarks.nearness(vectors) @ self.landmarks.whitening
        targets = np.zeros((len(labels), len(self.labels)))
        targets[np.arange(len(labels)), [column[label] for label in labels]] = 1.0
        weighed = rows.T * weight
        gram = self.gram + weighed @ rows
        return TrainingSums(self.labels, self.landmarks, gram, self.moment + weighed @ targets)

    def head(self, ridge: float = RIDGE) -> CueClassifier:
        """The weights with the least squared error plus `ridge` times their own size."""
        penalty = ridge * np.eye(len(self.gram))
        solved = np.linalg.solve(self.gram + penalty, self.moment).astype(np.float64)
        return CueClassifier(self.labels, self.landmarks, self.landmarks.whitening @ solved)


def training_sums(
    cue_ids: Sequence[str], vectors: Vectors, labels: Sequence[str], *, landmarks: int = LANDMARKS
) -> TrainingSums:
    """The training sums of these examples; every n-th of them, in order, is a landmark."""
    if len(vectors) == 0:
        raise ValueError("nothing can be learned from no examples")
    names = (*cue_ids, NEUTRAL)
    chosen = vectors[np.linspace(0, len(vectors) - 1, min(landmarks, len(vectors)), dtype=int)]
    marks = Landmarks(chosen, _whitening(chosen))
    side = len(chosen)
    empty = TrainingSums(names, marks, np.zeros((side, side)), np.zeros((side, len(names))))
    return empty.adding(vectors, labels)


def _whitening(chosen: Vectors) -> Numbers:
    """The inverse square root of the landmarks' kernel matrix."""
    near = Landmarks(chosen, np.zeros((0, 0))).nearness(chosen)
    sizes, axes = np.linalg.eigh(near)
    kept = np.maximum(sizes, 1e-6)
    return ((axes / np.sqrt(kept)) @ axes.T).astype(np.float64)
