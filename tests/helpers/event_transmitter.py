"""A transmitter of security events for the tests: true signatures over whatever it is told to report."""

import secrets
from typing import Any, Final

import httpx2
import jwt

from negotiator.base import values
from tests.helpers.fake_issuer import FakeIssuer

EVENTS: Final = "/api/agent/events"
MEDIA_TYPE: Final = "application/secevent+jwt"
CAEP: Final = "https://schemas.openid.net/secevent/caep/event-type/"
RISC: Final = "https://schemas.openid.net/secevent/risc/event-type/"
SSF: Final = "https://schemas.openid.net/secevent/ssf/event-type/"
AUTH_MD: Final = "https://schemas.workos.com/events/agent/auth/identity/assertion/revoked"


def security_event(
    idp: FakeIssuer,
    event: str,
    *,
    payload: dict[str, Any] | None = None,
    head: dict[str, Any] | None = None,
    key: Any = None,
    **changes: Any,
) -> str:
    """A signed event about `u-1001` in SSF's form; None as a claim's or a header's value leaves it out."""
    claims: dict[str, Any] = {
        "iss": idp.name,
        "aud": "https://negotiator.example",
        "jti": secrets.token_urlsafe(12),
        "iat": values.now() // 1000,
        "sub_id": {"format": "iss_sub", "iss": idp.name, "sub": "u-1001"},
        "events": {event: payload or {}},
        **changes,
    }
    header: dict[str, Any] = {"kid": idp.kid, "typ": "secevent+jwt", **(head or {})}
    told = {name: value for name, value in claims.items() if value is not None}
    kept = {name: value for name, value in header.items() if value is not None}
    algorithm: Any = kept.pop("alg", "ES256")
    return jwt.encode(told, idp.key if key is None else key, algorithm, headers=kept)


async def push(client: httpx2.AsyncClient, text: str) -> httpx2.Response:
    """Deliver it (RFC 8935 §2.1)."""
    return await client.post(EVENTS, content=text, headers={"Content-Type": MEDIA_TYPE})
