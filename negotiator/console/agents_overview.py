"""What the Agents page shows of one user: his codes, his agents with what they may do, the clients he let in.

Whom a user let in by consent, as the Agents page lists and ends them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from negotiator import values
from negotiator.agents import delegation, registration
from negotiator.agents.tables import Agent, Delegation
from negotiator.errors import NotFound
from negotiator.scopes import ASSISTANT, DIRECTORY, ordered
from negotiator.store.statement import Transaction
from negotiator.tokens import access_token_queries, authorization_codes, consent_queries
from negotiator.tokens.access_token_queries import live_tokens as held_by

PAGE_SIZE: Final = 25
AFTER_EVERY_ID: Final = "~"
"""Comes after every id."""

_MEANINGS: Final = {**ASSISTANT, **DIRECTORY}


@dataclass(frozen=True, slots=True)
class ConnectedClient:
    """A client that a user let in by consent. Times in milliseconds."""

    id: str
    name: str
    host: str
    scopes: tuple[str, ...]
    since: int
    last_used: int | None


class ClientConnections(Protocol):
    """Clients that users let in, wherever that is kept."""

    def of_user(self, tx: Transaction, user_id: str) -> Sequence[ConnectedClient]:
        """A user's connections, newest first."""
        ...

    def revoke(self, tx: Transaction, connection_id: str, *, user_id: str) -> bool:
        """End one, with every token it stands behind; False when it is not his."""
        ...


class NoClientConnections:
    """A house in which no client can be let in."""

    def of_user(self, tx: Transaction, user_id: str) -> Sequence[ConnectedClient]:
        del tx, user_id
        return ()

    def revoke(self, tx: Transaction, connection_id: str, *, user_id: str) -> bool:
        del tx, connection_id, user_id
        return False


@dataclass(frozen=True, slots=True)
class AgentView:
    """An agent, and what its live tokens and grants let it do in plain words.

    `until` is when that ends if the agent does nothing (None: it may do nothing now), `at_most` when it ends however
    often the agent renews it (None: it cannot renew). Milliseconds.
    """

    agent: Agent
    may: tuple[str, ...]
    until: int | None
    at_most: int | None


@dataclass(frozen=True, slots=True)
class DelegationCodeView:
    """A code, where it stands, what it grants in plain words, and the name of the agent that used it."""

    code: Delegation
    state: str
    may: tuple[str, ...]
    used_by: str


@dataclass(frozen=True, slots=True)
class AgentsOverview:
    """One page of each list; `older_…` is the id to go on from, None at the end."""

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
    """Everything of this user's, newest first; `longest` is how long a grant can be renewed, in seconds."""
    agents = registration.of_user(tx, user_id, before=agents_before, limit=PAGE_SIZE + 1)
    codes = delegation.of_user(tx, user_id, before=codes_before, limit=PAGE_SIZE + 1)
    scopes: dict[str, set[str]] = {}
    until: dict[str, int] = {}
    for token in held_by(tx, user_id):
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


def describe_scopes(scopes: Iterable[str]) -> tuple[str, ...]:
    """What these scopes let somebody do, in the words and order of `negotiator.scopes`."""
    return tuple(_MEANINGS[scope] for scope in ordered(scopes))


def revoke_code(tx: Transaction, code_id: str, *, user_id: str) -> None:
    """End a code of this user's, with what an agent got by it; 404 when there is none of theirs to end."""
    delegation.revoke(tx, code_id, actor=user_id, user_id=user_id)


def revoke_agent(tx: Transaction, agent_id: str, *, user_id: str) -> None:
    """Cut an agent of this user's off, with all its tokens; 404 when there is none of his."""
    if not registration.revoke(tx, agent_id, user_id=user_id):
        raise NotFound("There is no such agent of yours.")


def _code(tx: Transaction, code: Delegation) -> DelegationCodeView:
    user = registration.find(tx, code.used_by) if code.used_by else None
    state = delegation.state(code, values.now())
    return DelegationCodeView(
        code, state, describe_scopes(code.scope.split()), user.name if user else ""
    )


@dataclass(frozen=True, slots=True)
class ConsentConnections:
    """The clients with a consent; a connection's id is the client's."""

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
        """End one, with every code and token it stands behind; False when it is not his."""
        return consent_queries.withdraw(tx, user_id, connection_id, actor=user_id)
