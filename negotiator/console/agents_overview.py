"""The data of the Agents page: a user's delegation codes, their agents with their rights, and connected clients."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from negotiator import values
from negotiator.agents import delegation, registration
from negotiator.agents.tables import Agent, Delegation
from negotiator.console.scope_words import ScopeInWords, describe_scopes, purpose_title
from negotiator.errors import NotFound
from negotiator.store.statement import Transaction
from negotiator.tokens import access_token_queries, authorization_codes, consent_queries
from negotiator.tokens.access_token_queries import live_tokens

_MINUTE: Final = 60_000
PAGE_SIZE: Final = 25
AFTER_EVERY_ID: Final = "~"
"""Sorts after every id."""


@dataclass(frozen=True, slots=True)
class ConnectedClient:
    """A client that a user consented to. Times in milliseconds."""

    id: str
    name: str
    host: str
    scopes: tuple[str, ...]
    since: int
    last_used: int | None


class ClientConnections(Protocol):
    """The clients that users consented to."""

    def of_user(self, tx: Transaction, user_id: str) -> Sequence[ConnectedClient]:
        """A user's connections, newest first."""
        ...

    def revoke(self, tx: Transaction, connection_id: str, *, user_id: str) -> bool:
        """End a connection with all of its tokens; False when the user has none with this id."""
        ...


class NoClientConnections:
    """Connections of a server that has no authorization endpoint."""

    def of_user(self, tx: Transaction, user_id: str) -> Sequence[ConnectedClient]:
        del tx, user_id
        return ()

    def revoke(self, tx: Transaction, connection_id: str, *, user_id: str) -> bool:
        del tx, connection_id, user_id
        return False


@dataclass(frozen=True, slots=True)
class AgentView:
    """An agent, with the rights of its live tokens and grants in words, and the purpose that they serve.

    `until` is when the rights end if the agent stays idle (None: it has none now), `at_most` when they end however
    often the agent renews them (None: it cannot renew). Milliseconds.
    """

    agent: Agent
    purpose: str
    may: tuple[ScopeInWords, ...]
    until: int | None
    at_most: int | None


@dataclass(frozen=True, slots=True)
class DelegationCodeView:
    """A delegation code, its state, the purpose that it serves, and the name of the agent that used it."""

    code: Delegation
    state: str
    purpose: str
    used_by: str


@dataclass(frozen=True, slots=True)
class AgentsOverview:
    """One page of each list; `older_…` is the id of the last row when there are older ones, else None."""

    agents: tuple[AgentView, ...]
    codes: tuple[DelegationCodeView, ...]
    connections: tuple[ConnectedClient, ...]
    older_agents: str | None
    older_codes: str | None


def load_overview(
    tx: Transaction,
    user_id: str,
    *,
    connections: ClientConnections,
    longest: int = 0,
    agents_before: str = AFTER_EVERY_ID,
    codes_before: str = AFTER_EVERY_ID,
) -> AgentsOverview:
    """Everything of this user, newest first; `longest` is how long a grant can be renewed, in seconds."""
    agents = registration.of_user(tx, user_id, before=agents_before, limit=PAGE_SIZE + 1)
    codes = delegation.of_user(tx, user_id, before=codes_before, limit=PAGE_SIZE + 1)
    scopes: dict[str, set[str]] = {}
    until: dict[str, int] = {}
    for token in live_tokens(tx, user_id):
        scopes.setdefault(token.client_id, set()).update(token.scope.split())
        until[token.client_id] = max(token.expires_at, until.get(token.client_id, 0))
    at_most: dict[str, int] = {}
    for grant in authorization_codes.of_agents(tx, user_id):
        scopes.setdefault(grant.client_id, set()).update(grant.scope.split())
        until[grant.client_id] = max(grant.expires_at, until.get(grant.client_id, 0))
        last = grant.created_at + longest * 1000
        at_most[grant.client_id] = max(last, at_most.get(grant.client_id, 0))
    return AgentsOverview(
        tuple(
            AgentView(
                each,
                purpose_title(scopes.get(each.id, ())),
                describe_scopes(scopes.get(each.id, ())),
                until.get(each.id),
                at_most.get(each.id),
            )
            for each in agents[:PAGE_SIZE]
        ),
        tuple(_code(tx, each) for each in codes[:PAGE_SIZE]),
        tuple(connections.of_user(tx, user_id)),
        agents[PAGE_SIZE - 1].id if len(agents) > PAGE_SIZE else None,
        codes[PAGE_SIZE - 1].id if len(codes) > PAGE_SIZE else None,
    )


@dataclass(frozen=True, slots=True)
class CodeHandover:
    """A delegation code on its way to an agent. `text` is empty when the code cannot be shown again."""

    id: str
    state: str
    may: tuple[ScopeInWords, ...]
    expires_at: int
    minutes_left: int
    agent_id: str
    agent_name: str
    text: str = ""

    @property
    def time_left(self) -> str:
        if self.minutes_left <= 1:
            return "less than a minute left"
        return f"{self.minutes_left} minutes left"


def find_code(tx: Transaction, code_id: str, *, user_id: str, text: str = "") -> CodeHandover:
    """A code of this user's and the agent that used it; 404 when the user has none with this id."""
    code, now = delegation.find(tx, code_id), values.now()
    if code is None or code.user_id != user_id:
        raise NotFound("You have no such code.")
    agent = registration.find(tx, code.used_by) if code.used_by else None
    return CodeHandover(
        code.id,
        delegation.state(code, now),
        describe_scopes(code.scope.split()),
        code.expires_at,
        max(0, math.ceil((code.expires_at - now) / _MINUTE)),
        code.used_by or "",
        agent.name if agent else "an agent",
        text,
    )


def revoke_code(tx: Transaction, code_id: str, *, user_id: str) -> None:
    """Revoke a code of this user's, with everything an agent obtained by it; 404 when there is none to revoke."""
    delegation.revoke(tx, code_id, actor=user_id, user_id=user_id)


def revoke_agent(tx: Transaction, agent_id: str, *, user_id: str) -> None:
    """Revoke an agent of this user's with all its tokens; 404 when the user has none with this id."""
    if not registration.revoke(tx, agent_id, user_id=user_id):
        raise NotFound("You have no such agent.")


def _code(tx: Transaction, code: Delegation) -> DelegationCodeView:
    user = registration.find(tx, code.used_by) if code.used_by else None
    state = delegation.state(code, values.now())
    return DelegationCodeView(
        code, state, purpose_title(code.scope.split()), user.name if user else ""
    )


@dataclass(frozen=True, slots=True)
class ConsentConnections:
    """Clients with a consent; the id of a connection is the client's id."""

    def of_user(self, tx: Transaction, user_id: str) -> Sequence[ConnectedClient]:
        """A user's connections, newest first."""
        found = consent_queries.of_user(tx, user_id)
        used = access_token_queries.last_issued(tx, user_id) if found else {}
        return [
            ConnectedClient(
                each.client_id,
                each.client_name,
                each.place,
                tuple(each.scope.split()),
                each.granted_at,
                used.get(each.client_id),
            )
            for each in found
        ]

    def revoke(self, tx: Transaction, connection_id: str, *, user_id: str) -> bool:
        """End a connection with all of its codes and tokens; False when the user has none with this id."""
        return consent_queries.withdraw(tx, user_id, connection_id, actor=user_id)
