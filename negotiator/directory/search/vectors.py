"""Sentence vectors of tools by slot: how near a tool is to a query in meaning."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from negotiator.directory.taxonomy import TASKS, TAXONOMY

SentenceVector = NDArray[np.float32]
_FIRST: Final = 1024
_FEW: Final = 100


def sentences_of(document: dict[str, Any]) -> tuple[str, ...]:
    """The texts whose vectors are added: what the tool says of itself, the words it is sorted under, and what people
    want done with tools of its kind.
    """
    category, parts = TAXONOMY.get(document["category"]), document["subcategories"]
    names = [category.subcategories.get(each, "") for each in parts] if category else []
    tags = ", ".join(document["tags"])
    return (
        f"{document['name']}: {document['summary']} {tags}",
        ", ".join(filter(None, (*names, tags))) or document["name"],
        "; ".join(TASKS[each] for each in parts) or document["summary"],
    )


class VectorColumn:
    """A unit vector for each tool. Texts wait in `waiting`, by slot, until their vector is computed."""

    def __init__(self) -> None:
        self.waiting: dict[int, tuple[str, ...]] = {}
        self._rows: SentenceVector = np.zeros((0, 0), np.float32)

    @property
    def present(self) -> bool:
        """Whether nearly every tool has a vector, so that meaning may count."""
        return len(self._rows) > 0 and len(self.waiting) <= len(self._rows) // _FEW

    def put(self, slot: int, texts: tuple[str, ...], vector: SentenceVector) -> None:
        """Set the vector of these texts, unless the tool has other texts by now."""
        if self.waiting.get(slot) != texts:
            return
        del self.waiting[slot]
        if slot >= len(self._rows):
            rows = np.zeros((max(_FIRST, 2 * slot), len(vector)), np.float32)
            if len(self._rows):
                rows[: len(self._rows)] = self._rows
            self._rows = rows
        self._rows[slot] = vector

    def likeness(self, query: SentenceVector, slots: NDArray[np.int64]) -> SentenceVector:
        """The cosine of each of these tools with the query, at least 0; 0 for a tool without a vector."""
        found = np.zeros(len(slots), np.float32)
        known = slots < len(self._rows)
        found[known] = self._rows.take(slots[known], axis=0) @ query
        return np.maximum(found, 0)

    def all_likeness(self, query: SentenceVector, size: int) -> SentenceVector:
        """The cosine of each of the first `size` tools with the query, at least 0."""
        found = np.zeros(size, np.float32)
        known = self._rows[:size]
        found[: len(known)] = known @ query
        return np.maximum(found, 0)
