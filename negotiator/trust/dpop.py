"""Verifies DPoP proofs (RFC 9449): each may be used once over all workers, with the server's nonce if configured."""

import hashlib
import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from negotiator.base import values
from negotiator.base.errors import ProofRefused
from negotiator.base.strict_json import UnverifiedJws, is_object
from negotiator.store import atomic_updates
from negotiator.store.store import Store
from negotiator.trust import keysets
from negotiator.trust.claims import AssertionRefused, optional_text, required_moment, required_text
from negotiator.trust.issuers import ALGORITHMS, canonical_algorithm
from negotiator.trust.keysets import KeysRefused
from negotiator.trust.signatures import read_compact

DPOP_TYPE: Final = "dpop+jwt"
OLDEST: Final = 300_000
SKEW: Final = 60_000

_MEMBERS: Final = {"RSA": ("e", "kty", "n"), "EC": ("crv", "kty", "x", "y"), "OKP": ("crv", "kty", "x")}
_PORTS: Final = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class ProofRequest:
    """The request that a proof came with: its method, its URL, and its access token, if any."""

    method: str
    url: str
    token: str | None = None


@dataclass(frozen=True, slots=True)
class DpopProof:
    """A verified proof: the thumbprint of its key (RFC 7638), its id, its nonce, its end in milliseconds."""

    thumbprint: str
    jti: str
    nonce: str | None
    until: int


def verify_proof(text: str, sent: ProofRequest, *, now: int) -> DpopProof:
    """The proof in this text, made for the request `sent` at about `now`; raises `ProofRefused`."""
    try:
        unverified = read_compact(text)
        thumbprint = _check_signature(unverified)
        claims = unverified.unverified_claims
        jti, issued_at = required_text(claims, "jti"), required_moment(claims, "iat")
        method, url = required_text(claims, "htm"), required_text(claims, "htu", limit=2048)
        bound, nonce = optional_text(claims, "ath"), optional_text(claims, "nonce")
    except AssertionRefused as refused:
        raise ProofRefused("The DPoP proof is malformed.", detail=str(refused)) from None
    if method != sent.method or _normal(url) != _normal(sent.url):
        raise ProofRefused("The DPoP proof was made for another request.", detail=f"{method} {url:.200}")
    if not now - OLDEST <= issued_at <= now + SKEW:
        raise ProofRefused(f"A DPoP proof may be at most {OLDEST // 1000} seconds old.", detail=f"iat {issued_at}")
    if sent.token is not None and not values.equal_in_constant_time(bound or "", token_hash(sent.token)):
        raise ProofRefused("The DPoP proof was not made for this token.")
    return DpopProof(thumbprint, jti, nonce, issued_at + OLDEST + SKEW)


def token_hash(token: str) -> str:
    """The `ath` claim for an access token (RFC 9449 §4.2)."""
    return _encoded(hashlib.sha256(token.encode()).digest())


def _check_signature(unverified: UnverifiedJws) -> str:
    """Steps 4 to 7 of RFC 9449 §4.3: type, algorithm, public key and signature; returns the key's thumbprint."""
    header = unverified.unverified_header
    algorithm, jwk = canonical_algorithm(header.get("alg")), header.get("jwk")
    if header.get("typ") != DPOP_TYPE:
        raise ProofRefused(f"The typ of a DPoP proof must be {DPOP_TYPE}.")
    if algorithm is None:
        raise ProofRefused("The algorithm of the DPoP proof is not allowed.")
    if not is_object(jwk):
        raise ProofRefused("A DPoP proof carries its public key in the header jwk.")
    try:
        key = keysets.parse({"keys": [jwk]}, (algorithm,)).find(None, algorithm)
    except KeysRefused as refused:
        raise ProofRefused("The key of the DPoP proof is not usable.", detail=str(refused)) from None
    if key is None:
        raise ProofRefused("The key of the DPoP proof is not usable.", detail=f"for {algorithm}")
    if not key.Algorithm.verify(unverified.signing_input, key.key, unverified.signature):
        raise ProofRefused("The signature of the DPoP proof does not verify.")
    return _thumbprint(jwk)


def _thumbprint(jwk: dict[str, Any]) -> str:
    """RFC 7638 §3 with SHA-256."""
    members = {name: jwk[name] for name in _MEMBERS[jwk["kty"]]}
    text = json.dumps(members, separators=(",", ":"), sort_keys=True)
    return _encoded(hashlib.sha256(text.encode()).digest())


def _encoded(octets: bytes) -> str:
    return urlsafe_b64encode(octets).rstrip(b"=").decode()


def _normal(url: str) -> tuple[str, str, int | None, str] | None:
    """The normal form of an `htu` (RFC 9449 §4.3, RFC 3986 §6.2); None if it is not the URL of a request."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
    if not parts.hostname or "@" in parts.netloc:
        return None
    return parts.scheme, parts.hostname, port, unquote(parts.path) or "/"


_WINDOW: Final = 300_000


@dataclass(frozen=True, slots=True)
class DpopProofChecker:
    """Checks the proofs of requests to `base`. Nonces are derived from `pepper` and not stored."""

    store: Store
    base: str
    pepper: bytes
    demands_nonce: bool = False

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The signature algorithms that a proof may use."""
        return ALGORITHMS

    async def check(self, text: str, *, method: str, path: str, token: str | None = None) -> str:
        """The thumbprint of the key that the sender holds; `ProofRefused` for anything wrong with the proof."""
        now = values.now()
        proof = verify_proof(text, ProofRequest(method, f"{self.base}{path}", token), now=now)
        if self.demands_nonce and proof.nonce not in (self._nonce(now), self._nonce(now - _WINDOW)):
            raise ProofRefused(
                "Put the nonce of the DPoP-Nonce header into the proof.", error="use_dpop_nonce", nonce=self._nonce(now)
            )
        # A digest, so that clients cannot choose the size of what is stored.
        once = values.digest(f"{proof.thumbprint}\x1f{proof.jti}")
        if not await self.store.write(lambda tx: atomic_updates.spend(tx, "dpop", once, expires_at=proof.until)):
            raise ProofRefused("The DPoP proof was used before.")
        return proof.thumbprint

    async def key(self, headers: Mapping[str, str], *, method: str, path: str) -> str | None:
        """The key that a requested token is to be bound to; None without a proof."""
        text = headers.get("dpop")
        return None if text is None else await self.check(text, method=method, path=path)

    def _nonce(self, at: int) -> str:
        return values.keyed_digest(self.pepper, f"dpop-nonce:{at // _WINDOW}")[:32]
