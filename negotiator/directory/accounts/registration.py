"""An agent comes to be: its row, its first key, its challenge, in one unit."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from negotiator import audit, values
from negotiator.agents.mail import may_write
from negotiator.directory.accounts import registered
from negotiator.directory.accounts.proving import challenges
from negotiator.directory.accounts.proving.identity import Identity
from negotiator.directory.accounts.tables import Challenge, DirectoryAgent
from negotiator.errors import InvalidRequest
from negotiator.scopes import DIRECTORY, ordered
from negotiator.store.statement import Transaction
from negotiator.tokens.api_keys import rows

DEFAULT: Final = ("tools:read", "categories:read", "bookmarks:read")


@dataclass(frozen=True, slots=True)
class Asked:
    """A challenge, with the code that is to be mailed, if a mail may go out."""

    challenge: Challenge | None
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a registration asks for."""

    name: str
    identity: Identity
    contact_email: str | None
    scopes: list[str]
    address: str


@dataclass(frozen=True, slots=True)
class Registered:
    """An agent with its key, whose text is known here and nowhere else."""

    agent: DirectoryAgent
    key: str
    asked: Asked


def grantable(requested: Iterable[str] | None) -> list[str]:
    """The known scopes among those asked for, the three read scopes when nothing was; 400 when none is known."""
    granted = ordered(DEFAULT if requested is None else DIRECTORY.keys() & set(requested))
    if not granted:
        raise InvalidRequest(
            f"None of these scopes is known; there are {' '.join(DIRECTORY)}.",
            error="invalid_scope",
        )
    return granted


@dataclass(frozen=True, slots=True)
class Registration:
    """Makes agents."""

    pepper: bytes

    def enrol(self, tx: Transaction, wanted: Wanted) -> Registered:
        """A new agent with its first key."""
        at = values.now()
        agent = DirectoryAgent(
            id=values.new_id("agt"),
            name=wanted.name,
            identity_type=wanted.identity.type,
            identity_value=wanted.identity.value,
            contact_email=wanted.contact_email,
            scope=" ".join(wanted.scopes),
            created_at=at,
            vetted_at=None,
            revoked_at=None,
        )
        registered.add(tx, agent)
        key = rows.add(tx, self.pepper, agent.id)
        audit.record(
            tx,
            "agent.registered",
            agent.id,
            actor=wanted.address,
            identity_type=wanted.identity.type,
            scope=agent.scope,
        )
        return Registered(agent, key.text, self.ask(tx, agent))

    def ask(self, tx: Transaction, agent: DirectoryAgent) -> Asked:
        """Challenge an agent to prove its identity; nothing when there is no way to.

        A code that is under way is waited for. When the mailbox was written to too often, the challenge has no code
        and looks as if it had: whether others wrote to an address is nobody's business.
        """
        by = challenges.method(identity(agent))
        if by is None:
            return Asked(None)
        if by == challenges.CODE and (waiting := challenges.pending(tx, agent.id)):
            return Asked(waiting)
        code, digest = None, None
        if by == challenges.CODE and may_write(tx, agent.identity_value):
            code = challenges.new_code()
            digest = self.code_digest(agent.id, code)
        asked = challenges.ask(tx, agent.id, by, code_digest=digest)
        audit.record(tx, "identity.challenged", agent.id, actor=agent.id, method=by)
        return Asked(asked, code)

    def code_digest(self, agent_id: str, code: str) -> str:
        """A mailed code at rest."""
        return self._digest("code", f"{agent_id}\0{code}")

    def _digest(self, what: str, text: str) -> str:
        return values.keyed_digest(self.pepper, f"{what}\0{text}")


def identity(agent: DirectoryAgent) -> Identity:
    """What an agent claims to be."""
    return Identity(agent.identity_type, agent.identity_value)
