"""What the Agents page shows of one user: his codes, his agents with what they may do, the clients he let in."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from sqlalchemy import BigInteger, bindparam, update
from sqlmodel import col

from negotiator import audit, values
from negotiator.agents import delegation, registration
from negotiator.agents.tables import Agent, Delegation
from negotiator.errors import NotFound
from negotiator.scopes import ASSISTANT, DIRECTORY, ordered
from negotiator.store.statement import Statement, Transaction
from negotiator.tokens.held import held as held_by

PAGE: Final = 25
LAST: Final = "~"
"""Comes after every id."""

_MEANINGS: Final = {**ASSISTANT, **DIRECTORY}
_REVOKE = Statement(
    update(Delegation)
    .where(
        col(Delegation.id) == bindparam("code"),
        col(Delegation.user_id) == bindparam("user"),
        col(Delegation.used_at).is_(None),
        col(Delegation.revoked_at).is_(None),
    )
    .values(revoked_at=bindparam("at", type_=BigInteger))
)


@dataclass(frozen=True, slots=True)
class Connection:
    """A client that a user let in by consent. Times in milliseconds."""

    id: str
    name: str
    host: str
    scopes: tuple[str, ...]
    since: int
    last_used: int | None


class Connections(Protocol):
    """Clients that users let in, wherever that is kept."""

    def of_user(self, tx: Transaction, user_id: str) -> Sequence[Connection]:
        """A user's connections, newest first."""
        ...

    def revoke(self, tx: Transaction, connection_id: str, *, user_id: str) -> bool:
        """End one, with every token it stands behind; False when it is not his."""
        ...


class NoConnections:
    """A house in which no client can be let in."""

    def of_user(self, tx: Transaction, user_id: str) -> Sequence[Connection]:
        del tx, user_id
        return ()

    def revoke(self, tx: Transaction, connection_id: str, *, user_id: str) -> bool:
        del tx, connection_id, user_id
        return False


@dataclass(frozen=True, slots=True)
class AgentView:
    """An agent, what its live tokens let it do in plain words, and until when (None: it has none)."""

    agent: Agent
    may: tuple[str, ...]
    until: int | None


@dataclass(frozen=True, slots=True)
class CodeView:
    """A code, where it stands, what it grants in plain words, and the name of the agent that used it."""

    code: Delegation
    state: str
    may: tuple[str, ...]
    used_by: str


@dataclass(frozen=True, slots=True)
class Overview:
    """One page of each list; `older_…` is the id to go on from, None at the end."""

    agents: tuple[AgentView, ...]
    codes: tuple[CodeView, ...]
    connections: tuple[Connection, ...]
    older_agents: str | None
    older_codes: str | None


def gather(
    tx: Transaction,
    user_id: str,
    *,
    connections: Connections,
    agents_before: str = LAST,
    codes_before: str = LAST,
) -> Overview:
    """Everything of this user's, newest first."""
    agents = registration.of_user(tx, user_id, before=agents_before, limit=PAGE + 1)
    codes = delegation.of_user(tx, user_id, before=codes_before, limit=PAGE + 1)
    scopes: dict[str, set[str]] = {}
    until: dict[str, int] = {}
    for token in held_by(tx, user_id):
        scopes.setdefault(token.client_id, set()).update(token.scope.split())
        until[token.client_id] = max(token.expires_at, until.get(token.client_id, 0))
    return Overview(
        tuple(
            AgentView(each, in_words(scopes.get(each.id, ())), until.get(each.id))
            for each in agents[:PAGE]
        ),
        tuple(_code(tx, each) for each in codes[:PAGE]),
        tuple(connections.of_user(tx, user_id)),
        agents[PAGE - 1].id if len(agents) > PAGE else None,
        codes[PAGE - 1].id if len(codes) > PAGE else None,
    )


def in_words(scopes: Iterable[str]) -> tuple[str, ...]:
    """What these scopes let somebody do, in the seeds' words and order."""
    return tuple(_MEANINGS[scope] for scope in ordered(scopes))


def revoke_code(tx: Transaction, code_id: str, *, user_id: str) -> None:
    """End an unused code of this user's; 404 when there is none of his to end."""
    if not tx.run(_REVOKE, code=code_id, user=user_id, at=values.now()):
        raise NotFound("There is no such unused code of yours.")
    audit.record(tx, "delegation.revoked", code_id, actor=user_id)


def revoke_agent(tx: Transaction, agent_id: str, *, user_id: str) -> None:
    """Cut an agent of this user's off, with all its tokens; 404 when there is none of his."""
    if not registration.revoke(tx, agent_id, user_id=user_id):
        raise NotFound("There is no such agent of yours.")


def _code(tx: Transaction, code: Delegation) -> CodeView:
    user = registration.find(tx, code.used_by) if code.used_by else None
    state = delegation.state(code, values.now())
    return CodeView(code, state, in_words(code.scope.split()), user.name if user else "")
