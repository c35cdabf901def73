"""`/mcp`: one JSON-RPC message in, one JSON document out (MCP, Streamable HTTP), stateless in every revision."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from starlette.types import Receive, Scope, Send

from negotiator.caller import Caller, anonymous_caller
from negotiator.errors import (
    Forbidden,
    InsufficientScope,
    MethodNotAllowed,
    Refusal,
    Unauthorized,
)
from negotiator.http import input as reading
from negotiator.http.endpoint import read_headers, respond
from negotiator.http.operation import BODY_LIMIT, Answer, ServiceDescription
from negotiator.http.pipeline import Pipeline, ResponseContext
from negotiator.mcp import tools
from negotiator.mcp.tool_access import make_tool_access
from negotiator.mcp.tool_calls import ENVELOPE_BYTES, JSON, CallContext, refusal_body
from negotiator.scopes import ASSISTANT, ordered
from negotiator.strict_json import MAX_DEPTH, read_object

if TYPE_CHECKING:
    from negotiator.mcp.server import McpServer

MCP_PATH: Final = "/mcp"
MCP_METRIC: Final = "mcp"
"""The name that messages are counted under."""

_DEPTH: Final = MAX_DEPTH + 2
"""An operation's input may be as deep as over HTTP; message and params are around it."""

_PARSE_ERROR, _INVALID_REQUEST, _INTERNAL_ERROR = -32700, -32600, -32603
_REFUSED: Final = -32010
"""The service refused a sound request (401, 403, 429, 503). MCP 2026-07-28 reserves -32020 to -32099 for itself."""


@dataclass(slots=True)
class _IncomingMessage:
    """What is known of a message by now: its id, who sent it, and what its calls leave for the answer's headers."""

    left: ResponseContext = field(default_factory=ResponseContext)
    caller: Caller | None = None
    id: str | int | None = None


class McpEndpoint:
    """The MCP endpoint as an ASGI application.

    `speaker` gives the protocol, loaded when the first message comes. `origins` are those whose pages may use the
    endpoint as any program does. A page of another origin needs a bearer token; one that reaches this service under
    its own host name (DNS rebinding) is refused with one, too (MCP, Streamable HTTP, Security Warning). Where `locked`
    says so, nothing works without a credential. Every refusal is a JSON-RPC error, under the HTTP status and headers
    that clients act on.
    """

    def __init__(
        self,
        service: ServiceDescription,
        doorway: Pipeline,
        *,
        speaker: Callable[[], "McpServer"],
        origins: Iterable[str],
    ) -> None:
        operations = tools.tool_operations(service).values()
        self._doorway = doorway
        self._speaker = speaker
        self._origins = frozenset(origins)
        self._access = make_tool_access(service)
        self._closed = requires_credential(service)
        scopes = {scope for operation in operations for scope in operation.scopes}
        # Many clients register with the scopes of their first challenge, and can never ask for others.
        self._scopes = tuple(ordered(scopes))
        self._limit = max((operation.body_limit for operation in operations), default=BODY_LIMIT)
        self._loaded: McpServer | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = read_headers(scope)
        incoming = _IncomingMessage()
        scope["operation"] = MCP_METRIC
        try:
            answer = await self._answer(scope, receive, headers, incoming)
        except reading.RequestAborted:
            return
        except Refusal as refusal:
            answer = await self._refused(refusal, incoming)
        except Exception as fault:
            crash = self._doorway.refusals.crash(fault)
            answer = _wrapped(crash, incoming, crash.body["error_description"])
        await respond(send, answer, incoming.left.headers())

    async def _refused(self, refusal: Refusal, incoming: _IncomingMessage) -> Answer:
        """The refusal as over HTTP, with a JSON-RPC error as its body."""
        answer = await self._doorway.refused(refusal)
        if answer.status == refusal.status:
            words = self._access.explanation(refusal, incoming.caller)
        else:  # what the refusal had to leave behind could not be kept
            words = answer.body["error_description"]
        return _wrapped(answer, incoming, words, refusal)

    async def _answer(
        self, scope: Scope, receive: Receive, headers: Mapping[str, str], incoming: _IncomingMessage
    ) -> Answer:
        address, left = self._doorway.guard.address(scope, headers), incoming.left
        caller, public = anonymous_caller(address), not self._closed
        try:
            caller = await self._identify(scope["method"], headers, address)
            self._check(scope["method"], headers, caller)
        except Refusal:
            await self._doorway.charge(caller, None, left, public=public)
            raise
        limit = BODY_LIMIT if caller.kind == "nobody" else self._limit
        declared, since = headers.get("content-length"), time.monotonic()
        body = await reading.read_body(receive, limit + ENVELOPE_BYTES, declared)
        await self._doorway.confirm(caller, since)
        left.retiring, incoming.caller = caller.retiring, caller
        visit = CallContext(caller, address, left)
        try:
            return await self._exchange(body, headers, visit, incoming)
        finally:
            # What no operation was charged for is a call too; a refusal for an empty budget comes first.
            if left.reading is None:
                await self._doorway.charge(caller, None, left, public=public)

    async def _identify(self, method: str, headers: Mapping[str, str], address: str) -> Caller:
        """The sender of the message; 403 for a rebound page, 401 for a credential that does not stand."""
        origin = headers.get("origin", "")
        if self._is_foreign(headers) and _is_rebound(origin, headers.get("host", "")):
            raise Forbidden("This service has another name.")
        return await self._doorway.guard.identify(headers, address, sent=(method, MCP_PATH))

    def _check(self, method: str, headers: Mapping[str, str], caller: Caller) -> None:
        """Refuse a wrong method, a missing credential where one is needed, and a wrong media type."""
        if method != "POST":
            raise MethodNotAllowed(["POST"])
        if self._closed and caller.kind == "nobody":
            refusal = Unauthorized("Send a bearer token in the Authorization header.", sent=False)
            refusal.scopes = self._scopes
            raise refusal
        if self._is_foreign(headers) and caller.kind == "nobody":
            raise Forbidden("A page of this origin needs a bearer token.")
        reading.match_media_type(headers.get("content-type"), JSON)

    def _is_foreign(self, headers: Mapping[str, str]) -> bool:
        origin = headers.get("origin")
        return origin is not None and origin not in self._origins

    async def _exchange(
        self,
        body: bytes,
        headers: Mapping[str, str],
        visit: CallContext,
        incoming: _IncomingMessage,
    ) -> Answer:
        try:
            message = read_object(body, _DEPTH)
        except ValueError:
            if body.lstrip()[:1] == b"[":
                return _error(None, _INVALID_REQUEST, "Send one message at a time.")
            return _error(None, _PARSE_ERROR, "The body is not a JSON object.")
        identified = message.get("id")
        if message.get("jsonrpc") != "2.0" or not isinstance(message.get("params", {}), dict):
            return _error(None, _INVALID_REQUEST, "The body is no JSON-RPC 2.0 message.")
        speaker = self._loaded or await self._load()
        if "method" not in message and ("result" in message or "error" in message):
            # Nothing was asked of the client, so there is nothing to do with its answer.
            return Answer(None, 202)
        is_request = type(identified) in (str, int)
        if not isinstance(message.get("method"), str) or ("id" in message and not is_request):
            return _error(None, _INVALID_REQUEST, "A request has a method and an id.")
        if is_request:
            incoming.id = identified
            outcome = await speaker.respond(message, headers, visit)
        else:
            outcome = speaker.note(headers)
        if outcome.members is None:
            return Answer(None, outcome.status)
        return Answer({"jsonrpc": "2.0", "id": identified, **outcome.members}, outcome.status)

    async def _load(self) -> "McpServer":
        """Loading takes a third of a second: everybody else's requests go on meanwhile."""
        self._loaded = await asyncio.to_thread(self._speaker)
        return self._loaded


def requires_credential(service: ServiceDescription) -> bool:
    """Whether connecting needs a credential, since many clients sign in only then.

    It does where the assistant runs: its tools work on a user's own data. The directory alone can be read without one.
    """
    return any(
        operation.scopes & ASSISTANT.keys() for operation in tools.tool_operations(service).values()
    )


def _wrapped(
    answer: Answer, incoming: _IncomingMessage, message: str, refusal: Refusal | None = None
) -> Answer:
    """The answer with its body as the `data` of a JSON-RPC error."""
    data = refusal_body(answer)
    if isinstance(refusal, InsufficientScope):
        data["scope"] = " ".join(refusal.scopes)
    error = {"code": _code(answer.status or 500), "message": message, "data": data}
    body = {"jsonrpc": "2.0", "id": incoming.id, "error": error}
    return Answer(body, answer.status, answer.headers)


def _code(status: int) -> int:
    if status in {401, 403, 429, 503}:
        return _REFUSED
    return _INTERNAL_ERROR if status >= 500 else _INVALID_REQUEST


def _is_rebound(origin: str, host: str) -> bool:
    """Whether a page and the request that it made name the same host: the page takes this service for its own."""
    named = origin.partition("://")[2]
    return bool(named) and named.lower() == host.lower()


def _error(identified: Any, code: int, message: str) -> Answer:
    error = {"code": code, "message": message}
    return Answer({"jsonrpc": "2.0", "id": identified, "error": error}, 400)
