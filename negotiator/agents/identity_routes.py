"""`POST /api/agent/identity`, `…/claim` and `…/claim/complete` of auth.md's newer versions (docs/contract 2.8).

Refused codes are answered with the error words of auth.md.
"""

from dataclasses import dataclass
from typing import Any, Final

from negotiator.agents import identity_tokens, registration
from negotiator.agents.assertion_registration import AssertionRegistration, EmailVerification, IdentityAssertionRequest
from negotiator.agents.delegation import BOUND_ALREADY, DelegationRedemption
from negotiator.agents.identity_tokens import AgentIdentityTokens, has_code
from negotiator.agents.registration import AgentRegistration
from negotiator.agents.schemas import (
    ANONYMOUS_BUDGET,
    ASSERTION_BUDGET,
    CompleteClaim,
    RegisterIdentity,
    RequestClaim,
    auth_md_members,
    with_flat_members,
)
from negotiator.base import values
from negotiator.base.caller import Caller
from negotiator.base.errors import Conflict, Gone, InvalidRequest, Refusal, Unauthorized, ValidationFailed
from negotiator.base.scopes import ANONYMOUS, ASSISTANT
from negotiator.http.operation import REGISTRATION_BODY_LIMIT, Call, Operation
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.tokens.access_tokens import IDENTITY_ASSERTION_TYPE, IssuedToken, NewToken
from negotiator.tokens.refresh_tokens import NewRefreshToken, sender_of
from negotiator.trust.dpop import DpopProofChecker
from negotiator.users import approval_queries, user_queries

_SAME: Final = {"already_claimed", "too_many_attempts"}
_EXPIRED: Final = {"claim_expired", "claim_revoked"}


def with_message(refused: Refusal) -> Refusal:
    """Add `message` with the text of `error_description`, which the first versions of auth.md read."""
    refused.members.setdefault("message", refused.description)
    if interaction := refused.members.get("interaction"):
        refused.members.setdefault("claim", {"attempt": interaction})
    return refused


def claim_refusal(refused: Refusal, *, confirmed: bool) -> Refusal:
    """Return the refusal of a code with its error word in auth.md.

    `confirmed` says whether a user has created a code for the agent.
    """
    if refused.error in _SAME:
        return refused
    if refused.error in _EXPIRED:
        error = "user_code_expired" if refused.error == "claim_expired" else refused.error
        return Gone(refused.description, error=error, remember=refused.remember)
    if not confirmed:
        return Conflict("The user has not approved yet.", error="claim_not_confirmed", remember=refused.remember)
    return Unauthorized("This is not the code.", error="invalid_user_code", remember=refused.remember)


IDENTITY_PATH: Final = "/api/agent/identity"
CLAIM_PATH: Final = "/api/agent/identity/claim"
COMPLETE_PATH: Final = "/api/agent/identity/claim/complete"

AnswerBody = dict[str, Any]


def _budget(body: RegisterIdentity) -> str:
    """A registration without an assertion is charged to the budget of anonymous registrations."""
    return ANONYMOUS_BUDGET if body.type in {"anonymous", "service_auth"} else ASSERTION_BUDGET


@dataclass(frozen=True, slots=True)
class AgentIdentityRoutes:
    """The operations of auth.md's newer versions. `pepper` keys the digests of claim tokens."""

    base: str
    store: Store
    pepper: bytes
    registration: AgentRegistration
    claims: DelegationRedemption
    verification: EmailVerification
    asserting: AssertionRegistration
    identities: AgentIdentityTokens
    proofs: DpopProofChecker

    def operations(self) -> list[Operation]:
        shared: dict[str, Any] = {
            "method": "POST",
            "output": dict[str, Any],
            "access": "open",
            "body_limit": REGISTRATION_BODY_LIMIT,
            "tag": "agents",
        }
        return [
            Operation(
                name="register_identity",
                path=IDENTITY_PATH,
                summary="Register an agent by auth.md's newer versions: get an identity to exchange for tokens",
                run=self.register,
                input=RegisterIdentity,
                budget=_budget,
                refusals=(400, 401, 403, 503),
                **shared,
            ),
            Operation(
                name="request_claim",
                path=CLAIM_PATH,
                summary="Ask a user to claim the agent: they get a page, or a mail with a link to it",
                run=self.request,
                input=RequestClaim,
                budget=lambda _: ANONYMOUS_BUDGET,
                refusals=(400, 401, 409, 410),
                **shared,
            ),
            Operation(
                name="complete_claim",
                path=COMPLETE_PATH,
                summary="Bind the agent with the code that its user read on the page",
                run=self.complete,
                input=CompleteClaim,
                refusals=(400, 401, 409, 410),
                **shared,
            ),
        ]

    async def register(self, call: Call[RegisterIdentity]) -> AnswerBody:
        """Register an agent; `type` selects the variant."""
        key = await self.proofs.key(call.headers, method="POST", path=IDENTITY_PATH)
        try:
            match call.input.type:
                case "anonymous":
                    answer = await self._anonymous(call, key)
                case "service_auth":
                    answer = await self._waiting(call)
                case "identity_assertion":
                    answer = await self._asserted(call, key)
                case "refresh":
                    answer = await self._refreshed(call, key)
        except Refusal as refused:
            raise with_message(refused) from None
        return with_flat_members(answer)

    async def request(self, call: Call[RequestClaim]) -> AnswerBody:
        """Ask a user to bind the agent; may be repeated."""
        body = call.input
        agent_id = await self._unclaimed(body.claim_token)
        email = _email(body.login_hint or body.email or "")
        if body.login_hint:
            attempt = await self.store.write(lambda tx: self._attempt(tx, agent_id, email))
            return {"id": agent_id, "type": "service_auth", "attempt": attempt}
        secret, name = values.new_secret(), await self._name(agent_id)
        sent = await self.store.write(
            lambda tx: self.verification.request(tx, secret, email=email, agent_id=agent_id, agent_name=name)
        )
        if sent:
            await self.verification.mails.dispatch()
        until = values.timestamp(values.now() + approval_queries.LIFE * 1000)
        return {"registration_id": agent_id, "status": "initiated", "expires_at": until}

    async def complete(self, call: Call[CompleteClaim]) -> AnswerBody:
        """Bind the agent once; its earlier tokens end."""
        key = await self.proofs.key(call.headers, method="POST", path=COMPLETE_PATH)
        body = call.input
        agent_id, code = await self._unclaimed(body.claim_token), body.user_code or body.otp or ""
        caller = Caller("agent", agent_id, "", frozenset(), client_id=agent_id, key=key)
        delegations = self.claims.delegations

        def unit(tx: Transaction) -> tuple[NewToken, NewRefreshToken]:
            bound = delegations.bind(tx, caller, code)
            subject, renewal = delegations.grant(tx, agent_id, bound, key=key)
            return self.identities.open(tx, subject, bound.scopes), renewal

        try:
            if body.otp is not None:
                claimed = await self.claims.redeem(caller, call.address, lambda tx: delegations.claim(tx, caller, code))
                token = delegations.credentials.issue(claimed.token)
                return _credential(token, claimed.refresh_token)
            made, renewal = await self.claims.redeem(caller, call.address, unit)
            identity = self.identities.view(made, renewal)
            answer = {"id": agent_id, "identity": identity, "scopes": made.scopes}
            return with_flat_members({**answer, "status": "claimed"})
        except Refusal as refused:
            confirmed = await self.store.read(lambda tx: has_code(tx, agent_id))
            raise with_message(claim_refusal(refused, confirmed=confirmed)) from None

    async def _anonymous(self, call: Call[RegisterIdentity], key: str | None) -> AnswerBody:
        made, name = (self.registration.prepare_anonymous(key, typ=IDENTITY_ASSERTION_TYPE), call.input.name)
        await self.store.write(
            lambda tx: self.registration.register_anonymous(tx, made, name=name, address=call.address)
        )
        agent_id = made.subject.client_id
        return {
            "id": agent_id,
            "type": "anonymous",
            "identity": self.identities.view(made),
            "scopes": {"pre_claim": list(ANONYMOUS), "post_claim": list(ASSISTANT)},
            "claim": self.claim(agent_id),
        }

    async def _waiting(self, call: Call[RegisterIdentity]) -> AnswerBody:
        made, name = (self.registration.prepare_anonymous(typ=IDENTITY_ASSERTION_TYPE), call.input.name)
        email, agent_id = _email(call.input.login_hint or ""), made.subject.client_id

        def unit(tx: Transaction) -> AnswerBody:
            self.registration.register_anonymous(tx, made, name=name, address=call.address, holds_token=False)
            return self._attempt(tx, agent_id, email)

        attempt = await self.store.write(unit)
        return {
            "id": agent_id,
            "type": "service_auth",
            "scopes": {"post_claim": list(ASSISTANT)},
            "claim": {**self.claim(agent_id), "attempt": attempt},
        }

    async def _asserted(self, call: Call[RegisterIdentity], key: str | None) -> AnswerBody:
        body = call.input
        shown = IdentityAssertionRequest(body.assertion_type or "", body.assertion or "", body.name, call.address, key)
        made, _ = await self.asserting.enrol(shown, typ=IDENTITY_ASSERTION_TYPE)
        return {
            "id": made.subject.client_id,
            "type": "identity_assertion",
            "identity": self.identities.view(made),
            "scopes": made.scopes,
        }

    async def _refreshed(self, call: Call[RegisterIdentity], key: str | None) -> AnswerBody:
        text = call.input.refresh_token or ""
        sender = sender_of(call.address, call.headers)
        made, renewal = await self.store.write(lambda tx: self.identities.renew(tx, text, key=key, sender=sender))
        return {
            "id": made.subject.client_id,
            "type": "refresh",
            "identity": self.identities.view(made, renewal),
            "scopes": made.scopes,
        }

    def claim(self, agent_id: str) -> AnswerBody:
        """Return the `claim` member for a new agent: its claim token, the end of that, and the URL to send it to."""
        token, until = identity_tokens.make_claim_token(self.pepper, agent_id, now=values.now())
        return {"token": token, "expires_at": values.timestamp(until), "url": f"{self.base}{CLAIM_PATH}"}

    def _attempt(self, tx: Transaction, agent_id: str, email: str) -> AnswerBody:
        """Open a page where the signed-in owner of the address may bind the agent.

        The answer is the same whether or not a user has this address.
        """
        agent, secret = registration.find(tx, agent_id), values.new_secret()
        name = agent.name if agent else ""
        approval_queries.request_binding(tx, secret, email=email, agent_id=agent_id, agent_name=name)
        until = values.now() + approval_queries.LIFE * 1000
        uri = f"{self.base}/approve/{secret}"
        return {"verification_uri": uri, "expires_at": values.timestamp(until)}

    async def _unclaimed(self, text: str) -> str:
        """Return the id of the unclaimed agent of a claim token; refused with 401, 409 or 410 otherwise."""
        found = identity_tokens.read_claim_token(self.pepper, text)
        if found is None:
            raise with_message(Unauthorized("This is no claim token.", error="invalid_claim_token"))
        agent_id, until = found
        agent = await self.store.read(lambda tx: registration.find(tx, agent_id))
        if agent is None or agent.revoked_at is not None or until <= values.now():
            raise with_message(Gone("The claim token has expired.", error="claim_expired"))
        if agent.user_id is not None:
            raise with_message(Conflict(BOUND_ALREADY, error="already_claimed"))
        return agent_id

    async def _name(self, agent_id: str) -> str:
        agent = await self.store.read(lambda tx: registration.find(tx, agent_id))
        return agent.name if agent else ""


def _credential(token: IssuedToken, refresh_token: str) -> AnswerBody:
    """Return auth.md v0.1's answer to a claim: the registration's members under both names, and a refresh token."""
    until = values.timestamp(token.issued_at + token.life * 1000)
    told = token.members()
    return {
        **told,
        **auth_md_members(told, None, expires_at=until),
        "status": "claimed",
        "refresh_token": refresh_token,
    }


def _email(text: str) -> str:
    try:
        return user_queries.normalise_email(text)
    except ValidationFailed:
        raise with_message(InvalidRequest("This is no e-mail address.", error="invalid_login_hint")) from None
