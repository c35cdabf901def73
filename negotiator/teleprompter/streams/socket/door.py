"""The socket's door: everything that is decided before the upgrade (reference A6, RFC 6455 §4.2).

A bearer token in the header, or a ticket as second subprotocol, is looked at before: who is not believed gets 401, 403
or 404 as an HTTP answer. Who brings neither is let in to say it in his first message, and is told nothing before.
"""

import asyncio
from collections.abc import Iterable
from typing import Final

from starlette.types import Receive, Scope, Send

from negotiator.caller import Caller, nobody
from negotiator.edge import input as reading
from negotiator.edge.endpoint import instead_of_upgrade, read_headers, respond
from negotiator.edge.operation import Operation
from negotiator.edge.steps import Left as Charged
from negotiator.errors import Forbidden, InvalidRequest, Refusal
from negotiator.teleprompter.sessions import rows
from negotiator.teleprompter.streams import protocol
from negotiator.teleprompter.streams.entry.routes import OpenStream
from negotiator.teleprompter.streams.protocol import SUBPROTOCOL, TICKET, Auth, Code
from negotiator.teleprompter.streams.socket.floor import Floor
from negotiator.teleprompter.streams.socket.visit import Pass, Visit
from negotiator.teleprompter.streams.socket.wire import Closing, Left, Wire

_BEARER: Final = "authorization"


class Door:
    """The ASGI application of `…/stream` for WebSockets; `origins` are those whose pages may use it."""

    def __init__(self, floor: Floor, operation: Operation, *, origins: Iterable[str]) -> None:
        self._floor = floor
        self._operation = operation
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["operation"] = self._operation.name
        charged, door = Charged(), self._floor.doorway
        try:
            await receive()
            presented = await self._admit(scope, charged)
        except Refusal as refusal:
            answer = await door.refused(refusal)
        except Exception as fault:
            answer = door.refusals.crash(fault)
        else:
            await self._welcome(Wire(receive, send), presented, _chosen(scope))
            return
        await respond(instead_of_upgrade(scope, send), answer, charged.headers())

    async def _admit(self, scope: Scope, charged: Charged) -> Pass:
        """The sender, if they said who they are; one call is charged to their credential, else to their address."""
        door, headers = self._floor.doorway, read_headers(scope)
        address = door.guard.address(scope, headers)
        caller: Caller | None = None
        try:
            if _BEARER in headers:
                caller = await door.guard.identify(headers, address, sent=("GET", scope["path"]))
            asked = self._asked(scope, headers)
            if caller is None:
                caller = await self._ticketed(scope, headers, asked)
        except Refusal:
            await door.charge(caller or nobody(address), None, charged)
            raise
        if caller and _BEARER in headers:
            await door.admit(self._operation, caller, charged)
        await door.charge(caller or nobody(address), None, charged)
        if caller and _BEARER in headers:
            store, owner = self._floor.listening.store, caller.principal
            await store.read(lambda tx: rows.find(tx, owner, asked.id))
        return Pass(asked.id, caller, headers.get("origin", ""), asked.after)

    def _asked(self, scope: Scope, headers: dict[str, str]) -> OpenStream:
        origin = headers.get("origin")
        if origin is not None and origin not in self._origins:
            raise Forbidden("Pages of this origin may not use this endpoint.")
        offered: list[str] = scope["subprotocols"]
        if offered and SUBPROTOCOL not in offered:
            raise InvalidRequest(f"The subprotocol is {SUBPROTOCOL}.")
        if _BEARER in headers and any(each.startswith(TICKET) for each in offered):
            raise InvalidRequest("Send a token or a ticket, not both.")
        members = {**reading.parse_query(scope["query_string"]), **scope["path_params"]}
        return reading.believe(self._operation.input, members)

    async def _ticketed(
        self, scope: Scope, headers: dict[str, str], asked: OpenStream
    ) -> Caller | None:
        offered: list[str] = scope["subprotocols"]
        tickets = [each.removeprefix(TICKET) for each in offered if each.startswith(TICKET)]
        if len(tickets) > 1:
            raise InvalidRequest("Send one ticket.")
        if not tickets:
            return None
        return await self._floor.tickets.take(tickets[0], asked.id, headers.get("origin", ""))

    async def _welcome(self, wire: Wire, presented: Pass, subprotocol: str | None) -> None:
        """Upgrade, hear who it is if that was not said, and let the visit run."""
        floor = self._floor
        try:
            await wire.accept(subprotocol)
            with floor.crowd.socket():
                caller = presented.caller or await self._introduced(wire, presented)
                await Visit(floor, wire, presented, caller).run()
        except Closing as closing:
            await _leave(wire, closing)
        except Left:
            return

    async def _introduced(self, wire: Wire, presented: Pass) -> Caller:
        """Who says in his first message that he has a ticket."""
        floor = self._floor
        try:
            async with asyncio.timeout(floor.patience.auth):
                frame = await wire.read()
        except TimeoutError:
            raise Closing(Code.UNBELIEVED, "nobody said who this is") from None
        try:
            message = protocol.read(frame) if isinstance(frame, str) else None
        except (protocol.Bad, Refusal):
            message = None
        if not isinstance(message, Auth):
            raise Closing(Code.UNBELIEVED, "the first message has to be auth")
        try:
            return await floor.tickets.take(message.ticket, presented.session, presented.origin)
        except Refusal as refusal:
            raise Closing(Code.UNBELIEVED, "ticket refused", await floor.said(refusal)) from None


async def _leave(wire: Wire, closing: Closing) -> None:
    try:
        if closing.said:
            await wire.write(closing.said)
        await wire.close(closing.code, closing.reason)
    except Left:
        return


def _chosen(scope: Scope) -> str | None:
    """The subprotocol to answer with: ours, never the ticket."""
    return SUBPROTOCOL if SUBPROTOCOL in scope["subprotocols"] else None
