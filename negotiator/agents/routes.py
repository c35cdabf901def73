"""`POST /api/agent/register` and `POST /api/agent/claim`, and the names of a user's agents for pages."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, select
from sqlmodel import col

from negotiator.agents.assertion_registration import AssertionRegistration, EmailVerification, IdentityAssertionRequest
from negotiator.agents.delegation import DelegationRedemption
from negotiator.agents.registration import AgentRegistration
from negotiator.agents.schemas import (
    ANONYMOUS_BUDGET,
    ASSERTION_BUDGET,
    ClaimAgent,
    ClaimResult,
    RegisterAgent,
    RegistrationResult,
    auth_md_members,
)
from negotiator.agents.tables import Agent
from negotiator.base import values
from negotiator.base.errors import InvalidRequest, ValidationFailed
from negotiator.base.schema import NoInput
from negotiator.http.operation import REGISTRATION_BODY_LIMIT, Call, Operation, ToolOffer
from negotiator.store.statement import Query, Transaction
from negotiator.store.store import Store
from negotiator.tokens import consent_queries
from negotiator.tokens.access_tokens import AccessTokens, IssuedToken
from negotiator.trust.dpop import DpopProofChecker
from negotiator.users import approval_queries, user_queries

REGISTER_PATH = "/api/agent/register"
_WHEN_TO_REDEEM = (
    "Use it when the user gives you a delegation code; one is needed for tools that your token does not open. Calls "
    "then act for that user, with what they granted; what was made so far stays. The answer has a new access token; "
    "the present one stops working, so every other call fails until the new one is in place."
)
_REDEEMED = (
    "You act for the user now. Your old token is dead: this connection accepts no further call. Put access_token in "
    "its place where the connection is configured (Authorization: Bearer <access_token>), or give it to the program "
    "that does, together with refresh_token, which renews it; then connect again. Both are secrets of yours: keep them "
    "out of messages, documents and other tools."
)


def _budget(body: RegisterAgent) -> str:
    """A registration without a signed assertion is charged to the budget of anonymous registrations."""
    return ANONYMOUS_BUDGET if body.variant == "anonymous" or body.is_bare_email else ASSERTION_BUDGET


@dataclass(frozen=True, slots=True)
class AgentRoutes:
    base: str
    store: Store
    registration: AgentRegistration
    claims: DelegationRedemption
    verification: EmailVerification
    asserting: AssertionRegistration
    claim_of: Callable[[str], dict[str, Any]]
    proofs: DpopProofChecker

    @property
    def credentials(self) -> AccessTokens:
        return self.registration.credentials

    def operations(self) -> list[Operation]:
        return [
            Operation(
                name="register_agent",
                method="POST",
                path=REGISTER_PATH,
                summary="Register an agent and get an access token: anonymous, by ID-JAG, or by verified e-mail",
                run=self.register,
                input=RegisterAgent,
                output=RegistrationResult,
                status=201,
                access="open",
                body_limit=REGISTRATION_BODY_LIMIT,
                budget=_budget,
                refusals=(400, 401, 403, 503),
                tag="agents",
            ),
            Operation(
                name="claim_agent",
                method="POST",
                path="/api/agent/claim",
                summary="Bind the calling agent to a user with their delegation code",
                run=self.claim,
                input=ClaimAgent,
                output=ClaimResult,
                body_limit=REGISTRATION_BODY_LIMIT,
                refusals=(400, 403, 409, 410),
                tool=ToolOffer(
                    "Redeem a delegation code",
                    hint=_WHEN_TO_REDEEM,
                    name="redeem_delegation_code",
                    unclaimed=True,
                    note=_REDEEMED,
                ),
                tag="agents",
            ),
        ]

    async def register(self, call: Call[RegisterAgent]) -> dict[str, Any]:
        """Register an agent; `identity_type` selects the variant."""
        body = call.input
        key = await self.proofs.key(call.headers, method="POST", path=REGISTER_PATH)
        if body.variant == "anonymous":
            token, result = await self._anonymous(call, key)
        elif body.is_bare_email:
            token, result = await self._by_mail(call, key)
        else:
            token, result = await self._asserted(call, key)
        if body.in_auth_md:
            expires_at = values.timestamp(token.issued_at + token.life * 1000)
            claim = None if token.subject.user_id else self.claim_of(token.subject.client_id)
            result = {**result, **auth_md_members(result, claim, expires_at=expires_at)}
        return result

    async def claim(self, call: Call[ClaimAgent]) -> dict[str, Any]:
        code, delegations = call.input.claim_token, self.claims.delegations
        claimed = await self.claims.redeem(
            call.caller, call.address, lambda tx: delegations.claim(tx, call.caller, code)
        )
        return {
            **self.credentials.issue(claimed.token).members(),
            "status": "claimed",
            "identity": {"user_id": claimed.user_id, "email": claimed.email},
            "refresh_token": claimed.refresh_token,
        }

    async def _anonymous(self, call: Call[RegisterAgent], key: str | None) -> tuple[IssuedToken, dict[str, Any]]:
        token = self.registration.prepare_anonymous(key)
        name, address = call.input.name, call.address
        await self.store.write(lambda tx: self.registration.register_anonymous(tx, token, name=name, address=address))
        issued = self.credentials.issue(token)
        return issued, issued.members()

    async def _by_mail(self, call: Call[RegisterAgent], key: str | None) -> tuple[IssuedToken, dict[str, Any]]:
        token, name, secret = (self.registration.prepare_anonymous(key), call.input.name, values.new_secret())
        email = _email(call.input.assertion or "")

        def unit(tx: Transaction) -> bool:
            self.registration.register_anonymous(tx, token, name=name, address=call.address)
            agent_id = token.subject.client_id
            return self.verification.request(tx, secret, email=email, agent_id=agent_id, agent_name=name)

        if await self.store.write(unit):
            await self.verification.mails.dispatch()
        pending = {"status": "pending", "expires_in": approval_queries.LIFE}
        issued = self.credentials.issue(token)
        return issued, {**issued.members(), "verification": pending}

    async def _asserted(self, call: Call[RegisterAgent], key: str | None) -> tuple[IssuedToken, dict[str, Any]]:
        body = call.input
        text = body.assertion or ""
        shown = IdentityAssertionRequest(body.assertion_type or "", text, body.name, call.address, key)
        token, identity = await self.asserting.enrol(shown)
        issued = self.credentials.issue(token)
        return issued, {**issued.members(), "identity": identity}


def _email(text: str) -> str:
    try:
        return user_queries.normalise_email(text)
    except ValidationFailed:
        raise InvalidRequest("/assertion: This is no e-mail address.") from None


_NAMES = Query(select(col(Agent.id), col(Agent.name)).where(col(Agent.user_id) == bindparam("user")), tuple)


@dataclass(frozen=True, slots=True)
class AgentNames:
    """Offers the names to pages; the operation has no address."""

    store: Store

    def operations(self) -> list[Operation]:
        return [
            Operation(
                name="name_agents",
                method="GET",
                path="",
                summary="The names of the user's agents, ended ones too, and of connected clients, by id",
                run=self.name,
            )
        ]

    async def name(self, call: Call[NoInput]) -> Mapping[str, Any]:
        user = call.caller.user_id or ""

        def unit(tx: Transaction) -> dict[str, str]:
            clients = {one.client_id: one.client_name for one in consent_queries.of_user(tx, user)}
            return clients | dict(tx.all(_NAMES, user=user))

        return {"names": await self.store.scan(unit)}
