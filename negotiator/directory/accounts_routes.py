"""`/api/auth/register`, `/challenge`, `/verify`, `/rotate`, `/revoke`."""

from dataclasses import dataclass
from functools import partial
from typing import Final

from negotiator.agents.tables import Agent
from negotiator.base import values
from negotiator.base.caller import Caller
from negotiator.base.errors import Forbidden, InvalidRequest
from negotiator.base.schema import NoInput
from negotiator.base.scopes import ordered
from negotiator.directory import accounts_queries, accounts_registration
from negotiator.directory.accounts_queries import RateLevels
from negotiator.directory.accounts_registration import DirectoryRegistration
from negotiator.directory.schemas_accounts import (
    ACCOUNT_REGISTER_PATH,
    ChallengeResult,
    CredentialRecord,
    RateView,
    RegisterDirectoryAgent,
    RevokeCredential,
    RevokeResult,
    RotateKey,
    RotateResult,
    StandingView,
    VerifyIdentity,
    VerifyResult,
)
from negotiator.directory.tables import IdentityChallenge
from negotiator.http.limits import REVOCATION_BUDGET
from negotiator.http.operation import REGISTRATION_BODY_LIMIT, Call, Operation
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.tokens import api_keys
from negotiator.tokens.access_tokens import AccessTokens

DIRECTORY_BASELINE_BUDGET: Final = "directory"
"""The rate limit of callers without a credential on public paths, and of registration."""
HOURLY_BUDGET: Final = "accounts"
DAILY_BUDGET: Final = "daily"
_account_operation = partial(Operation, method="POST", tag="accounts")


@dataclass(frozen=True, slots=True)
class DirectoryAccounts:
    """Registration, proof of identity, and API keys of the directory's agents."""

    base: str
    store: Store
    levels: RateLevels
    registration: DirectoryRegistration
    credentials: AccessTokens

    def operations(self) -> list[Operation]:
        return [
            _account_operation(
                name="register_directory_agent",
                path=ACCOUNT_REGISTER_PATH,
                summary="Register an agent with the directory and get an API key at once",
                run=self.register,
                input=RegisterDirectoryAgent,
                output=CredentialRecord,
                status=201,
                access="open",
                body_limit=REGISTRATION_BODY_LIMIT,
                budget=lambda _: (HOURLY_BUDGET, DAILY_BUDGET),
                baseline=DIRECTORY_BASELINE_BUDGET,
                refusals=(400, 503),
            ),
            _account_operation(
                name="revoke_api_key",
                path="/api/auth/revoke",
                urgent=True,
                summary="Revoke an API key or a token at once; knowing it is enough",
                run=self.revoke,
                input=RevokeCredential,
                output=RevokeResult,
                access="public",
                encoding="either",
                body_limit=REGISTRATION_BODY_LIMIT,
                budget=lambda _: REVOCATION_BUDGET,
                refusals=(400, 401),
            ),
            _account_operation(
                name="challenge_agent",
                path="/api/auth/challenge",
                summary="Get a challenge to prove the calling agent's identity",
                run=self.challenge,
                input=NoInput,
                output=ChallengeResult,
                refusals=(400, 403),
            ),
            _account_operation(
                name="verify_agent",
                path="/api/auth/verify",
                summary="Prove the calling agent's identity with a signed statement or a mailed code",
                run=self.verify,
                input=VerifyIdentity,
                output=VerifyResult,
                body_limit=16 * 1024,
                refusals=(400, 403, 404, 409, 410),
            ),
            _account_operation(
                name="rotate_api_key",
                path="/api/auth/rotate",
                summary="Get a new API key; the present one still works for a while",
                run=self.rotate,
                input=RotateKey,
                output=RotateResult,
                refusals=(403, 409),
            ),
        ]

    async def register(self, call: Call[RegisterDirectoryAgent]) -> CredentialRecord:
        """Register an agent at once, at trust level 1 (docs/contract 9.1)."""
        scopes = accounts_registration.grantable_scopes(call.input.requested_scopes)
        agent, key, challenge = await self.store.write(
            lambda tx: self.registration.enrol(tx, call.input, scopes, address=call.address)
        )
        await self.registration.mails.dispatch()
        level = accounts_queries.UNPROVEN
        return {
            "status": "registered",
            "client_id": agent.id,
            "api_key": key,
            "scopes": agent.scope.split(),
            "rate_limit": self._rate(level),
            "created_at": values.timestamp(agent.created_at),
            "identity": self._identity(agent, level, verified=False, challenge=challenge),
        }

    async def challenge(self, call: Call[NoInput]) -> ChallengeResult:
        """Issue a new challenge, which replaces an earlier one."""

        def unit(tx: Transaction) -> tuple[Agent, IdentityChallenge | None]:
            agent = accounts_registration.find_calling_agent(tx, call.caller.client_id)
            return agent, self.registration.ask(tx, agent)

        agent, challenge = await self.store.write(unit)
        if challenge is None:
            raise InvalidRequest("An identity of this kind cannot be proven.", error="unsupported_identity")
        await self.registration.mails.dispatch()
        level, verified = await self._level(agent)
        return {"client_id": agent.id, "identity": self._identity(agent, level, verified=verified, challenge=challenge)}

    async def verify(self, call: Call[VerifyIdentity]) -> VerifyResult:
        """Verify the calling agent's identity; its level rises on every worker."""
        body, registered = call.input, list[api_keys.NewApiKey]()

        def then(tx: Transaction, _agent: Agent) -> None:
            registered.clear()
            if body.rotate:
                key = _calling_key(tx, call.caller)
                registered.append(api_keys.rotate(tx, self.registration.pepper, key, overlap=0))

        agent = await self.registration.verify(
            call.caller.client_id, body.challenge_id, proof=body.proof, address=call.address, then=then
        )
        level, verified = await self._level(agent)
        answer: VerifyResult = {
            "status": "verified",
            "client_id": agent.id,
            "identity": self._identity(agent, level, verified=verified, challenge=None),
            "rate_limit": self._rate(level),
        }
        if registered:
            answer["api_key"] = registered[0].text
        return answer

    async def rotate(self, call: Call[RotateKey]) -> RotateResult:
        """Issue a new key in place of the calling one."""
        seconds = call.input.overlap_seconds

        def unit(tx: Transaction) -> tuple[api_keys.NewApiKey, int]:
            key = _calling_key(tx, call.caller)
            registered = api_keys.rotate(tx, self.registration.pepper, key, overlap=seconds)
            until = registered.created_at + seconds * 1000
            return registered, min(key.expires_at or until, until)

        registered, until = await self.store.write(unit)
        return {
            "status": "rotated",
            "client_id": call.caller.client_id,
            "api_key": registered.text,
            "scopes": ordered(call.caller.scopes),
            "rate_limit": self._rate(call.caller.level),
            "created_at": values.timestamp(registered.created_at),
            "previous_key_expires_at": values.timestamp(until),
        }

    async def revoke(self, call: Call[RevokeCredential]) -> RevokeResult:
        """Revoke any credential (RFC 7009); the answer does not say whether it existed."""
        token, actor = call.input.token, call.caller.client_id or call.address

        def unit(tx: Transaction) -> None:
            if token.startswith(api_keys.KEY_PREFIX):
                self._end_key(tx, token, actor)
            elif row := self.credentials.find(tx, token):
                self.credentials.revoke(tx, row, actor=actor)

        await self.store.write(unit)
        return {"status": "revoked"}

    def _end_key(self, tx: Transaction, token: str, actor: str) -> None:
        key = api_keys.find(tx, self.registration.pepper, token)
        if key is None:
            return
        api_keys.revoke(tx, key, actor=actor)
        agent = accounts_queries.find(tx, key.client_id)
        # An agent without a key cannot act any more, so its proven identity becomes free.
        if agent and agent.revoked_at is None and not api_keys.has_any(tx, agent.id):
            accounts_queries.revoke(tx, agent.id, actor=actor)

    async def _level(self, agent: Agent) -> tuple[int, bool]:
        def unit(tx: Transaction) -> tuple[int, bool]:
            standing = self.levels.standing(tx, agent.id)
            return standing.level if standing else 0, bool(accounts_queries.proven_identities(tx, agent.id))

        return await self.store.read(unit)

    def _identity(
        self, agent: Agent, level: int, *, verified: bool, challenge: IdentityChallenge | None
    ) -> StandingView:
        return {
            "type": agent.identity_type,
            "verified": verified,
            "trust_level": level,
            "challenge": accounts_registration.challenge_view(challenge, self.base),
        }

    def _rate(self, level: int) -> RateView:
        rate = self.levels.rate(level)
        return {"requests_per_minute": rate.requests_per_minute, "burst": rate.burst}


def _calling_key(tx: Transaction, caller: Caller) -> api_keys.ApiKeyRow:
    """The key that the call used; 403 for a token, because an hour's credential must not create a lasting one."""
    key = api_keys.by_id(tx, caller.credential)
    if key is None:
        raise Forbidden("Present the API key itself to rotate it.")
    return key
