"""What the directory asks of its search, whether each worker has an index or the database searches."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from negotiator.directory.tool_vectors import ToolVectors

if TYPE_CHECKING:
    from negotiator.directory.search.search import SearchPage, SearchRequest


class CategoryCounts(NamedTuple):
    """Of each category and subcategory the number of visible tools, and of each category when a tool last changed."""

    tools: Mapping[str, int]
    parts: Mapping[str, int]
    updated: Mapping[str, int]


class CatalogueSnapshot(Protocol):
    """The catalogue with every change that was committed before it was asked for."""

    @property
    def seq(self) -> int:
        """The number of its last change."""
        ...

    @property
    def meaning(self) -> tuple[bool, int]:
        """Whether meaning counts, and how many tools wait for their vector."""
        ...

    async def search(self, request: "SearchRequest") -> "SearchPage":
        """A page; unless the request `is_plain`, its query is read in its language, and by its meaning."""
        ...

    async def first_named(self, words: Sequence[str]) -> str | None:
        """The oldest visible tool whose name or slug, written as one word, is the first of these that any has."""
        ...

    async def category_counts(self) -> CategoryCounts: ...


class CatalogueSearch(Protocol):
    """Searches the catalogue."""

    vectors: ToolVectors | None
    """What computes sentence vectors; without it words alone count."""

    @property
    def size(self) -> int:
        """The tools that this process holds in an index."""
        ...

    def state(self) -> str:
        """The health check."""
        ...

    async def warm(self) -> None:
        """Do in the background what searches need; called each minute."""
        ...

    async def snapshot(self) -> CatalogueSnapshot: ...

    async def documents(self, ids: Sequence[str]) -> list[bytes]:
        """The documents of these tools, in this order."""
        ...
