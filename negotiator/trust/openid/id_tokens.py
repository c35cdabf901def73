"""From a string to an `Identified`: an ID token believed by OpenID Connect Core §3.1.3.7, strictly."""

from dataclasses import dataclass
from typing import Any, Final

from negotiator.strict import UnverifiedJws, is_array
from negotiator.trust.issuer import Issuer, canonical_algorithm
from negotiator.trust.keysets import IssuerKeys, KeysUnavailable, NoSuchKey
from negotiator.trust.readers.claims import (
    AssertionRefused,
    Reason,
    is_text,
    mail_domain,
    required_moment,
    required_text,
)
from negotiator.trust.readers.compact import read_compact

_SKEW: Final = 60_000
_OLDEST: Final = 600_000
_TYPES: Final = {None, "JWT", "jwt"}


@dataclass(frozen=True, slots=True)
class Identified:
    """Somebody as a provider knows him. `email` only when it says that it has verified it; times in milliseconds."""

    issuer: str
    subject: str
    email: str | None
    name: str | None
    issued_at: int


async def believe(
    text: str, *, issuer: Issuer, client_id: str, nonce: str, keys: IssuerKeys, now: int
) -> Identified:
    """The person in an ID token for this client and this very sign-in; raises `AssertionRefused`."""
    unverified = read_compact(text)
    await _check_signature(unverified, issuer, keys)
    claims = unverified.unverified_claims
    if required_text(claims, "iss", limit=512) != issuer.issuer:
        raise AssertionRefused(Reason.ISSUER, "The ID token is another issuer's.")
    _check_audience(claims, client_id)
    issued_at, expires_at = required_moment(claims, "iat"), required_moment(claims, "exp")
    if expires_at <= now - _SKEW or not now - _OLDEST <= issued_at <= now + _SKEW:
        raise AssertionRefused(Reason.EXPIRED, "The ID token is not of this moment.")
    if claims.get("nonce") != nonce:
        raise AssertionRefused(Reason.REPLAY, "The ID token is not of this sign-in.")
    email, name = claims.get("email"), claims.get("name")
    verified = claims.get("email_verified") is True and is_text(email, 254)
    return Identified(
        issuer.issuer,
        required_text(claims, "sub"),
        email if verified and isinstance(email, str) and mail_domain(email) else None,
        name if is_text(name, 100) else None,
        issued_at,
    )


async def _check_signature(unverified: UnverifiedJws, issuer: Issuer, keys: IssuerKeys) -> None:
    header = unverified.unverified_header
    algorithm, kid = canonical_algorithm(header.get("alg")), header.get("kid")
    # Another kind of token of the same issuer, an ID-JAG or an access token, is no ID token (RFC 8725 §3.11).
    if header.get("typ") not in _TYPES or algorithm is None:
        raise AssertionRefused(Reason.TYPE, "This is no ID token.")
    if kid is not None and not is_text(kid, 255):
        raise AssertionRefused(Reason.MALFORMED, "The kid is no printable string.")
    try:
        key = await keys.find(issuer, kid, algorithm)
    except NoSuchKey as unknown:
        raise AssertionRefused(
            Reason.SIGNATURE, "The provider has no such key.", detail=str(unknown)
        ) from unknown
    except KeysUnavailable as away:
        raise AssertionRefused(
            Reason.KEYS_UNAVAILABLE, "The provider's keys cannot be reached.", detail=away.detail
        ) from away
    if not key.Algorithm.verify(unverified.signing_input, key.key, unverified.signature):
        raise AssertionRefused(Reason.SIGNATURE, "The signature of the ID token does not verify.")


def _check_audience(claims: dict[str, Any], client_id: str) -> None:
    audience: object = claims.get("aud")
    audiences = audience if is_array(audience) else [audience]
    party = claims.get("azp", client_id if audiences == [client_id] else None)
    if client_id not in audiences or party != client_id:
        raise AssertionRefused(Reason.AUDIENCE, "The ID token is for somebody else.")
