"""`/api/negotiations`."""

from dataclasses import dataclass
from typing import Any

from negotiator.edge.cursors import Cursors
from negotiator.edge.operation import Answer, Call, Operation
from negotiator.negotiations import sessions
from negotiator.negotiations.schemas import (
    EditNegotiation,
    ListNegotiations,
    NegotiationId,
    NegotiationList,
    NegotiationView,
    OpenNegotiation,
)
from negotiator.store.store import Store

READ = frozenset({"negotiations:read"})
WRITE = frozenset({"negotiations:write"})


@dataclass(frozen=True, slots=True)
class Negotiations:
    """Sessions, over HTTP and MCP alike."""

    store: Store
    cursors: Cursors

    def operations(self) -> list[Operation]:
        """What this slice offers; the hottest first."""
        path = "/api/negotiations"
        one = f"{path}/{{id}}"
        return [
            Operation(
                name="list_negotiations",
                method="GET",
                path=path,
                summary="List your negotiations, newest first",
                run=self.list,
                input=ListNegotiations,
                output=NegotiationList,
                scopes=READ,
                refusals=(400, 422),
                tag="negotiations",
            ),
            Operation(
                name="open_negotiation",
                method="POST",
                path=path,
                summary="Open a negotiation",
                run=self.open,
                input=OpenNegotiation,
                output=NegotiationView,
                status=201,
                scopes=WRITE,
                creates=True,
                refusals=(400, 422),
                tag="negotiations",
            ),
            Operation(
                name="get_negotiation",
                method="GET",
                path=one,
                summary="Read one negotiation",
                run=self.get,
                input=NegotiationId,
                output=NegotiationView,
                scopes=READ,
                refusals=(404,),
                tag="negotiations",
            ),
            Operation(
                name="edit_negotiation",
                method="PATCH",
                path=one,
                summary="Change a negotiation by a JSON merge patch",
                run=self.edit,
                input=EditNegotiation,
                output=NegotiationView,
                scopes=WRITE,
                refusals=(400, 404, 412, 422),
                tag="negotiations",
            ),
            Operation(
                name="delete_negotiation",
                method="DELETE",
                path=one,
                summary="Erase a negotiation and all that belongs to it",
                run=self.delete,
                input=NegotiationId,
                status=204,
                scopes=WRITE,
                refusals=(404, 412),
                tag="negotiations",
            ),
        ]

    async def list(self, call: Call[ListNegotiations]) -> dict[str, Any]:
        """A page of the caller's negotiations."""
        asked, owner = call.input, call.caller.principal
        bound = (owner, asked.state, asked.category, asked.query)
        before = self.cursors.open(asked.cursor, *bound) if asked.cursor else None
        items = await self.store.read(lambda tx: sessions.page(tx, owner, asked, before))
        more = len(items) > asked.limit
        items = items[: asked.limit]
        return {
            "items": items,
            "next_cursor": self.cursors.seal(items[-1]["id"], *bound) if more else None,
        }

    async def open(self, call: Call[OpenNegotiation]) -> NegotiationView:
        """A new negotiation of the caller's."""
        owner = call.caller.principal
        created: NegotiationView = await self.store.write(
            call.once(lambda tx: sessions.add(tx, owner, call.input))
        )
        return created

    async def get(self, call: Call[NegotiationId]) -> NegotiationView:
        """One of the caller's negotiations."""
        return await self.store.read(
            lambda tx: sessions.find(tx, call.caller.principal, call.input.id)
        )

    async def edit(self, call: Call[EditNegotiation]) -> NegotiationView:
        """Change one of the caller's negotiations."""
        owner, expected = call.caller.principal, call.expected
        return await self.store.write(
            lambda tx: sessions.edit(tx, owner, call.input, expected=expected)
        )

    async def delete(self, call: Call[NegotiationId]) -> Answer:
        """Erase one of the caller's negotiations."""
        owner, expected = call.caller.principal, call.expected
        await self.store.write(
            lambda tx: sessions.remove(tx, owner, call.input.id, expected=expected)
        )
        return Answer(None, 204)
