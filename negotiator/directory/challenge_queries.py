"""Challenges for proving an identity: one per agent, valid for ten minutes, five attempts and one use."""

import secrets
from typing import Any, Final

from sqlalchemy import BigInteger, Integer, bindparam, delete, update
from sqlmodel import col, select

from negotiator.base import values
from negotiator.base.errors import Conflict, Gone, NotFound, TooManyRequests
from negotiator.directory import identity_proof
from negotiator.directory.claimed_identity import ClaimedIdentity
from negotiator.directory.tables import IdentityChallenge
from negotiator.store.statement import Query, RowInsertion, Statement, Transaction, entity

CHALLENGE_LIFETIME: Final = 600_000
MAX_ATTEMPTS: Final = 5
CODE_DIGITS: Final = 8
JWS, CODE = "jws", "email_code"

_ADD = RowInsertion(IdentityChallenge)
_DROP = Statement(delete(IdentityChallenge).where(col(IdentityChallenge.agent_id) == bindparam("agent")))
_OF_AGENT = Query(
    select(IdentityChallenge).where(col(IdentityChallenge.agent_id) == bindparam("agent")), entity(IdentityChallenge)
)
_TRY = Statement(
    update(IdentityChallenge)
    .where(
        col(IdentityChallenge.id) == bindparam("challenge"),
        col(IdentityChallenge.agent_id) == bindparam("agent"),
        col(IdentityChallenge.used_at).is_(None),
        col(IdentityChallenge.expires_at) > bindparam("now", type_=BigInteger),
        col(IdentityChallenge.attempts) < bindparam("tries", type_=Integer),
    )
    .values(attempts=col(IdentityChallenge.attempts) + 1)
)
_USE = Statement(
    update(IdentityChallenge)
    .where(col(IdentityChallenge.id) == bindparam("challenge"), col(IdentityChallenge.used_at).is_(None))
    .values(used_at=bindparam("at", type_=BigInteger))
)


def proof_method(identity: ClaimedIdentity) -> str | None:
    """How this identity can be proven; None when there is no way."""
    if identity.type == "email":
        return CODE
    inline = identity.type == "did" and identity_proof.jwk_of_did_key(identity.value)
    return JWS if inline or identity.document_url else None


def new_code() -> str:
    """A random code of eight digits."""
    return f"{secrets.randbelow(10**CODE_DIGITS):0{CODE_DIGITS}}"


def issue(tx: Transaction, agent_id: str, method: str, *, code_digest: str | None) -> IdentityChallenge:
    """A new challenge in place of any other. Without a `code_digest` no code is right."""
    now = values.now()
    tx.run(_DROP, agent=agent_id)
    challenge = IdentityChallenge(
        id=values.new_id("chl"),
        agent_id=agent_id,
        method=method,
        nonce=values.new_secret(),
        code_digest=code_digest,
        attempts=0,
        created_at=now,
        expires_at=now + CHALLENGE_LIFETIME,
        used_at=None,
    )
    tx.run(_ADD, **challenge.model_dump())
    return challenge


def find_pending(tx: Transaction, agent_id: str) -> IdentityChallenge | None:
    """The agent's challenge, if it can still be answered."""
    found = tx.one(_OF_AGENT, agent=agent_id)
    return found if found and _state(found) is None else None


def count_attempt(tx: Transaction, agent_id: str, challenge_id: str) -> IdentityChallenge:
    """Count an attempt before it is checked, so that parallel ones count separately.

    404 unless this is the agent's newest challenge, 409 `challenge_used`, 410 `challenge_expired`, 429
    `too_many_attempts`.
    """
    now = values.now()
    was_counted = tx.run(_TRY, challenge=challenge_id, agent=agent_id, now=now, tries=MAX_ATTEMPTS)
    found = tx.one(_OF_AGENT, agent=agent_id)
    if found is None or found.id != challenge_id:
        raise NotFound("There is no such challenge; only the newest one counts.")
    if not was_counted:
        raise _state(found) or AssertionError("a challenge was neither open nor closed")
    return found


def consume(tx: Transaction, challenge: IdentityChallenge) -> None:
    """Mark the challenge as used; 409 when it was used before."""
    if not tx.run(_USE, challenge=challenge.id, at=values.now()):
        raise Conflict("The challenge was used.", error="challenge_used")


def challenge_view(challenge: IdentityChallenge | None, audience: str) -> dict[str, Any] | None:
    """The challenge as the agent sees it (docs/contract 9.2)."""
    if challenge is None:
        return None
    view = {"id": challenge.id, "method": challenge.method}
    if challenge.method == JWS:
        view |= {"nonce": challenge.nonce, "audience": audience}
    return {**view, "expires_at": values.timestamp(challenge.expires_at)}


def _state(found: IdentityChallenge) -> Conflict | Gone | TooManyRequests | None:
    """Why a challenge cannot be answered any more; None when it can."""
    if found.used_at is not None:
        return Conflict("The challenge was used.", error="challenge_used")
    if found.expires_at <= values.now():
        return Gone("The challenge has expired; ask for a new one.", error="challenge_expired")
    if found.attempts >= MAX_ATTEMPTS:
        wait = (found.expires_at - values.now()) // 1000
        return TooManyRequests(
            "Five tries were wrong; ask for a new challenge.", retry_after=wait, error="too_many_attempts"
        )
    return None
