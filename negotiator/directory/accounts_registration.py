"""Registers an agent: its row, its first key and its challenge in one unit."""

from collections.abc import Iterable
from dataclasses import dataclass

from negotiator import audit
from negotiator.agents import registration
from negotiator.agents.mail import quote_name
from negotiator.agents.mail_queue import MailQueue
from negotiator.agents.tables import Agent
from negotiator.base import values
from negotiator.base.errors import InvalidRequest
from negotiator.base.scopes import DIRECTORY, READING, ordered
from negotiator.directory import challenge_queries
from negotiator.directory.claimed_identity import ClaimedIdentity
from negotiator.directory.tables import IdentityChallenge
from negotiator.store.statement import Transaction
from negotiator.tokens import api_key_queries

_TEXT = """{code} is the code of the agent {name} at {base}.

The agent registered with this directory under your address. If it is yours, give it the code within ten minutes. If you
do not expect this mail, do nothing: without the code the agent cannot verify your address.
"""


@dataclass(frozen=True, slots=True)
class CodeMailer:
    """Mails codes. The mail has no link, because mail programs open links."""

    base: str
    mails: MailQueue

    def queue(self, tx: Transaction, code: str, *, email: str, agent_name: str) -> bool:
        """Queue the mail with the code, to be sent by `mails.dispatch`; False when the address got too many mails."""
        text = _TEXT.format(code=code, name=quote_name(agent_name), base=self.base)
        life = challenge_queries.CHALLENGE_LIFETIME
        return self.mails.add(tx, email, "A code for your agent", text, life=life)


@dataclass(frozen=True, slots=True)
class RegistrationRequest:
    """The validated content of a registration."""

    name: str
    identity: ClaimedIdentity
    contact_email: str | None
    scopes: list[str]
    address: str


@dataclass(frozen=True, slots=True)
class RegisteredDirectoryAgent:
    """An agent with its new key, whose text is not stored."""

    agent: Agent
    key: str
    challenge: IdentityChallenge | None


def grantable_scopes(requested: Iterable[str] | None) -> list[str]:
    """The known ones of the requested scopes, the read scopes when None is requested; 400 when none is known."""
    granted = ordered(READING if requested is None else DIRECTORY.keys() & set(requested))
    if not granted:
        raise InvalidRequest(f"None of these scopes is known; there are {' '.join(DIRECTORY)}.", error="invalid_scope")
    return granted


@dataclass(frozen=True, slots=True)
class DirectoryRegistration:
    """Registers agents and issues their challenges."""

    pepper: bytes
    mailing: CodeMailer

    def enrol(self, tx: Transaction, request: RegistrationRequest) -> RegisteredDirectoryAgent:
        """Store a new agent with its first key and challenge."""
        agent = Agent(
            id=values.new_id("agt"),
            service="directory",
            name=request.name,
            identity_type=request.identity.type,
            identity_value=request.identity.value,
            contact_email=request.contact_email,
            scope=" ".join(request.scopes),
            created_at=values.now(),
        )
        registration.add(tx, agent, actor=request.address, identity_type=request.identity.type, scope=agent.scope)
        key = api_key_queries.add(tx, self.pepper, agent.id)
        return RegisteredDirectoryAgent(agent, key.text, self.ask(tx, agent))

    def ask(self, tx: Transaction, agent: Agent) -> IdentityChallenge | None:
        """Issue a challenge to prove the agent's identity, and queue the mail with its code, if it needs one.

        None when the identity cannot be proven.
        A pending code is not replaced. When the mailbox got too many mails, the challenge has no code but looks the
        same, so that no one learns whether others wrote to the address.
        """
        method = challenge_queries.proof_method(identity_of(agent))
        if method is None:
            return None
        if method == challenge_queries.CODE and (pending := challenge_queries.find_pending(tx, agent.id)):
            return pending
        digest = None
        if method == challenge_queries.CODE:
            code, email = challenge_queries.new_code(), agent.identity_value
            if self.mailing.queue(tx, code, email=email, agent_name=agent.name):
                digest = self.code_digest(agent.id, code)
        challenge = challenge_queries.issue(tx, agent.id, method, code_digest=digest)
        audit.record(tx, "identity.challenged", agent.id, actor=agent.id, method=method)
        return challenge

    def code_digest(self, agent_id: str, code: str) -> str:
        """The keyed digest under which a mailed code is stored."""
        return self._digest("code", f"{agent_id}\0{code}")

    def _digest(self, purpose: str, text: str) -> str:
        return values.keyed_digest(self.pepper, f"{purpose}\0{text}")


def identity_of(agent: Agent) -> ClaimedIdentity:
    """The identity that an agent claims."""
    return ClaimedIdentity(agent.identity_type, agent.identity_value)
