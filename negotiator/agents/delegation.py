"""How a delegation code is written: twelve letters that no one mistakes for each other (RFC 8628 §6.1).

Delegation codes: a user makes one, shows it to his agent, the agent redeems it once (docs/contract 2.6).

Redeeming delegation codes: which failures are counted, by whom, and what an empty budget of them refuses.

A code is one of 20^12 (2^51.8), and an agent has five tries. Wrong codes are also charged to the client address, and
to all agents together only while the address has some left, so that one address cannot spend what everybody shares.
Neither budget is asked before the code is looked at: a code that is right is taken however many wrong ones others
sent, and a wrong one is answered 429 in place of 400, and leaves no entry in the audit trail.
"""

import re
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from sqlalchemy import BigInteger, bindparam, or_, update
from sqlmodel import col, select

from negotiator import audit, values
from negotiator.agents import registration
from negotiator.agents.tables import Agent, Delegation
from negotiator.caller import Caller, anonymous_caller
from negotiator.errors import (
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
from negotiator.http.limits import RateLimits
from negotiator.scopes import ASSISTANT, ordered
from negotiator.store.statement import Query, Statement, Transaction, entity, insertion
from negotiator.store.store import Store
from negotiator.tokens import authorization_codes
from negotiator.tokens.access_tokens import AccessTokens, IssuedToken, TokenSubject
from negotiator.tokens.authorization_codes import NewGrant
from negotiator.tokens.refresh_tokens import NewRefreshToken, RefreshTokens
from negotiator.trust import revocations
from negotiator.users import user_queries

CODE_ALPHABET: Final = "BCDFGHJKLMNPQRSTVWXZ"
CODE_LENGTH: Final = 12


def new_code() -> str:
    """Twelve random letters, 51 bits."""
    return "".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_LENGTH))


def format_code(code: str) -> str:
    """The code as people read it, in groups of four."""
    return "-".join(code[start : start + 4] for start in range(0, CODE_LENGTH, 4))


def normalise_code(text: str) -> str | None:
    """The twelve letters of a code, however it was typed; None when it cannot be one."""
    code = re.sub(r"[\s-]", "", text).upper()
    return code if re.fullmatch(f"[{CODE_ALPHABET}]{{{CODE_LENGTH}}}", code) else None


ATTEMPTS: Final = 5
SHORTEST: Final = 60
LONGEST: Final = 3600
WRONG_CODE: Final = "invalid_claim_token"

TransferOwnership = Callable[[Transaction, str, str], None]
"""Takes an agent and its user, and gives the user everything that the agent owns."""

_now = bindparam("now", type_=BigInteger)
_ADD = Statement(insertion(Delegation))
_FIND = Query(
    select(Delegation).where(col(Delegation.digest) == bindparam("digest")),
    entity(Delegation),
)
_OF_USER = Query(
    select(Delegation)
    .where(col(Delegation.user_id) == bindparam("user"), col(Delegation.id) < bindparam("before"))
    .order_by(col(Delegation.id).desc())
    .limit(bindparam("limit")),
    entity(Delegation),
)
_EVERY = Query(
    select(Delegation).order_by(col(Delegation.id).desc()).limit(200),
    entity(Delegation),
)
_TAKE = Query(
    update(Delegation)
    .where(
        col(Delegation.digest) == bindparam("code"),
        col(Delegation.used_at).is_(None),
        col(Delegation.revoked_at).is_(None),
        col(Delegation.expires_at) > _now,
        or_(
            col(Delegation.agent_id).is_(None),
            col(Delegation.agent_id) == bindparam("agent"),
        ),
    )
    .values(used_at=_now, used_by=bindparam("agent"))
    .returning(col(Delegation.id), col(Delegation.user_id), col(Delegation.scope)),
    tuple,
)
_REVOKE = Statement(
    update(Delegation)
    .where(col(Delegation.id) == bindparam("delegation"), col(Delegation.revoked_at).is_(None))
    .values(revoked_at=_now)
)
_OWNED_BY = Query(
    select(Delegation.user_id).where(col(Delegation.id) == bindparam("delegation")),
    lambda row: str(row[0]),
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
    """A new code, readable this once; `expires_at` in milliseconds."""

    id: str
    code: str
    scopes: list[str]
    expires_at: int


@dataclass(frozen=True, slots=True)
class AgentBinding:
    """Whose an agent became, by which code, and which scopes the user approved."""

    user_id: str
    email: str | None
    scopes: list[str]
    delegation_id: str


@dataclass(frozen=True, slots=True)
class ClaimedAgent:
    """What a claim gives: an access token, what renews it, and whose the agent is now."""

    token: IssuedToken
    refresh_token: str
    user_id: str
    email: str | None


@dataclass(frozen=True, slots=True)
class Delegations:
    """Makes codes and redeems them. `pepper` keys the digests, `life` is a claimed agent's token life in seconds."""

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
    ) -> NewDelegation:
        """A code that grants these scopes of the user's for `ttl` seconds; 422 for other scopes or lives."""
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
        audit.record(
            tx,
            "delegation.created",
            delegation_id,
            actor=user_id,
            scope=" ".join(granted),
        )
        return NewDelegation(delegation_id, format_code(code), granted, now + ttl * 1000)

    def attempt(self, tx: Transaction, caller: Caller) -> None:
        """Count one attempt before it is made, so that no number of them at once exceeds five."""
        agent = registration.find(tx, caller.client_id)
        if agent is None:
            raise Forbidden("Only a registered agent can be claimed.")
        if agent.user_id is not None:
            raise Conflict("This agent is bound to a user already.", error="already_claimed")
        if not tx.run(_ATTEMPT, agent=agent.id):
            raise TooManyRequests(
                f"This agent has tried {ATTEMPTS} codes; register a new one.",
                retry_after=3600,
                error="too_many_attempts",
            )

    def claim(self, tx: Transaction, caller: Caller, text: str) -> ClaimedAgent:
        """Bind the calling agent to the user of this code."""
        bound = self.bind(tx, caller, text)
        subject, renewal = self.grant(tx, caller.client_id, bound, key=caller.key)
        token = self.credentials.make(subject, bound.scopes, life=self.life)
        self.credentials.record(tx, token)
        return ClaimedAgent(token, renewal.text, bound.user_id, bound.email)

    def grant(
        self, tx: Transaction, agent_id: str, bound: AgentBinding, *, key: str | None
    ) -> tuple[TokenSubject, NewRefreshToken]:
        """Open the grant of a claim: what its tokens stand on, and the first refresh token."""
        now = values.now()
        granted = NewGrant(
            agent_id, bound.user_id, bound.scopes, "", "", "", "", now, identity=bound.delegation_id
        )
        grant_id = authorization_codes.open_grant(tx, granted)
        renewal = self.refreshing.issue(tx, grant_id, granted_at=now, key=key)
        subject = TokenSubject(agent_id, bound.user_id, None, bound.delegation_id, grant_id, key)
        return subject, renewal

    def bind(self, tx: Transaction, caller: Caller, text: str) -> AgentBinding:
        """Bind the calling agent to the user of this code, without giving it anything yet."""
        agent_id, now = caller.client_id, values.now()
        digest = self._digest(normalise_code(text) or "")
        taken = tx.one(_TAKE, code=digest, agent=agent_id, now=now)
        if taken is None:
            raise self._why_not(tx, digest, agent_id, now)
        delegation_id, user_id, scope = taken
        user = user_queries.by_id(tx, user_id)
        if user is None or user.disabled_at is not None:
            raise Gone("The code was revoked.", error="claim_revoked")
        if not tx.run(_BIND, agent=agent_id, user=user_id, now=now):
            raise Conflict("This agent is bound to a user already.", error="already_claimed")
        # The ephemeral token dies here: whoever saw it must not inherit the user's power (auth.md §2.6).
        self.credentials.revoke_id(tx, caller.credential)
        revocations.revoke(tx, agent_id, before=now - 1)
        self.transfer_ownership(tx, agent_id, user_id)
        audit.record(
            tx, "agent.claimed", agent_id, actor=user_id, delegation=delegation_id, scope=scope
        )
        return AgentBinding(user_id, user.email, ordered(scope.split()), delegation_id)

    def _why_not(self, tx: Transaction, digest: str, agent_id: str, now: int) -> Refusal:
        found = tx.one(_FIND, digest=digest)

        def remember(later: Transaction) -> None:
            audit.record(
                later,
                "delegation.refused",
                agent_id,
                delegation=found.id if found else "",
            )

        if found is None or found.agent_id not in {None, agent_id}:
            return InvalidRequest(
                "This is no delegation code.",
                error=WRONG_CODE,
                remember=remember,
            )
        if found.used_at is not None:
            return Conflict("The code was used before.", error="claim_used", remember=remember)
        if found.revoked_at is not None:
            return Gone("The code was revoked.", error="claim_revoked", remember=remember)
        return Gone("The code has expired.", error="claim_expired", remember=remember)

    def _digest(self, code: str) -> str:
        return values.keyed_digest(self.pepper, f"delegation:{code}")


def of_user(
    tx: Transaction, user_id: str, *, before: str = "dlg_~", limit: int = 200
) -> list[Delegation]:
    """A user's codes whose ids come before this one, newest first."""
    return tx.all(_OF_USER, user=user_id, before=before, limit=limit)


def list_delegations(tx: Transaction) -> list[Delegation]:
    """The newest 200 codes."""
    return tx.all(_EVERY)


def revoke(tx: Transaction, delegation_id: str, *, actor: str, user_id: str | None = None) -> None:
    """End a code, and with a used one everything that its agent got by it; 404 when there is none to end.

    With `user_id` only a code of that user's.
    """
    owner = tx.one(_OWNED_BY, delegation=delegation_id)
    if owner is None or (user_id is not None and owner != user_id):
        raise NotFound("There is no such code.")
    if not tx.run(_REVOKE, delegation=delegation_id, now=values.now()):
        raise NotFound("The code is revoked already.")
    revocations.revoke(tx, delegation_id)
    audit.record(tx, "delegation.revoked", delegation_id, actor=actor)


def state(delegation: Delegation, now: int) -> str:
    """Where a code stands: `open`, `used`, `revoked` (before or after its use) or `expired`."""
    if delegation.revoked_at is not None:
        return "revoked"
    if delegation.used_at is not None:
        return "used"
    return "expired" if delegation.expires_at <= now else "open"


def works_until(tx: Transaction, codes: Iterable[Delegation]) -> dict[str, int]:
    """By code id, when what an agent got by a used code ends if the agent does nothing before; milliseconds."""
    users = {code.user_id for code in codes if code.used_at is not None}
    grants = [grant for user in users for grant in authorization_codes.of_agents(tx, user)]
    return {grant.identity: grant.expires_at for grant in grants if grant.identity}


def summary(delegation: Delegation, works_until: int | None = None) -> dict[str, Any]:
    """What a user sees of a code; never the code."""
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
        raise ValidationFailed(
            [FieldError("/ttl", f"A code lives {SHORTEST} to {LONGEST} seconds.")]
        )
    return ordered(asked)


WRONG_CODES_BY_ADDRESS: Final = "wrongcodes"
WRONG_CODES_OVERALL: Final = "allwrongcodes"
_EVERYBODY: Final = "everybody"

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class DelegationRedemption:
    """Runs the unit that redeems a code, within the budgets of wrong codes."""

    store: Store
    delegations: Delegations
    limits: RateLimits

    async def redeem(
        self, caller: Caller, address: str, unit: Callable[[Transaction], Result]
    ) -> Result:
        """What the unit answers; counts the try before it is made, and a wrong code after."""
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
                    "Too many wrong codes were tried.",
                    retry_after=taken.retry_after,
                    error="too_many_attempts",
                )
