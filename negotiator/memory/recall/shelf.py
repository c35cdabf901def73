"""One owner's memories, ready to be searched."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from negotiator.memory.recall.keywords import Keywords
from negotiator.memory.recall.ranking import Candidates, Mode, Ranked, ranked
from negotiator.words import terms

DIMENSIONS_UNKNOWN: Final = 0
NEVER: Final = 2**62
_TEXT_COST: Final = 1200

Array = Any
Keep = Callable[[Mapping[str, Any]], bool]


@dataclass(frozen=True, slots=True)
class Shelved:
    """One memory as the shelf takes it: its searched text, its vector, and the facts that filters and weights read.

    `facts` is its view as sent; `created` and `expires` in milliseconds.
    """

    id: str
    text: str
    vector: bytes
    facts: Mapping[str, Any]
    created: int
    expires: int | None


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a shelf: the words, their vector (None in keyword mode), what may be shown."""

    text: str
    vector: Array | None
    mode: Mode
    now: int
    statuses: frozenset[str]
    keep: Keep | None = None


class Shelf:
    """Rows in the order of their ids' arrival; a changed memory leaves its old row and takes a new one."""

    def __init__(self, stamp: int) -> None:
        self.stamp = stamp
        self._rows: dict[str, int] = {}
        self._facts: list[Mapping[str, Any] | None] = []
        self._ids: list[str] = []
        self._keywords = Keywords()
        self._columns = _Columns()

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def cost(self) -> int:
        """About how many bytes it takes."""
        return self._columns.vectors.nbytes + _TEXT_COST * len(self._ids)

    def __contains__(self, memory: str) -> bool:
        return memory in self._rows

    @property
    def stale(self) -> bool:
        """Whether so many rows are left over that it is better built anew."""
        return len(self._ids) > 64 and len(self._ids) > 2 * len(self._rows)

    def put(self, memories: Sequence[Shelved]) -> None:
        """Add memories, or what became of them."""
        for memory in memories:
            if (old := self._rows.get(memory.id)) is not None:
                self._facts[old] = None
            self._rows[memory.id] = len(self._ids)
            self._ids.append(memory.id)
            self._facts.append(memory.facts)
            self._keywords.add(terms(memory.text))
        self._columns.extend(memories)

    def search(self, asked: Question) -> list[tuple[str, Ranked]]:
        """Ids in order, best first, at most fifty from either list."""
        columns, count = self._columns, len(self._ids)
        allowed = columns.expires[:count] > asked.now
        allowed &= np.isin(columns.status[:count], columns.codes(asked.statuses))
        if count > len(self._rows):
            allowed &= np.fromiter((facts is not None for facts in self._facts), bool, count)
        if asked.keep is not None:
            self._choose(allowed, asked.keep)
        nothing = np.zeros(count, np.float32)
        found = Candidates(
            semantic=nothing if asked.vector is None else columns.near(asked.vector, count),
            keyword=nothing
            if asked.mode == "semantic"
            else self._keywords.scores(terms(asked.text)),
            allowed=allowed,
            created_at=columns.created[:count],
            trust=columns.trust[:count],
            ageless=columns.ageless[:count],
        )
        return [(self._ids[one.row], one) for one in ranked(found, asked.mode, now=asked.now)]

    def nearest(
        self, vector: Array, *, now: int, statuses: frozenset[str]
    ) -> list[tuple[str, float]]:
        """The few closest in meaning with their cosine, closest first."""
        asked = Question("", vector, "semantic", now, statuses)
        return [(memory, one.semantic) for memory, one in self.search(asked)[:5]]

    def facts(self, memory: str) -> Mapping[str, Any]:
        """What filters read of a memory."""
        found = self._facts[self._rows[memory]]
        return found or {}

    def _choose(self, allowed: Array, keep: Keep) -> None:
        for row in np.flatnonzero(allowed):
            facts = self._facts[row]
            allowed[row] = facts is not None and keep(facts)


class _Columns:
    """The arrays of a shelf, grown by doubling."""

    def __init__(self) -> None:
        self.vectors: Array = np.zeros((0, DIMENSIONS_UNKNOWN), np.float32)
        self.expires: Array = np.zeros(0, np.int64)
        self.created: Array = np.zeros(0, np.int64)
        self.status: Array = np.zeros(0, np.int8)
        self.trust: Array = np.zeros(0, np.int8)
        self.ageless: Array = np.zeros(0, bool)
        self._codes: dict[str, int] = {}
        self._used = 0

    def codes(self, statuses: Iterable[str]) -> Array:
        """The numbers these statuses have in the column."""
        return np.array([self._codes[name] for name in statuses if name in self._codes], np.int8)

    def near(self, vector: Array, count: int) -> Array:
        """The cosine of every row; zero where the vectors are of another model."""
        if self.vectors.shape[1] != len(vector):
            return np.zeros(count, np.float32)
        return self.vectors[:count] @ vector

    def extend(self, memories: Sequence[Shelved]) -> None:
        """Take these memories' values as the next rows."""
        if not memories:
            return
        read = [np.frombuffer(memory.vector, np.float32) for memory in memories]
        width = max(self.vectors.shape[1], *(len(vector) for vector in read))
        self._grow(self._used + len(memories), width)
        for row, (memory, vector) in enumerate(zip(memories, read, strict=True), self._used):
            facts = memory.facts
            self.vectors[row, : len(vector)] = vector
            self.expires[row] = NEVER if memory.expires is None else memory.expires
            self.created[row] = memory.created
            self.status[row] = self._codes.setdefault(facts["status"], len(self._codes))
            self.trust[row] = facts["trust"]
            self.ageless[row] = facts["pinned"] or facts["kind"] == "win"
        self._used += len(memories)

    def _grow(self, rows: int, width: int) -> None:
        have = self.vectors.shape
        if rows <= have[0] and width == have[1]:
            return
        room = max(rows, 2 * have[0] if rows > have[0] else have[0])
        wider = np.zeros((room, width), np.float32)
        wider[: have[0], : have[1]] = self.vectors
        self.vectors = wider
        for name in ("expires", "created", "status", "trust", "ageless"):
            old = getattr(self, name)
            new = np.zeros(room, old.dtype)
            new[: len(old)] = old
            setattr(self, name, new)
