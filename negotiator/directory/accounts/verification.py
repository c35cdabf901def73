"""From a challenge and a proof to a believed identity: counted first, judged with the network, kept last."""

from collections.abc import Callable
from dataclasses import dataclass

from jwt import PyJWK

from negotiator import audit, values
from negotiator.directory.accounts import registered
from negotiator.directory.accounts.proving import challenges
from negotiator.directory.accounts.registration import Registration, identity
from negotiator.directory.accounts.signing import signed
from negotiator.directory.accounts.signing.published import PublishedKeys
from negotiator.directory.accounts.signing.thumbprints import thumbprint
from negotiator.directory.accounts.tables import Challenge, DirectoryAgent
from negotiator.errors import Forbidden, InvalidRequest, NotFound, Refusal
from negotiator.store.statement import Transaction
from negotiator.store.store import Store


@dataclass(frozen=True, slots=True)
class Verification:
    """Believes an agent, or does not."""

    base: str
    store: Store
    registration: Registration
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

        def count(tx: Transaction) -> tuple[DirectoryAgent, Challenge]:
            agent = find(tx, client_id)
            challenge = challenges.attempt(tx, agent.id, challenge_id)
            return agent, challenge

        agent, challenge = await self.store.write(count)
        try:
            print_ = await self._judge(agent, challenge, proof, address)
        except InvalidRequest as refusal:
            refusal.remember = _refused(agent, refusal)
            raise

        def keep(tx: Transaction) -> None:
            find(tx, client_id)
            challenges.use(tx, challenge)
            registered.believe(tx, agent, thumbprint=print_)
            then(tx, agent)

        await self.store.write(keep)
        return agent

    async def _judge(
        self, agent: DirectoryAgent, challenge: Challenge, proof: str, address: str
    ) -> str:
        """The thumbprint of the key that proved it, empty for a code; 400 for a proof that proves nothing."""
        if challenge.method == challenges.CODE:
            presented = self.registration.code_digest(agent.id, proof.strip())
            if not values.same(presented, challenge.code_digest or ""):
                signed.refuse("The code is not the one that was mailed.")
            return ""
        claimed = identity(agent)
        expected = signed.Expected(claimed.value, self.base, agent.id, challenge.nonce)
        statement = signed.read(proof, expected)
        key: PyJWK = await self.keys.find(
            claimed, statement.kid, statement.algorithm, address=address
        )
        statement.check(key)
        return thumbprint(key)


def find(tx: Transaction, client_id: str) -> DirectoryAgent:
    """The calling agent; 403 for a caller that is none of the directory's."""
    agent = registered.find(tx, client_id)
    if agent is None:
        raise Forbidden("Only agents that registered at the directory can do this.")
    if agent.revoked_at is not None:
        raise NotFound("There is no such agent.")
    return agent


def _refused(agent: DirectoryAgent, refusal: Refusal) -> Callable[[Transaction], None]:
    def remember(tx: Transaction) -> None:
        audit.record(tx, "identity.refused", agent.id, actor=agent.id, reason=refusal.error)

    return remember
