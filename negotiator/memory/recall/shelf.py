"""One owner's memories, ready to be searched."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import orjson

from negotiator.memory.recall.keywords import Keywords
from negotiator.memory.recall.ranking import Candidates, Mode, Ranked, Ranking, first
from negotiator.words import terms

NEVER: Final = 2**62
_GONE: Final = -1
_STATUSES: Final = ("active", "pending", "superseded", "quarantined")
_NUMBERS: Final = {status: number for number, status in enumerate(_STATUSES)}
_SKETCHED: Final = 16_384
_SHORTLIST: Final = 1_000
_GATHERED: Final = 8
_NOWHERE: Final = np.zeros(0, np.int64)
_ROW_COST: Final = 600
_FACTS_COST: Final = 2_500

Array = Any
Keep = Callable[[Mapping[str, Any]], bool]


@dataclass(frozen=True, slots=True)
class Shelved:
    """One memory as the shelf takes it: its terms, its vector, its view as JSON, and what every search reads of it.

    `vector` is None when it is by another model than the one that questions are put to: it is found by its words.
    `created` and `expires` in milliseconds; `ageless` ones do not pale with time.
    """

    id: str
    terms: Sequence[str]
    vector: bytes | None
    document: bytes
    status: str
    trust: int
    ageless: bool
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
    """Rows in the order of their arrival; a changed memory leaves its old row and takes a new one."""

    def __init__(self, stamp: int) -> None:
        self.stamp = stamp
        self._places: dict[str, int] = {}
        self._ids: list[str] = []
        self._documents: list[bytes] = []
        self._facts: dict[int, Mapping[str, Any]] = {}
        self._keywords = Keywords()
        self._columns = _Columns()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, memory: str) -> bool:
        return memory in self._places

    @property
    def cost(self) -> int:
        """About how many bytes it takes."""
        rows = self._bytes + _ROW_COST * len(self._ids)
        return self._columns.vectors.nbytes + rows + _FACTS_COST * len(self._facts)

    @property
    def stale(self) -> bool:
        """Whether so many rows are left over that it is better built anew."""
        return len(self._ids) > 64 and len(self._ids) > 2 * len(self._places)

    def put(self, memories: Sequence[Shelved]) -> None:
        """Add memories, or what became of them."""
        for memory in memories:
            if (old := self._places.get(memory.id)) is not None:
                self._columns.status[old] = _GONE
            self._places[memory.id] = len(self._ids)
            self._ids.append(memory.id)
            self._documents.append(memory.document)
            self._bytes += len(memory.document)
        self._keywords.extend([memory.terms for memory in memories])
        self._columns.extend(memories)

    def search(self, asked: Question) -> Iterator[tuple[str, Ranked]]:
        """Ids in order, best first; at most the first fifty by meaning and the first fifty by words."""
        columns = self._columns
        allowed = columns.allowed(asked)
        if asked.keep is not None:
            keep = asked.keep
            for row in np.flatnonzero(allowed):
                allowed[row] = keep(self._read(int(row)))
        nearest = matching = _NOWHERE
        words = np.zeros(len(self._ids), np.float32)
        if asked.vector is not None:
            nearest = columns.nearest(asked.vector, allowed)
        if asked.mode != "semantic":
            words = self._keywords.scores(terms(asked.text))
            matching = first(words, np.flatnonzero((words > 0) & allowed))
        rows = np.unique(np.concatenate([nearest, matching]))
        found = Candidates(
            rows=rows,
            semantic=columns.cosines(asked.vector, rows),
            keyword=words[rows],
            nearest=nearest,
            matching=matching,
            created_at=columns.created[rows],
            trust=columns.trust[rows],
            ageless=columns.ageless[rows],
        )
        for one in Ranking(found, asked.mode, now=asked.now):
            yield self._ids[one.row], one

    def nearest(
        self, vector: Array, *, now: int, statuses: frozenset[str]
    ) -> list[tuple[str, float]]:
        """The few closest in meaning with their cosine, closest first."""
        columns = self._columns
        allowed = columns.allowed(Question("", vector, "semantic", now, statuses))
        rows = columns.nearest(vector, allowed)[:5]
        cosines = columns.cosines(vector, rows)
        return [(self._ids[row], float(cosine)) for row, cosine in zip(rows, cosines, strict=True)]

    def facts(self, memory: str) -> Mapping[str, Any]:
        """A memory's view."""
        found: Mapping[str, Any] = orjson.loads(self._documents[self._places[memory]])
        return found

    def read(self) -> None:
        """Have every memory's view at hand, as filters need it. Takes its time the first time."""
        for row in self._places.values():
            self._read(row)

    def _read(self, row: int) -> Mapping[str, Any]:
        if row not in self._facts:
            self._facts[row] = orjson.loads(self._documents[row])
        return self._facts[row]


class _Columns:
    """The arrays of a shelf, grown by doubling; the first `_used` rows of each count.

    `sketch` holds the signs of the vectors, one bit a dimension: what a large shelf is looked through by first.
    """

    def __init__(self) -> None:
        self.vectors: Array = np.zeros((0, 0), np.float32)
        self.sketch: Array = np.zeros((0, 0), np.uint64)
        self.expires: Array = np.zeros(0, np.int64)
        self.created: Array = np.zeros(0, np.int64)
        self.status: Array = np.zeros(0, np.int8)
        self.trust: Array = np.zeros(0, np.int8)
        self.ageless: Array = np.zeros(0, bool)
        self.comparable: Array = np.zeros(0, bool)
        self._used = 0

    def allowed(self, asked: Question) -> Array:
        """Which rows may be shown."""
        numbers = [number for name, number in _NUMBERS.items() if name in asked.statuses]
        status = self.status[: self._used]
        fits = status == numbers[0] if len(numbers) == 1 else np.isin(status, numbers)
        fits &= self.expires[: self._used] > asked.now
        return fits

    def nearest(self, vector: Array, allowed: Array) -> Array:
        """The allowed rows closest to a vector, closest first."""
        if self.vectors.shape[1] != len(vector):
            return _NOWHERE
        rows = np.flatnonzero(allowed & self.comparable[: self._used])
        if len(rows) > _SKETCHED:
            rows = self._shortlist(vector, rows)
        if len(rows) * _GATHERED < self._used:
            return rows[first(self.vectors[rows] @ vector, np.arange(len(rows)))]
        return first(self.vectors[: self._used] @ vector, rows)

    def cosines(self, vector: Array | None, rows: Array) -> Array:
        """The cosine of these rows; zero where vectors are of another model."""
        if vector is None or self.vectors.shape[1] != len(vector):
            return np.zeros(len(rows), np.float32)
        return self.vectors[rows] @ vector

    def extend(self, memories: Sequence[Shelved]) -> None:
        """Take these memories' values as the next rows."""
        if not memories:
            return
        found = [memory.vector for memory in memories if memory.vector is not None]
        start, self._used = self._used, self._used + len(memories)
        self._grow(self._used, max(self.vectors.shape[1], len(found[0]) // 4 if found else 0))
        span = slice(start, self._used)
        none = bytes(4 * self.vectors.shape[1])
        joined = b"".join([memory.vector or none for memory in memories])
        vectors = np.frombuffer(joined, np.float32).reshape(len(memories), -1)
        self.vectors[span] = vectors
        self.sketch[:, span] = _signs(vectors).T
        self.comparable[span] = [memory.vector is not None for memory in memories]
        self.expires[span] = [NEVER if m.expires is None else m.expires for m in memories]
        self.created[span] = [memory.created for memory in memories]
        self.status[span] = [_NUMBERS[memory.status] for memory in memories]
        self.trust[span] = [memory.trust for memory in memories]
        self.ageless[span] = [memory.ageless for memory in memories]

    def _shortlist(self, vector: Array, rows: Array) -> Array:
        """Of many rows the thousand and some whose vectors point to the same side in most dimensions.

        Signs agree the more, the smaller the angle (Charikar 2002); what they leave is compared exactly.
        """
        [signs] = _signs(vector[np.newaxis])
        apart = np.zeros(self._used, np.uint16)
        for theirs, mine in zip(self.sketch, signs, strict=True):
            apart += np.bitwise_count(theirs[: self._used] ^ mine)
        among = apart if len(rows) == self._used else apart[rows]
        reached = np.cumsum(np.bincount(among)) >= _SHORTLIST
        return rows[among <= np.argmax(reached)]

    def _grow(self, rows: int, width: int) -> None:
        """Make room for so many rows of vectors this wide; a first vector gives those before it their width."""
        if (room := len(self.expires)) >= rows and self.vectors.shape[1] == width:
            return
        room = max(rows, 2 * room) if rows > room else room
        self.vectors = _larger(self.vectors, (room, width))
        self.sketch = _larger(self.sketch, ((width + 63) // 64, room))
        for name in ("expires", "created", "status", "trust", "ageless", "comparable"):
            setattr(self, name, _larger(getattr(self, name), (room,)))


def _larger(old: Array, shape: tuple[int, ...]) -> Array:
    new = np.zeros(shape, old.dtype)
    new[tuple(map(slice, old.shape))] = old
    return new


def _signs(vectors: Array) -> Array:
    """The vectors' signs, 64 to a number: uint64 [rows, dimensions / 64]."""
    packed = np.packbits(vectors > 0, axis=1)
    padded = np.zeros((len(vectors), -(-packed.shape[1] // 8) * 8), np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view(np.uint64)
