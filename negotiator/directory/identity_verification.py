"""Mails a code to an address that an agent claims; the agent that can repeat the code has the mailbox.

From a challenge and a proof to a believed identity: counted first, judged with the network, kept last.
"""

from collections.abc import Callable
from dataclasses import dataclass

from jwt import PyJWK

from negotiator import audit, values
from negotiator.agents.mail import Mailer, quote_name
from negotiator.directory import accounts_queries, challenge_queries, identity_proof
from negotiator.directory.accounts_registration import DirectoryRegistration, identity_of
from negotiator.directory.identity_keys import PublishedKeys, thumbprint
from negotiator.directory.tables import DirectoryAgent, IdentityChallenge
from negotiator.errors import Forbidden, InvalidRequest, NotFound, Refusal
from negotiator.store.statement import Transaction
from negotiator.store.store import Store

_TEXT = """{code} is the code of the agent {name} at {base}.

The agent registered at this directory with your address. If it is yours, give it the code within ten minutes. If you
know nothing of this, do nothing: without the code the agent cannot prove that your address is its own.
"""


@dataclass(frozen=True, slots=True)
class CodeMailer:
    """Sends codes. The mail has no link: mail programs open links, and opening one must prove nothing."""

    base: str
    mailer: Mailer

    async def send(self, code: str, *, email: str, agent_name: str) -> None:
        """Send the code; the registration's answer is the same whether that works or not."""
        text = _TEXT.format(code=code, name=quote_name(agent_name), base=self.base)
        await self.mailer.send(email, "A code for your agent", text)


@dataclass(frozen=True, slots=True)
class IdentityVerification:
    """Believes an agent, or does not."""

    base: str
    store: Store
    registration: DirectoryRegistration
    keys: PublishedKeys

    async def verify(
        self,
        client_id: str,
        challenge_id: str,
        *,
        proof: str,
        address: str,
        then: Callable[[Transaction, DirectoryAgent], None],
    ) -> DirectoryAgent:
        """The agent, its identity believed from now on and `then` done in the same unit.

        A refusal takes one of five tries and nothing else; what was believed before stays believed.
        """

        def count(tx: Transaction) -> tuple[DirectoryAgent, IdentityChallenge]:
            agent = find_calling_agent(tx, client_id)
            challenge = challenge_queries.count_attempt(tx, agent.id, challenge_id)
            return agent, challenge

        agent, challenge = await self.store.write(count)
        try:
            print_ = await self._judge(agent, challenge, proof, address)
        except InvalidRequest as refusal:
            refusal.remember = _refused(agent, refusal)
            raise

        def keep(tx: Transaction) -> None:
            find_calling_agent(tx, client_id)
            challenge_queries.consume(tx, challenge)
            accounts_queries.record_proof(tx, agent, thumbprint=print_)
            then(tx, agent)

        await self.store.write(keep)
        return agent

    async def _judge(
        self, agent: DirectoryAgent, challenge: IdentityChallenge, proof: str, address: str
    ) -> str:
        """The thumbprint of the key that proved it, empty for a code; 400 for a proof that proves nothing."""
        if challenge.method == challenge_queries.CODE:
            presented = self.registration.code_digest(agent.id, proof.strip())
            if not values.equal_in_constant_time(presented, challenge.code_digest or ""):
                identity_proof.invalid_proof("The code is not the one that was mailed.")
            return ""
        claimed = identity_of(agent)
        expected = identity_proof.ExpectedProof(claimed.value, self.base, agent.id, challenge.nonce)
        statement = identity_proof.read_proof(proof, expected)
        key: PyJWK = await self.keys.find(
            claimed, statement.kid, statement.algorithm, address=address
        )
        statement.check(key)
        return thumbprint(key)


def find_calling_agent(tx: Transaction, client_id: str) -> DirectoryAgent:
    """The calling agent; 403 for a caller that is none of the directory's."""
    agent = accounts_queries.find(tx, client_id)
    if agent is None:
        raise Forbidden("Only agents that registered at the directory can do this.")
    if agent.revoked_at is not None:
        raise NotFound("There is no such agent.")
    return agent


def _refused(agent: DirectoryAgent, refusal: Refusal) -> Callable[[Transaction], None]:
    def remember(tx: Transaction) -> None:
        audit.record(tx, "identity.refused", agent.id, actor=agent.id, reason=refusal.error)

    return remember
