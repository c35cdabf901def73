"""A signed statement that an identity and a client are one: a compact JWS (RFC 7515), read before any key is.

`aud`, `sub` and `nonce` tie it to this service, this client and this challenge, so that a statement somebody made
elsewhere proves nothing here. Keys named by the statement itself (`jwk`, `jku`, `x5u`, `x5c`) are never looked at.
"""

from dataclasses import dataclass
from typing import Any, Final, NoReturn

from jwt import PyJWK

from negotiator import values
from negotiator.errors import InvalidRequest
from negotiator.strict import read_jws
from negotiator.trust.readers.claims import is_moment, is_text

TYPE: Final = "agent-identity-proof+jwt"
ALGORITHMS: Final = ("EdDSA", "ES256")
LIFE: Final = 300_000
SKEW: Final = 60_000
LONGEST: Final = 4096


@dataclass(frozen=True, slots=True)
class Expected:
    """What a statement has to say."""

    identity: str
    audience: str
    client_id: str
    nonce: str


@dataclass(frozen=True, slots=True)
class Statement:
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
            refuse("The signature does not verify.", error="invalid_signature")


def read(text: str, expected: Expected) -> Statement:
    """The statement in a compact JWS, its words checked; 400 `invalid_proof` or `invalid_audience` otherwise."""
    try:
        unverified = read_jws(text, longest=LONGEST)
    except ValueError as fault:
        refuse("The proof is not a well-formed compact JWS.", detail=str(fault))
    kid, algorithm = _check_header(unverified.unverified_header)
    _check_claims(unverified.unverified_claims, expected)
    return Statement(kid, algorithm, unverified.signing_input, unverified.signature)


def refuse(description: str, *, error: str = "invalid_proof", detail: str = "") -> NoReturn:
    """The refusal of a proof, whatever is wrong with it."""
    raise InvalidRequest(description, error=error, detail=detail)


def _check_header(header: dict[str, Any]) -> tuple[str | None, str]:
    typ, algorithm, kid = header.get("typ"), header.get("alg"), header.get("kid")
    if not isinstance(typ, str) or typ.lower().removeprefix("application/") != TYPE:
        refuse(f"The typ of the proof must be {TYPE}.")
    if algorithm == "Ed25519":  # RFC 9864's name of the same
        algorithm = "EdDSA"
    if algorithm not in ALGORITHMS:
        refuse("The proof is signed with EdDSA or ES256.", error="invalid_signature")
    if "kid" in header and not is_text(kid, 1024):
        refuse("The kid must be a printable string.")
    return kid, algorithm


def _check_claims(claims: dict[str, Any], expected: Expected) -> None:
    if claims.get("aud") not in (expected.audience, [expected.audience]):
        refuse("The proof was made for another audience.", error="invalid_audience")
    if claims.get("iss") != expected.identity:
        refuse("The iss of the proof is not the identity to be proven.")
    if claims.get("sub") != expected.client_id:
        refuse("The sub of the proof is not this client.")
    nonce = claims.get("nonce")
    if not isinstance(nonce, str) or not values.same(nonce, expected.nonce):
        refuse("The nonce of the proof is not the challenge's.")
    issued, expires = claims.get("iat"), claims.get("exp")
    if not is_moment(issued) or not is_moment(expires):
        refuse("The proof needs iat and exp, in seconds.")
    now, issued_at, expires_at = values.now(), int(issued * 1000), int(expires * 1000)
    if expires_at <= now - SKEW or issued_at > now + SKEW:
        refuse("The proof has expired, or is not valid yet.", error="expired")
    if not 0 < expires_at - issued_at <= LIFE or now - issued_at > LIFE + SKEW:
        refuse(f"A proof lives {LIFE // 1000} seconds at most.", error="expired")
