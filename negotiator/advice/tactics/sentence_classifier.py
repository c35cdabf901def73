"""A classifier of sentences by tactic: kernel ridge regression (Saunders et al. 1998) over meaning and wording.

Each tactic is one column that is 1 for its own example sentences and 0 elsewhere; ordinary talk is a column of its own.
Two sentences are alike by their sentence vectors and, with a smaller weight, by the words and the sequences of two and
three words that they share: meaning finds a tactic in other words, wording tells negations and set phrases apart.
"""

import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from negotiator.advice.tactics.phrases import clean_text, split_words

RIDGE: Final = 0.05
WORDING_WEIGHT: Final = 0.15
"""Weight of shared wording beside shared meaning."""
MAX_SEQUENCE: Final = 3
_FEWEST_SENTENCES: Final = 2
_BROKEN: Final = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile)

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class TacticClassifier:
    """What was learned: weights of the examples [examples, labels] and of word sequences [sequences, labels].

    `vectors` are those of the examples; `rarity` weighs the word sequences, whose places `places` tells.
    """

    labels: tuple[str, ...]
    vectors: Vectors
    weights: Vectors
    places: Mapping[str, int]
    rarity: Vectors
    wording_weights: Vectors

    def scores(self, texts: Sequence[str], vectors: Vectors) -> list[dict[str, float]]:
        """For each text the labels' scores: about 1 for an example of the label, about 0 for anything else."""
        found = np.exp(vectors @ self.vectors.T - 1.0) @ self.weights
        for row, text in zip(found, texts, strict=True):
            places, values = _wording(word_sequences(text), self.places, self.rarity)
            row += WORDING_WEIGHT * (values @ self.wording_weights[places])
        return [dict(zip(self.labels, row.tolist(), strict=True)) for row in found]


def word_sequences(text: str) -> tuple[str, ...]:
    """The words and the sequences of two and three words of a text, numbers as `#`; begin and end count as words."""
    words = ["^", *(word.keys[0] for word in split_words(clean_text(text), {})), "$"]
    return tuple(
        " ".join(words[at : at + size]) for size in range(1, MAX_SEQUENCE + 1) for at in range(len(words) - size + 1)
    )


def train_classifier(examples: Sequence[tuple[str, str]], vectors: Vectors) -> TacticClassifier:
    """The classifier of these (text, label) pairs, whose vectors these are; takes seconds of one core."""
    labels = tuple(sorted({label for _, label in examples}))
    sequences = [word_sequences(text) for text, _ in examples]
    spread = Counter(one for said in sequences for one in set(said))
    places = {
        one: at for at, one in enumerate(sorted(one for one, count in spread.items() if count >= _FEWEST_SENTENCES))
    }
    rarity = np.array([np.log((len(examples) + 1) / (spread[one] + 1)) + 0.3 for one in places], np.float32)
    holders: list[list[tuple[int, float]]] = [[] for _ in places]
    for row, said in enumerate(sequences):
        found, values = _wording(said, places, rarity)
        for place, value in zip(found, values, strict=True):
            holders[int(place)].append((row, float(value)))
    kernel = np.exp(vectors @ vectors.T - 1.0).astype(np.float64)
    for held in holders:
        rows = [row for row, _ in held]
        values = np.array([value for _, value in held])
        kernel[np.ix_(rows, rows)] += WORDING_WEIGHT * np.outer(values, values)
    targets = np.zeros((len(examples), len(labels)))
    targets[np.arange(len(examples)), [labels.index(label) for _, label in examples]] = 1.0
    kernel[np.diag_indices_from(kernel)] += RIDGE
    weights = np.linalg.solve(kernel, targets)
    wording = [np.array([value for _, value in held]) @ weights[[row for row, _ in held]] for held in holders]
    return TacticClassifier(
        labels,
        vectors.astype(np.float32),
        weights.astype(np.float32),
        places,
        rarity,
        np.array(wording, np.float32).reshape(len(places), len(labels)),
    )


def read_classifier(file: Path) -> TacticClassifier | None:
    """The classifier that a file holds; None when it does not exist or cannot be read."""
    if not file.exists():
        return None
    try:
        with file.open("rb") as source, np.load(source, allow_pickle=False) as kept:
            sequences: list[str] = kept["sequences"].tolist()
            found = TacticClassifier(
                tuple(kept["labels"].tolist()),
                kept["vectors"],
                kept["weights"],
                {one: at for at, one in enumerate(sequences)},
                kept["rarity"],
                kept["wording_weights"],
            )
    except _BROKEN:
        return None
    sizes = (len(found.vectors), len(found.labels)), (len(sequences), len(found.labels))
    fits = (found.weights.shape, found.wording_weights.shape) == sizes
    return found if fits and len(found.rarity) == len(sequences) else None


def classifier_arrays(learned: TacticClassifier) -> dict[str, "np.ndarray"]:
    """The arrays that `read_classifier` reads."""
    return {
        "labels": np.array(learned.labels),
        "vectors": learned.vectors,
        "weights": learned.weights,
        "sequences": np.array(list(learned.places)),
        "rarity": learned.rarity,
        "wording_weights": learned.wording_weights,
    }


def _wording(said: Sequence[str], places: Mapping[str, int], rarity: Vectors) -> tuple[NDArray[np.intp], Vectors]:
    """The places of the known word sequences and their values, a vector of length one."""
    found = np.array(sorted({places[one] for one in said if one in places}), np.intp)
    values = rarity[found]
    return found, values / max(float(np.linalg.norm(values)), 1e-9)
