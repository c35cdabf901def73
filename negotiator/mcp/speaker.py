"""The protocol itself, by the official SDK: which methods there are, what each revision of MCP makes of them.

The SDK's kernel (`serve_one`, `classify_inbound_request`) is used without its HTTP transport: that one could not
answer 401, 403 and 429 as this service does, and opens a task and two streams for every message of an older revision
(docs/decisions/0009-mcp.md). Whoever imports this module loads the SDK.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import anyio
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
    classify_inbound_request,
    unsupported_protocol_version_rejection,
)
from mcp.shared.jsonrpc_dispatcher import handler_exception_to_error_data
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import (
    DEFAULT_NEGOTIATED_VERSION,
    INVALID_PARAMS,
    PROTOCOL_VERSION_META_KEY,
    SERVER_INFO_META_KEY,
    GetPromptRequestParams,
    PaginatedRequestParams,
    ReadResourceRequestParams,
)
from mcp_types.version import (
    HANDSHAKE_PROTOCOL_VERSIONS,
    KNOWN_PROTOCOL_VERSIONS,
    MODERN_PROTOCOL_VERSIONS,
    is_version_at_least,
)

from negotiator.edge.operation import Service
from negotiator.edge.steps import Doorway
from negotiator.errors import NotFound
from negotiator.mcp import prompts, tools
from negotiator.mcp.calls import Visit, call
from negotiator.mcp.identity import Identity
from negotiator.mcp.shelf import Shelf

_VERSION: Final = "mcp-protocol-version"
_NO_RESOURCE: Final = -32002
"""What revisions before 2026-07-28 say when a resource is not there."""

_STRUCTURED_SINCE: Final = "2025-06-18"
_LISTS: Final = CacheHint(300_000, "public")
_TRANSPORT: Final = TransportContext(kind="streamable-http", can_send_request=False)

Context = ServerRequestContext[Any, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """`result` or `error` of a JSON-RPC response, None when none is owed, and the HTTP status to send it with."""

    members: dict[str, Any] | None
    status: int = 200


class _Exchange:
    """One request without a way back to the client; satisfies the SDK's `DispatchContext`."""

    transport = _TRANSPORT
    can_send_request = False

    def __init__(self, request_id: int | str, visit: Visit) -> None:
        self.request_id = request_id
        self.message_metadata = ServerMessageMetadata(request_context=visit)
        self.cancel_requested = anyio.Event()

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


class Speaker:
    """The service as an MCP server."""

    def __init__(self, service: Service, doorway: Doorway, identity: Identity) -> None:
        self._doorway = doorway
        self._tools = tools.marked(service)
        self._prompts = {prompt.name: prompt for prompt in prompts.offered(service)}
        self._shelf = Shelf(service, doorway)
        self._remembered: dict[tuple[str, str], dict[str, Any]] = {}
        self._server = self._made(identity)

    @property
    def server_info(self) -> dict[str, Any]:
        """Name, version and words, as `initialize` gives them."""
        return self._server.server_info_stamp

    @property
    def versions(self) -> tuple[str, ...]:
        """Every revision spoken, newest first."""
        return KNOWN_PROTOCOL_VERSIONS[::-1]

    @property
    def capabilities(self) -> dict[str, Any]:
        """What the server can do, as `initialize` and `server/discover` say it."""
        found = self._server.get_capabilities()
        return found.model_dump(by_alias=True, mode="json", exclude_none=True)

    async def respond(
        self, message: dict[str, Any], headers: Mapping[str, str], visit: Visit
    ) -> Outcome:
        """What one request comes to; a `Refusal` is for HTTP to say."""
        connection = _connection(message, headers)
        if isinstance(connection, InboundLadderRejection):
            return _rejected(connection)
        try:
            result = await serve_one(
                self._server,
                _Exchange(message["id"], visit),
                message["method"],
                message.get("params"),
                connection=connection,
                lifespan_state={},
            )
        except Exception as raised:
            error = handler_exception_to_error_data(raised)
            if error is None:
                raise
            said = error.model_dump(mode="json", exclude_none=True)
            return Outcome({"error": said}, _status(error.code, connection.protocol_version))
        return Outcome({"result": result})

    def note(self, headers: Mapping[str, str]) -> Outcome:
        """What a notification comes to: nothing, unless it is of a revision that nobody knows."""
        version = headers.get(_VERSION)
        if version is None or version in HANDSHAKE_PROTOCOL_VERSIONS:
            return Outcome(None, 202)
        unknown = unsupported_protocol_version_rejection(version)
        return _rejected(unknown) if unknown else Outcome(None, 202)

    def _made(self, identity: Identity) -> Server[Any]:
        server: Server[Any] = Server(
            identity.name,
            version=identity.version,
            title=identity.title,
            description=identity.description,
            website_url=identity.website,
            instructions=identity.instructions,
            cache_hints={
                "server/discover": _LISTS,
                "tools/list": _LISTS,
                "prompts/list": _LISTS,
                "resources/list": _LISTS,
                "resources/templates/list": _LISTS,
                "resources/read": CacheHint(0, "private"),
            },
        )
        # Nothing exports traces; and what answers a call answers it whole.
        server.middleware[:] = [self._answer]
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

    async def _answer(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Calls are answered here, their JSON written once; lists are the same for everybody and kept."""
        if ctx.method == "tools/call":
            return await self._call(ctx)
        if not ctx.method.endswith("/list") or (ctx.params or {}).get("cursor") is not None:
            return await call_next(ctx)
        place = ctx.method, ctx.protocol_version
        if place not in self._remembered:
            self._remembered[place] = cast("dict[str, Any]", await call_next(ctx))
        return self._remembered[place]

    async def _call(self, ctx: Context) -> dict[str, Any]:
        params = ctx.params or {}
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str) or not isinstance(arguments, dict | None):
            raise MCPError(INVALID_PARAMS, "A call has a name and an object of arguments.")
        operation = self._tools.get(name)
        if operation is None:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {name[:64]}")
        given = cast("dict[str, Any]", arguments or {})
        result = await call(operation, self._doorway, _visit(ctx), given)
        if not is_version_at_least(ctx.protocol_version, _STRUCTURED_SINCE):
            result.pop("structuredContent", None)
        elif ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            result["resultType"] = "complete"
            result["_meta"] = {SERVER_INFO_META_KEY: self._server.server_info_stamp}
        return result

    async def _list_tools(self, _ctx: Context, params: PaginatedRequestParams) -> HandlerResult:
        _whole(params)
        return _complete(tools=[tools.definition(*entry) for entry in self._tools.items()])

    async def _list_resources(self, _ctx: Context, params: PaginatedRequestParams) -> HandlerResult:
        _whole(params)
        return _complete(resources=self._shelf.shown(templates=False))

    async def _list_templates(self, _ctx: Context, params: PaginatedRequestParams) -> HandlerResult:
        _whole(params)
        return _complete(resourceTemplates=self._shelf.shown(templates=True))

    async def _list_prompts(self, _ctx: Context, params: PaginatedRequestParams) -> HandlerResult:
        _whole(params)
        return _complete(prompts=[prompts.shown(prompt) for prompt in self._prompts.values()])

    async def _read_resource(
        self, ctx: Context, params: ReadResourceRequestParams
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

    async def _get_prompt(self, ctx: Context, params: GetPromptRequestParams) -> HandlerResult:
        prompt = self._prompts.get(params.name)
        if prompt is None:
            raise MCPError(INVALID_PARAMS, f"Unknown prompt: {params.name[:64]}")
        negotiation = (params.arguments or {}).get(prompts.ARGUMENT)
        if not negotiation:
            raise MCPError(INVALID_PARAMS, f"The prompt needs the argument {prompts.ARGUMENT}.")
        try:
            filled = await prompts.filled(prompt, self._shelf, _visit(ctx), negotiation)
        except NotFound as refusal:
            raise MCPError(INVALID_PARAMS, refusal.description) from None
        return _complete(**filled)


def _visit(ctx: Context) -> Visit:
    """The visit that `_Exchange` carried through the SDK."""
    return cast("Visit", ctx.request)


def _complete(**members: Any) -> dict[str, Any]:
    """A result as 2026-07-28 wants it; the SDK leaves out what older revisions do not know."""
    return {"resultType": "complete", **members}


def _whole(params: PaginatedRequestParams) -> None:
    """Lists are one page; a cursor can only be invented."""
    if params.cursor is not None:
        raise MCPError(INVALID_PARAMS, "The list has one page: there is no such cursor.")


def _connection(
    message: dict[str, Any], headers: Mapping[str, str]
) -> Connection | InboundLadderRejection:
    """The request's revision and what its client says of itself; the header decides, else the envelope."""
    version = headers.get(_VERSION)
    params: dict[str, Any] = message.get("params") or {}
    meta: Any = params.get("_meta")
    enveloped = isinstance(meta, dict) and PROTOCOL_VERSION_META_KEY in meta
    if version in HANDSHAKE_PROTOCOL_VERSIONS or (version is None and not enveloped):
        return Connection.from_envelope(version or DEFAULT_NEGOTIATED_VERSION, None, None)
    verdict = classify_inbound_request(message, headers=headers)
    if isinstance(verdict, InboundLadderRejection):
        return verdict
    return Connection.from_envelope(
        verdict.protocol_version, verdict.client_info, verdict.client_capabilities
    )


def _rejected(rejection: InboundLadderRejection) -> Outcome:
    error: dict[str, Any] = {"code": rejection.code, "message": rejection.message}
    if rejection.data is not None:
        error["data"] = rejection.data
    return Outcome({"error": error}, ERROR_CODE_HTTP_STATUS.get(rejection.code, 200))


def _status(code: int, version: str) -> int:
    """Older revisions carry every error in a 200."""
    return ERROR_CODE_HTTP_STATUS.get(code, 200) if version in MODERN_PROTOCOL_VERSIONS else 200
