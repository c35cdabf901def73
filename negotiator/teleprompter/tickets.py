"""Tickets open one socket each, within 30 seconds, for clients that cannot send a header (docs/contract 8.6)."""

from dataclasses import dataclass, replace
from typing import Final

from pydantic import TypeAdapter
from sqlalchemy import bindparam, delete
from sqlmodel import col

from negotiator.base import values
from negotiator.base.caller import Caller
from negotiator.base.errors import Unauthorized
from negotiator.http.guard import Guard
from negotiator.store.statement import Query, RowInsertion, Transaction
from negotiator.store.store import Store
from negotiator.teleprompter import queries
from negotiator.teleprompter.tables import TeleprompterTicket

TICKET_SECONDS: Final = 30

_CALLER: Final = TypeAdapter(Caller)
_ticket = TeleprompterTicket
_ADD = RowInsertion(_ticket)
_TAKE = Query(
    delete(_ticket)
    .where(col(_ticket.digest) == bindparam("presented"))
    .returning(col(_ticket.session), col(_ticket.caller), col(_ticket.origin), col(_ticket.expires_at)),
    tuple,
)


@dataclass(frozen=True, slots=True)
class Tickets:
    """Issues and redeems tickets. Each is valid once, in any worker process."""

    store: Store
    guard: Guard

    async def make(self, caller: Caller, session: str, origin: str) -> str:
        """A ticket for the caller's own session, bound to `origin` unless it is empty; 404 for an unknown session."""
        ticket, now = values.new_secret(), values.now()

        def unit(tx: Transaction) -> str:
            queries.find(tx, caller.principal, session)
            tx.run(
                _ADD,
                digest=values.digest(ticket),
                session=session,
                owner=caller.principal,
                caller=_CALLER.dump_json(replace(caller, retiring=None)),
                origin=origin,
                expires_at=now + TICKET_SECONDS * 1000,
            )
            return ticket

        return await self.store.write(unit)

    async def take(self, ticket: str, session: str, origin: str) -> Caller:
        """The caller that made the ticket. The ticket is used up in any case.

        401 for an unknown or expired ticket, another session or origin, or when the caller's credential has ended.
        """
        presented = values.digest(ticket)

        def unit(tx: Transaction) -> Caller | None:
            found = tx.one(_TAKE, presented=presented)
            if found is None:
                return None
            meant, packed, bound, expires_at = found
            if meant != session or expires_at <= values.now() or (bound and bound != origin):
                return None
            caller = _CALLER.validate_json(packed)
            return caller if self.guard.stands(tx, caller) else None

        caller = await self.store.write(unit)
        if caller is None:
            raise Unauthorized("The ticket is unknown, used or expired, or its credential has ended.")
        return caller
