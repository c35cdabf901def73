"""The seam between text and vectors.

The embedder that is always there: words and their parts hashed into a vector (Weinberger et al. 2009).

It finds shared words and spellings, not shared meaning: paraphrases are missed. Its use is named in health.
"""

import asyncio
import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    Vectors = NDArray[float32]
    pass


class Embedder(Protocol):
    """Turns texts into unit vectors; the work is done off the event loop.

    `model` names the model and its form and stands beside every vector kept; `lesser` says that a better one was
    expected here and why it is not.
    """

    @property
    def model(self) -> str:
        """The model and its form."""
        ...

    @property
    def lesser(self) -> str:
        """Why a better one is not used; empty for the one expected."""
        ...

    async def embed(self, texts: Sequence[str]) -> "Vectors":
        """One row for each text: float32 [texts, dimensions], each of length one; 503 when it cannot be done now."""
        ...

    async def close(self) -> None:
        """Let go of threads and connections."""
        ...


HASHED_DIMENSIONS: Final = 384
_GRAM: Final = 4
_WORD_WEIGHT: Final = 2.0
_WORD = re.compile(r"\w+")


class HashingEmbedder:
    """Vectors of hashed words and four-letter parts."""

    def __init__(self, lesser: str = "") -> None:
        self.model = "hashed-ngrams-v1"
        self.lesser = lesser

    async def embed(self, texts: Sequence[str]) -> "Vectors":
        """One unit vector for each text; an empty one gets the first axis."""
        return await asyncio.to_thread(_vectors, texts)

    async def close(self) -> None:
        """It holds nothing."""


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
