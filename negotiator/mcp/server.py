"""The SDK's server: identity, lists, resources and prompts, from what is offered. Importing this loads the SDK."""

from collections.abc import Mapping
from typing import Any, Final, cast

from mcp.server.caching import CacheHint
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.runner import serve_one
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import (
    INVALID_PARAMS,
    GetPromptRequestParams,
    PaginatedRequestParams,
    ReadResourceRequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from negotiator.caller import Caller
from negotiator.edge.operation import Service
from negotiator.edge.steps import Doorway
from negotiator.errors import NotFound
from negotiator.mcp.access import access
from negotiator.mcp.calls import Visit
from negotiator.mcp.offers import prompts, tools
from negotiator.mcp.offers.identity import Identity
from negotiator.mcp.offers.shelf import Shelf

_NO_RESOURCE: Final = -32002
"""What revisions before 2026-07-28 say when a resource is not there."""

_LISTS: Final = CacheHint(300_000, "public")
_OWN: Final = CacheHint(300_000, "private")
"""What depends on the caller: which tools its token may call, and what it is told of the others."""

_MOST_LISTS: Final = 64
"""Lists of tools that are remembered; each is about 100 KB, and callers with the same scopes share one."""
_TRANSPORT: Final = TransportContext(kind="streamable-http", can_send_request=False)

Context = ServerRequestContext[Any, Any]


class _Exchange:
    """One request without a way back to the client; satisfies the SDK's `DispatchContext`."""

    transport = _TRANSPORT
    can_send_request = False
    cancel_requested: Any = None

    def __init__(self, request_id: int | str, visit: Visit) -> None:
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


class Served:
    """What the server has besides its tools' calls: those are answered one floor up."""

    def __init__(self, service: Service, doorway: Doorway, identity: Identity) -> None:
        self._access = access(service)
        self._definitions = {
            name: tools.definition(name, operation)
            for name, operation in self._access.tools.items()
        }
        self._prompts = {prompt.name: prompt for prompt in prompts.offered(service)}
        self._shelf = Shelf(service, doorway)
        self._remembered: dict[tuple[str, str, Any], dict[str, Any]] = {}
        self.server = self._made(identity)

    async def respond(
        self, message: dict[str, Any], connection: Connection, visit: Visit
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

    def _made(self, identity: Identity) -> Server[Any]:
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

    async def _instruct(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Tell a caller whose list of tools is cut what more there is."""
        result = await call_next(ctx)
        if ctx.method in {"initialize", "server/discover"} and isinstance(result, dict):
            beyond = self._access.beyond(_visit(ctx).caller)
            told = [result.get("instructions"), beyond]
            result = {**result, "instructions": "\n\n".join(filter(None, told))}
        return result

    async def _remember(self, ctx: Context, call_next: CallNext) -> HandlerResult:
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

    async def _list_tools(self, ctx: Context, params: PaginatedRequestParams) -> HandlerResult:
        _whole(params)
        return _complete(
            tools=[
                _described(self._definitions[name], more)
                for name, more in self._shown(_visit(ctx).caller)
            ]
        )

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


def _described(definition: dict[str, Any], more: str) -> dict[str, Any]:
    if not more:
        return definition
    return {**definition, "description": f"{definition['description']} {more}"}


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
