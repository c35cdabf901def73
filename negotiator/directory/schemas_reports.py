"""Reports on the wire (docs/contract 9.7)."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from negotiator.base.schema import Strict, example_schema
from negotiator.directory.record_text import ProseText

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
