"""`/mcp`: one JSON-RPC message in, one JSON document out (MCP, Streamable HTTP), stateless in every revision."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from starlette.types import Receive, Scope, Send

from negotiator.caller import Caller, nobody
from negotiator.edge import input as reading
from negotiator.edge.endpoint import read_headers, respond
from negotiator.edge.operation import BODY, Answer, Service
from negotiator.edge.steps import Doorway, Left
from negotiator.errors import Forbidden, MethodNotAllowed, Refusal, Unauthorized
from negotiator.mcp.calls import ENVELOPE, JSON, Visit
from negotiator.mcp.offers import tools
from negotiator.scopes import ordered
from negotiator.strict import MAX_DEPTH, read_object

if TYPE_CHECKING:
    from negotiator.mcp.speaker import Speaker

PATH: Final = "/mcp"
METER: Final = "mcp"
"""The name that messages are counted under."""

_DEPTH: Final = MAX_DEPTH + 2
"""An operation's input may be as deep as over HTTP; message and params are around it."""

_PARSE_ERROR, _INVALID_REQUEST = -32700, -32600


class Door:
    """The MCP endpoint as an ASGI application.

    `speaker` gives the protocol, loaded when the first message comes. `origins` are those whose pages may use the
    endpoint as any program does. A page of another origin needs a bearer token; one that reaches this service under
    its own host name (DNS rebinding) is refused with one, too (MCP, Streamable HTTP, Security Warning). While no tool
    works without a credential, nothing else does either, so that clients sign in when they connect.
    """

    def __init__(
        self,
        service: Service,
        doorway: Doorway,
        *,
        speaker: Callable[[], "Speaker"],
        origins: Iterable[str],
    ) -> None:
        operations = tools.marked(service).values()
        self._doorway = doorway
        self._speaker = speaker
        self._origins = frozenset(origins)
        self._closed = locked(service)
        scopes = {scope for operation in operations for scope in operation.scopes}
        self._scopes = tuple(ordered(scopes))
        self._limit = max((operation.body_limit for operation in operations), default=BODY)
        self._loaded: Speaker | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = read_headers(scope)
        left = Left()
        scope["operation"] = METER
        try:
            answer = await self._answer(scope, receive, headers, left)
        except reading.Disconnected:
            return
        except Refusal as refusal:
            answer = await self._doorway.refused(refusal)
        except Exception as fault:
            answer = self._doorway.refusals.crash(fault)
        await respond(send, answer, left.headers())

    async def _answer(
        self, scope: Scope, receive: Receive, headers: Mapping[str, str], left: Left
    ) -> Answer:
        address = self._doorway.guard.address(scope, headers)
        caller, public = nobody(address), not self._closed
        try:
            caller = await self._identify(scope["method"], headers, address)
            self._check(scope["method"], headers, caller)
        except Refusal:
            await self._doorway.charge(caller, None, left, public=public)
            raise
        limit = BODY if caller.kind == "nobody" else self._limit
        declared, since = headers.get("content-length"), time.monotonic()
        body = await reading.read_body(receive, limit + ENVELOPE, declared)
        await self._doorway.confirm(caller, since)
        left.retiring = caller.retiring
        visit = Visit(caller, address, left)
        try:
            return await self._exchange(body, headers, visit)
        finally:
            # What no operation was charged for is a call too; a refusal for an empty budget comes first.
            if left.reading is None:
                await self._doorway.charge(caller, None, left, public=public)

    async def _identify(self, method: str, headers: Mapping[str, str], address: str) -> Caller:
        """The sender of the message; 403 for a rebound page, 401 for a credential that does not stand."""
        origin = headers.get("origin", "")
        if self._is_foreign(headers) and _is_rebound(origin, headers.get("host", "")):
            raise Forbidden("This service has another name.")
        return await self._doorway.guard.identify(headers, address, sent=(method, PATH))

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
        reading.expect(headers.get("content-type"), JSON)

    def _is_foreign(self, headers: Mapping[str, str]) -> bool:
        origin = headers.get("origin")
        return origin is not None and origin not in self._origins

    async def _exchange(self, body: bytes, headers: Mapping[str, str], visit: Visit) -> Answer:
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
            outcome = await speaker.respond(message, headers, visit)
        else:
            outcome = speaker.note(headers)
        if outcome.members is None:
            return Answer(None, outcome.status)
        return Answer({"jsonrpc": "2.0", "id": identified, **outcome.members}, outcome.status)

    async def _load(self) -> "Speaker":
        """Loading takes a third of a second: everybody else's requests go on meanwhile."""
        self._loaded = await asyncio.to_thread(self._speaker)
        return self._loaded


def locked(service: Service) -> bool:
    """Whether connecting needs a credential: it does as soon as one tool does, since many clients sign in only then."""
    return any(operation.access == "bearer" for operation in tools.marked(service).values())


def _is_rebound(origin: str, host: str) -> bool:
    """Whether a page and the request that it made name the same host: the page takes this service for its own."""
    named = origin.partition("://")[2]
    return bool(named) and named.lower() == host.lower()


def _error(identified: Any, code: int, message: str) -> Answer:
    error = {"code": code, "message": message}
    return Answer({"jsonrpc": "2.0", "id": identified, "error": error}, 400)
