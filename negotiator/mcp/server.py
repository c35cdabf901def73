"""The SDK's server: identity, lists, resources and prompts, from what is offered. Importing this loads the SDK.

The protocol itself, by the official SDK: which revision a message is of, and what it comes to.

The SDK's kernel (`serve_one`, `classify_inbound_request`) is used without its HTTP transport: that one could not
answer 401, 403 and 429 as this service does, and opens a task and two streams for every message of an older revision
(docs/decisions/0012-mcp.md). Importing this loads the SDK.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import orjson
from mcp.server.caching import CacheHint
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.runner import serve_one
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    InboundLadderRejection,
    InboundModernRoute,
    classify_inbound_request,
    unsupported_protocol_version_rejection,
)
from mcp.shared.jsonrpc_dispatcher import handler_exception_to_error_data
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import (
    INVALID_PARAMS,
    PROTOCOL_VERSION_META_KEY,
    SERVER_INFO_META_KEY,
    GetPromptRequestParams,
    PaginatedRequestParams,
    ReadResourceRequestParams,
)
from mcp_types.version import (
    HANDSHAKE_PROTOCOL_VERSIONS,
    MODERN_PROTOCOL_VERSIONS,
    is_version_at_least,
)

from negotiator.caller import Caller
from negotiator.errors import NotFound, Refusal
from negotiator.http.operation import ServiceDescription
from negotiator.http.pipeline import Pipeline
from negotiator.mcp import prompts, tools
from negotiator.mcp.resources import McpResources
from negotiator.mcp.server_info import McpServerInfo
from negotiator.mcp.tool_access import make_tool_access
from negotiator.mcp.tool_calls import CallContext, call_tool, refusal_body

_NO_RESOURCE: Final = -32002
"""What revisions before 2026-07-28 say when a resource is not there."""

_LISTS: Final = CacheHint(300_000, "public")
_OWN: Final = CacheHint(300_000, "private")
"""What depends on the caller: which tools its token may call, and what it is told of the others."""

_MOST_LISTS: Final = 64
"""Lists of tools that are remembered; each is about 100 KB, and callers with the same scopes share one."""
_TRANSPORT: Final = TransportContext(kind="streamable-http", can_send_request=False)

RequestContext = ServerRequestContext[Any, Any]


class _Exchange:
    """One request without a way back to the client; satisfies the SDK's `DispatchContext`."""

    transport = _TRANSPORT
    can_send_request = False
    cancel_requested: Any = None

    def __init__(self, request_id: int | str, visit: CallContext) -> None:
        self.request_id = request_id
        self.message_metadata = ServerMessageMetadata(request_context=visit)

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        raise NoBackChannelError(method)

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        """Nobody listens: every answer is one JSON document."""

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Nobody listens."""


class McpHandlers:
    """What the server has besides its tools' calls: those are answered one floor up."""

    def __init__(
        self, service: ServiceDescription, doorway: Pipeline, identity: McpServerInfo
    ) -> None:
        self._access = make_tool_access(service)
        self._definitions = {
            name: tools.tool_definition(name, operation)
            for name, operation in self._access.tools.items()
        }
        self._prompts = {prompt.name: prompt for prompt in prompts.offered_prompts(service)}
        self._shelf = McpResources(service, doorway)
        self._remembered: dict[tuple[str, str, Any], dict[str, Any]] = {}
        self.server = self._made(identity)

    async def respond(
        self, message: dict[str, Any], connection: Connection, visit: CallContext
    ) -> dict[str, Any]:
        """The result of one request; raises what its handler raises."""
        exchange = _Exchange(message["id"], visit)
        return await serve_one(
            self.server,
            exchange,
            message["method"],
            message.get("params"),
            connection=connection,
            lifespan_state={},
        )

    def _made(self, identity: McpServerInfo) -> Server[Any]:
        server: Server[Any] = Server(
            identity.name,
            version=identity.version,
            title=identity.title,
            description=identity.description,
            website_url=identity.website,
            instructions=identity.instructions,
            cache_hints={
                "server/discover": _OWN,
                "tools/list": _OWN,
                "prompts/list": _LISTS,
                "resources/list": _LISTS,
                "resources/templates/list": _LISTS,
                "resources/read": CacheHint(0, "private"),
            },
        )
        server.extensions.update({name: {} for name in identity.extensions})
        # Nothing exports traces.
        server.middleware[:] = [self._instruct, self._remember]
        listing = PaginatedRequestParams
        server.add_request_handler("tools/list", listing, self._list_tools)
        if self._shelf.shown(templates=False):
            reading = ReadResourceRequestParams
            server.add_request_handler("resources/list", listing, self._list_resources)
            server.add_request_handler("resources/templates/list", listing, self._list_templates)
            server.add_request_handler("resources/read", reading, self._read_resource)
        if self._prompts:
            server.add_request_handler("prompts/list", listing, self._list_prompts)
            server.add_request_handler("prompts/get", GetPromptRequestParams, self._get_prompt)
        return server

    async def _instruct(self, ctx: RequestContext, call_next: CallNext) -> HandlerResult:
        """Tell a caller whose list of tools is cut what more there is."""
        result = await call_next(ctx)
        if ctx.method in {"initialize", "server/discover"} and isinstance(result, dict):
            beyond = self._access.beyond(_visit(ctx).caller)
            told = [result.get("instructions"), beyond]
            result = {**result, "instructions": "\n\n".join(filter(None, told))}
        return result

    async def _remember(self, ctx: RequestContext, call_next: CallNext) -> HandlerResult:
        """Lists are made once for each revision; those of tools once for each set of tools, too."""
        if not ctx.method.endswith("/list") or (ctx.params or {}).get("cursor") is not None:
            return await call_next(ctx)
        shown = self._shown(_visit(ctx).caller) if ctx.method == "tools/list" else ()
        place = ctx.method, ctx.protocol_version, shown
        found = self._remembered.get(place)
        if found is None:
            found = cast("dict[str, Any]", await call_next(ctx))
            if len(self._remembered) >= _MOST_LISTS:
                del self._remembered[next(iter(self._remembered))]
            self._remembered[place] = found
        return found

    def _shown(self, caller: Caller) -> tuple[tuple[str, str], ...]:
        """The tools that the caller is shown, each with what is added to its description."""
        return tuple(
            (name, self._access.description(name, caller)) for name in self._access.listed(caller)
        )

    async def _list_tools(
        self, ctx: RequestContext, params: PaginatedRequestParams
    ) -> HandlerResult:
        _whole(params)
        return _complete(
            tools=[
                _described(self._definitions[name], more)
                for name, more in self._shown(_visit(ctx).caller)
            ]
        )

    async def _list_resources(
        self, _ctx: RequestContext, params: PaginatedRequestParams
    ) -> HandlerResult:
        _whole(params)
        return _complete(resources=self._shelf.shown(templates=False))

    async def _list_templates(
        self, _ctx: RequestContext, params: PaginatedRequestParams
    ) -> HandlerResult:
        _whole(params)
        return _complete(resourceTemplates=self._shelf.shown(templates=True))

    async def _list_prompts(
        self, _ctx: RequestContext, params: PaginatedRequestParams
    ) -> HandlerResult:
        _whole(params)
        return _complete(
            prompts=[prompts.prompt_entry(prompt) for prompt in self._prompts.values()]
        )

    async def _read_resource(
        self, ctx: RequestContext, params: ReadResourceRequestParams
    ) -> HandlerResult:
        try:
            contents = await self._shelf.read(_visit(ctx), params.uri)
        except NotFound:
            contents = None
        if contents is None:
            modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
            code = INVALID_PARAMS if modern else _NO_RESOURCE
            raise MCPError(code, "There is no such resource.", {"uri": params.uri})
        return _complete(contents=[contents])

    async def _get_prompt(
        self, ctx: RequestContext, params: GetPromptRequestParams
    ) -> HandlerResult:
        prompt = self._prompts.get(params.name)
        if prompt is None:
            raise MCPError(INVALID_PARAMS, f"Unknown prompt: {params.name[:64]}")
        negotiation = (params.arguments or {}).get(prompts.ARGUMENT)
        if not negotiation:
            raise MCPError(INVALID_PARAMS, f"The prompt needs the argument {prompts.ARGUMENT}.")
        try:
            filled = await prompts.fill_prompt(prompt, self._shelf, _visit(ctx), negotiation)
        except NotFound as refusal:
            raise MCPError(INVALID_PARAMS, refusal.description) from None
        return _complete(**filled)


def _described(definition: dict[str, Any], more: str) -> dict[str, Any]:
    if not more:
        return definition
    return {**definition, "description": f"{definition['description']} {more}"}


def _visit(ctx: RequestContext) -> CallContext:
    """The visit that `_Exchange` carried through the SDK."""
    return cast("CallContext", ctx.request)


def _complete(**members: Any) -> dict[str, Any]:
    """A result as 2026-07-28 wants it; the SDK leaves out what older revisions do not know."""
    return {"resultType": "complete", **members}


def _whole(params: PaginatedRequestParams) -> None:
    """Lists are one page; a cursor can only be invented."""
    if params.cursor is not None:
        raise MCPError(INVALID_PARAMS, "The list has one page: there is no such cursor.")


_VERSION: Final = "mcp-protocol-version"
_OLDEST: Final = "2025-06-18"
"""Earlier revisions want JSON-RPC batches (2025-03-26) or another transport (2024-11-05)."""
_HANDSHAKES: Final = tuple(
    version for version in HANDSHAKE_PROTOCOL_VERSIONS if is_version_at_least(version, _OLDEST)
)
_SERVED: Final = (*_HANDSHAKES, *MODERN_PROTOCOL_VERSIONS)
_BY_HTTP: Final = {401, 403, 429, 503}
"""Refusals whose status and headers clients act on: they sign in, ask for a scope, wait."""


@dataclass(frozen=True, slots=True)
class McpOutcome:
    """`result` or `error` of a JSON-RPC response, None when none is owed, and the HTTP status to send it with."""

    members: dict[str, Any] | None
    status: int = 200


class McpServer:
    """The service as an MCP server."""

    def __init__(
        self, service: ServiceDescription, doorway: Pipeline, identity: McpServerInfo
    ) -> None:
        self._doorway = doorway
        self._tools = tools.tool_operations(service)
        self._served = McpHandlers(service, doorway, identity)
        stamp = {SERVER_INFO_META_KEY: self.server_info}
        self._stamp = orjson.Fragment(orjson.dumps(stamp))

    @property
    def server_info(self) -> dict[str, Any]:
        """Name, version and words, as `initialize` gives them."""
        return self._served.server.server_info_stamp

    @property
    def versions(self) -> tuple[str, ...]:
        """Every revision served, newest first."""
        return _SERVED[::-1]

    @property
    def capabilities(self) -> dict[str, Any]:
        """What the server can do, as `initialize` and `server/discover` say it."""
        found = self._served.server.get_capabilities()
        return found.model_dump(by_alias=True, mode="json", exclude_none=True)

    async def respond(
        self, message: dict[str, Any], headers: Mapping[str, str], visit: CallContext
    ) -> McpOutcome:
        """What one request comes to; raises a `Refusal` that is for HTTP to say."""
        route = _route(message, headers)
        if isinstance(route, InboundLadderRejection):
            return _rejected(route)
        version = route.protocol_version
        try:
            if message["method"] == "tools/call":
                result = await self._call(message.get("params") or {}, version, visit)
            else:
                message = _greeted(message)
                connection = Connection.from_envelope(
                    version, route.client_info, route.client_capabilities
                )
                result = await self._served.respond(message, connection, visit)
        except Refusal as refusal:
            if refusal.status in _BY_HTTP:
                raise
            answer = await self._doorway.refused(refusal)
            error = {
                "code": INVALID_PARAMS,
                "message": refusal.description,
                "data": refusal_body(answer),
            }
            return McpOutcome({"error": error}, _status(INVALID_PARAMS, version))
        except Exception as raised:
            error = handler_exception_to_error_data(raised)
            if error is None:
                raise
            said = error.model_dump(mode="json", exclude_none=True)
            return McpOutcome({"error": said}, _status(error.code, version))
        return McpOutcome({"result": result})

    def note(self, headers: Mapping[str, str]) -> McpOutcome:
        """What a notification comes to: nothing, unless it is of a revision that nobody knows."""
        version = headers.get(_VERSION)
        if version is None or version in _HANDSHAKES:
            return McpOutcome(None, 202)
        unknown = unsupported_protocol_version_rejection(version, _SERVED)
        return _rejected(unknown) if unknown else McpOutcome(None, 202)

    async def _call(
        self, params: dict[str, Any], version: str, visit: CallContext
    ) -> dict[str, Any]:
        """A call needs nothing of the SDK's kernel but its revision; its JSON is written once, here."""
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str) or not isinstance(arguments, dict | None):
            raise MCPError(INVALID_PARAMS, "A call has a name and an object of arguments.")
        operation = self._tools.get(name)
        if operation is None:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {name[:64]}")
        given = cast("dict[str, Any]", arguments or {})
        result = await call_tool(operation, self._doorway, visit, given)
        if version in MODERN_PROTOCOL_VERSIONS:
            result["resultType"] = "complete"
            result["_meta"] = self._stamp
        return result


def _route(
    message: dict[str, Any], headers: Mapping[str, str]
) -> InboundModernRoute | InboundLadderRejection:
    """The request's revision and what its client says of itself; the header decides, else the envelope."""
    version = headers.get(_VERSION)
    params: dict[str, Any] = message.get("params") or {}
    meta: Any = params.get("_meta")
    enveloped = isinstance(meta, dict) and PROTOCOL_VERSION_META_KEY in meta
    if version in _HANDSHAKES or (version is None and not enveloped):
        return InboundModernRoute(version or _OLDEST, None, None)
    if version in HANDSHAKE_PROTOCOL_VERSIONS:
        unserved = unsupported_protocol_version_rejection(version or "", _SERVED)
        return unserved or InboundModernRoute(_OLDEST, None, None)
    return classify_inbound_request(message, headers=headers)


def _greeted(message: dict[str, Any]) -> dict[str, Any]:
    """An `initialize` for a revision that is not served asks for the newest that begins with one (lifecycle)."""
    params: dict[str, Any] = message.get("params") or {}
    asked = params.get("protocolVersion")
    if message["method"] != "initialize" or not isinstance(asked, str) or asked in _HANDSHAKES:
        return message
    return {**message, "params": {**params, "protocolVersion": _HANDSHAKES[-1]}}


def _rejected(rejection: InboundLadderRejection) -> McpOutcome:
    error: dict[str, Any] = {"code": rejection.code, "message": rejection.message}
    if rejection.data is not None:
        error["data"] = rejection.data
    return McpOutcome({"error": error}, ERROR_CODE_HTTP_STATUS.get(rejection.code, 200))


def _status(code: int, version: str) -> int:
    """Older revisions carry every error in a 200."""
    return ERROR_CODE_HTTP_STATUS.get(code, 200) if version in MODERN_PROTOCOL_VERSIONS else 200
