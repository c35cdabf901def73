"""`/probe/{proof}` tells `negotiator doctor`, which asks through the public address, what of a request arrives here.

The proof is a time and its signature under the service's secret: only a caller who can read the secret is answered.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket
from typing_extensions import TypedDict

from negotiator.base import values
from negotiator.http.guard import Guard
from negotiator.http.input import read_headers

PROBE_PATH: Final = "/probe"
PROBE_WORD: Final = '{"type":"probe"}'
"""What the WebSocket says before it closes."""
_ROUTE: Final = f"{PROBE_PATH}/{{proof}}"
_LIFE: Final = 10 * 60_000
_FORM: Final = re.compile(r"([0-9a-f]{8,12})-([0-9a-f]{64})")


class ArrivedRequest(TypedDict):
    """The `Host` header, the peer of the connection, its `X-Forwarded-For`, and whether that is trusted."""

    host: str
    peer: str
    forwarded: str
    is_trusted: bool


def probe_path(pepper: bytes) -> str:
    """The path with a proof that is valid for ten minutes around now."""
    stamp = f"{values.now():x}"
    return f"{PROBE_PATH}/{stamp}-{_signature(pepper, stamp)}"


@dataclass(frozen=True, slots=True)
class ProbeEndpoint:
    """Answers a caller with a proof; for others there is no such page."""

    guard: Guard
    pepper: bytes

    def routes(self) -> list[Route]:
        return [Route(_ROUTE, self.show, methods=["GET"])]

    def sockets(self) -> Mapping[str, ASGIApp]:
        return {_ROUTE: self.open}

    async def show(self, request: Request) -> Response:
        """What arrived of this request."""
        if not self._is_proven(request.path_params["proof"]):
            raise HTTPException(404)
        headers = read_headers(request.scope)
        peer = request.client.host if request.client else ""
        arrived: ArrivedRequest = {
            "host": headers.get("host", ""),
            "peer": peer,
            "forwarded": headers.get("x-forwarded-for", ""),
            "is_trusted": self.guard.trusts(peer),
        }
        return Response(orjson.dumps(arrived), 200, {"cache-control": "no-store"}, "application/json")

    async def open(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Say one word over a WebSocket and close it; a handshake without a proof is refused with 404."""
        socket = WebSocket(scope, receive, send)
        proof: Any = scope["path_params"]["proof"]
        if not self._is_proven(proof):
            body = {"error": "not_found", "error_description": "There is nothing here."}
            await socket.send_denial_response(JSONResponse(body, 404))
            return
        await socket.accept()
        await socket.send_text(PROBE_WORD)
        await socket.close()

    def _is_proven(self, proof: str) -> bool:
        found = _FORM.fullmatch(proof)
        if found is None:
            return False
        signed = values.equal_in_constant_time(_signature(self.pepper, found[1]), found[2])
        return signed and abs(values.now() - int(found[1], 16)) < _LIFE


def _signature(pepper: bytes, stamp: str) -> str:
    return values.keyed_digest(pepper, f"probe:{stamp}")
