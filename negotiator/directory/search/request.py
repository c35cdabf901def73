"""What the engine is given, what it is asked, and what it answers. It loads no arithmetic, so any process may ask."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from negotiator.directory.taxonomy import TASKS, TAXONOMY

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

SortOrder = Literal["relevance", "popularity", "proven", "updated", "created", "name"]
Demand = Literal["every", "most", "any"]
"""What a tool must match: every unit; a heavy unit, or two where none is heavy; or any."""
MatchStep = Literal["exact", "all", "repaired", "any", "meaning", "none"]
ToolDocument = dict[str, Any]
"""A tool as answers show it: a `ToolView` as JSON."""
DIGEST_SIZE: Final = 16


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A tool to index; times in milliseconds."""

    id: str
    document: ToolDocument
    saves: int
    created_at: int
    updated_at: int


def sentences_of(document: ToolDocument) -> tuple[str, ...]:
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


def digest_of(texts: Sequence[str]) -> bytes:
    """The digest by which the vector of these texts is known."""
    return hashlib.blake2b("\0".join(texts).encode(), digest_size=DIGEST_SIZE).digest()


@dataclass(frozen=True, slots=True)
class PinnedQuery:
    """Properties of a list's first page that later pages keep, so that they skip and repeat no tool.

    Step, corrections (or the whole query, corrected to a name), the weight of every unit, what a tool must match, the
    preliminary score above which tools are ranked first, the day from which freshness counts, and the likeness in
    meaning from which tools follow that do not match the words (None: meaning does not count). `translated` is the
    language of the query and its English text, unless it is English.
    """

    step: MatchStep
    corrected: tuple[tuple[str, str], ...]
    weights: tuple[float, ...]
    demand: Demand
    floor: float
    day: int
    near: float | None
    translated: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A request for a page.

    `filters` are OR within a name and AND across names; `after` and `frozen` are `SearchPage.last` and
    `SearchPage.frozen` of the page before; `now` is in milliseconds; `vector` is the query's sentence vector;
    `translated` its language and English text, unless it is English. `is_plain` says that the query is to be searched
    as it is: not translated, and by words alone.
    """

    query: str = ""
    filters: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    updated_since: int | None = None
    sort: SortOrder = "popularity"
    facets: Sequence[str] = ()
    limit: int = 20
    now: int = 0
    after: tuple[Any, str] | None = None
    frozen: PinnedQuery | None = None
    vector: "NDArray[float32] | None" = None
    translated: tuple[str, str] | None = None
    is_plain: bool = False


class SearchHit(NamedTuple):
    """A tool of a page; `score` (0 to 1) and `matched_on` are meaningful only with a query."""

    id: str
    score: float = 0.0
    matched_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchPage:
    """A page: its tools, the total of all pages, its end if more follow, and how the query was interpreted."""

    hits: list[SearchHit]
    total: int
    last: tuple[Any, str] | None
    normalized: str
    frozen: PinnedQuery | None
    facets: dict[str, list[tuple[str, int]]]
