"""A client that proves itself by its key: good assertions, and every way to spoil one."""

import secrets
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from negotiator.base import values
from negotiator.tokens.client_authentication import ASSERTION_TYPE
from tests.helpers.form_browser import BASE


class ClientAssertionSigner:
    """One key. None as a claim's or a header's value leaves it out."""

    def __init__(
        self, client_id: str = "", *, audience: str = BASE, kid: str = "client-1", algorithm: str = "ES256"
    ) -> None:
        self.client_id, self.kid, self._audience, self._algorithm = client_id, kid, audience, algorithm
        is_rsa = algorithm == "RS256"
        self.key: Any = rsa.generate_private_key(65537, 2048) if is_rsa else ec.generate_private_key(ec.SECP256R1())

    @property
    def jwks(self) -> dict[str, Any]:
        """Its public key, as a client publishes it."""
        kind = RSAAlgorithm if self._algorithm == "RS256" else ECAlgorithm
        jwk = kind.to_jwk(self.key.public_key(), as_dict=True)
        return {"keys": [{**jwk, "kid": self.kid, "use": "sig", "alg": self._algorithm}]}

    def assertion(self, *, head: dict[str, Any] | None = None, key: Any = None, **changes: Any) -> str:
        """A signed assertion of who it is."""
        now = values.now() // 1000
        claims: dict[str, Any] = {
            "iss": self.client_id,
            "sub": self.client_id,
            "aud": self._audience,
            "jti": secrets.token_urlsafe(12),
            "iat": now,
            "exp": now + 60,
            **changes,
        }
        header: dict[str, Any] = {"kid": self.kid, "typ": "client-authentication+jwt", **(head or {})}
        told = {name: value for name, value in claims.items() if value is not None}
        kept = {name: value for name, value in header.items() if value is not None}
        algorithm: Any = kept.pop("alg", self._algorithm)
        typed = {"typ": None, **kept}  # PyJWT would write JWT where nothing is said
        return jwt.encode(told, self.key if key is None else key, algorithm, headers=typed)

    def form(self, text: str | None = None, **more: str) -> dict[str, str]:
        """What authenticates it at the token endpoint, beside the rest of the form."""
        proof = text if text is not None else self.assertion()
        return {"client_assertion_type": ASSERTION_TYPE, "client_assertion": proof, **more}
