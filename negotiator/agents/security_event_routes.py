"""`POST /api/agent/events`: push delivery of security events (RFC 8935), each applied in one transaction.

An event sets the revocation watermark of the reported identity, which ends its agents, assertions, refresh tokens and
browser sessions. It also ends the agents that the user bound with delegation codes, and the codes not yet redeemed.
"""

from dataclasses import dataclass
from typing import Final

from pydantic import ConfigDict, Field
from sqlalchemy import BigInteger, bindparam, update
from sqlmodel import col

from negotiator.agents.tables import Delegation
from negotiator.base import values
from negotiator.base.errors import InvalidRequest, Refusal, Unavailable
from negotiator.base.schema import Strict, example_schema
from negotiator.http.operation import REGISTRATION_BODY_LIMIT, Answer, Call, Operation
from negotiator.store import atomic_updates, audit
from negotiator.store.statement import Statement, Transaction
from negotiator.store.store import Store
from negotiator.tokens import access_tokens, authorization_codes
from negotiator.trust import revocations
from negotiator.trust.claims import AssertionRefused, Reason
from negotiator.trust.revocations import closed_key, identity_key, login_key
from negotiator.trust.security_events import (
    ReportedEvent,
    SecurityEventEffect,
    SecurityEventToken,
    SecurityEventVerifier,
)
from negotiator.users import identity_matching

EVENTS_PATH: Final = "/api/agent/events"
EVENTS_BUDGET: Final = "events"
_EXAMPLE: Final = "eyJ0eXAiOiJzZWNldmVudCtqd3QiLCJhbGciOiJFUzI1NiIsImtpZCI6IjEifQ.eyJqdGkiOiIxIn0.c2lnbmF0dXJl"
_WORDS: Final = {
    Reason.SIGNATURE: "authentication_failed",
    Reason.ISSUER: "invalid_issuer",
    Reason.AUDIENCE: "invalid_audience",
    Reason.NOT_ENTITLED: "access_denied",
}
"""RFC 8935 §2.4; everything else is `invalid_request`."""


class SecurityEventBody(Strict):
    """The body is the signed token itself; its media type is `application/secevent+jwt`."""

    model_config = ConfigDict(json_schema_extra=example_schema({"token": _EXAMPLE}))

    token: str = Field(min_length=1, description="A compact JWS of `typ` `secevent+jwt`.")


@dataclass(frozen=True, slots=True)
class SecurityEventRoutes:
    """The endpoint where trusted issuers report security events."""

    store: Store
    receiver: SecurityEventVerifier

    def operations(self) -> list[Operation]:
        return [
            Operation(
                name="report_event",
                method="POST",
                path=EVENTS_PATH,
                urgent=True,
                summary="Report, as a trusted issuer, a security event of one of your users; it takes effect at once",
                run=self.report,
                input=SecurityEventBody,
                status=202,
                access="open",
                encoding="event",
                body_limit=REGISTRATION_BODY_LIMIT,
                budget=lambda _: EVENTS_BUDGET,
                refusals=(400, 503),
                tag="agents",
            )
        ]

    async def report(self, call: Call[SecurityEventBody]) -> Answer:
        """Apply one event: 202 once it is stored, and for one that was reported before (RFC 8935 §2.2)."""
        try:
            signal = await self.receiver.verify(call.input.token)
        except AssertionRefused as refused:
            raise _refusal(refused, call.address) from None
        await self.store.write(lambda tx: apply_event(tx, signal))
        return Answer(None, 202)


def _refusal(refused: AssertionRefused, address: str) -> Refusal:
    if refused.reason is Reason.KEYS_UNAVAILABLE:
        return Unavailable(refused.description, detail=refused.detail, retry_after=refused.retry_after or 1)
    word = _WORDS.get(refused.reason, "invalid_request")

    def remember(tx: Transaction) -> None:
        audit.record(tx, "signal.refused", "", actor=address, reason=refused.reason.value)

    return InvalidRequest(
        refused.description,
        error=word,
        detail=refused.detail,
        members={"err": word, "description": refused.description},
        # Only events signed by a trusted issuer are audited; anyone can send the others.
        remember=remember if refused.reason is Reason.NOT_ENTITLED else None,
    )


_END_CODES = Statement(
    update(Delegation)
    .where(
        col(Delegation.user_id) == bindparam("user"),
        col(Delegation.used_at).is_(None),
        col(Delegation.revoked_at).is_(None),
    )
    .values(revoked_at=bindparam("now", type_=BigInteger))
)
_ENDING = {SecurityEventEffect.END, SecurityEventEffect.CLOSE, SecurityEventEffect.FORGET, SecurityEventEffect.RENEW}


def apply_event(tx: Transaction, signal: SecurityEventToken) -> bool:
    """Apply the events of a verified token; False, without a change, when its `jti` was received before."""
    once = values.digest(f"{signal.issuer.issuer}\x1f{signal.jti}")
    if not atomic_updates.spend(tx, "signal", once, expires_at=signal.until):
        return False
    identities = _identities(tx, signal)
    for happening in signal.reported_events:
        ended = sum(_apply(tx, key, happening) for key in identities)
        if happening.effect is not SecurityEventEffect.NOTE or identities:
            audit.record(
                tx,
                "signal.received",
                signal.issuer.issuer,
                actor=signal.issuer.issuer,
                uri=happening.uri,
                effect=happening.effect.value,
                identities=[values.digest(key)[:16] for key in identities],
                tokens=ended,
            )
    return True


def _identities(tx: Transaction, signal: SecurityEventToken) -> list[str]:
    """Return the identities that the event is about.

    A subject counts even if it is unknown here, because an assertion about it may arrive later.
    """
    issuer, about = signal.issuer.issuer, signal.about
    if about is None:
        return []
    if about.subject is not None:
        return [identity_key(issuer, about.tenant, about.subject)]
    return identity_matching.by_email(tx, issuer, about.email or "", tenant=about.tenant)


def _apply(tx: Transaction, identity: str, happening: ReportedEvent) -> int:
    """Apply one event to one identity. Returns how many tokens ended, not counting those below the watermark."""
    now, asked = values.now(), happening.effect
    ended = 0
    if asked in _ENDING:
        revocations.revoke_issued(tx, identity, now=now)
        ended = _end_agents(tx, identity)
    if asked in {SecurityEventEffect.RENEW, SecurityEventEffect.STEP_UP}:
        revocations.revoke(tx, login_key(identity), before=happening.at)
    if asked in {SecurityEventEffect.CLOSE, SecurityEventEffect.FORGET}:
        revocations.revoke(tx, identity)
        revocations.revoke(tx, closed_key(identity), before=happening.at)
    if asked is SecurityEventEffect.FORGET:
        identity_matching.unlink(tx, identity)
    if asked is SecurityEventEffect.OPEN:
        _open(tx, identity, happening.at)
    return ended


def _end_agents(tx: Transaction, identity: str) -> int:
    user_id = identity_matching.owner(tx, identity)
    if user_id is None:
        return 0
    tx.run(_END_CODES, user=user_id, now=values.now())
    authorization_codes.end_agents(tx, user_id)
    return access_tokens.end_agents(tx, user_id)


def _open(tx: Transaction, identity: str, at: int) -> None:
    """Reopen an account that the issuer closed, unless it was closed after `at` (milliseconds)."""
    closed = revocations.revoked_before(tx, closed_key(identity))
    if 0 < closed < at and revocations.revoked_before(tx, identity) == revocations.FOREVER:
        revocations.restore(tx, identity)
