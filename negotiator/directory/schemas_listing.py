"""Schemas for reading the catalogue."""

from typing import Annotated, Any, Final, Literal, NotRequired, Self, get_args

from pydantic import Field, model_validator
from typing_extensions import TypedDict

from negotiator.base.errors import InvalidRequest
from negotiator.base.schema import Strict, example_schema
from negotiator.base.values import QueryWhole
from negotiator.directory.record_text import LineText, MomentText, ProseText
from negotiator.directory.tool_record import (
    AuthType,
    CategorySlug,
    ChangeKind,
    InterfaceType,
    PricingModel,
    SubcategorySlug,
    Tag,
    ToolKind,
    ToolStatus,
    ToolView,
    is_tracking_parameter,
)
from negotiator.http.cursors import Cursor

TOOLS_PATH: Final = "/api/v1/tools"
TOOL_PATH: Final = "/api/v1/tools/{id}"
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
FilterValues = Annotated[tuple[Annotated[LineText, Field(max_length=100)], ...], Field(max_length=20)]
FILTERS: Final[tuple[FacetName, ...]] = get_args(FacetName)


class ListingQuery(Strict):
    """A query that refuses unknown parameters by name, except tracking parameters."""

    @model_validator(mode="before")
    @classmethod
    def _known(cls, members: dict[str, Any]) -> dict[str, Any]:
        rest = {name: value for name, value in members.items() if not is_tracking_parameter(name)}
        if unknown := sorted(rest.keys() - cls.model_fields.keys()):
            accepted = ", ".join(cls.model_fields)
            raise InvalidRequest(
                f"There is no parameter {', '.join(unknown)[:100]}; there are {accepted}.",
                error="unknown_parameter",
                members={"accepted": list(cls.model_fields)},
            )
        return rest


class ListTools(ListingQuery):
    """Filters are OR within a repeated parameter and AND across parameters. A comma is part of a value."""

    query: SearchText | None = Field(None, description="Free text; at most 16 words count.")
    q: SearchText | None = Field(None, description="The same as `query`.")
    search: SearchText | None = Field(None, description="The same as `query`.")
    category: Annotated[tuple[CategorySlug, ...], Field(max_length=20)] = Field((), description="Category slugs.")
    subcategory: Annotated[tuple[SubcategorySlug, ...], Field(max_length=20)] = Field(
        (), description="Subcategory slugs; they are unique over all categories."
    )
    tag: Annotated[tuple[Tag, ...], Field(max_length=20)] = Field((), description="Tags.")
    kind: Annotated[tuple[ToolKind, ...], Field(max_length=20)] = Field((), description="What the tool is.")
    interface: Annotated[tuple[InterfaceType, ...], Field(max_length=20)] = Field((), description="How it is called.")
    auth: Annotated[tuple[AuthType, ...], Field(max_length=20)] = Field((), description="How callers authenticate.")
    pricing: Annotated[tuple[PricingModel, ...], Field(max_length=20)] = Field((), description="How it is priced.")
    licence: FilterValues = Field((), description="SPDX identifiers as the records have them.")
    open_source: bool | None = Field(None, description="Whether its source is open.")
    verified: bool | None = Field(None, description="Whether the publisher is verified.")
    publisher: FilterValues = Field((), description="Domain or name.")
    status: Annotated[tuple[Literal["active", "deprecated"], ...], Field(max_length=2)] = Field(
        (), description="Active or deprecated tools."
    )
    updated_since: MomentText | None = Field(None, description="Changed at or after this time.")
    include_deleted: bool = Field(False, description="Include deleted tools, as mirrors need them.")
    sort: Literal["relevance", "popularity", "proven", "updated", "created", "name"] | None = Field(
        None,
        description=(
            "Default: relevance with a query, else popularity. `proven`: verified publishers first, then by saves, "
            "then by how much is known."
        ),
    )
    facets: Annotated[tuple[FacetName, ...], Field(max_length=12)] = Field(
        (), description="Filters whose values are counted."
    )
    limit: QueryWhole = Field(20, ge=1, le=100, description="How many at most.")
    cursor: Cursor = None

    model_config = Strict.model_config | {"json_schema_extra": example_schema({"query": "vector database"})}

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
        """The query, under any of its names; empty when there is none."""
        return self.query or self.q or self.search or ""

    @property
    def identity(self) -> dict[str, Any]:
        """The parameters that define the list, without those that only select a page."""
        same = self.model_dump(exclude={"q", "search", "query", "cursor", "limit", "facets"}, exclude_defaults=True)
        return {**same, "query": self.text}


class ToolPath(Strict):
    """A tool by its id, or its present or former slug."""

    id: str = Field(max_length=100, description="The tool's id or slug.")


class AlternativeView(TypedDict):
    """A tool that does the same job as another; `url` is its homepage, empty when none is known."""

    id: str
    slug: str
    name: str
    url: str
    why: str


class AlternativeList(TypedDict):
    """Up to five alternatives; there are no more."""

    items: list[AlternativeView]
    next_cursor: None


class BatchGet(Strict):
    """Up to 100 ids or slugs."""

    ids: Annotated[list[Annotated[str, Field(max_length=100)]], Field(min_length=1, max_length=100)]

    model_config = Strict.model_config | {"json_schema_extra": example_schema({"ids": ["notion"]})}


class ListChanges(ListingQuery):
    """A position in the feed: after number `since`, or at `cursor`."""

    since: QueryWhole = Field(0, ge=0, le=2**62, description="The number of the last change seen.")
    limit: QueryWhole = Field(20, ge=1, le=100, description="How many at most.")
    cursor: Cursor = None


class ListedTool(ToolView, frozen=True):
    """A tool in a list; with a query, its relevance (0 to 1) and the matching fields."""

    score: float = 0.0
    matched_on: tuple[str, ...] = ()


class Correction(TypedDict("Correction", {"from": str})):
    """A corrected word of the query."""

    to: str


class QueryView(TypedDict):
    """How a query was interpreted, and at which search step tools were found.

    `translated_from` is `de`, `fr` or `es` when `normalized` has the English words for the query's own.
    """

    normalized: str
    corrected: list[Correction]
    step: str
    translated_from: str | None


class FacetView(TypedDict):
    """A value and how many tools of the whole list have it."""

    value: str
    count: int


class ToolList(TypedDict):
    """A page of tools; `count` is of the page, `total` of the list. `query` is null without a query."""

    items: list[ListedTool]
    count: int
    total: int
    next_cursor: str | None
    query: QueryView | None
    facets: dict[str, list[FacetView]]


class ToolBatch(TypedDict):
    """The existing tools in the requested order, and the keys without one."""

    items: list[ToolView]
    count: int
    missing: list[str]
    next_cursor: None


class SubcategoryView(TypedDict):
    """A subcategory."""

    slug: str
    name: str
    tool_count: int


class CategoryView(SubcategoryView):
    """A category; `updated_at` is the time of its newest change."""

    description: str
    position: int
    subcategories: list[SubcategoryView]
    updated_at: str | None


class CategoryList(TypedDict):
    """The categories in order, under `categories` and `items`."""

    categories: list[CategoryView]
    items: list[CategoryView]
    total: int
    next_cursor: None


class ChangeView(TypedDict):
    """A change, with the tool's status and revision after it."""

    seq: int
    change: ChangeKind
    tool_id: str
    slug: str
    status: ToolStatus
    revision: int
    at: str


class ChangeList(TypedDict):
    """A page of changes; `last` is the next value of `since`, `latest` the newest number."""

    items: list[ChangeView]
    count: int
    last: int
    latest: int
    next_cursor: str | None


class ListServers(ListingQuery):
    """The parameters of the registry (MCP registry API v0.1)."""

    search: SearchText | None = None
    version: Annotated[str, Field(max_length=100)] | None = Field(None, description="`latest`, or an exact version.")
    updated_since: MomentText | None = None
    include_deleted: bool = False
    limit: QueryWhole = Field(30, ge=1, le=100)
    cursor: Cursor = None


class ServerPath(Strict):
    """A server by its name with one slash, plain or as `%2F`."""

    namespace: str = Field(max_length=100)
    name: str = Field(max_length=100)


class VersionPath(ServerPath):
    """A version of a server, or `latest`."""

    version: str = Field(max_length=100)


_Schema = TypedDict("_Schema", {"$schema": str})


class ServerJson(_Schema):
    """A server in server.json format; unknown members are left out."""

    name: str
    title: str
    description: str
    version: str
    websiteUrl: NotRequired[str]  # noqa: N815  name in the registry's API
    repository: NotRequired[dict[str, Any]]
    packages: NotRequired[list[dict[str, Any]]]
    remotes: NotRequired[list[dict[str, Any]]]


class ServerEntry(TypedDict):
    """A server in the registry's envelope; `_meta` has the registry's metadata and ours, by namespace."""

    server: ServerJson
    _meta: dict[str, dict[str, Any]]


class ServerPageMetadata(TypedDict):
    """The number of servers on the page, and the next cursor."""

    count: int
    nextCursor: NotRequired[str]


class ServerList(TypedDict):
    """A page of servers, or the versions of one.

    Listed are active MCP servers of the catalogue (`kind` `mcp_server`) that state both a `version` and their name in
    the MCP registry (`external_ids.mcp_registry`): server.json needs both, and neither is made up. The entries that the
    catalogue starts with state no version, so the list is empty until servers are submitted or imported with one. All
    MCP servers are at `/api/v1/tools?kind=mcp_server`.
    """

    servers: list[ServerEntry]
    metadata: ServerPageMetadata
