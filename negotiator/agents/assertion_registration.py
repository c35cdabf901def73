"""Registration with an assertion: a signed one, or an unsigned e-mail address whose owner is asked by mail.

Both registration endpoints use it. A signed assertion is verified before the transaction and marked as used inside it.
An e-mail address alone lets its owner bind the agent (docs/contract 2.4).
"""

from dataclasses import dataclass
from typing import Any, Final, Literal, NoReturn

from negotiator.agents.mail import quote_name
from negotiator.agents.mail_queue import MailQueue
from negotiator.agents.registration import AgentRegistration
from negotiator.agents.schemas import ID_JAG, VERIFIED_EMAIL
from negotiator.base import values
from negotiator.base.errors import InvalidRequest
from negotiator.store import audit
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.tokens.access_tokens import ACCESS_TOKEN_TYPE, NewToken
from negotiator.trust.assertions import Assertion, AssertionVerifier
from negotiator.trust.claims import AssertionRefused, at_registration
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


_TEXT = """An agent that calls itself {name}
registered at {base} and says that it works for you. If you know it, open this link, sign in, and hand the
delegation code that you will see there to the agent:

    {base}/approve/{secret}

The link works for one hour. If you know nothing of this, do nothing: without you the agent gets no access to
anything of yours.
"""


@dataclass(frozen=True, slots=True)
class EmailVerification:
    """Asks the owners of e-mail addresses to bind agents, within the limits of `mail.allow_mail`."""

    base: str
    mails: MailQueue

    def request(self, tx: Transaction, secret: str, *, email: str, agent_id: str, agent_name: str) -> bool:
        """Store the approval that the link with `secret` opens and queue its mail; `mails.dispatch` sends it.

        False when the address got too many mails. The agent's answer is the same whatever becomes of the mail.
        """
        text = _TEXT.format(base=self.base, name=quote_name(agent_name), secret=secret)
        life = approval_queries.LIFE * 1000
        if not self.mails.add(tx, email, "An agent asks to work for you", text, life=life):
            return False
        approval_queries.request_binding(tx, secret, email=email, agent_id=agent_id, agent_name=agent_name)
        return True
