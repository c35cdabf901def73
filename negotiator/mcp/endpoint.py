"""`/mcp`: one JSON-RPC message per request, one JSON document per answer, no sessions (MCP, Streamable HTTP)."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from starlette.types import Receive, Scope, Send

from negotiator.base.caller import Caller, anonymous_caller
from negotiator.base.errors import Forbidden, InsufficientScope, MethodNotAllowed, Refusal, RequestAborted, Unauthorized
from negotiator.base.scopes import ASSISTANT, ordered
from negotiator.base.strict_json import MAX_DEPTH, read_object
from negotiator.http import input as reading
from negotiator.http.endpoint import respond
from negotiator.http.input import read_headers
from negotiator.http.operation import BODY_LIMIT, Answer, ServiceDescription
from negotiator.http.pipeline import Pipeline, ResponseContext
from negotiator.mcp import tools
from negotiator.mcp.tool_access import make_tool_access
from negotiator.mcp.tool_calls import ENVELOPE_BYTES, HTTP_REFUSALS, JSON, CallContext, refusal_body
from negotiator.runtime import thread_pools

if TYPE_CHECKING:
    from negotiator.mcp.server import McpServer

MCP_PATH: Final = "/mcp"
MCP_METRIC: Final = "mcp"
"""The name of MCP messages in the request metrics."""

_DEPTH: Final = MAX_DEPTH + 2
"""Nesting of a message: that of an operation's input, with the message and its params around it."""

_PARSE_ERROR, _INVALID_REQUEST, _INTERNAL_ERROR = -32700, -32600, -32603


@dataclass(slots=True)
class _IncomingMessage:
    """What is known of a message so far: its id, its caller, and the state that the answer's headers tell."""

    response: ResponseContext = field(default_factory=ResponseContext)
    caller: Caller | None = None
    id: str | int | None = None


class McpEndpoint:
    """The MCP endpoint as an ASGI application.

    `server` makes the protocol server when the first message arrives. Pages of the `origins` may use the endpoint like
    any program. A page of another origin needs a bearer token; a page that reaches this service under its own host name
    (DNS rebinding) is always refused (MCP, Streamable HTTP, Security Warning). Where the assistant runs, every message
    needs a credential. Every refusal is a JSON-RPC error with the HTTP status and headers that clients act on.
    """

    def __init__(
        self,
        service: ServiceDescription,
        pipeline: Pipeline,
        *,
        server: Callable[[], "McpServer"],
        origins: Iterable[str],
    ) -> None:
        operations = tools.tool_operations(service).values()
        self._pipeline = pipeline
        self._make_server = server
        self._origins = frozenset(origins)
        self._access = make_tool_access(service)
        self._locked = requires_credential(service)
        scopes = {scope for operation in operations for scope in operation.scopes}
        # Many clients register with the scopes of their first challenge and cannot ask for others later.
        self._scopes = tuple(ordered(scopes))
        self._limit = max((operation.body_limit for operation in operations), default=BODY_LIMIT)
        self._loaded: McpServer | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = read_headers(scope)
        incoming = _IncomingMessage()
        scope["operation"] = MCP_METRIC
        try:
            answer = await self._answer(scope, receive, headers, incoming)
        except RequestAborted:
            return
        except Refusal as refusal:
            answer = await self._refused(refusal, incoming)
        except Exception as fault:
            crash = self._pipeline.refusals.crash(fault)
            answer = _wrapped(crash, incoming, crash.body["error_description"])
        await respond(scope, send, answer, incoming.response.header_lines())

    async def _refused(self, refusal: Refusal, incoming: _IncomingMessage) -> Answer:
        """The refusal as over HTTP, with a JSON-RPC error as its body."""
        answer = await self._pipeline.refused(refusal)
        if answer.status == refusal.status:
            explanation = self._access.explanation(refusal, incoming.caller)
        else:  # what the refusal has to record could not be stored
            explanation = answer.body["error_description"]
        return _wrapped(answer, incoming, explanation, refusal)

    async def _answer(
        self, scope: Scope, receive: Receive, headers: Mapping[str, str], incoming: _IncomingMessage
    ) -> Answer:
        address, response = self._pipeline.guard.address(scope, headers), incoming.response
        caller, public = anonymous_caller(address), not self._locked
        try:
            caller = await self._identify(scope["method"], headers, address)
            self._check(scope["method"], headers, caller)
        except Refusal:
            await self._pipeline.charge(caller, None, response, public=public)
            raise
        limit = BODY_LIMIT if caller.kind == "nobody" else self._limit
        declared, since = headers.get("content-length"), time.monotonic()
        body = await reading.read_body(receive, limit + ENVELOPE_BYTES, declared)
        await self._pipeline.confirm(caller, since)
        response.retiring, incoming.caller = caller.retiring, caller
        context = CallContext(caller, address, response)
        try:
            return await self._exchange(body, headers, context, incoming)
        finally:
            # A message that ran no operation is charged as a call; if the budget is empty, the answer is 429.
            if response.budget is None:
                await self._pipeline.charge(caller, None, response, public=public)

    async def _identify(self, method: str, headers: Mapping[str, str], address: str) -> Caller:
        """The caller; 403 for a page after DNS rebinding, 401 for an invalid credential."""
        origin = headers.get("origin", "")
        if self._is_foreign(headers) and _is_rebound(origin, headers.get("host", "")):
            raise Forbidden("This service has another host name.")
        return await self._pipeline.guard.identify(headers, address, sent=(method, MCP_PATH))

    def _check(self, method: str, headers: Mapping[str, str], caller: Caller) -> None:
        """Refuse a wrong method, a missing credential and a wrong media type."""
        if method != "POST":
            raise MethodNotAllowed(["POST"])
        if self._locked and caller.kind == "nobody":
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
        self, body: bytes, headers: Mapping[str, str], context: CallContext, incoming: _IncomingMessage
    ) -> Answer:
        try:
            message = read_object(body, _DEPTH)
        except ValueError:
            if body.lstrip()[:1] == b"[":
                return _error(None, _INVALID_REQUEST, "Send one message at a time.")
            return _error(None, _PARSE_ERROR, "The body is not a JSON object.")
        message_id = message.get("id")
        if message.get("jsonrpc") != "2.0" or not isinstance(message.get("params", {}), dict):
            return _error(None, _INVALID_REQUEST, "The body is not a JSON-RPC 2.0 message.")
        server = self._loaded or await self._load()
        if "method" not in message and ("result" in message or "error" in message):
            # The server sends no requests, so an answer from the client is ignored.
            return Answer(None, 202)
        is_request = type(message_id) in (str, int)
        if not isinstance(message.get("method"), str) or ("id" in message and not is_request):
            return _error(None, _INVALID_REQUEST, "A request has a method and an id.")
        if is_request:
            incoming.id = message_id
            outcome = await server.respond(message, headers, context)
        else:
            outcome = server.notify(headers)
        if outcome.members is None:
            return Answer(None, outcome.status)
        return Answer({"jsonrpc": "2.0", "id": message_id, **outcome.members}, outcome.status)

    async def _load(self) -> "McpServer":
        """The protocol server; importing the SDK takes a third of a second and runs in a thread."""
        self._loaded = await thread_pools.FILES.run_unhurried(self._make_server)
        return self._loaded


def requires_credential(service: ServiceDescription) -> bool:
    """Whether every message needs a credential: where the assistant runs, whose tools work on a user's own data.

    Many clients start their sign-in only when the first message is refused. The directory alone needs no credential.
    """
    return any(operation.scopes & ASSISTANT.keys() for operation in tools.tool_operations(service).values())


def _wrapped(answer: Answer, incoming: _IncomingMessage, message: str, refusal: Refusal | None = None) -> Answer:
    """The answer with its body as the `data` of a JSON-RPC error."""
    data = refusal_body(answer)
    if isinstance(refusal, InsufficientScope):
        data["scope"] = " ".join(refusal.scopes)
    error = {"code": _code(answer.status or 500), "message": message, "data": data}
    return Answer(_error_body(incoming.id, error), answer.status, answer.headers)


def _error_body(message_id: Any, error: dict[str, Any]) -> dict[str, Any]:
    """The message, without an id where the request's is not known: in MCP an id is text or a number, never null."""
    return {"jsonrpc": "2.0", **({} if message_id is None else {"id": message_id}), "error": error}


def _code(status: int) -> int:
    if status in HTTP_REFUSALS:
        return status
    return _INTERNAL_ERROR if status >= 500 else _INVALID_REQUEST


def _is_rebound(origin: str, host: str) -> bool:
    """Whether the page's origin has the host of the request, so that the page takes this service for its own."""
    origin_host = origin.partition("://")[2]
    return bool(origin_host) and origin_host.lower() == host.lower()


def _error(message_id: Any, code: int, message: str) -> Answer:
    return Answer(_error_body(message_id, {"code": code, "message": message}), 400)
