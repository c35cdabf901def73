"""From a string to a `Signal`: a security event token believed by RFC 8417 and SSF 1.0 §4.1, strictly.

Spending the `jti` and what the events do belong to the caller's transaction. No `exp` stands in such a token (SSF), so
its age is bounded here, and the `jti` is remembered for as long.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from negotiator.strict import is_object
from negotiator.trust import signatures
from negotiator.trust.issuer import Issuer
from negotiator.trust.keysets import IssuerKeys
from negotiator.trust.readers.claims import (
    AssertionRefused,
    Reason,
    is_moment,
    required_moment,
    required_text,
    texts,
)
from negotiator.trust.readers.compact import read_compact
from negotiator.trust.signals.kinds import AUTH_MD, Effect, effect
from negotiator.trust.signals.subjects import Reported, read

TYPE: Final = "secevent+jwt"
SKEW: Final = 60_000
OLDEST: Final = 7 * 86_400_000
"""How long a transmitter may keep trying to deliver, milliseconds."""


@dataclass(frozen=True, slots=True)
class Happening:
    """One event: its URI, what it asks, and when it happened (milliseconds)."""

    uri: str
    effect: Effect
    at: int


@dataclass(frozen=True, slots=True)
class Signal:
    """A believed security event token; `about` is None when it concerns nobody we could know."""

    issuer: Issuer
    jti: str
    issued_at: int
    about: Reported | None
    happenings: tuple[Happening, ...]

    @property
    def until(self) -> int:
        """Until when the token could be sent again, milliseconds."""
        return self.issued_at + OLDEST + SKEW


@dataclass(frozen=True, slots=True)
class Receiver:
    """Believes events that trusted issuers sign for `audience`, or raises `AssertionRefused`."""

    audience: str
    find_issuer: Callable[[str], Awaitable[Issuer | None]]
    keys: IssuerKeys
    clock: Callable[[], int]

    async def believe(self, text: str) -> Signal:
        """The signal in a compact JWS."""
        unverified = read_compact(text)
        kid, algorithm = signatures.read_header(unverified.unverified_header, TYPE)
        name = required_text(unverified.unverified_claims, "iss", limit=512)
        issuer = None if name == self.audience else await self.find_issuer(name)
        if issuer is None:
            raise AssertionRefused(
                Reason.ISSUER, "The issuer of the event is not trusted.", detail=f"iss {name!r}"
            )
        await signatures.check(unverified, issuer, self.keys, kid=kid, algorithm=algorithm)
        return self._read(issuer, unverified.unverified_claims)

    def _read(self, issuer: Issuer, claims: dict[str, Any]) -> Signal:
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
        return Signal(
            issuer,
            jti,
            issued_at,
            read(claims, issuer, by_sub=in_auth_md),
            tuple(
                Happening(uri, effect(uri, event), _moment(event, issued_at))
                for uri, event in events.items()
            ),
        )


def _moment(event: dict[str, Any], issued_at: int) -> int:
    """When it happened, by CAEP's `event_timestamp` (seconds); never after it was told."""
    at = event.get("event_timestamp")
    return min(int(at * 1000), issued_at) if is_moment(at) else issued_at
