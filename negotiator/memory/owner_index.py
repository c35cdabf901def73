"""What a search needs of an index of memories, whether a worker or the database has it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from negotiator import thread_pools
from negotiator.memory.index_cache import MemoryIndexCache

if TYPE_CHECKING:
    from negotiator.memory.index import IndexQuery, MemoryIndex
    from negotiator.memory.search_ranking import RankedRow

View = Mapping[str, Any]
NEAREST: Final = 5
"""How many memories `OwnerIndex.nearest` finds."""
_MAX_READ_INLINE: Final = 500


class OwnerIndex(Protocol):
    """One owner's memories with every change that was committed before it was asked for."""

    @property
    def outdated(self) -> bool:
        """Whether some memory's vector is to be made anew."""
        ...

    async def search(self, query: "IndexQuery") -> "Iterable[tuple[View, RankedRow]]":
        """Memories, best first: at most the first fifty by meaning and the first fifty by words."""
        ...

    async def nearest(
        self, vectors: Sequence[Any], *, now: int, statuses: frozenset[str]
    ) -> list[list[tuple[View, float]]]:
        """For each vector the memories closest to it and their cosines, closest first."""
        ...


class OwnerIndexes(Protocol):
    """The indexes of all owners."""

    async def of(self, owner: str) -> OwnerIndex: ...

    def renewing(self, owner: str) -> None:
        """Take note that the owner's outdated vectors are being made anew."""
        ...

    def not_renewed(self, owner: str) -> None:
        """Take note that making the owner's vectors anew failed."""
        ...

    def forget(self, owner: str) -> None:
        """Drop what this process holds of an owner."""
        ...


class WorkerIndexes:
    """The indexes that this process builds and holds."""

    def __init__(self, indexes: MemoryIndexCache) -> None:
        self._indexes = indexes

    async def of(self, owner: str) -> "_WorkerIndex":
        return _WorkerIndex(await self._indexes.of(owner))

    def renewing(self, owner: str) -> None:
        self._mark(owner, outdated=False)

    def not_renewed(self, owner: str) -> None:
        self._mark(owner, outdated=True)

    def forget(self, owner: str) -> None:
        self._indexes.forget(owner)

    def _mark(self, owner: str, *, outdated: bool) -> None:
        if index := self._indexes.held(owner):
            index.outdated = outdated


class _WorkerIndex:
    """An index in memory."""

    def __init__(self, index: "MemoryIndex") -> None:
        self._index = index

    @property
    def outdated(self) -> bool:
        return self._index.outdated

    async def search(self, query: "IndexQuery") -> "Iterable[tuple[View, RankedRow]]":
        index = self._index
        if query.keep is not None and len(index) > _MAX_READ_INLINE:
            await thread_pools.SEARCH.run(index.read)
        return ((index.facts(memory), ranked) for memory, ranked in index.search(query))

    async def nearest(
        self, vectors: Sequence[Any], *, now: int, statuses: frozenset[str]
    ) -> list[list[tuple[View, float]]]:
        index = self._index
        if not len(index):
            return [[] for _ in vectors]
        return [
            [
                (index.facts(memory), cosine)
                for memory, cosine in index.nearest(vector, now=now, statuses=statuses)
            ]
            for vector in vectors
        ]
