"""Verifies security event tokens (RFC 8417, SSF 1.0 §4.1), with the subject and the effect of each event.

Subjects are read by RFC 9493 and SSF 1.0 §3 and must be identities of the reporting issuer. Effects are those of CAEP
1.0, RISC 1.0, SSF 1.0 and auth.md; unknown events have none. Such a token has no `exp` (SSF), so its age is limited
here, and its `jti` is remembered for as long. The caller marks the `jti` as used and applies the effects.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from negotiator.base.strict_json import is_object
from negotiator.base.values import DAY
from negotiator.trust import signatures
from negotiator.trust.claims import (
    AssertionRefused,
    Reason,
    is_moment,
    mail_domain,
    optional_object,
    optional_text,
    required_moment,
    required_text,
    texts,
)
from negotiator.trust.issuers import Issuer
from negotiator.trust.keysets import IssuerKeys
from negotiator.trust.signatures import read_compact

_CAEP: Final = "https://schemas.openid.net/secevent/caep/event-type/"
_RISC: Final = "https://schemas.openid.net/secevent/risc/event-type/"
_SSF: Final = "https://schemas.openid.net/secevent/ssf/event-type/"
AUTH_MD: Final = "https://schemas.workos.com/events/agent/auth/identity/assertion/revoked"


class SecurityEventEffect(StrEnum):
    """The effect on an identity: `end` voids its tokens and sessions; `close` also refuses new ones until `open`;
    `forget` also removes the link to the account; `renew` is `end` and needs a new login; `step_up` only needs the
    new login; `note` has no effect.
    """

    END = "end"
    CLOSE = "close"
    FORGET = "forget"
    OPEN = "open"
    RENEW = "renew"
    STEP_UP = "step_up"
    NOTE = "note"


_EFFECTS: Final = {
    AUTH_MD: SecurityEventEffect.END,
    f"{_CAEP}session-revoked": SecurityEventEffect.END,
    f"{_CAEP}credential-change": SecurityEventEffect.RENEW,
    f"{_RISC}sessions-revoked": SecurityEventEffect.END,
    f"{_RISC}account-disabled": SecurityEventEffect.CLOSE,
    f"{_RISC}account-purged": SecurityEventEffect.FORGET,
    f"{_RISC}account-enabled": SecurityEventEffect.OPEN,
    f"{_RISC}credential-compromise": SecurityEventEffect.RENEW,
    f"{_RISC}account-credential-change-required": SecurityEventEffect.RENEW,
}
_WORSE: Final = {
    f"{_CAEP}assurance-level-change": ("change_direction", "decrease"),
    f"{_CAEP}device-compliance-change": ("current_status", "not-compliant"),
    f"{_CAEP}risk-level-change": ("current_level", "HIGH"),
}
"""Changes that have an effect only with this value of this member."""
_NOTED: Final = (
    f"{_CAEP}token-claims-change",
    f"{_RISC}identifier-changed",
    f"{_RISC}identifier-recycled",
    f"{_SSF}verification",
    f"{_SSF}stream-updated",
)
SUPPORTED: Final = (*_EFFECTS, *_WORSE, *_NOTED)


def effect_of_event(uri: str, event: dict[str, Any]) -> SecurityEventEffect:
    """The effect of this event. Identities are (`iss`, `sub`), so the change of an e-mail address has none."""
    if uri in _WORSE:
        member, worse = _WORSE[uri]
        return SecurityEventEffect.STEP_UP if event.get(member) == worse else SecurityEventEffect.NOTE
    return _EFFECTS.get(uri, SecurityEventEffect.NOTE)


@dataclass(frozen=True, slots=True)
class EventSubject:
    """An identity at the issuer, by `subject`, or by the `email` of its account."""

    tenant: str = ""
    subject: str | None = None
    email: str | None = None


def read_subject(claims: dict[str, Any], issuer: Issuer, *, by_sub: bool) -> EventSubject | None:
    """The subject of the claims; None for a stream or a kind of subject that has no identity here.

    `by_sub` allows auth.md's form, a plain `sub`. A subject of another issuer is refused: an issuer may only report on
    its own identities.
    """
    named = optional_object(claims, "sub_id")
    if named is None:
        if not by_sub:
            raise AssertionRefused(Reason.MALFORMED, "The claim sub_id is missing.")
        named = {"format": "iss_sub", "iss": issuer.issuer, "sub": required_text(claims, "sub")}
    tenant = optional_text(claims, "tenant")
    if named.get("format") == "complex":
        tenant = _tenant(named) or tenant
        user: object = named.get("user")
        named = user if is_object(user) else {"format": "opaque"}
    found = _simple(named, issuer)
    if found is None:
        return None
    if (tenant is not None) != issuer.tenanted:
        raise AssertionRefused(Reason.MALFORMED, "The tenant does not fit how this issuer is configured.")
    return EventSubject(tenant or "", found.subject, found.email)


def _simple(named: dict[str, Any], issuer: Issuer) -> EventSubject | None:
    match named.get("format"):
        case "iss_sub":
            if required_text(named, "iss", limit=512) != issuer.issuer:
                raise AssertionRefused(Reason.NOT_ENTITLED, "The subject is another issuer's.")
            return EventSubject(subject=required_text(named, "sub"))
        case "email":
            email = required_text(named, "email", limit=254)
            return EventSubject(email=email.lower()) if mail_domain(email) else None
        case str():
            return None
        case _:
            raise AssertionRefused(Reason.MALFORMED, "The subject has no format.")


def _tenant(named: dict[str, Any]) -> str | None:
    tenant = optional_object(named, "tenant")
    return None if tenant is None else required_text(tenant, "id")


SECURITY_EVENT_TYPE: Final = "secevent+jwt"
SKEW: Final = 60_000
OLDEST: Final = 7 * DAY
"""Milliseconds for which a transmitter may retry a delivery."""


@dataclass(frozen=True, slots=True)
class ReportedEvent:
    """One event: its URI, its effect, and when it happened (milliseconds)."""

    uri: str
    effect: SecurityEventEffect
    at: int


@dataclass(frozen=True, slots=True)
class SecurityEventToken:
    """A verified security event token; `about` is None when its subject cannot be an identity here."""

    issuer: Issuer
    jti: str
    issued_at: int
    about: EventSubject | None
    reported_events: tuple[ReportedEvent, ...]

    @property
    def until(self) -> int:
        """Until when the token could be replayed, milliseconds."""
        return self.issued_at + OLDEST + SKEW


@dataclass(frozen=True, slots=True)
class SecurityEventVerifier:
    """Verifies events that trusted issuers sign for `audience`; raises `AssertionRefused`."""

    audience: str
    find_issuer: Callable[[str], Awaitable[Issuer | None]]
    keys: IssuerKeys
    clock: Callable[[], int]

    async def verify(self, text: str) -> SecurityEventToken:
        """The events in a compact JWS."""
        unverified = read_compact(text)
        kid, algorithm = signatures.read_header(unverified.unverified_header, SECURITY_EVENT_TYPE)
        name = required_text(unverified.unverified_claims, "iss", limit=512)
        issuer = None if name == self.audience else await self.find_issuer(name)
        if issuer is None:
            raise AssertionRefused(Reason.ISSUER, "The issuer of the event is not trusted.", detail=f"iss {name!r}")
        await signatures.check_signature(unverified, issuer, self.keys, kid=kid, algorithm=algorithm)
        return self._read(issuer, unverified.unverified_claims)

    def _read(self, issuer: Issuer, claims: dict[str, Any]) -> SecurityEventToken:
        """The claims after the signature was verified."""
        now = self.clock()
        jti, issued_at = required_text(claims, "jti"), required_moment(claims, "iat")
        if self.audience not in (texts(claims, "aud", single=True) or ()):
            raise AssertionRefused(Reason.AUDIENCE, "The event is for another audience.")
        if not now - OLDEST <= issued_at <= now + SKEW:
            raise AssertionRefused(Reason.EXPIRED, "The event is too old or from the future.")
        events: object = claims.get("events")
        if not is_object(events) or not events or not all(map(is_object, events.values())):
            raise AssertionRefused(Reason.MALFORMED, "The claim events must be an object of at least one event.")
        in_auth_md = list(events) == [AUTH_MD]
        if "exp" in claims or ("sub" in claims and not in_auth_md):
            raise AssertionRefused(Reason.MALFORMED, "An event has neither exp nor sub; its subject is sub_id.")
        return SecurityEventToken(
            issuer,
            jti,
            issued_at,
            read_subject(claims, issuer, by_sub=in_auth_md),
            tuple(
                ReportedEvent(uri, effect_of_event(uri, event), _moment(event, issued_at))
                for uri, event in events.items()
            ),
        )


def _moment(event: dict[str, Any], issued_at: int) -> int:
    """When the event happened, by CAEP's `event_timestamp` (seconds); at the latest when it was issued."""
    at = event.get("event_timestamp")
    return min(int(at * 1000), issued_at) if is_moment(at) else issued_at
