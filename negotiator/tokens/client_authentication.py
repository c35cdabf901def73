"""Client authentication by `private_key_jwt`: the client signs a JWT for one request.

Sources: RFC 7523 §2.2 and §3, and draft-ietf-oauth-rfc7523bis (here: 7523bis).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from negotiator.base import values
from negotiator.base.errors import Unauthorized
from negotiator.base.strict_json import UnverifiedJws, is_object, read_object
from negotiator.store import atomic_updates
from negotiator.store.statement import Transaction
from negotiator.trust import assertions, keysets
from negotiator.trust.claims import AssertionRefused, Reason, optional_moment, required_moment, required_text
from negotiator.trust.issuers import ALGORITHMS
from negotiator.trust.keysets import KeysRefused
from negotiator.trust.signatures import read_compact, read_header

ASSERTION_TYPE: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
CLIENT_ASSERTION_TYPE: Final = "client-authentication+jwt"
_LONGEST_ID: Final = 1024
_ONCE: Final = "client"
"""The kind of the digests of used assertions in `spent`."""


def claimed_client_id(form: Mapping[str, str]) -> str | None:
    """The client id that the form's client assertion states, not yet verified; None when none can be read."""
    if form.get("client_assertion_type") != ASSERTION_TYPE:
        return None
    try:
        return _named(read_compact(form.get("client_assertion", "")))
    except AssertionRefused:
        return None


def read_client_keys(document: object) -> str:
    """The client's JWK Set as JSON text for the database; raises `KeysRefused` when it has no usable key."""
    found = keysets.parse(document, ALGORITHMS) if is_object(document) else None
    if found is None or not found.keys:
        raise KeysRefused("has no key that could be used")
    return json.dumps(document, separators=(",", ":"))


class ClientAuthenticationFailed(Unauthorized):
    """Client authentication failed (RFC 6749 §5.2)."""

    default_error = "invalid_client"

    def __init__(
        self,
        description: str = "The client could not be authenticated: send `client_id`, and `client_secret` or "
        "`client_assertion` if the client has one.",
    ) -> None:
        super().__init__(description, headers={"www-authenticate": 'Basic realm="negotiator"'})


@dataclass(frozen=True, slots=True)
class ClientAssertion:
    """A verified assertion of a client, which works once, until `expires_at` (milliseconds)."""

    digest: str
    expires_at: int

    def is_used(self, tx: Transaction) -> bool:
        return atomic_updates.is_spent(tx, _ONCE, self.digest)

    def use(self, tx: Transaction) -> bool:
        """Mark the assertion as used; False when it was used before."""
        return atomic_updates.spend(tx, _ONCE, self.digest, expires_at=self.expires_at)


def verify_client_assertion(text: str, *, client_id: str, jwks: str, audience: str) -> ClientAssertion:
    """Verify a client assertion; raises `AssertionRefused`. Whether it was used before is the caller's to check.

    `jwks` is the client's JWK Set as JSON text. The assertion's audience must be the issuer alone: another server
    could trick the client into signing an assertion for this token endpoint (7523bis §4).
    """
    unverified = read_compact(text)
    _check_signature(unverified, jwks)
    claims = unverified.unverified_claims
    if _named(unverified) != client_id:
        raise AssertionRefused(Reason.CLIENT, "The assertion speaks for another client.")
    assertions.check_audience(claims, audience)
    now, expires_at = values.now(), required_moment(claims, "exp")
    issued_at = optional_moment(claims, "iat")
    issued_at = min(now, expires_at - 1) if issued_at is None else issued_at
    assertions.check_times(claims, now, issued_at=issued_at, expires_at=expires_at)
    once = values.digest(f"{client_id}\x1f{required_text(claims, 'jti')}")
    return ClientAssertion(once, expires_at + assertions.SKEW)


def _named(unverified: UnverifiedJws) -> str:
    """The client id in `iss` and `sub`, which must be equal (RFC 7523 §3)."""
    claims = unverified.unverified_claims
    issuer, subject = (required_text(claims, name, limit=_LONGEST_ID, reason=Reason.CLIENT) for name in ("iss", "sub"))
    if issuer != subject:
        raise AssertionRefused(Reason.CLIENT, "The issuer of the assertion is not its subject.")
    return subject


def _check_signature(unverified: UnverifiedJws, jwks: str) -> None:
    """Check the type, if the header states one, and the signature by the client's key that the header names."""
    header = unverified.unverified_header
    stated = header.get("typ", CLIENT_ASSERTION_TYPE)
    kid, algorithm = read_header(
        {**header, "typ": CLIENT_ASSERTION_TYPE if stated == "JWT" else stated}, CLIENT_ASSERTION_TYPE
    )
    key = keysets.parse(read_object(jwks.encode()), (algorithm,)).find(kid, algorithm)
    if key is None:
        raise AssertionRefused(Reason.SIGNATURE, "The client has no such key.")
    if not key.Algorithm.verify(unverified.signing_input, key.key, unverified.signature):
        raise AssertionRefused(Reason.SIGNATURE, "The signature does not verify.")
