"""An agent comes to be: its row, its first key, its challenge, in one unit."""

from collections.abc import Iterable
from dataclasses import dataclass

from negotiator import audit, values
from negotiator.agents.mail import allow_mail
from negotiator.directory import accounts_queries, challenge_queries
from negotiator.directory.claimed_identity import ClaimedIdentity
from negotiator.directory.tables import DirectoryAgent, IdentityChallenge
from negotiator.errors import InvalidRequest
from negotiator.scopes import DIRECTORY, READING, ordered
from negotiator.store.statement import Transaction
from negotiator.tokens import api_key_queries


@dataclass(frozen=True, slots=True)
class IssuedChallenge:
    """A challenge, with the code that is to be mailed, if a mail may go out."""

    challenge: IdentityChallenge | None
    code: str | None = None


@dataclass(frozen=True, slots=True)
class RegistrationRequest:
    """What a registration asks for."""

    name: str
    identity: ClaimedIdentity
    contact_email: str | None
    scopes: list[str]
    address: str


@dataclass(frozen=True, slots=True)
class RegisteredDirectoryAgent:
    """An agent with its key, whose text is known here and nowhere else."""

    agent: DirectoryAgent
    key: str
    asked: IssuedChallenge


def grantable_scopes(requested: Iterable[str] | None) -> list[str]:
    """The known scopes among those asked for, the three read scopes when nothing was; 400 when none is known."""
    granted = ordered(READING if requested is None else DIRECTORY.keys() & set(requested))
    if not granted:
        raise InvalidRequest(
            f"None of these scopes is known; there are {' '.join(DIRECTORY)}.",
            error="invalid_scope",
        )
    return granted


@dataclass(frozen=True, slots=True)
class DirectoryRegistration:
    """Makes agents."""

    pepper: bytes

    def enrol(self, tx: Transaction, wanted: RegistrationRequest) -> RegisteredDirectoryAgent:
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
        accounts_queries.add(tx, agent)
        key = api_key_queries.add(tx, self.pepper, agent.id)
        audit.record(
            tx,
            "agent.registered",
            agent.id,
            actor=wanted.address,
            identity_type=wanted.identity.type,
            scope=agent.scope,
        )
        return RegisteredDirectoryAgent(agent, key.text, self.ask(tx, agent))

    def ask(self, tx: Transaction, agent: DirectoryAgent) -> IssuedChallenge:
        """Challenge an agent to prove its identity; nothing when there is no way to.

        A code that is under way is waited for. When the mailbox was written to too often, the challenge has no code
        and looks as if it had: whether others wrote to an address is nobody's business.
        """
        by = challenge_queries.proof_method(identity_of(agent))
        if by is None:
            return IssuedChallenge(None)
        if by == challenge_queries.CODE and (
            waiting := challenge_queries.find_pending(tx, agent.id)
        ):
            return IssuedChallenge(waiting)
        code, digest = None, None
        if by == challenge_queries.CODE and allow_mail(tx, agent.identity_value):
            code = challenge_queries.new_code()
            digest = self.code_digest(agent.id, code)
        asked = challenge_queries.issue(tx, agent.id, by, code_digest=digest)
        audit.record(tx, "identity.challenged", agent.id, actor=agent.id, method=by)
        return IssuedChallenge(asked, code)

    def code_digest(self, agent_id: str, code: str) -> str:
        """A mailed code at rest."""
        return self._digest("code", f"{agent_id}\0{code}")

    def _digest(self, what: str, text: str) -> str:
        return values.keyed_digest(self.pepper, f"{what}\0{text}")


def identity_of(agent: DirectoryAgent) -> ClaimedIdentity:
    """What an agent claims to be."""
    return ClaimedIdentity(agent.identity_type, agent.identity_value)
