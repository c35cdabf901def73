"""Everything that is decided about a WebSocket before the upgrade (RFC 6455 §4.2).

A bearer token in the header, or a ticket as second subprotocol, is checked before the upgrade: a refusal is an HTTP
response with 401, 403 or 404. A client without either sends its ticket in the first message.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Final

from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketDisconnected
from typing_extensions import TypedDict

from negotiator.base.caller import Caller, anonymous_caller
from negotiator.base.errors import Forbidden, InvalidRequest, Refusal, UpgradeRequired
from negotiator.base.scopes import TELEPROMPTER_STREAM
from negotiator.http import input as reading
from negotiator.http.endpoint import deny_upgrade, respond
from negotiator.http.input import read_headers
from negotiator.http.operation import Answer, Call, Operation
from negotiator.http.pipeline import ResponseContext as Charged
from negotiator.teleprompter import queries, websocket_messages
from negotiator.teleprompter.schemas import OpenStream, SessionId
from negotiator.teleprompter.tickets import TICKET_SECONDS
from negotiator.teleprompter.websocket_connection import Admission, Connection
from negotiator.teleprompter.websocket_context import SharedContext
from negotiator.teleprompter.websocket_messages import (
    SUBPROTOCOL,
    TICKET_PREFIX,
    AuthMessage,
    CloseCode,
    WebSocketClosing,
)

STREAM_PATH: Final = "/api/teleprompter/sessions/{id}/stream"
_BEARER: Final = "authorization"


class TicketView(TypedDict):
    """A ticket, shown once; seconds."""

    ticket: str
    expires_in: int


class WebSocketEndpoint:
    """The ASGI application of `…/stream` for WebSockets, and the operations that describe it and make its tickets.

    Pages of `origins` may use it.
    """

    def __init__(self, context: SharedContext, *, origins: Iterable[str]) -> None:
        self._context = context
        self._origins = frozenset(origins)
        self._stream = Operation(
            name="stream_session",
            method="GET",
            path=STREAM_PATH,
            summary=f"Speak and listen over a WebSocket, subprotocol {SUBPROTOCOL}",
            run=self.upgrade,
            input=OpenStream,
            status=101,
            scopes=frozenset({TELEPROMPTER_STREAM}),
            refusals=(404, 426),
            tag="teleprompter",
        )

    def operations(self) -> list[Operation]:
        return [
            self._stream,
            Operation(
                name="make_stream_ticket",
                method="POST",
                path="/api/teleprompter/sessions/{id}/tickets",
                summary="Make a ticket that opens this session's socket once, within 30 seconds",
                run=self.make_ticket,
                input=SessionId,
                output=TicketView,
                status=201,
                scopes=frozenset({TELEPROMPTER_STREAM}),
                refusals=(404,),
                tag="teleprompter",
            ),
        ]

    async def upgrade(self, call: Call[OpenStream]) -> Answer:
        """426, since the request is not for a WebSocket; 404 without such a session."""
        owner, asked = call.caller.principal, call.input
        await self._context.pipeline.store.read(lambda tx: queries.find(tx, owner, asked.id))
        raise UpgradeRequired(f"Ask for a WebSocket of the subprotocol {SUBPROTOCOL}.")

    async def make_ticket(self, call: Call[SessionId]) -> Answer:
        """A ticket for the session, and for pages of the origin that asks."""
        origin = call.headers.get("origin", "")
        ticket = await self._context.tickets.make(call.caller, call.input.id, origin)
        return Answer({"ticket": ticket, "expires_in": TICKET_SECONDS}, 201)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["operation"] = self._stream.name
        charged, pipeline = Charged(), self._context.pipeline
        socket = WebSocket(scope, receive, send)
        try:
            await socket.receive()
            admission = await self._admit(scope, charged)
        except Refusal as refusal:
            answer = await pipeline.refused(refusal)
        except Exception as fault:
            answer = pipeline.refusals.crash(fault)
        else:
            await self._welcome(socket, admission, _chosen(scope))
            return
        await respond(scope, deny_upgrade(scope, send), answer, charged.header_lines())

    async def _admit(self, scope: Scope, charged: Charged) -> Admission:
        """The session and the caller, if known; one call is charged to the credential, else to the address."""
        pipeline, headers = self._context.pipeline, read_headers(scope)
        address = pipeline.guard.address(scope, headers)
        caller: Caller | None = None
        try:
            if _BEARER in headers:
                caller = await pipeline.guard.identify(headers, address, sent=("GET", scope["path"]))
            asked = self._asked(scope, headers)
            if caller is None:
                caller = await self._ticketed(scope, headers, asked)
        except Refusal:
            await pipeline.charge(caller or anonymous_caller(address), None, charged)
            raise
        if caller and _BEARER in headers:
            await pipeline.admit(self._stream, caller, charged)
        await pipeline.charge(caller or anonymous_caller(address), None, charged)
        if caller and _BEARER in headers:
            store, owner = self._context.utterances.store, caller.principal
            await store.read(lambda tx: queries.find(tx, owner, asked.id))
        return Admission(asked.id, caller, headers.get("origin", ""), asked.after)

    def _asked(self, scope: Scope, headers: Mapping[str, str]) -> OpenStream:
        origin = headers.get("origin")
        if origin is not None and origin not in self._origins:
            raise Forbidden("Pages of this origin may not use this endpoint.")
        offered: list[str] = scope["subprotocols"]
        if offered and SUBPROTOCOL not in offered:
            raise InvalidRequest(f"The subprotocol is {SUBPROTOCOL}.")
        if _BEARER in headers and any(each.startswith(TICKET_PREFIX) for each in offered):
            raise InvalidRequest("Send a token or a ticket, not both.")
        members = {**reading.parse_query(scope["query_string"]), **scope["path_params"]}
        return reading.validate(self._stream.input, members)

    async def _ticketed(self, scope: Scope, headers: Mapping[str, str], asked: OpenStream) -> Caller | None:
        offered: list[str] = scope["subprotocols"]
        tickets = [each.removeprefix(TICKET_PREFIX) for each in offered if each.startswith(TICKET_PREFIX)]
        if len(tickets) > 1:
            raise InvalidRequest("Send one ticket.")
        if not tickets:
            return None
        return await self._context.tickets.take(tickets[0], asked.id, headers.get("origin", ""))

    async def _welcome(self, socket: WebSocket, admission: Admission, subprotocol: str | None) -> None:
        """Accept the socket, authenticate the client if necessary, and run the session."""
        context = self._context
        try:
            await socket.accept(subprotocol)
            with context.connection_limits.socket():
                caller = admission.caller or await self._introduced(socket, admission)
                await Connection(context, socket, admission, caller).run()
        except WebSocketClosing as closing:
            await _leave(socket, closing)
        except (WebSocketDisconnect, WebSocketDisconnected):
            return

    async def _introduced(self, socket: WebSocket, admission: Admission) -> Caller:
        """The caller of the ticket in the first message; `WebSocketClosing` without one."""
        context = self._context
        try:
            async with asyncio.timeout(context.patience.auth):
                frame = await websocket_messages.read_frame(socket)
        except TimeoutError:
            raise WebSocketClosing(CloseCode.UNBELIEVED, "nobody said who this is") from None
        try:
            message = websocket_messages.read_message(frame) if isinstance(frame, str) else None
        except (websocket_messages.ProtocolError, Refusal):
            message = None
        if not isinstance(message, AuthMessage):
            raise WebSocketClosing(CloseCode.UNBELIEVED, "the first message has to be auth")
        try:
            return await context.tickets.take(message.ticket, admission.session, admission.origin)
        except Refusal as refusal:
            raise WebSocketClosing(CloseCode.UNBELIEVED, "ticket refused", await context.said(refusal)) from None


async def _leave(socket: WebSocket, closing: WebSocketClosing) -> None:
    try:
        if closing.said:
            await socket.send_text(closing.said.decode())
        await socket.close(closing.code, closing.reason)
    except (WebSocketDisconnect, WebSocketDisconnected):
        return


def _chosen(scope: Scope) -> str | None:
    """The subprotocol to accept: this protocol's, never the ticket."""
    return SUBPROTOCOL if SUBPROTOCOL in scope["subprotocols"] else None
