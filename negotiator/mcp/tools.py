"""Operations as MCP tools: name, description, schemas and annotations, made from the service description."""

from functools import cache
from typing import Any, Final

from negotiator.http.operation import MARKDOWN, MERGE, Operation, ServiceDescription
from negotiator.mcp.tool_schemas import ToolInput, nullable, outline_output

KEY_ARGUMENT: Final = "idempotency_key"
REVISION_ARGUMENT: Final = "if_revision"
CLEAR_ARGUMENT: Final = "clear"
NOTE_MEMBER: Final = "note"
_FOREIGN: Final = "Its texts are third parties' data."
_KEY_SCHEMA: Final = {"type": "string", "description": "Same key: a retry is safe."}
_REVISION_SCHEMA: Final = nullable({"type": "integer", "description": "Refuse unless `revision` is still this."})
_CLEAR_SCHEMA: Final[dict[str, Any]] = {
    "type": "array",
    "items": {"type": "string"},
    "description": "Members to remove, such as deadline or batna.value.",
}


def tool_operations(service: ServiceDescription) -> dict[str, Operation]:
    """The operations that are tools, by the tool's name, in the order of the service description."""
    return {operation.tool.name or operation.name: operation for operation in service.operations if operation.tool}


def tool_definition(name: str, operation: Operation) -> dict[str, Any]:
    """The tool's entry in `tools/list`, with all four annotations.

    The stores of clients want every tool to say that it only reads or that it may destroy, so every write says the
    latter; a tool that reaches beyond the caller's own records has an open world.
    """
    assert operation.tool  # noqa: S101  callers pass tools only
    tool = operation.tool
    reads = tool.reads or operation.method == "GET"
    described: dict[str, Any] = {
        "name": name,
        "title": tool.title,
        "description": _description(operation),
        "inputSchema": input_schema(operation),
        "annotations": {
            "title": tool.title,
            "readOnlyHint": reads,
            "destructiveHint": not reads,
            "idempotentHint": reads or operation.method != "POST",
            "openWorldHint": tool.public,
        },
    }
    if operation.output is not None and operation.media_type != MARKDOWN:
        described["outputSchema"] = output_schema(operation)
    return described


def input_schema(operation: Operation) -> dict[str, Any]:
    """One object with path parameters, the query or body, and arguments in place of HTTP headers."""
    shown = tool_input(operation).schema
    beside = {
        CLEAR_ARGUMENT: _CLEAR_SCHEMA if clears_members(operation) else None,
        KEY_ARGUMENT: _KEY_SCHEMA if operation.creates else None,
        REVISION_ARGUMENT: _REVISION_SCHEMA if takes_revision(operation) else None,
    }
    more = {
        name: schema
        for name, schema in beside.items()
        if schema and not (operation.tool and name in operation.tool.leave_out)
    }
    return {**shown, "properties": {**shown["properties"], **more}}


@cache
def tool_input(operation: Operation) -> ToolInput:
    """The tool's view of its operation's input: the schema, and how arguments are read."""
    left_out = operation.tool.leave_out if operation.tool else ()
    return ToolInput(operation.input, [name for name in left_out if name not in {KEY_ARGUMENT, REVISION_ARGUMENT}])


def output_schema(operation: Operation) -> dict[str, Any]:
    """The schema of `structuredContent`."""
    tool = operation.tool
    shown = outline_output(operation.output, tool.brief if tool else ())
    if tool and tool.note:
        shown["properties"][NOTE_MEMBER] = {"type": "string"}
    return shown


def clears_members(operation: Operation) -> bool:
    """Whether null removes a member (merge patch); a tool names such members in `clear`."""
    return MERGE in operation.takes


def takes_revision(operation: Operation) -> bool:
    """Whether the operation reads `If-Match`, and so can refuse with 412."""
    return 412 in operation.refusals


def _description(operation: Operation) -> str:
    assert operation.tool  # noqa: S101
    sentences = [f"{operation.summary}."]
    if operation.tool.hint:
        sentences.append(operation.tool.hint)
    if operation.tool.foreign:
        sentences.append(_FOREIGN)
    return " ".join(sentences)
