"""Submissions (docs/contract 9.6) and reports on the wire."""

from typing import Annotated, Any, Final, Literal, get_args

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from negotiator.base.schema import Strict, any_of_schemas, example_schema, merge_patch, requires_non_null
from negotiator.base.values import Origin, QueryWhole
from negotiator.directory.record_text import ProseText, WebUrl
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


class EditTool(merge_patch(ToolDraft)):
    """A change to a tool. An empty one claims the tool for its verified publisher."""

    model_config = ConfigDict(json_schema_extra=example_schema({"summary": "Search over your own notes"}))

    id: str = Field(max_length=100, description="The tool's id, tool_…, or its slug.")


class SubmissionId(Strict):
    """The id of a submission, in the path."""

    id: str = Field(description="The submission's id, sub_….")


class EditSubmission(merge_patch(ToolDraft)):
    """A change to an open submission, which is then checked and queued again.

    For a new tool it is a merge patch; for a change to a tool the members sent replace those of the request.
    """

    model_config = ConfigDict(json_schema_extra=example_schema({"tags": ["search"]}))

    id: str = Field(description="The submission's id, sub_….")


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


class NewReport(Strict):
    """A problem with a tool."""

    model_config = ConfigDict(json_schema_extra=example_schema({"reason": "broken_link"}))

    id: str = Field(max_length=100, description="The tool's id, tool_…, or its slug.")
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
