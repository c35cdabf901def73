"""Registration with a signed assertion, for both registration endpoints.

The assertion is verified before the transaction and marked as used inside it.
"""

from dataclasses import dataclass
from typing import Any, Final, Literal, NoReturn

from negotiator import audit
from negotiator.agents.registration import AgentRegistration
from negotiator.agents.schemas import ID_JAG, VERIFIED_EMAIL
from negotiator.base import values
from negotiator.base.errors import InvalidRequest
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.tokens.access_tokens import ACCESS_TOKEN_TYPE, NewToken
from negotiator.trust.assertions import Assertion, AssertionVerifier
from negotiator.trust.claims import AssertionRefused
from negotiator.trust.refusals import at_registration
from negotiator.users import approval_queries
from negotiator.users.identity_matching import LinkApprovalRequired, MatchedUser

_KINDS: Final[dict[str, Literal["id_jag", "verified_email"]]] = {ID_JAG: "id_jag", VERIFIED_EMAIL: "verified_email"}


@dataclass(frozen=True, slots=True)
class IdentityAssertionRequest:
    """An agent's request: the assertion, the agent's name, its network address, and the key it has proven to hold."""

    assertion_type: str
    assertion: str
    name: str
    address: str
    key: str | None = None


@dataclass(frozen=True, slots=True)
class AssertionRegistration:
    """Registers agents with assertions. `base` is the URL of this service."""

    base: str
    store: Store
    verifier: AssertionVerifier
    registration: AgentRegistration

    async def enrol(
        self, shown: IdentityAssertionRequest, *, typ: str = ACCESS_TOKEN_TYPE
    ) -> tuple[NewToken, dict[str, Any]]:
        """Register an agent bound to the assertion's user; returns its first token, of type `typ`, and the `identity`.

        Raises a `Refusal`. When the user must first approve the link to their account, it has the URL to do so.
        """
        kind = _KINDS.get(shown.assertion_type)
        if kind is None:
            description = f"assertion_type is {ID_JAG} or {VERIFIED_EMAIL}."
            raise InvalidRequest(description, error="unsupported_assertion_type")
        assertion: Assertion | None = None
        name, address, key = shown.name, shown.address, shown.key
        try:
            assertion = believed = await self.verifier.verify(shown.assertion, kind=kind, key=key)
            token, found = await self.store.write(
                lambda tx: self.registration.register_asserted(
                    tx, believed, name=name, address=address, key=key, typ=typ
                )
            )
        except LinkApprovalRequired as refused:
            self._ask_owner(refused, name)
        except AssertionRefused as refused:
            raise at_registration(refused, remember=_refused(refused, assertion, address)) from None
        return token, _identity(found, believed)

    def _ask_owner(self, refused: LinkApprovalRequired, agent_name: str) -> NoReturn:
        secret = values.new_secret()

        def remember(tx: Transaction) -> None:
            approval_queries.request_link(
                tx, secret, email=refused.email, identity=refused.identity, issuer=refused.issuer, agent_name=agent_name
            )

        refusal = at_registration(refused, remember=remember)
        uri = f"{self.base}/approve/{secret}"
        refusal.members["interaction"] = {"verification_uri": uri, "expires_in": approval_queries.LIFE}
        raise refusal from None


def _identity(found: MatchedUser, assertion: Assertion) -> dict[str, Any]:
    return {
        "user_id": found.user_id,
        "issuer": found.issuer,
        "subject": assertion.subject,
        "email": found.email or assertion.email,
    }


def _refused(refused: AssertionRefused, assertion: Assertion | None, address: str) -> Any:
    """Return a unit that audits a refused assertion: its reason and, if the signature is valid, its issuer."""
    issuer = assertion.issuer.issuer if assertion else ""

    def remember(tx: Transaction) -> None:
        audit.record(tx, "assertion.refused", issuer, actor=address, reason=refused.reason.value)

    return remember
