"""The operations `…/stream` and `…/tickets`."""

from dataclasses import dataclass
from typing import Any, Final

from typing_extensions import TypedDict

from negotiator.base.errors import UpgradeRequired
from negotiator.base.scopes import TELEPROMPTER_STREAM
from negotiator.http.operation import Answer, Call, Operation
from negotiator.teleprompter import session_queries
from negotiator.teleprompter.schemas import OpenStream, SessionId
from negotiator.teleprompter.tickets import TICKET_SECONDS, Tickets
from negotiator.teleprompter.websocket_messages import SUBPROTOCOL

STREAM_PATH: Final = "/api/teleprompter/sessions/{id}/stream"


class TicketView(TypedDict):
    """A ticket, shown once; seconds."""

    ticket: str
    expires_in: int


@dataclass(frozen=True, slots=True)
class StreamRoutes:
    """Describes the socket as an operation and makes tickets; `websocket_endpoint` serves the socket."""

    tickets: Tickets

    def operations(self) -> list[Operation]:
        return [
            self.stream,
            Operation(
                name="make_stream_ticket",
                method="POST",
                path="/api/teleprompter/sessions/{id}/tickets",
                summary="Make a ticket that opens this session's socket once, within 30 seconds",
                run=self.make,
                input=SessionId,
                output=TicketView,
                status=201,
                scopes=frozenset({TELEPROMPTER_STREAM}),
                refusals=(404,),
                tag="teleprompter",
            ),
        ]

    @property
    def stream(self) -> Operation:
        """The socket as an operation of plain HTTP."""
        return Operation(
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

    async def upgrade(self, call: Call[OpenStream]) -> Answer:
        """426, since the request is not for a WebSocket; 404 without such a session."""
        owner, asked = call.caller.principal, call.input
        await self.tickets.store.read(lambda tx: session_queries.find(tx, owner, asked.id))
        raise UpgradeRequired(f"Ask for a WebSocket of the subprotocol {SUBPROTOCOL}.")

    async def make(self, call: Call[SessionId]) -> Any:
        """A ticket for the session, and for pages of the origin that asks."""
        origin = call.headers.get("origin", "")
        ticket = await self.tickets.make(call.caller, call.input.id, origin)
        return Answer({"ticket": ticket, "expires_in": TICKET_SECONDS}, 201)
