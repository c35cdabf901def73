"""A signed statement that an identity and a client are one: a compact JWS (RFC 7515), read before any key is.

`aud`, `sub` and `nonce` tie it to this service, this client and this challenge, so that a statement somebody made
elsewhere proves nothing here. Keys named by the statement itself (`jwk`, `jku`, `x5u`, `x5c`) are never looked at.
"""

from dataclasses import dataclass
from typing import Any, Final, NoReturn

from jwt import PyJWK

from negotiator import values
from negotiator.errors import InvalidRequest
from negotiator.strict_json import read_jws
from negotiator.trust.claims import is_moment, is_text

PROOF_TYPE: Final = "agent-identity-proof+jwt"
PROOF_ALGORITHMS: Final = ("EdDSA", "ES256")
PROOF_LIFETIME: Final = 300_000
CLOCK_SKEW: Final = 60_000
LONGEST_PROOF: Final = 4096


@dataclass(frozen=True, slots=True)
class ExpectedProof:
    """What a statement has to say."""

    identity: str
    audience: str
    client_id: str
    nonce: str


@dataclass(frozen=True, slots=True)
class SignedProof:
    """A statement that says what it has to; whether it is signed by the right key is still open."""

    kid: str | None
    algorithm: str
    signing_input: bytes
    signature: bytes

    def check(self, key: PyJWK) -> None:
        """Refuse a signature that this key did not make."""
        if key.algorithm_name != self.algorithm or not key.Algorithm.verify(
            self.signing_input, key.key, self.signature
        ):
            invalid_proof("The signature does not verify.", error="invalid_signature")


def read_proof(text: str, expected: ExpectedProof) -> SignedProof:
    """The statement in a compact JWS, its words checked; 400 `invalid_proof` or `invalid_audience` otherwise."""
    try:
        unverified = read_jws(text, longest=LONGEST_PROOF)
    except ValueError as fault:
        invalid_proof("The proof is not a well-formed compact JWS.", detail=str(fault))
    kid, algorithm = _check_header(unverified.unverified_header)
    _check_claims(unverified.unverified_claims, expected)
    return SignedProof(kid, algorithm, unverified.signing_input, unverified.signature)


def invalid_proof(description: str, *, error: str = "invalid_proof", detail: str = "") -> NoReturn:
    """The refusal of a proof, whatever is wrong with it."""
    raise InvalidRequest(description, error=error, detail=detail)


def _check_header(header: dict[str, Any]) -> tuple[str | None, str]:
    typ, algorithm, kid = header.get("typ"), header.get("alg"), header.get("kid")
    if not isinstance(typ, str) or typ.lower().removeprefix("application/") != PROOF_TYPE:
        invalid_proof(f"The typ of the proof must be {PROOF_TYPE}.")
    if algorithm == "Ed25519":  # RFC 9864's name of the same
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
    if (
        not 0 < expires_at - issued_at <= PROOF_LIFETIME
        or now - issued_at > PROOF_LIFETIME + CLOCK_SKEW
    ):
        invalid_proof(f"A proof lives {PROOF_LIFETIME // 1000} seconds at most.", error="expired")
