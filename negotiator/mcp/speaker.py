"""The protocol itself, by the official SDK: which revision a message is of, and what it comes to.

The SDK's kernel (`serve_one`, `classify_inbound_request`) is used without its HTTP transport: that one could not
answer 401, 403 and 429 as this service does, and opens a task and two streams for every message of an older revision
(docs/decisions/0012-mcp.md). Importing this loads the SDK.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import orjson
from mcp.server.connection import Connection
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    InboundLadderRejection,
    InboundModernRoute,
    classify_inbound_request,
    unsupported_protocol_version_rejection,
)
from mcp.shared.jsonrpc_dispatcher import handler_exception_to_error_data
from mcp_types import (
    INVALID_PARAMS,
    PROTOCOL_VERSION_META_KEY,
    SERVER_INFO_META_KEY,
)
from mcp_types.version import (
    HANDSHAKE_PROTOCOL_VERSIONS,
    MODERN_PROTOCOL_VERSIONS,
    is_version_at_least,
)

from negotiator.edge.operation import Service
from negotiator.edge.steps import Doorway
from negotiator.errors import Refusal
from negotiator.mcp.calls import Visit, call, refusal_body
from negotiator.mcp.offers import tools
from negotiator.mcp.offers.identity import Identity
from negotiator.mcp.server import Served

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
class Outcome:
    """`result` or `error` of a JSON-RPC response, None when none is owed, and the HTTP status to send it with."""

    members: dict[str, Any] | None
    status: int = 200


class Speaker:
    """The service as an MCP server."""

    def __init__(self, service: Service, doorway: Doorway, identity: Identity) -> None:
        self._doorway = doorway
        self._tools = tools.marked(service)
        self._served = Served(service, doorway, identity)
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
        self, message: dict[str, Any], headers: Mapping[str, str], visit: Visit
    ) -> Outcome:
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
            return Outcome({"error": error}, _status(INVALID_PARAMS, version))
        except Exception as raised:
            error = handler_exception_to_error_data(raised)
            if error is None:
                raise
            said = error.model_dump(mode="json", exclude_none=True)
            return Outcome({"error": said}, _status(error.code, version))
        return Outcome({"result": result})

    def note(self, headers: Mapping[str, str]) -> Outcome:
        """What a notification comes to: nothing, unless it is of a revision that nobody knows."""
        version = headers.get(_VERSION)
        if version is None or version in _HANDSHAKES:
            return Outcome(None, 202)
        unknown = unsupported_protocol_version_rejection(version, _SERVED)
        return _rejected(unknown) if unknown else Outcome(None, 202)

    async def _call(self, params: dict[str, Any], version: str, visit: Visit) -> dict[str, Any]:
        """A call needs nothing of the SDK's kernel but its revision; its JSON is written once, here."""
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str) or not isinstance(arguments, dict | None):
            raise MCPError(INVALID_PARAMS, "A call has a name and an object of arguments.")
        operation = self._tools.get(name)
        if operation is None:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {name[:64]}")
        given = cast("dict[str, Any]", arguments or {})
        result = await call(operation, self._doorway, visit, given)
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


def _rejected(rejection: InboundLadderRejection) -> Outcome:
    error: dict[str, Any] = {"code": rejection.code, "message": rejection.message}
    if rejection.data is not None:
        error["data"] = rejection.data
    return Outcome({"error": error}, ERROR_CODE_HTTP_STATUS.get(rejection.code, 200))


def _status(code: int, version: str) -> int:
    """Older revisions carry every error in a 200."""
    return ERROR_CODE_HTTP_STATUS.get(code, 200) if version in MODERN_PROTOCOL_VERSIONS else 200
