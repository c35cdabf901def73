"""What each security event asks of us (CAEP 1.0, RISC 1.0, SSF 1.0, auth.md); events we do not know ask nothing.

Whom an event is about (RFC 9493, SSF 1.0 §3): somebody of the very issuer that reports, or nobody we know.

From a string to a `Signal`: a security event token believed by RFC 8417 and SSF 1.0 §4.1, strictly.

Spending the `jti` and what the events do belong to the caller's transaction. No `exp` stands in such a token (SSF), so
its age is bounded here, and the `jti` is remembered for as long.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from negotiator.strict_json import is_object
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
from negotiator.values import DAY

_CAEP: Final = "https://schemas.openid.net/secevent/caep/event-type/"
_RISC: Final = "https://schemas.openid.net/secevent/risc/event-type/"
_SSF: Final = "https://schemas.openid.net/secevent/ssf/event-type/"
AUTH_MD: Final = "https://schemas.workos.com/events/agent/auth/identity/assertion/revoked"


class SecurityEventEffect(StrEnum):
    """What is done: `end` all that is held; `close` also what is to come, until `open`; `forget` the link as well;
    `renew` ends and wants a new login; `step_up` only wants the login; `note` does nothing.
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
"""Changes that count only for the worse, by a member of the event."""
_NOTED: Final = (
    f"{_CAEP}token-claims-change",
    f"{_RISC}identifier-changed",
    f"{_RISC}identifier-recycled",
    f"{_SSF}verification",
    f"{_SSF}stream-updated",
)
SUPPORTED: Final = (*_EFFECTS, *_WORSE, *_NOTED)


def effect_of_event(uri: str, event: dict[str, Any]) -> SecurityEventEffect:
    """What this event asks; people are told apart by (`iss`, `sub`), so a new address of theirs asks nothing."""
    if uri in _WORSE:
        member, worse = _WORSE[uri]
        return (
            SecurityEventEffect.STEP_UP if event.get(member) == worse else SecurityEventEffect.NOTE
        )
    return _EFFECTS.get(uri, SecurityEventEffect.NOTE)


@dataclass(frozen=True, slots=True)
class EventSubject:
    """Somebody at the issuer: by `subject`, or by `email` among those whose identity is the issuer's."""

    tenant: str = ""
    subject: str | None = None
    email: str | None = None


def read_subject(claims: dict[str, Any], issuer: Issuer, *, by_sub: bool) -> EventSubject | None:
    """Whom the claims name; None for a stream or a kind of subject that is nobody here.

    `by_sub` allows auth.md's form, a plain `sub`. Somebody of another issuer is refused: no issuer may end what
    stands on another's word.
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
        raise AssertionRefused(
            Reason.MALFORMED, "The tenant does not fit how this issuer is configured."
        )
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
"""How long a transmitter may keep trying to deliver, milliseconds."""


@dataclass(frozen=True, slots=True)
class ReportedEvent:
    """One event: its URI, what it asks, and when it happened (milliseconds)."""

    uri: str
    effect: SecurityEventEffect
    at: int


@dataclass(frozen=True, slots=True)
class SecurityEventToken:
    """A believed security event token; `about` is None when it concerns nobody we could know."""

    issuer: Issuer
    jti: str
    issued_at: int
    about: EventSubject | None
    reported_events: tuple[ReportedEvent, ...]

    @property
    def until(self) -> int:
        """Until when the token could be sent again, milliseconds."""
        return self.issued_at + OLDEST + SKEW


@dataclass(frozen=True, slots=True)
class SecurityEventVerifier:
    """Believes events that trusted issuers sign for `audience`, or raises `AssertionRefused`."""

    audience: str
    find_issuer: Callable[[str], Awaitable[Issuer | None]]
    keys: IssuerKeys
    clock: Callable[[], int]

    async def believe(self, text: str) -> SecurityEventToken:
        """The signal in a compact JWS."""
        unverified = read_compact(text)
        kid, algorithm = signatures.read_header(unverified.unverified_header, SECURITY_EVENT_TYPE)
        name = required_text(unverified.unverified_claims, "iss", limit=512)
        issuer = None if name == self.audience else await self.find_issuer(name)
        if issuer is None:
            raise AssertionRefused(
                Reason.ISSUER, "The issuer of the event is not trusted.", detail=f"iss {name!r}"
            )
        await signatures.check_signature(
            unverified, issuer, self.keys, kid=kid, algorithm=algorithm
        )
        return self._read(issuer, unverified.unverified_claims)

    def _read(self, issuer: Issuer, claims: dict[str, Any]) -> SecurityEventToken:
        """The claims, whose signature holds."""
        now = self.clock()
        jti, issued_at = required_text(claims, "jti"), required_moment(claims, "iat")
        if self.audience not in (texts(claims, "aud", single=True) or ()):
            raise AssertionRefused(Reason.AUDIENCE, "The event is for another audience.")
        if not now - OLDEST <= issued_at <= now + SKEW:
            raise AssertionRefused(Reason.EXPIRED, "The event is too old, or from the future.")
        events: object = claims.get("events")
        if not is_object(events) or not events or not all(map(is_object, events.values())):
            raise AssertionRefused(Reason.MALFORMED, "The claim events must be an object of some.")
        in_auth_md = list(events) == [AUTH_MD]
        if "exp" in claims or ("sub" in claims and not in_auth_md):
            raise AssertionRefused(
                Reason.MALFORMED, "An event has neither exp nor sub, its subject is sub_id."
            )
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
    """When it happened, by CAEP's `event_timestamp` (seconds); never after it was told."""
    at = event.get("event_timestamp")
    return min(int(at * 1000), issued_at) if is_moment(at) else issued_at
