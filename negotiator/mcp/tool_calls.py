"""Runs a `tools/call` through the same pipeline as an HTTP request and makes its answer a tool result."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from negotiator.base.caller import Caller, anonymous_caller
from negotiator.base.errors import (
    FieldError,
    InsufficientScope,
    InvalidRequest,
    PayloadTooLarge,
    Refusal,
    Unauthorized,
    ValidationFailed,
)
from negotiator.base.scopes import ordered
from negotiator.http import input as reading
from negotiator.http.operation import JSON, MARKDOWN, Answer, Operation
from negotiator.http.pipeline import ParsedInput, Pipeline, ResponseContext, run
from negotiator.mcp.tool_schemas import clear_members, keep, kept_members, read_arguments
from negotiator.mcp.tools import (
    CLEAR_ARGUMENT,
    KEY_ARGUMENT,
    NOTE_MEMBER,
    REVISION_ARGUMENT,
    clears_members,
    takes_revision,
    tool_input,
)

ENVELOPE_BYTES: Final = 8 * 1024
"""Bytes that a message may have beside the arguments: ids, names, the client's metadata."""

HTTP_REFUSALS: Final = {401, 403, 429, 503}
"""Refusals that are sent with their HTTP status and headers, on which clients act: sign in, ask for a scope, wait.

Their error code is the status: MCP 2026-07-28 (Base Protocol, Error Codes) wants codes of an application outside of
JSON-RPC's reserved range, -32768 to -32000.
"""


@dataclass(frozen=True, slots=True)
class CallContext:
    """The caller of a message and their address; `response` collects what the answer's headers tell."""

    caller: Caller
    address: str
    response: ResponseContext = field(default_factory=ResponseContext)


@dataclass(slots=True)
class IncomingToolCall:
    """A call whose input, revision and idempotency key are all in its arguments."""

    operation: Operation
    pipeline: Pipeline
    context: CallContext
    arguments: dict[str, Any]
    accept: str = JSON

    @property
    def headers(self) -> Mapping[str, str]:
        return {"accept": self.accept}

    @property
    def address(self) -> str:
        return self.context.address

    async def identify(self, operation: Operation) -> Caller:
        return anonymous_caller(self.context.address) if operation.access == "open" else self.context.caller

    async def read(self) -> ParsedInput:
        operation = self.operation
        beside = {
            KEY_ARGUMENT: operation.creates,
            REVISION_ARGUMENT: takes_revision(operation),
            CLEAR_ARGUMENT: clears_members(operation),
        }
        own = {name: value for name, value in self.arguments.items() if not beside.get(name)}
        members = read_arguments(tool_input(operation).shape, own)
        if clears_members(operation):
            members = clear_members(members, self.arguments.get(CLEAR_ARGUMENT))
        lenient = operation.input.model_config.get("extra") == "ignore"
        refusal = InvalidRequest if lenient else None
        body = orjson.dumps(members, option=orjson.OPT_SORT_KEYS)
        if len(body) > operation.body_limit:
            raise PayloadTooLarge(f"The arguments may have at most {operation.body_limit} bytes.")
        return ParsedInput(reading.validate(operation.input, members, refusal=refusal), body)

    def expected(self) -> int | None:
        revision = self.arguments.get(REVISION_ARGUMENT) if takes_revision(self.operation) else None
        if revision is None or type(revision) is int:
            return revision
        raise ValidationFailed([FieldError(f"/{REVISION_ARGUMENT}", "Must be a whole number.")])

    def key(self) -> str | None:
        key = self.arguments.get(KEY_ARGUMENT) if self.operation.creates else None
        if key is None or isinstance(key, str):
            return key or None
        raise ValidationFailed([FieldError(f"/{KEY_ARGUMENT}", "Must be a string.")])


async def run_operation(incoming: IncomingToolCall) -> Answer:
    """The operation's answer; a 401 names the scopes that the call needs."""
    operation = incoming.operation
    try:
        return await run(operation, incoming.pipeline, incoming, incoming.context.response)
    except Unauthorized as refusal:
        # A client that signs in now asks for the scopes that this call needs (MCP, Authorization; RFC 6750 §3).
        refusal.scopes = tuple(ordered(operation.scopes))
        raise


async def call_tool(
    operation: Operation, pipeline: Pipeline, context: CallContext, arguments: dict[str, Any]
) -> dict[str, Any]:
    """The tool result; a refusal becomes one too, except 401 and `insufficient_scope`, which are raised."""
    try:
        accept = MARKDOWN if operation.media_type == MARKDOWN else JSON
        answer = await run_operation(IncomingToolCall(operation, pipeline, context, arguments, accept))
    except (Unauthorized, InsufficientScope):
        raise
    except Refusal as refusal:
        return _refusal(await pipeline.refused(refusal))
    note = operation.tool.note if operation.tool else ""
    return _result(_brief(operation, answer), note)


def _brief(operation: Operation, answer: Answer) -> Answer:
    """The answer with only the tool's `brief` members, if it names any."""
    names = operation.tool.brief if operation.tool else ()
    if not names:
        return answer
    body = answer.body if isinstance(answer.body, bytes) else orjson.dumps(answer.body)
    return Answer(keep(orjson.loads(body), kept_members(names)), answer.status, answer.headers)


def refusal_body(answer: Answer) -> dict[str, Any]:
    """The members of a refusal, with its `Retry-After` header as `retry_after`."""
    body = dict(answer.body)
    if after := answer.headers.get("retry-after"):
        body["retry_after"] = int(after)
    return body


def _result(answer: Answer, note: str) -> dict[str, Any]:
    body: Any = {**answer.body, NOTE_MEMBER: note} if note else answer.body
    if body is None:
        return {"content": [_text("Done.")], "isError": False}
    if isinstance(body, bytes) and answer.media_type != JSON:
        return {"content": [_text(body.decode())], "isError": False}
    raw = body if isinstance(body, bytes) else orjson.dumps(body)
    return {"content": [_text(raw.decode())], "structuredContent": orjson.Fragment(raw), "isError": False}


def _refusal(answer: Answer) -> dict[str, Any]:
    """The refusal's JSON as text only, since structured content must match the tool's output schema."""
    return {"content": [_text(orjson.dumps(refusal_body(answer)).decode())], "isError": True}


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}
