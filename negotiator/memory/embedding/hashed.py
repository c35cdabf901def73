"""The embedder that is always there: words and their parts hashed into a vector (Weinberger et al. 2009).

It finds shared words and spellings, not shared meaning: paraphrases are missed. Its use is named in health.
"""

import asyncio
import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from negotiator.memory.embedding.embedder import Vectors

DIMENSIONS: Final = 384
_GRAM: Final = 4
_WORD_WEIGHT: Final = 2.0
_WORD = re.compile(r"\w+")


class Hashed:
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

    found = np.zeros((len(texts), DIMENSIONS), np.float32)
    for row, text in zip(found, texts, strict=True):
        for feature, weight in _features(text):
            hashed = int.from_bytes(hashlib.blake2b(feature.encode(), digest_size=8).digest())
            row[hashed % DIMENSIONS] += weight if hashed >> 63 else -weight
        if not row.any():
            row[0] = 1.0
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def _features(text: str) -> Iterator[tuple[str, float]]:
    for word in _WORD.findall(text.casefold()):
        yield word, _WORD_WEIGHT
        framed = f"^{word}$"
        for start in range(max(1, len(framed) - _GRAM + 1)):
            yield f"#{framed[start : start + _GRAM]}", 1.0
