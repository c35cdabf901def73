"""A client that proves possession of a key (DPoP, RFC 9449): good proofs, and every way to spoil one."""

import hashlib
import json
import secrets
from base64 import urlsafe_b64encode
from typing import Any

import httpx2
import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from negotiator.base import values
from tests.helpers.form_browser import BASE


def encoded(octets: bytes) -> str:
    """Base64url without padding."""
    return urlsafe_b64encode(octets).rstrip(b"=").decode()


class DpopProver:
    """One key and its proofs. None as a claim's or a header's value leaves it out."""

    def __init__(self) -> None:
        self.key: Any = ec.generate_private_key(ec.SECP256R1())
        whole = ECAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        self.jwk: dict[str, Any] = {name: whole[name] for name in ("kty", "crv", "x", "y")}

    @property
    def thumbprint(self) -> str:
        """RFC 7638, written independently of the product: the members by hand, in their order."""
        crv, kty, x, y = (json.dumps(self.jwk[name]) for name in ("crv", "kty", "x", "y"))
        text = f'{{"crv":{crv},"kty":{kty},"x":{x},"y":{y}}}'
        return encoded(hashlib.sha256(text.encode()).digest())

    def proof(
        self,
        method: str = "POST",
        path: str = "/oauth/token",
        *,
        token: str | None = None,
        head: dict[str, Any] | None = None,
        key: Any = None,
        **changes: Any,
    ) -> str:
        """A proof for a request to our base."""
        claims: dict[str, Any] = {
            "jti": secrets.token_urlsafe(12),
            "htm": method,
            "htu": f"{BASE}{path}",
            "iat": values.now() // 1000,
            **({"ath": encoded(hashlib.sha256(token.encode()).digest())} if token else {}),
            **changes,
        }
        header = {"typ": "dpop+jwt", "alg": "ES256", "jwk": self.jwk, **(head or {})}
        told = {name: value for name, value in claims.items() if value is not None}
        kept = {name: value for name, value in header.items() if value is not None}
        signer = self.key if key is None else key
        algorithm: Any = kept.pop("alg", "ES256")
        return jwt.encode(told, signer, algorithm, headers=kept)

    def headers(self, token: str, method: str, path: str, **changes: Any) -> dict[str, str]:
        """The two headers that present a bound token."""
        proof = self.proof(method, path, token=token, **changes)
        return {"Authorization": f"DPoP {token}", "DPoP": proof}


async def register_bound(client: httpx2.AsyncClient, prover: DpopProver) -> dict[str, Any]:
    """Register an anonymous agent whose token is bound to the prover's key."""
    body = {"agent_name": "prover", "identity_type": "anonymous"}
    path = "/api/agent/register"
    answer = await client.post(path, json=body, headers={"DPoP": prover.proof("POST", path)})
    assert answer.status_code == 201, answer.text
    result: dict[str, Any] = answer.json()
    return result
