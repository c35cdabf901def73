"""The base of embedders, and the built-in embedder that hashes words and their parts (Weinberger et al. 2009).

`HashingEmbedder` needs no model. It finds shared words and spellings, not shared meaning: it misses paraphrases. Health
reports when it is used.
"""

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, Literal

from negotiator.runtime import thread_pools

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    Vectors = NDArray[float32]


EmbedderState = Literal["ready", "loading", "idle"]
"""`idle` is a model that is loaded at its first use."""


class Embedder(ABC):
    """Turns texts into unit vectors, off the event loop. What is defined here is that of one that needs no loading.

    `model` names the model and its version and is stored with every vector; `lesser` says why a better embedder, which
    was expected, is not used, and is empty otherwise. `english_only` says that texts of other languages are better
    translated first.
    """

    model: str
    lesser = ""
    english_only = True
    state: EmbedderState = "ready"

    async def build(self) -> None:  # noqa: B027  there is nothing to build
        """Make the model's file if there is none; loads nothing. 503 when that fails."""

    async def prepare(self) -> None:  # noqa: B027  there is nothing to load
        """Load what embedding needs, which may take seconds; 503 when that fails."""

    @abstractmethod
    async def embed(self, texts: Sequence[str]) -> "Vectors":
        """One row for each text: float32 [texts, dimensions], each of length one; 503 when it is unavailable."""

    async def close(self) -> None:  # noqa: B027  there is nothing to close
        """Give up what it holds."""


HASHED_DIMENSIONS: Final = 384
_GRAM: Final = 4
_WORD_WEIGHT: Final = 2.0
_WORD = re.compile(r"\w+")


class HashingEmbedder(Embedder):
    """Vectors of hashed words and four-letter parts."""

    model = "hashed-ngrams-v1"

    def __init__(self, lesser: str = "") -> None:
        self.lesser = lesser

    async def embed(self, texts: Sequence[str]) -> "Vectors":
        """One unit vector for each text; an empty text gets the first axis."""
        return await thread_pools.SEARCH.run(_vectors, texts)


def _vectors(texts: Sequence[str]) -> "Vectors":
    import numpy as np

    found = np.zeros((len(texts), HASHED_DIMENSIONS), np.float32)
    for row, text in zip(found, texts, strict=True):
        for feature, weight in _features(text):
            hashed = int.from_bytes(hashlib.blake2b(feature.encode(), digest_size=8).digest())
            row[hashed % HASHED_DIMENSIONS] += weight if hashed >> 63 else -weight
        if not row.any():
            row[0] = 1.0
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def _features(text: str) -> Iterator[tuple[str, float]]:
    for word in _WORD.findall(text.casefold()):
        yield word, _WORD_WEIGHT
        framed = f"^{word}$"
        for start in range(max(1, len(framed) - _GRAM + 1)):
            yield f"#{framed[start : start + _GRAM]}", 1.0
