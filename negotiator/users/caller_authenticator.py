"""Adds the users of the console to the callers whose credential can end: theirs is the session of their browser."""

from dataclasses import dataclass
from typing import Final

from negotiator.caller import Caller, CallerRate
from negotiator.http.guard import CallerAuthenticator
from negotiator.scopes import ordered
from negotiator.store.statement import Transaction
from negotiator.users import session_queries

USER: Final = "user"
RATE: Final = CallerRate(requests_per_minute=600, burst=600)
"""A page makes several calls, and a person opens a page every few seconds at most."""


def caller_of_session(user_id: str, session_id: str, scopes: frozenset[str]) -> Caller:
    """The caller of an operation that a signed-in user runs from a page."""
    return Caller(USER, user_id, session_id, frozenset(ordered(scopes)), user_id=user_id, rate=RATE)


@dataclass(frozen=True, slots=True)
class SessionAwareAuthenticator:
    """Authenticates bearer credentials by another authenticator; knows when a user's session has ended."""

    bearer: CallerAuthenticator

    async def authenticate(self, credential: str, address: str = "") -> Caller | None:
        """The caller of a bearer credential; no session is one."""
        return await self.bearer.authenticate(credential, address)

    def stands(self, tx: Transaction, caller: Caller) -> bool:
        if caller.kind == USER:
            return session_queries.is_live(tx, caller.credential)
        return self.bearer.stands(tx, caller)

    def subjects(self, tx: Transaction, caller: Caller) -> frozenset[str]:
        if caller.kind == USER:
            return frozenset({caller.principal})
        return self.bearer.subjects(tx, caller)

    def is_withdrawn(self, tx: Transaction, caller: Caller) -> bool:
        return caller.kind != USER and self.bearer.is_withdrawn(tx, caller)
