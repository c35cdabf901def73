"""Parses compact JWSs and checks their headers and signatures by the issuer's own keys (RFC 7515 §7.1, RFC 8725)."""

from typing import Any

from negotiator.base.strict_json import UnverifiedJws, read_jws
from negotiator.trust.claims import AssertionRefused, Reason, is_text
from negotiator.trust.issuers import Issuer, canonical_algorithm
from negotiator.trust.keysets import FetchKeys, IssuerKeys, KeysUnavailable, NoSuchKey


def read_compact(text: str) -> UnverifiedJws:
    """The parts of a compact JWS; raises `AssertionRefused` for any other text."""
    try:
        return read_jws(text)
    except ValueError as invalid:
        raise AssertionRefused(
            Reason.MALFORMED, "The assertion is not a well-formed compact JWT.", detail=str(invalid)
        ) from None


def read_header(header: dict[str, Any], typ: str) -> tuple[str | None, str]:
    """Check `typ` and that the algorithm is allowed at all; return (kid, alg).

    `jku`, `x5u`, `x5c` and `jwk` are ignored: keys come from the issuer's configuration (RFC 8725 §3.10).
    """
    kind = header.get("typ")
    if not isinstance(kind, str) or kind.lower().removeprefix("application/") != typ:
        raise AssertionRefused(Reason.TYPE, f"The typ of the assertion must be {typ}.", detail=f"typ {kind!r:.80}")
    algorithm = canonical_algorithm(header.get("alg"))
    if algorithm is None:
        raise AssertionRefused(
            Reason.SIGNATURE, "The signature algorithm is not allowed.", detail=f"alg {header.get('alg')!r:.80}"
        )
    kid = header.get("kid")
    if "kid" in header and not is_text(kid, 255):
        raise AssertionRefused(Reason.MALFORMED, "The kid must be a string of 1 to 255 printable characters.")
    return kid, algorithm


async def check_signature(
    unverified: UnverifiedJws,
    issuer: Issuer,
    keys: IssuerKeys,
    *,
    kid: str | None,
    algorithm: str,
    fetch: FetchKeys | None = None,
) -> None:
    """Check the signature by a key and an algorithm of this issuer; raises `AssertionRefused`, or as `keys.find`."""
    if algorithm not in issuer.algorithms:
        raise AssertionRefused(Reason.SIGNATURE, "The signature algorithm is not allowed.", detail=f"alg {algorithm}")
    try:
        key = await keys.find(issuer, kid, algorithm, fetch=fetch)
    except NoSuchKey as unknown:
        raise AssertionRefused(Reason.SIGNATURE, "The issuer has no such key.", detail=str(unknown)) from unknown
    except KeysUnavailable as unavailable:
        raise AssertionRefused(
            Reason.KEYS_UNAVAILABLE,
            "The keys of the issuer cannot be reached.",
            detail=unavailable.detail,
            retry_after=unavailable.retry_after,
        ) from unavailable
    if not key.Algorithm.verify(unverified.signing_input, key.key, unverified.signature):
        raise AssertionRefused(Reason.SIGNATURE, "The signature does not verify.", detail=f"kid {kid!r}")
