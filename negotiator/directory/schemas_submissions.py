"""Submissions, reports and collections on the wire (docs/contract 9.6 to 9.8)."""

from typing import Annotated, Any, Final, Literal, get_args

from pydantic import ConfigDict, Field, WithJsonSchema
from typing_extensions import TypedDict

from negotiator.base.schema import Strict, any_of_schemas, example_schema, merge_patch, requires_non_null
from negotiator.base.values import Origin, QueryWhole, Whole
from negotiator.directory.record_text import LineText, ProseText, WebUrl
from negotiator.directory.tool_record import ToolDraft
from negotiator.http.cursors import Cursor

SUBMISSIONS_PATH: Final = "/api/v1/submissions"
SUBMISSION_PATH: Final = "/api/v1/submissions/{id}"
SubmissionStatus = Literal["pending", "approved", "rejected", "changes_requested", "withdrawn", "expired"]
RejectionReason = Literal[
    "duplicate", "spam", "broken_link", "misleading_name", "insufficient_detail", "policy", "malware", "not_ai_tool"
]
SUBMISSION_STATUSES: Final[tuple[str, ...]] = get_args(SubmissionStatus)
REJECTION_REASONS: Final[tuple[str, ...]] = get_args(RejectionReason)
_EXAMPLE: dict[str, Any] = {
    "name": "Quiet Search",
    "summary": "Full-text search over your own notes, as an API and an MCP server",
    "kind": "mcp_server",
    "category": "search-web",
    "homepage_url": "https://quiet-search.example",
    "interfaces": [{"type": "streamable-http", "url": "https://api.quiet-search.example/mcp"}],
}

_FINDABLE: Final = any_of_schemas(
    requires_non_null("homepage_url"),
    requires_non_null("repository"),
    {"required": ["packages"], "properties": {"packages": {"minItems": 1}}},
    {"required": ["interfaces"], "properties": {"interfaces": {"contains": requires_non_null("url")}}},
)
"""A new tool needs a homepage, a repository, a package or an endpoint."""


class NewTool(ToolDraft, frozen=True):
    """A tool for the directory. Texts are plain; texts that look like instructions to a model wait for a moderator."""

    model_config = ConfigDict(json_schema_extra={**example_schema(_EXAMPLE), **_FINDABLE})


class ReadAddress(Strict):
    """The address of a tool: its page or its repository."""

    model_config = ConfigDict(json_schema_extra=example_schema({"url": "https://tool.example/"}))

    url: WebUrl = Field(max_length=2048, description="A public https address.")


AddressSourceKind = Literal["page", "llms.txt", "MCP server card", "OpenAPI description"]


class AddressSource(TypedDict):
    """A document at the address and the members that it states; an empty list when it could not be read."""

    what: AddressSourceKind
    url: str
    states: list[str]


class AddressReading(TypedDict):
    """Members of a draft as the address states them, unchecked, and the documents that were asked for."""

    url: str
    draft: dict[str, Any]
    sources: list[AddressSource]


class SubmittedToolPath(Strict):
    """A tool, by its id or slug in the path."""

    id: str = Field(max_length=100, description="The tool's id, tool_…, or its slug.")


class EditTool(merge_patch(ToolDraft), SubmittedToolPath):
    """A change to a tool. An empty one claims the tool for its verified publisher."""

    model_config = ConfigDict(json_schema_extra=example_schema({"summary": "Search over your own notes"}))


class SubmissionId(Strict):
    """The id of a submission, in the path."""

    id: str = Field(description="The submission's id, sub_….")


class EditSubmission(merge_patch(ToolDraft), SubmissionId):
    """A change to an open submission, which is then checked and queued again.

    For a new tool it is a merge patch; for a change to a tool the members sent replace those of the request.
    """

    model_config = ConfigDict(json_schema_extra=example_schema({"tags": ["search"]}))


class AppealSubmission(SubmissionId):
    """Why a rejection was wrong; once per submission, within 30 days."""

    message: Annotated[ProseText, Field(min_length=1, max_length=2000)]


class ListSubmissions(Strict):
    """A page of the user's submissions, newest first."""

    status: SubmissionStatus | None = Field(None, description="Only those with this status.")
    limit: QueryWhole = Field(20, ge=1, le=100, description="How many at most.")
    cursor: Cursor = None


class FieldNote(TypedDict):
    """A field and what was found in it."""

    pointer: str
    description: str


class CheckView(TypedDict):
    """A check: `passed`, `flagged` for a moderator, `unproven` when the submitter is not the verified publisher."""

    name: str
    outcome: Literal["passed", "flagged", "unproven"]
    fields: list[FieldNote]


class ToolReference(TypedDict):
    """A tool and its URL."""

    id: str
    slug: str
    status: str
    url: str


class SubmissionView(TypedDict):
    """A submission: the proposal, its status and the reason. `reason_code` and `note` are the moderator's.

    `waits_for` says who decides an open submission, and why. POST to `claim_url` says how to prove meanwhile that a new
    tool is the submitter's; `proven_host` is the host that they proved so.
    """

    id: str
    type: Literal["create", "update"]
    status: SubmissionStatus
    checks: list[CheckView]
    tool: ToolReference | None
    similar_to: list[ToolReference]
    waits_for: str | None
    claim_url: str | None
    proven_host: str | None
    proposed: dict[str, Any]
    reason_code: RejectionReason | None
    note: str | None
    appeal: str | None
    origin: Origin
    revision: int
    created_at: str
    updated_at: str
    expires_at: str | None


class SubmissionList(TypedDict):
    """A page of submissions."""

    items: list[SubmissionView]
    next_cursor: str | None


ReportReason = Literal["broken_link", "duplicate", "malware", "misleading_name", "not_ai_tool", "policy", "spam"]


class NewReport(SubmittedToolPath):
    """A problem with a tool."""

    model_config = ConfigDict(json_schema_extra=example_schema({"reason": "broken_link"}))

    reason: ReportReason
    details: Annotated[ProseText, Field(max_length=1000)] = Field("", description="Shown to moderators only.")


class ReportView(TypedDict):
    """A report as its reporter sees it."""

    id: str
    tool_id: str
    reason: ReportReason
    details: str
    status: Literal["open", "upheld", "dismissed"]
    created_at: str


MOST_ITEMS = 500
Visibility = Literal["private", "unlisted", "public"]
CollectionName = Annotated[LineText, Field(min_length=1, max_length=100, description="The collection's name.")]
CollectionDescription = Annotated[ProseText, Field(max_length=2000, description="What the collection is for.")]
EntryNote = Annotated[ProseText, Field(max_length=500, description="Your note on the tool.")]
ToolIdOrSlug = Annotated[str, Field(min_length=1, max_length=100, description="The tool's id, tool_….")]
_POSITION = Field(None, ge=0, description="Its position from 0; past the end means last. Default: last.")
_COLLECTION: dict[str, Any] = {
    "name": "Databases to try",
    "description": "For the spring project.",
    "visibility": "private",
    "items": [],
}


class ItemBody(Strict):
    """A tool and your note on it. Members that the server sets may be sent back and are ignored."""

    tool_id: ToolIdOrSlug
    note: EntryNote = ""
    position: Any = Field(None, description="Ignored: the order of the list counts.")
    added_at: Any = Field(None, description="Ignored.")
    status: Any = Field(None, description="Ignored.")


class NewCollection(Strict):
    """A collection: its name, its visibility, its tools in order."""

    model_config = ConfigDict(json_schema_extra=example_schema(_COLLECTION))

    name: CollectionName
    description: CollectionDescription = ""
    visibility: Visibility = Field(
        "private",
        description="`private`: only you; `unlisted`: anyone with the link; `public`: also anyone with the id.",
    )
    items: list[ItemBody] = Field(
        [], max_length=MOST_ITEMS, description="Its tools, in order; each as tool_id and note."
    )


class CollectionId(Strict):
    """The id of a collection, in the path."""

    id: str = Field(description="The collection's id, col_….")


class ReplaceCollection(NewCollection, CollectionId):
    """New content of a collection: absent members get their defaults."""


class EditCollection(merge_patch(NewCollection), CollectionId):
    """A JSON merge patch (RFC 7396): absent members stay; `items` is replaced as a whole."""

    model_config = ConfigDict(json_schema_extra=example_schema({"name": "Databases we tried"}))
    share_url: Annotated[Any, WithJsonSchema({"type": "null"})] = Field(
        None, description="Only null, which revokes the link. Setting `visibility` creates a new one."
    )


class ListCollections(Strict):
    """A page of the user's collections, newest first."""

    limit: QueryWhole = Field(20, ge=1, le=100, description="How many at most.")
    cursor: Cursor = None


class ItemId(CollectionId):
    """A tool of a collection."""

    tool_id: ToolIdOrSlug


class PutItem(ItemId):
    """A tool to add, or a new note or position for one that is in the collection."""

    model_config = ConfigDict(json_schema_extra=example_schema({"note": "Has a free tier."}))

    note: EntryNote | None = Field(None, description="Default: the note stays.")
    position: Whole | None = _POSITION


class SharedToken(Strict):
    """The token at the end of a share link."""

    token: str = Field(max_length=100, description="The token of a share link.")


class ItemView(TypedDict):
    """A tool of a collection; `status` is the tool's, `deleted` for a deleted one."""

    tool_id: str
    note: str
    position: int
    added_at: str
    status: str


class CollectionSummary(TypedDict):
    """A collection without its items."""

    id: str
    name: str
    description: str
    visibility: str
    item_count: int
    revision: int
    share_url: str | None
    origin: Origin
    created_at: str
    updated_at: str


class CollectionView(CollectionSummary):
    """A collection with its items in order."""

    items: list[ItemView]


class CollectionList(TypedDict):
    """A page of collections."""

    items: list[CollectionSummary]
    next_cursor: str | None
