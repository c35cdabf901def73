"""The socket's door: everything that is decided before the upgrade (docs/contract 8.6, RFC 6455 §4.2).

A bearer token in the header, or a ticket as second subprotocol, is looked at before: who is not believed gets 401, 403
or 404 as an HTTP answer. Who brings neither is let in to say it in his first message, and is told nothing before.
"""

import asyncio
from collections.abc import Iterable
from typing import Final

from starlette.types import Receive, Scope, Send

from negotiator.caller import Caller, anonymous_caller
from negotiator.errors import Forbidden, InvalidRequest, Refusal
from negotiator.http import input as reading
from negotiator.http.endpoint import deny_upgrade, read_headers, respond
from negotiator.http.operation import Operation
from negotiator.http.pipeline import ResponseContext as Charged
from negotiator.teleprompter import session_queries, websocket_messages
from negotiator.teleprompter.stream_routes import OpenStream
from negotiator.teleprompter.websocket_context import SharedContext
from negotiator.teleprompter.websocket_messages import (
    SUBPROTOCOL,
    TICKET_PREFIX,
    AsgiWebSocket,
    AuthMessage,
    CloseCode,
    SocketDisconnected,
    WebSocketClosing,
)
from negotiator.teleprompter.websocket_session import Admission, SessionLoop

_BEARER: Final = "authorization"


class WebSocketEndpoint:
    """The ASGI application of `…/stream` for WebSockets; `origins` are those whose pages may use it."""

    def __init__(
        self, floor: SharedContext, operation: Operation, *, origins: Iterable[str]
    ) -> None:
        self._floor = floor
        self._operation = operation
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["operation"] = self._operation.name
        charged, door = Charged(), self._floor.pipeline
        try:
            await receive()
            presented = await self._admit(scope, charged)
        except Refusal as refusal:
            answer = await door.refused(refusal)
        except Exception as fault:
            answer = door.refusals.crash(fault)
        else:
            await self._welcome(AsgiWebSocket(receive, send), presented, _chosen(scope))
            return
        await respond(deny_upgrade(scope, send), answer, charged.headers())

    async def _admit(self, scope: Scope, charged: Charged) -> Admission:
        """The sender, if they said who they are; one call is charged to their credential, else to their address."""
        door, headers = self._floor.pipeline, read_headers(scope)
        address = door.guard.address(scope, headers)
        caller: Caller | None = None
        try:
            if _BEARER in headers:
                caller = await door.guard.identify(headers, address, sent=("GET", scope["path"]))
            asked = self._asked(scope, headers)
            if caller is None:
                caller = await self._ticketed(scope, headers, asked)
        except Refusal:
            await door.charge(caller or anonymous_caller(address), None, charged)
            raise
        if caller and _BEARER in headers:
            await door.admit(self._operation, caller, charged)
        await door.charge(caller or anonymous_caller(address), None, charged)
        if caller and _BEARER in headers:
            store, owner = self._floor.listening.store, caller.principal
            await store.read(lambda tx: session_queries.find(tx, owner, asked.id))
        return Admission(asked.id, caller, headers.get("origin", ""), asked.after)

    def _asked(self, scope: Scope, headers: dict[str, str]) -> OpenStream:
        origin = headers.get("origin")
        if origin is not None and origin not in self._origins:
            raise Forbidden("Pages of this origin may not use this endpoint.")
        offered: list[str] = scope["subprotocols"]
        if offered and SUBPROTOCOL not in offered:
            raise InvalidRequest(f"The subprotocol is {SUBPROTOCOL}.")
        if _BEARER in headers and any(each.startswith(TICKET_PREFIX) for each in offered):
            raise InvalidRequest("Send a token or a ticket, not both.")
        members = {**reading.parse_query(scope["query_string"]), **scope["path_params"]}
        return reading.validate(self._operation.input, members)

    async def _ticketed(
        self, scope: Scope, headers: dict[str, str], asked: OpenStream
    ) -> Caller | None:
        offered: list[str] = scope["subprotocols"]
        tickets = [
            each.removeprefix(TICKET_PREFIX) for each in offered if each.startswith(TICKET_PREFIX)
        ]
        if len(tickets) > 1:
            raise InvalidRequest("Send one ticket.")
        if not tickets:
            return None
        return await self._floor.tickets.take(tickets[0], asked.id, headers.get("origin", ""))

    async def _welcome(
        self, wire: AsgiWebSocket, presented: Admission, subprotocol: str | None
    ) -> None:
        """Upgrade, hear who it is if that was not said, and let the visit run."""
        floor = self._floor
        try:
            await wire.accept(subprotocol)
            with floor.connection_limits.socket():
                caller = presented.caller or await self._introduced(wire, presented)
                await SessionLoop(floor, wire, presented, caller).run()
        except WebSocketClosing as closing:
            await _leave(wire, closing)
        except SocketDisconnected:
            return

    async def _introduced(self, wire: AsgiWebSocket, presented: Admission) -> Caller:
        """Who says in his first message that he has a ticket."""
        floor = self._floor
        try:
            async with asyncio.timeout(floor.patience.auth):
                frame = await wire.read()
        except TimeoutError:
            raise WebSocketClosing(CloseCode.UNBELIEVED, "nobody said who this is") from None
        try:
            message = websocket_messages.read_message(frame) if isinstance(frame, str) else None
        except (websocket_messages.ProtocolError, Refusal):
            message = None
        if not isinstance(message, AuthMessage):
            raise WebSocketClosing(CloseCode.UNBELIEVED, "the first message has to be auth")
        try:
            return await floor.tickets.take(message.ticket, presented.session, presented.origin)
        except Refusal as refusal:
            raise WebSocketClosing(
                CloseCode.UNBELIEVED, "ticket refused", await floor.said(refusal)
            ) from None


async def _leave(wire: AsgiWebSocket, closing: WebSocketClosing) -> None:
    try:
        if closing.said:
            await wire.write(closing.said)
        await wire.close(closing.code, closing.reason)
    except SocketDisconnected:
        return


def _chosen(scope: Scope) -> str | None:
    """The subprotocol to answer with: ours, never the ticket."""
    return SUBPROTOCOL if SUBPROTOCOL in scope["subprotocols"] else None
