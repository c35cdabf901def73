"""Verifies a claimed identity by a signed proof, or by a code mailed to the claimed address.

The attempt is counted first, the proof is checked with the network, and the result is stored last.
"""

from collections.abc import Callable
from dataclasses import dataclass

from jwt import PyJWK

from negotiator import audit
from negotiator.agents.tables import Agent
from negotiator.base import values
from negotiator.base.errors import Forbidden, InvalidRequest, NotFound, Refusal
from negotiator.directory import accounts_queries, challenge_queries, identity_proof
from negotiator.directory.accounts_registration import DirectoryRegistration, identity_of
from negotiator.directory.identity_keys import PublishedKeys, thumbprint
from negotiator.directory.tables import IdentityChallenge
from negotiator.store.statement import Transaction
from negotiator.store.store import Store


@dataclass(frozen=True, slots=True)
class IdentityVerification:
    """Checks proofs and stores verified identities."""

    base: str
    store: Store
    registration: DirectoryRegistration
    keys: PublishedKeys

    async def verify(
        self, client_id: str, challenge_id: str, *, proof: str, address: str, then: Callable[[Transaction, Agent], None]
    ) -> Agent:
        """Verify the agent's identity and run `then` in the same unit; returns the agent.

        A refused proof uses one of five attempts and changes nothing else.
        """

        def count(tx: Transaction) -> tuple[Agent, IdentityChallenge]:
            agent = find_calling_agent(tx, client_id)
            challenge = challenge_queries.count_attempt(tx, agent.id, challenge_id)
            return agent, challenge

        agent, challenge = await self.store.write(count)
        try:
            key_thumbprint = await self._check_proof(agent, challenge, proof, address)
        except InvalidRequest as refusal:
            refusal.remember = _refused(agent, refusal)
            raise

        def store_proof(tx: Transaction) -> None:
            find_calling_agent(tx, client_id)
            challenge_queries.consume(tx, challenge)
            accounts_queries.record_proof(tx, agent, thumbprint=key_thumbprint)
            then(tx, agent)

        await self.store.write(store_proof)
        return agent

    async def _check_proof(self, agent: Agent, challenge: IdentityChallenge, proof: str, address: str) -> str:
        """The thumbprint of the key that signed, empty for a code; 400 for an invalid proof."""
        if challenge.method == challenge_queries.CODE:
            presented = self.registration.code_digest(agent.id, proof.strip())
            if not values.equal_in_constant_time(presented, challenge.code_digest or ""):
                identity_proof.invalid_proof("The code is not the one that was mailed.")
            return ""
        claimed = identity_of(agent)
        expected = identity_proof.ExpectedProof(claimed.value, self.base, agent.id, challenge.nonce)
        statement = identity_proof.read_proof(proof, expected)
        key: PyJWK = await self.keys.find(claimed, statement.kid, statement.algorithm, address=address)
        statement.check(key)
        return thumbprint(key)


def find_calling_agent(tx: Transaction, client_id: str) -> Agent:
    """The calling agent; 403 for a caller that is not an agent of the directory."""
    agent = accounts_queries.find(tx, client_id)
    if agent is None:
        raise Forbidden("Only agents that registered with the directory can do this.")
    if agent.revoked_at is not None:
        raise NotFound("There is no such agent.")
    return agent


def _refused(agent: Agent, refusal: Refusal) -> Callable[[Transaction], None]:
    def remember(tx: Transaction) -> None:
        audit.record(tx, "identity.refused", agent.id, actor=agent.id, reason=refusal.error)

    return remember
