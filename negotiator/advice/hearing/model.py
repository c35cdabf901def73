"""A linear model over sparse features that are named by texts."""

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
_FILE: Final = "model.npz"


@dataclass(frozen=True, slots=True)
class SparseModel:
    """One weight per feature and label. `keys` are the sorted CRC-32 of the features, `weights` [features, labels]
    lie in whole numbers from -127 to 127 of `scale`, `bias` is of each label.
    """

    labels: tuple[str, ...]
    keys: NDArray[np.uint32]
    weights: NDArray[np.int8]
    scale: float
    bias: Floats

    def scores(self, features: Iterable[str]) -> Floats:
        """The score of each label before it becomes a probability."""
        asked = feature_keys(features)
        places = np.searchsorted(self.keys, asked)
        places[places == len(self.keys)] = 0
        known = places[self.keys[places] == asked]
        total = self.weights[known].sum(axis=0, dtype=np.int32)
        return self.bias + total.astype(np.float32) * np.float32(self.scale / max(1, len(asked)) ** 0.5)

    def shares(self, features: Iterable[str]) -> dict[str, float]:
        """The probability of each label where exactly one holds."""
        score = self.scores(features)
        share = np.exp(score - score.max())
        return dict(zip(self.labels, (share / share.sum()).tolist(), strict=True))

    def chances(self, features: Iterable[str]) -> dict[str, float]:
        """The probability of each label where each holds or not by itself."""
        return dict(zip(self.labels, (1 / (1 + np.exp(-self.scores(features)))).tolist(), strict=True))


def feature_keys(features: Iterable[str]) -> NDArray[np.uint32]:
    """The distinct CRC-32 of the features, sorted."""
    return np.unique(np.fromiter((zlib.crc32(one.encode()) for one in features), np.uint32))


@cache
def load_models() -> Mapping[str, SparseModel]:
    """The models that the package brings, by name."""
    with files(__package__ or __name__).joinpath(_FILE).open("rb") as source, np.load(source) as kept:
        names = kept["names"].tolist()
        return {
            name: SparseModel(
                tuple(kept[f"{name} labels"].tolist()),
                kept[f"{name} keys"],
                kept[f"{name} weights"],
                float(kept[f"{name} scale"]),
                kept[f"{name} bias"],
            )
            for name in names
        }
