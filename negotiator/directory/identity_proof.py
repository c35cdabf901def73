"""Proofs of identity: a compact JWS (RFC 7515) that binds an identity to a client, validated before its key is fetched.

`aud`, `sub` and `nonce` bind it to this server, client and challenge, so that a statement made elsewhere proves nothing
here. Keys in the statement itself (`jwk`, `jku`, `x5u`, `x5c`) are ignored.
"""

from dataclasses import dataclass
from typing import Any, Final, NoReturn

from jwt import PyJWK

from negotiator.base import values
from negotiator.base.errors import InvalidRequest
from negotiator.base.strict_json import read_jws
from negotiator.trust.claims import is_moment, is_text

PROOF_TYPE: Final = "agent-identity-proof+jwt"
PROOF_ALGORITHMS: Final = ("EdDSA", "ES256")
PROOF_LIFETIME: Final = 300_000
CLOCK_SKEW: Final = 60_000
LONGEST_PROOF: Final = 4096


@dataclass(frozen=True, slots=True)
class ExpectedProof:
    """The values that a proof must have."""

    identity: str
    audience: str
    client_id: str
    nonce: str


@dataclass(frozen=True, slots=True)
class SignedProof:
    """A proof with valid claims, whose signature is not checked yet."""

    kid: str | None
    algorithm: str
    signing_input: bytes
    signature: bytes

    def check(self, key: PyJWK) -> None:
        """Refuse with 400 a signature that this key did not make."""
        if key.algorithm_name != self.algorithm or not key.Algorithm.verify(
            self.signing_input, key.key, self.signature
        ):
            invalid_proof("The signature does not verify.", error="invalid_signature")


def read_proof(text: str, expected: ExpectedProof) -> SignedProof:
    """Parse a proof and check its header and claims; 400 `invalid_proof` or `invalid_audience`."""
    try:
        unverified = read_jws(text, longest=LONGEST_PROOF)
    except ValueError as fault:
        invalid_proof("The proof is not a well-formed compact JWS.", detail=str(fault))
    kid, algorithm = _check_header(unverified.unverified_header)
    _check_claims(unverified.unverified_claims, expected)
    return SignedProof(kid, algorithm, unverified.signing_input, unverified.signature)


def invalid_proof(description: str, *, error: str = "invalid_proof", detail: str = "") -> NoReturn:
    """Raise the 400 of an invalid proof."""
    raise InvalidRequest(description, error=error, detail=detail)


def _check_header(header: dict[str, Any]) -> tuple[str | None, str]:
    typ, algorithm, kid = header.get("typ"), header.get("alg"), header.get("kid")
    if not isinstance(typ, str) or typ.lower().removeprefix("application/") != PROOF_TYPE:
        invalid_proof(f"The typ of the proof must be {PROOF_TYPE}.")
    if algorithm == "Ed25519":  # the name in RFC 9864
        algorithm = "EdDSA"
    if algorithm not in PROOF_ALGORITHMS:
        invalid_proof("The proof is signed with EdDSA or ES256.", error="invalid_signature")
    if "kid" in header and not is_text(kid, 1024):
        invalid_proof("The kid must be a printable string.")
    return kid, algorithm


def _check_claims(claims: dict[str, Any], expected: ExpectedProof) -> None:
    if claims.get("aud") not in (expected.audience, [expected.audience]):
        invalid_proof("The proof was made for another audience.", error="invalid_audience")
    if claims.get("iss") != expected.identity:
        invalid_proof("The iss of the proof is not the identity to be proven.")
    if claims.get("sub") != expected.client_id:
        invalid_proof("The sub of the proof is not this client.")
    nonce = claims.get("nonce")
    if not isinstance(nonce, str) or not values.equal_in_constant_time(nonce, expected.nonce):
        invalid_proof("The nonce of the proof is not the challenge's.")
    issued, expires = claims.get("iat"), claims.get("exp")
    if not is_moment(issued) or not is_moment(expires):
        invalid_proof("The proof needs iat and exp, in seconds.")
    now, issued_at, expires_at = values.now(), int(issued * 1000), int(expires * 1000)
    if expires_at <= now - CLOCK_SKEW or issued_at > now + CLOCK_SKEW:
        invalid_proof("The proof has expired, or is not valid yet.", error="expired")
    if not 0 < expires_at - issued_at <= PROOF_LIFETIME or now - issued_at > PROOF_LIFETIME + CLOCK_SKEW:
        invalid_proof(f"A proof is valid for at most {PROOF_LIFETIME // 1000} seconds.", error="expired")
