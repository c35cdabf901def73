"""What crosses the wire when the catalogue is read."""

from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, model_validator
from typing_extensions import TypedDict

from negotiator.directory.change_queries import ChangeKind
from negotiator.directory.record_text import LineText, MomentText, ProseText
from negotiator.directory.tool_keys import is_tracking_parameter
from negotiator.directory.tool_record import (
    AuthType,
    CategorySlug,
    InterfaceType,
    PricingModel,
    SubcategorySlug,
    Tag,
    ToolKind,
    ToolStatus,
    ToolView,
)
from negotiator.errors import InvalidRequest
from negotiator.http.cursors import Cursor
from negotiator.schema import Strict, example_schema

FacetName = Literal[
    "category",
    "subcategory",
    "kind",
    "tag",
    "interface",
    "auth",
    "pricing",
    "licence",
    "open_source",
    "verified",
    "publisher",
    "status",
]
SearchText = Annotated[ProseText, Field(max_length=256)]
FilterValues = Annotated[
    tuple[Annotated[LineText, Field(max_length=100)], ...], Field(max_length=20)
]
FILTERS: Final = (
    *("category", "subcategory", "tag", "kind", "interface", "auth", "pricing", "licence"),
    *("open_source", "verified", "publisher", "status"),
)


class ListingQuery(Strict):
    """A query whose every parameter has a meaning: others are refused by name, save those that only track visitors."""

    @model_validator(mode="before")
    @classmethod
    def _known(cls, members: dict[str, Any]) -> dict[str, Any]:
        rest = {name: value for name, value in members.items() if not is_tracking_parameter(name)}
        if strange := sorted(rest.keys() - cls.model_fields.keys()):
            accepted = ", ".join(cls.model_fields)
            raise InvalidRequest(
                f"There is no parameter {', '.join(strange)[:100]}; there are {accepted}.",
                error="unknown_parameter",
                members={"accepted": list(cls.model_fields)},
            )
        return rest


class ListTools(ListingQuery):
    """Filters are OR inside a repeated name and AND across names. A comma is part of a value."""

    query: SearchText | None = Field(None, description="Free text; at most 16 words count.")
    q: SearchText | None = Field(None, description="The same as `query`.")
    search: SearchText | None = Field(None, description="The same as `query`.")
    category: Annotated[tuple[CategorySlug, ...], Field(max_length=20)] = Field(
        (), description="Category slugs."
    )
    subcategory: Annotated[tuple[SubcategorySlug, ...], Field(max_length=20)] = Field(
        (), description="The slug alone: no two categories share one."
    )
    tag: Annotated[tuple[Tag, ...], Field(max_length=20)] = Field((), description="Tags.")
    kind: Annotated[tuple[ToolKind, ...], Field(max_length=20)] = Field(
        (), description="What the tool is."
    )
    interface: Annotated[tuple[InterfaceType, ...], Field(max_length=20)] = Field(
        (), description="How it is reached."
    )
    auth: Annotated[tuple[AuthType, ...], Field(max_length=20)] = Field(
        (), description="How it knows its callers."
    )
    pricing: Annotated[tuple[PricingModel, ...], Field(max_length=20)] = Field(
        (), description="How it is paid."
    )
    licence: FilterValues = Field((), description="SPDX identifiers as the records have them.")
    open_source: bool | None = Field(None, description="Whether its source is open.")
    verified: bool | None = Field(None, description="Whether the publisher has proven who it is.")
    publisher: FilterValues = Field((), description="Domain or name.")
    status: Annotated[tuple[Literal["active", "deprecated"], ...], Field(max_length=2)] = Field(
        (), description="Whether it is still advised."
    )
    updated_since: MomentText | None = Field(None, description="Changed at or after this moment.")
    include_deleted: bool = Field(False, description="List tombstones too, as mirrors need them.")
    sort: Literal["relevance", "popularity", "updated", "created", "name"] | None = Field(
        None, description="By relevance when there is a query, else by popularity."
    )
    facets: Annotated[tuple[FacetName, ...], Field(max_length=12)] = Field(
        (), description="Filters to count the values of."
    )
    limit: int = Field(20, ge=1, le=100, description="How many at most.")
    cursor: Cursor = None

    model_config = Strict.model_config | {
        "json_schema_extra": example_schema({"query": "vector database"})
    }

    @model_validator(mode="after")
    def _agree(self) -> Self:
        texts = {text for text in (self.query, self.q, self.search) if text}
        if len(texts) > 1:
            raise InvalidRequest("query, q and search are one parameter; send one of them.")
        if self.sort == "relevance" and not texts:
            raise InvalidRequest("There is no relevance without a query.")
        return self

    @property
    def text(self) -> str:
        """The query under whichever name it came; empty when there is none."""
        return self.query or self.q or self.search or ""

    @property
    def identity(self) -> dict[str, Any]:
        """What makes it this list and no other: all but how much of it is shown at once."""
        same = self.model_dump(
            exclude={"q", "search", "query", "cursor", "limit", "facets"}, exclude_defaults=True
        )
        return {**same, "query": self.text}


class ToolPath(Strict):
    """A tool by its id or by a slug that it has or had."""

    id: str = Field(max_length=100, description="The tool's id or slug.")


class BatchGet(Strict):
    """Ids or slugs, at most 100."""

    ids: Annotated[list[Annotated[str, Field(max_length=100)]], Field(min_length=1, max_length=100)]

    model_config = Strict.model_config | {"json_schema_extra": example_schema({"ids": ["notion"]})}


class ListChanges(ListingQuery):
    """A place in the feed: everything after number `since`, or where `cursor` left off."""

    since: int = Field(0, ge=0, le=2**62, description="The number of the last change seen.")
    limit: int = Field(20, ge=1, le=100, description="How many at most.")
    cursor: Cursor = None


class ListedTool(ToolView, frozen=True):
    """A tool of a list; with a query, how well it fits (0 to 1) and which of its fields do."""

    score: float = 0.0
    matched_on: tuple[str, ...] = ()


class Correction(TypedDict("Correction", {"from": str})):
    """A word that was read as another."""

    to: str


class QueryView(TypedDict):
    """How a query was read, and at which step of being less strict the tools were found."""

    normalized: str
    corrected: list[Correction]
    step: str


class FacetView(TypedDict):
    """How many tools of the whole list have this value."""

    value: str
    count: int


class ToolList(TypedDict):
    """A page of tools; `count` is of the page, `total` of the list. Without a query `query` is null."""

    items: list[ListedTool]
    count: int
    total: int
    next_cursor: str | None
    query: QueryView | None
    facets: dict[str, list[FacetView]]


class ToolBatch(TypedDict):
    """The tools that are there, in the order asked for, and the keys that never were."""

    items: list[ToolView]
    count: int
    missing: list[str]
    next_cursor: None


class SubcategoryView(TypedDict):
    """A part of a category."""

    slug: str
    name: str
    tool_count: int


class CategoryView(SubcategoryView):
    """A category; `updated_at` is of its newest change."""

    description: str
    position: int
    subcategories: list[SubcategoryView]
    updated_at: str | None


class CategoryList(TypedDict):
    """The taxonomy in its order, under `categories` and under `items`, the name that all lists use."""

    categories: list[CategoryView]
    items: list[CategoryView]
    total: int
    next_cursor: None


class ChangeView(TypedDict):
    """One change, with the tool's status and revision after it."""

    seq: int
    change: ChangeKind
    tool_id: str
    slug: str
    status: ToolStatus
    revision: int
    at: str


class ChangeList(TypedDict):
    """A page of the feed; `last` is what to send as `since` next time, `latest` the newest number there is."""

    items: list[ChangeView]
    count: int
    last: int
    latest: int
    next_cursor: str | None
