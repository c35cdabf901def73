"""A memory on the wire (docs/contract 7.1)."""

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints
from typing_extensions import TypedDict

from negotiator.base.schema import Strict, example_schema, merge_patch
from negotiator.base.values import Moment, Number, Origin, QueryWhole, Scalar, ShortText, Truth, Whole
from negotiator.http.cursors import Cursor
from negotiator.memory.content_guard import strip_invisible
from negotiator.memory.search_filters import SearchFilters

MEMORIES_PATH: Final = "/api/memories"
MEMORY_SEARCH_PATH: Final = "/api/memories/search"
MEMORY_IMPORT_PATH: Final = "/api/memories/import"
MemoryKind = Literal["fact", "preference", "counterparty", "tactic", "lesson", "win"]
MemoryStatus = Literal["active", "pending", "superseded", "quarantined"]
SearchMode = Literal["hybrid", "semantic", "keyword"]


def _visible(text: str) -> str:
    found = strip_invisible(text)
    if not found:
        raise ValueError("Must contain a visible character")
    return found


def _visible_value(value: Any) -> Any:
    return _visible(value) if isinstance(value, str) else value


MemoryText = Annotated[str, StringConstraints(min_length=1, max_length=4000), AfterValidator(_visible)]
MemoryTag = Annotated[str, StringConstraints(min_length=1, max_length=50), AfterValidator(_visible)]
AttributeName = Annotated[str, StringConstraints(min_length=1, max_length=64), AfterValidator(_visible)]
VisibleName = Annotated[ShortText, AfterValidator(_visible)]
AttributeValue = Annotated[Scalar, AfterValidator(_visible_value)]


class MemoryBody(Strict):
    """What a memory says and what it is about. The server sets its source and trust."""

    model_config = ConfigDict(
        json_schema_extra=example_schema(
            {
                "text": "Acme's buyer gives way on price in the last week of a quarter, never before.",
                "kind": "counterparty",
                "counterparty": "Acme",
                "tags": ["timing"],
            }
        )
    )

    text: MemoryText = Field(description="One thing worth knowing, as plain text.")
    kind: MemoryKind = Field("fact", description="What kind of knowledge.")
    tags: list[MemoryTag] = Field(default_factory=list[str], max_length=20, description="Words to filter by.")
    attributes: dict[AttributeName, AttributeValue] = Field(
        default_factory=dict[str, Any], max_length=50, description="Named values to filter by."
    )
    category: VisibleName | None = Field(None, description="What is bought, sold or settled.")
    counterparty: VisibleName | None = Field(None, description="The counterparty it is about.")
    negotiation_id: ShortText | None = Field(None, description="The negotiation it comes from.")
    valid_from: Moment | None = Field(None, description="When it became true; now if absent.")
    expires_at: Moment | None = Field(None, description="When it stops being found.")
    pinned: Truth = Field(False, description="Its score does not fall with age.")

    @property
    def prose(self) -> list[str]:
        """Every text in it that a model could read."""
        named = [*self.tags, *self.attributes, self.category, self.counterparty]
        texts = [text for text in (*named, *self.attributes.values()) if isinstance(text, str)]
        return [self.text, *texts]


class NewMemory(MemoryBody):
    """A memory to store. `supersedes` names the memory it replaces, which stays as superseded."""

    supersedes: ShortText | None = Field(None, description="The memory that this one corrects.")


class MemoryId(Strict):
    """The id of a memory."""

    id: str = Field(description="The memory's id.")


class GetMemory(MemoryId):
    """A memory, optionally at an earlier time."""

    at: Moment | None = Field(None, description="The time to read it at; now if absent.")


class EditMemory(merge_patch(MemoryBody), MemoryId):
    """A JSON merge patch (RFC 7396): absent members stay, null removes; the result is validated as a whole."""


class ListMemories(Strict):
    """Which memories to list, newest first."""

    kind: MemoryKind | None = Field(None, description="Only those of this kind.")
    status: MemoryStatus | None = Field(None, description="All of them when left out.")
    category: ShortText | None = Field(None, description="Only those of this category.")
    counterparty: ShortText | None = Field(None, description="Only those about this other side.")
    negotiation_id: ShortText | None = Field(None, description="Only those from this negotiation.")
    trust: QueryWhole | None = Field(
        None, ge=0, le=3, description="Least trust; 0 also finds those of unknown authors."
    )
    waiting: bool | None = Field(
        None, description="Only those that wait for the user's review (true), or do not (false)."
    )
    pinned: bool | None = Field(None, description="Only pinned ones (true), or others (false).")
    query: ShortText | None = Field(
        None,
        description="Words that all begin a word of the text, the counterparty, category or tags; one with signs "
        "(C++) or other than Latin letters stands anywhere in them.",
    )
    limit: QueryWhole = Field(20, ge=1, le=100, description="How many at most.")
    cursor: Cursor = None


class ListMemoryVersions(MemoryId):
    """A page of a memory's earlier versions, newest first."""

    limit: QueryWhole = Field(20, ge=1, le=100, description="How many at most.")
    cursor: Cursor = None


class SearchMemories(Strict):
    """What to find. `hybrid` combines meaning and words; filters apply before ranking.

    A filter may also test `trust`, `status`, `pinned`, dates and `source.type`, have operators in place of a value (eq
    ne in gt gte lt lte exists), and combine filters with AND, OR and NOT.
    """

    model_config = ConfigDict(
        json_schema_extra=example_schema(
            {
                "query": "when does Acme give discounts",
                "filters": {"kind": {"in": ["counterparty", "lesson"]}},
                "limit": 5,
                "explain": True,
            }
        )
    )

    query: Annotated[str, StringConstraints(min_length=1, max_length=1000)] = Field(
        description="What to look for, in plain words."
    )
    filters: SearchFilters = Field(
        default_factory=dict[str, Any],
        description="What fields must equal: kind, category, counterparty, tags, negotiation_id or attributes.NAME.",
    )
    limit: Whole = Field(8, ge=1, le=50, description="How many at most.")
    mode: SearchMode = Field("hybrid", description="By meaning, by words, or both.")
    min_score: Number | None = Field(None, ge=0, le=1, description="Least cosine similarity, in `semantic` mode.")
    include: list[Literal["superseded", "pending"]] = Field(
        default_factory=list[Literal["superseded", "pending"]],
        max_length=2,
        description="Statuses that are left out otherwise.",
    )
    explain: Truth = Field(False, description="Add to each result how its score came about.")


class EraseMemories(Strict):
    """To erase everything, the caller confirms the current number of memories."""

    confirm: QueryWhole = Field(ge=0, description="How many memories there are, over all statuses.")


class MemorySourceView(TypedDict):
    """Where a memory comes from; set by the server."""

    type: str
    client_id: str | None
    at: str


class MemoryView(TypedDict):
    """A memory as its owner sees it.

    `trust`: 3 written or confirmed by the user, 2 written by their agent, 1 by an unclaimed agent, 0 heard, imported or
    claimed and not yet reviewed. `similar_to` names a memory that says almost the same.
    """

    id: str
    kind: str
    text: str
    tags: list[str]
    attributes: dict[str, Any]
    category: str | None
    counterparty: str | None
    negotiation_id: str | None
    source: MemorySourceView
    origin: Origin
    trust: int
    status: str
    status_reason: str | None
    valid_from: str
    valid_to: str | None
    expires_at: str | None
    pinned: bool
    supersedes: str | None
    superseded_by: str | None
    similar_to: str | None
    revision: int
    created_at: str
    updated_at: str


class MemoryCountsView(TypedDict):
    """How many memories there are, over all statuses. `kinds` has those with at least one."""

    total: int
    waiting: int
    pinned: int
    kinds: dict[str, int]


class MemoryList(TypedDict):
    """A page of memories."""

    items: list[MemoryView]
    next_cursor: str | None


class ScoreExplanation(TypedDict):
    """How a score came about: ranks in both lists, cosine, share of the words, and the weights applied."""

    semantic_rank: int | None
    keyword_rank: int | None
    similarity: float | None
    words: float | None
    recency: float
    trust: float


class MemoryHit(TypedDict, total=False):
    """One result; `why` when the request asked to explain."""

    memory: MemoryView
    score: float
    why: ScoreExplanation


class MemorySearchView(TypedDict):
    """Results, best first, with the model that made the vectors.

    `mode` is how they were found. It is `keyword` and `notice` says why when meaning cannot be searched yet.
    """

    items: list[MemoryHit]
    mode: str
    model: str
    notice: str | None


class MemoryVersionView(TypedDict):
    """A memory before a change."""

    revision: int
    at: str
    actor: str
    change: str
    before: MemoryView


class MemoryVersionList(TypedDict):
    """The versions of a memory, newest first."""

    items: list[MemoryVersionView]
    next_cursor: str | None


class ErasedMemoriesView(TypedDict):
    """How many memories were erased."""

    erased: int
