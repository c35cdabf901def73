"""A memory on the wire (contract §4)."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints
from typing_extensions import TypedDict

from negotiator.http.cursors import Cursor
from negotiator.memory.content_guard import strip_invisible
from negotiator.memory.search_filters import SearchFilters
from negotiator.schema import MergePatch, Strict, example_schema
from negotiator.values import Moment, Number, Origin, Scalar, ShortText, Truth, Whole

MemoryKind = Literal["fact", "preference", "counterparty", "tactic", "lesson", "win"]
MemoryStatus = Literal["active", "pending", "superseded", "quarantined"]
SearchMode = Literal["hybrid", "semantic", "keyword"]


def _seen(text: str) -> str:
    found = strip_invisible(text)
    if not found:
        raise ValueError("Must hold something that can be seen")
    return found


def _seen_value(value: Any) -> Any:
    return _seen(value) if isinstance(value, str) else value


MemoryText = Annotated[str, StringConstraints(min_length=1, max_length=4000), AfterValidator(_seen)]
MemoryTag = Annotated[str, StringConstraints(min_length=1, max_length=50), AfterValidator(_seen)]
AttributeName = Annotated[
    str, StringConstraints(min_length=1, max_length=64), AfterValidator(_seen)
]
VisibleName = Annotated[ShortText, AfterValidator(_seen)]
AttributeValue = Annotated[Scalar, AfterValidator(_seen_value)]


class MemoryBody(Strict):
    """What a memory says and what it is about; source and trust are the server's to set."""

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
    tags: list[MemoryTag] = Field(
        default_factory=list[str], max_length=20, description="Words to filter by."
    )
    attributes: dict[AttributeName, AttributeValue] = Field(
        default_factory=dict[str, Any], max_length=50, description="Named values to filter by."
    )
    category: VisibleName | None = Field(None, description="What is bought, sold or settled.")
    counterparty: VisibleName | None = Field(None, description="Whom it is about.")
    negotiation_id: ShortText | None = Field(None, description="The negotiation it comes from.")
    valid_from: Moment | None = Field(None, description="Since when it holds; now if absent.")
    expires_at: Moment | None = Field(None, description="From when on it is no longer recalled.")
    pinned: Truth = Field(False, description="Never outweighed by newer ones.")

    @property
    def prose(self) -> list[str]:
        """Everything in it that a model could be made to read."""
        named = [*self.tags, *self.attributes, self.category, self.counterparty]
        told = [text for text in (*named, *self.attributes.values()) if isinstance(text, str)]
        return [self.text, *told]


class NewMemory(MemoryBody):
    """A memory to keep; `supersedes` names the one it replaces, which keeps its history."""

    supersedes: ShortText | None = Field(None, description="The memory that this one corrects.")


class MemoryId(Strict):
    """Which memory."""

    id: str = Field(description="The memory's id.")


class GetMemory(MemoryId):
    """Which memory, and of which moment."""

    at: Moment | None = Field(None, description="As it was then; as it is now if absent.")


class EditMemory(MergePatch, MemoryId):
    """A JSON merge patch (RFC 7396): members left out stay, null removes; the result is checked whole."""

    patched = MemoryBody

    text: Any = None
    kind: Any = None
    tags: Any = None
    attributes: Any = None
    category: Any = None
    counterparty: Any = None
    negotiation_id: Any = None
    valid_from: Any = None
    expires_at: Any = None
    pinned: Any = None


class ListMemories(Strict):
    """Which memories, newest first."""

    kind: MemoryKind | None = Field(None, description="Only those of this kind.")
    status: MemoryStatus | None = Field(None, description="All of them when left out.")
    category: ShortText | None = Field(None, description="Only those of this category.")
    counterparty: ShortText | None = Field(None, description="Only those about this other side.")
    negotiation_id: ShortText | None = Field(None, description="Only those from this negotiation.")
    trust: int | None = Field(None, ge=0, le=3, description="0 finds what waits for your review.")
    limit: int = Field(20, ge=1, le=100, description="How many at most.")
    cursor: Cursor = None


class ListMemoryVersions(MemoryId):
    """Which versions of a memory, newest first."""

    limit: int = Field(20, ge=1, le=100, description="How many at most.")
    cursor: Cursor = None


class SearchMemories(Strict):
    """What to recall. `hybrid` fuses meaning and words; filters narrow before anything is ranked.

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
    min_score: Number | None = Field(
        None, ge=0, le=1, description="Of the cosine in `semantic` mode."
    )
    include: list[Literal["superseded", "pending"]] = Field(
        default_factory=list[Literal["superseded", "pending"]],
        max_length=2,
        description="Kinds that are left out otherwise.",
    )
    explain: Truth = Field(False, description="Say why each result stands where it does.")


class EraseMemories(Strict):
    """Erasing everything takes the number of memories there are, so that nobody does it unknowingly."""

    confirm: int = Field(ge=0, description="How many memories you have, all statuses together.")


class MemorySourceView(TypedDict):
    """Where a memory comes from; set by the server."""

    type: str
    client_id: str | None
    at: str


class MemoryView(TypedDict):
    """A memory as its owner sees it.

    `trust`: 3 said or confirmed by the person, 2 written by their agent, 1 by an agent of nobody's, 0 heard, imported
    or taken over and not yet reviewed. `similar_to` names a memory that says almost the same.
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


class MemoryList(TypedDict):
    """A page of memories."""

    items: list[MemoryView]
    next_cursor: str | None


class ScoreExplanation(TypedDict):
    """What put a result where it is: its places in both lists, its cosine, its share of the words, and what weighed."""

    semantic_rank: int | None
    keyword_rank: int | None
    similarity: float | None
    words: float | None
    recency: float
    trust: float


class MemoryHit(TypedDict, total=False):
    """One result; `why` when asked for."""

    memory: MemoryView
    score: float
    why: ScoreExplanation


class MemorySearchView(TypedDict):
    """Results, best first, with the model whose vectors were compared."""

    items: list[MemoryHit]
    mode: str
    model: str


class MemoryVersionView(TypedDict):
    """What a memory was before a change."""

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
    """What an erasure removed."""

    erased: int
