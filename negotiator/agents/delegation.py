"""Delegation codes: a user creates a code and gives it to their agent, which redeems it once (docs/contract 2.6, 2.7).

A code has twelve letters of the 20 consonants of RFC 8628 §6.1, so there are 20^12 (2^51.8) codes.
An agent may try five codes. Each wrong code is also charged to a budget of the client address and, while that has
some left, to a budget that all agents share; so one address cannot exhaust the shared budget. The code is checked
before the budgets: a correct code is accepted even when they are empty. A wrong code is answered with 429 instead of
400 when a budget is empty, and then leaves no entry in the audit trail.
"""

import re
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from sqlalchemy import BigInteger, bindparam, or_, update
from sqlmodel import col, select

from negotiator.agents import registration
from negotiator.agents.tables import Agent, Delegation
from negotiator.base import values
from negotiator.base.caller import Caller, anonymous_caller
from negotiator.base.errors import (
    Conflict,
    FieldError,
    Forbidden,
    Gone,
    InvalidRequest,
    NotFound,
    Refusal,
    TooManyRequests,
    ValidationFailed,
)
from negotiator.base.scopes import ASSISTANT, ordered
from negotiator.http.limits import RateLimits
from negotiator.store import audit
from negotiator.store.statement import Query, RowInsertion, Statement, Transaction, entity
from negotiator.store.store import Store
from negotiator.tokens import authorization_codes
from negotiator.tokens.access_tokens import AccessTokens, NewToken, TokenSubject
from negotiator.tokens.authorization_codes import NewGrant
from negotiator.tokens.refresh_tokens import NewRefreshToken, RefreshTokens
from negotiator.trust import revocations
from negotiator.users import user_queries

CODE_ALPHABET: Final = "BCDFGHJKLMNPQRSTVWXZ"
CODE_LENGTH: Final = 12


def new_code() -> str:
    """Return twelve random letters, 51 bits."""
    return "".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_LENGTH))


def format_code(code: str) -> str:
    """Return the code in groups of four letters with hyphens between them."""
    return "-".join(code[start : start + 4] for start in range(0, CODE_LENGTH, 4))


def normalise_code(text: str) -> str | None:
    """Return the twelve letters of a code without spaces and hyphens, in upper case; None for other texts."""
    code = re.sub(r"[\s-]", "", text).upper()
    return code if re.fullmatch(f"[{CODE_ALPHABET}]{{{CODE_LENGTH}}}", code) else None


BOUND_ALREADY: Final = "This agent is bound to a user already. For other scopes, register anew and redeem a new code."
ATTEMPTS: Final = 5
SHORTEST: Final = 60
LONGEST: Final = 3600
WRONG_CODE: Final = "invalid_claim_token"

TransferOwnership = Callable[[Transaction, str, str], None]
"""Called with the transaction, an agent's id and a user's id; gives the user everything that the agent owns."""

_now = bindparam("now", type_=BigInteger)
_ADD = RowInsertion(Delegation)
_FIND = Query(select(Delegation).where(col(Delegation.digest) == bindparam("digest")), entity(Delegation))
_OF_USER = Query(
    select(Delegation)
    .where(col(Delegation.user_id) == bindparam("user"), col(Delegation.id) < bindparam("before"))
    .order_by(col(Delegation.id).desc())
    .limit(bindparam("limit")),
    entity(Delegation),
)
_BY_ID = Query(select(Delegation).where(col(Delegation.id) == bindparam("delegation")), entity(Delegation))
_OF_AGENT = Query(
    select(Delegation).where(
        col(Delegation.user_id) == bindparam("user"), col(Delegation.used_by) == bindparam("agent")
    ),
    entity(Delegation),
)
_EVERY = Query(select(Delegation).order_by(col(Delegation.id).desc()).limit(200), entity(Delegation))
_TAKE = Query(
    update(Delegation)
    .where(
        col(Delegation.digest) == bindparam("code"),
        col(Delegation.used_at).is_(None),
        col(Delegation.revoked_at).is_(None),
        col(Delegation.expires_at) > _now,
        or_(col(Delegation.agent_id).is_(None), col(Delegation.agent_id) == bindparam("agent")),
    )
    .values(used_at=_now, used_by=bindparam("agent"))
    .returning(col(Delegation.id), col(Delegation.user_id), col(Delegation.scope), col(Delegation.created_at)),
    tuple,
)
_REVOKE = Statement(
    update(Delegation)
    .where(col(Delegation.id) == bindparam("delegation"), col(Delegation.revoked_at).is_(None))
    .values(revoked_at=_now)
)
_BIND = Statement(
    update(Agent)
    .where(col(Agent.id) == bindparam("agent"), col(Agent.user_id).is_(None))
    .values(user_id=bindparam("user"), claimed_at=_now, expires_at=None)
)
_ATTEMPT = Statement(
    update(Agent)
    .where(col(Agent.id) == bindparam("agent"), col(Agent.claim_attempts) < ATTEMPTS)
    .values(claim_attempts=Agent.claim_attempts + 1)
)


@dataclass(frozen=True, slots=True)
class NewDelegation:
    """A new code; only its digest is stored, so it cannot be shown again. `expires_at` is in milliseconds."""

    id: str
    code: str
    scopes: list[str]
    expires_at: int


@dataclass(frozen=True, slots=True)
class AgentBinding:
    """The user that an agent was bound to, the code that bound it, and the scopes that the user approved."""

    user_id: str
    email: str | None
    scopes: list[str]
    delegation_id: str


@dataclass(frozen=True, slots=True)
class ClaimedAgent:
    """The result of a claim: an access token, its refresh token, and the agent's user."""

    token: NewToken
    refresh_token: str
    user_id: str
    email: str | None


@dataclass(frozen=True, slots=True)
class Delegations:
    """Creates and redeems codes. `pepper` keys their digests; `life` is the lifetime of a claimed agent's token (s)."""

    pepper: bytes
    credentials: AccessTokens
    refreshing: RefreshTokens
    life: int
    transfer_ownership: TransferOwnership

    def mint(
        self,
        tx: Transaction,
        user_id: str,
        scopes: Iterable[str],
        *,
        label: str = "",
        ttl: int = 600,
        agent_id: str | None = None,
        actor: str | None = None,
    ) -> NewDelegation:
        """Create a code that grants `scopes` and can be redeemed for `ttl` seconds.

        With `agent_id`, only that agent can redeem it. The audit trail names `actor`, by default the user.

        Raises `ValidationFailed` (422) for an unknown scope, no scope, or a `ttl` outside 60 to 3600.
        """
        granted = _check(scopes, ttl)
        code = new_code()
        delegation_id, now = values.new_id("dlg"), values.now()
        tx.run(
            _ADD,
            id=delegation_id,
            digest=self._digest(code),
            user_id=user_id,
            agent_id=agent_id,
            label=label,
            scope=" ".join(granted),
            created_at=now,
            expires_at=now + ttl * 1000,
            used_at=None,
            used_by=None,
            revoked_at=None,
        )
        audit.record(tx, "delegation.created", delegation_id, actor=actor or user_id, scope=" ".join(granted))
        return NewDelegation(delegation_id, format_code(code), granted, now + ttl * 1000)

    def attempt(self, tx: Transaction, caller: Caller) -> None:
        """Count one attempt before the code is checked, so that parallel requests cannot exceed five.

        Raises `Forbidden` when the caller is no agent, `Conflict` when it is bound, `TooManyRequests` after five.
        """
        agent = registration.find(tx, caller.client_id)
        if agent is None:
            raise Forbidden("Only a registered agent can be claimed.")
        if agent.user_id is not None:
            raise Conflict(BOUND_ALREADY, error="already_claimed")
        if not tx.run(_ATTEMPT, agent=agent.id):
            raise TooManyRequests(
                f"This agent has tried {ATTEMPTS} codes; register a new one.",
                retry_after=3600,
                error="too_many_attempts",
            )

    def claim(self, tx: Transaction, caller: Caller, text: str) -> ClaimedAgent:
        """Bind the calling agent to the user of the code `text`, and store its tokens; raises as `bind` does."""
        bound = self.bind(tx, caller, text)
        subject, renewal = self.grant(tx, caller.client_id, bound, key=caller.key)
        token = self.credentials.make(subject, bound.scopes, life=self.life)
        self.credentials.record(tx, token)
        return ClaimedAgent(token, renewal.text, bound.user_id, bound.email)

    def grant(
        self, tx: Transaction, agent_id: str, bound: AgentBinding, *, key: str | None
    ) -> tuple[TokenSubject, NewRefreshToken]:
        """Open the grant of a claim. Returns the subject of its tokens and the first refresh token."""
        now = values.now()
        granted = NewGrant(agent_id, bound.user_id, bound.scopes, "", "", "", "", now, identity=bound.delegation_id)
        grant_id = authorization_codes.open_grant(tx, granted)
        renewal = self.refreshing.issue(tx, grant_id, granted_at=now, key=key)
        subject = TokenSubject(agent_id, bound.user_id, None, bound.delegation_id, grant_id, key)
        return subject, renewal

    def bind(self, tx: Transaction, caller: Caller, text: str) -> AgentBinding:
        """Bind the calling agent to the user of the code `text`, without issuing tokens.

        The agent's earlier tokens end. Raises `InvalidRequest` for a wrong code, `Conflict` for a used code or a bound
        agent, and `Gone` for a revoked or expired code.
        """
        agent_id, now = caller.client_id, values.now()
        digest = self._digest(normalise_code(text) or "")
        taken = tx.one(_TAKE, code=digest, agent=agent_id, now=now)
        if taken is None:
            raise self._why_not(tx, digest, agent_id, now)
        delegation_id, user_id, scope, created_at = taken
        user = user_queries.by_id(tx, user_id)
        if user is None or created_at <= revocations.revoked_before(tx, user_id):
            raise Gone("The code was revoked.", error="claim_revoked")
        if not tx.run(_BIND, agent=agent_id, user=user_id, now=now):
            raise Conflict(BOUND_ALREADY, error="already_claimed")
        # The anonymous token ends here: a party that has seen it must not act for the user (auth.md §2.6).
        self.credentials.revoke_id(tx, caller.credential)
        revocations.revoke(tx, agent_id, before=now - 1)
        self.transfer_ownership(tx, agent_id, user_id)
        audit.record(tx, "agent.claimed", agent_id, actor=user_id, delegation=delegation_id, scope=scope)
        return AgentBinding(user_id, user.email, ordered(scope.split()), delegation_id)

    def _why_not(self, tx: Transaction, digest: str, agent_id: str, now: int) -> Refusal:
        found = tx.one(_FIND, digest=digest)

        def remember(later: Transaction) -> None:
            audit.record(later, "delegation.refused", agent_id, delegation=found.id if found else "")

        if found is None or found.agent_id not in {None, agent_id}:
            return InvalidRequest("This is no delegation code.", error=WRONG_CODE, remember=remember)
        if found.used_at is not None:
            return Conflict("The code was used before.", error="claim_used", remember=remember)
        if found.revoked_at is not None:
            return Gone("The code was revoked.", error="claim_revoked", remember=remember)
        return Gone("The code has expired.", error="claim_expired", remember=remember)

    def _digest(self, code: str) -> str:
        return values.keyed_digest(self.pepper, f"delegation:{code}")


def of_user(tx: Transaction, user_id: str, *, before: str = "dlg_~", limit: int = 200) -> list[Delegation]:
    """Return up to `limit` codes of the user whose ids precede `before`, newest first."""
    return tx.all(_OF_USER, user=user_id, before=before, limit=limit)


def find(tx: Transaction, delegation_id: str) -> Delegation | None:
    """Return the code with this id, in any state; None if there is none."""
    return tx.one(_BY_ID, delegation=delegation_id)


def of_agent(tx: Transaction, agent_id: str, *, user_id: str) -> Delegation | None:
    """Return the user's code that bound this agent; None if none did."""
    return tx.one(_OF_AGENT, agent=agent_id, user=user_id)


def list_delegations(tx: Transaction) -> list[Delegation]:
    """Return the newest 200 codes of all users."""
    return tx.all(_EVERY)


def revoke(tx: Transaction, delegation_id: str, *, actor: str, user_id: str | None = None) -> None:
    """Revoke a code; for a used code, also the tokens that its agent got with it.

    With `user_id`, only a code of that user. Raises `NotFound` for an unknown or revoked code.
    """
    code = find(tx, delegation_id)
    if code is None or user_id not in {None, code.user_id}:
        raise NotFound("There is no such code.")
    if not tx.run(_REVOKE, delegation=delegation_id, now=values.now()):
        raise NotFound("The code is revoked already.")
    revocations.revoke(tx, delegation_id)
    audit.record(tx, "delegation.revoked", delegation_id, actor=actor)


def state(delegation: Delegation, now: int) -> str:
    """Return `open`, `used`, `revoked` (before or after use) or `expired`; `now` is in milliseconds."""
    if delegation.revoked_at is not None:
        return "revoked"
    if delegation.used_at is not None:
        return "used"
    return "expired" if delegation.expires_at <= now else "open"


def works_until(tx: Transaction, codes: Iterable[Delegation]) -> dict[str, int]:
    """Map ids of used codes to when the grant of their agent ends unless the agent renews it (milliseconds)."""
    users = {code.user_id for code in codes if code.used_at is not None}
    grants = [grant for user in users for grant in authorization_codes.of_agents(tx, user)]
    return {grant.identity: grant.expires_at for grant in grants if grant.identity}


def summary(delegation: Delegation, works_until: int | None = None) -> dict[str, Any]:
    """Return the members of a code that its user sees; the code itself is not among them."""
    return {
        "id": delegation.id,
        "user_id": delegation.user_id,
        "label": delegation.label,
        "scopes": delegation.scope.split(),
        "state": state(delegation, values.now()),
        "expires_at": values.timestamp(delegation.expires_at),
        "used_by": delegation.used_by,
        "works_until": values.timestamp_or_none(works_until),
    }


def _check(scopes: Iterable[str], ttl: int) -> list[str]:
    asked = list(scopes)
    if unknown := [scope for scope in asked if scope not in ASSISTANT]:
        raise ValidationFailed([FieldError("/scopes", f"{unknown[0]} is not a scope.")])
    if not asked:
        raise ValidationFailed([FieldError("/scopes", "A code grants at least one scope.")])
    if not SHORTEST <= ttl <= LONGEST:
        raise ValidationFailed([FieldError("/ttl", f"A code lives {SHORTEST} to {LONGEST} seconds.")])
    return ordered(asked)


WRONG_CODES_BY_ADDRESS: Final = "wrongcodes"
WRONG_CODES_OVERALL: Final = "allwrongcodes"
_EVERYBODY: Final = "everybody"

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class DelegationRedemption:
    """Redeems codes within the budgets of wrong codes."""

    store: Store
    delegations: Delegations
    limits: RateLimits

    async def redeem(self, caller: Caller, address: str, unit: Callable[[Transaction], Result]) -> Result:
        """Run `unit`, which redeems a code, and return its result.

        The attempt is counted before, a wrong code after. Raises the refusals of `unit`, and `TooManyRequests` when the
        agent has no attempts left or when a wrong code finds a budget empty.
        """
        await self.store.write(lambda tx: self.delegations.attempt(tx, caller))
        try:
            return await self.store.write(unit)
        except Refusal as refusal:
            if refusal.error == WRONG_CODE:
                await self._count(address)
            raise

    async def _count(self, address: str) -> None:
        for name, key in ((WRONG_CODES_BY_ADDRESS, address), (WRONG_CODES_OVERALL, _EVERYBODY)):
            taken = await self.limits.charge(anonymous_caller(key), name)
            if not taken.taken:
                raise TooManyRequests(
                    "Too many wrong codes were tried.", retry_after=taken.retry_after, error="too_many_attempts"
                )
