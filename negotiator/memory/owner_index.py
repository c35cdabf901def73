"""What a search needs of an index of memories, whether a worker or the database has it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from negotiator.memory.index import IndexQuery
    from negotiator.memory.search_ranking import RankedRow

View = Mapping[str, Any]
NEAREST: Final = 5
"""How many memories `OwnerIndex.nearest` finds."""


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

    @property
    def held_bytes(self) -> int:
        """The size of what this process holds of them."""
        ...

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
