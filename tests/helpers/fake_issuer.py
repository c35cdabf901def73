"""An identity provider for the tests: real keys, real signatures, every claim and header open to forgery."""

import json
import secrets
from typing import Any, Final

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from negotiator.base import values
from negotiator.trust.issuers import Issuer

ID_JAG: Final = "urn:ietf:params:oauth:token-type:id-jag"
ISSUER: Final = "https://idp.corp.example"


class FakeIssuer:
    """Signs ID-JAGs for the service at `audience`. None as a claim's or a header's value leaves it out."""

    def __init__(self, audience: str, name: str = ISSUER, *, kid: str = "idp-1") -> None:
        self.name = name
        self.kid = kid
        self.key = ec.generate_private_key(ec.SECP256R1())
        self._audience = audience

    def jwks(self) -> dict[str, Any]:
        """The provider's public keys."""
        jwk = ECAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        return {"keys": [{**jwk, "kid": self.kid, "use": "sig", "alg": "ES256"}]}

    def issuer(self, **overrides: Any) -> Issuer:
        """How an operator would trust the provider."""
        chosen: dict[str, Any] = {"jwks": json.dumps(self.jwks()), **overrides}
        return Issuer(self.name, ("ES256",), **chosen)

    def claims(self, **overrides: Any) -> dict[str, Any]:
        """The claims of a good assertion, changed."""
        now = values.now() // 1000
        good: dict[str, Any] = {
            "iss": self.name,
            "sub": "u-1001",
            "aud": self._audience,
            "client_id": "corp-agent",
            "jti": secrets.token_urlsafe(12),
            "iat": now,
            "exp": now + 300,
        }
        return {name: value for name, value in {**good, **overrides}.items() if value is not None}

    def assertion(self, *, headers: dict[str, Any] | None = None, **overrides: Any) -> str:
        """A signed assertion."""
        header = {"kid": self.kid, "typ": "oauth-id-jag+jwt", **(headers or {})}
        kept = {name: value for name, value in header.items() if value is not None}
        algorithm = kept.pop("alg", "ES256")
        return jwt.encode(self.claims(**overrides), self.key, algorithm, headers=kept)


def registration(assertion: str, name: str = "enterprise agent") -> dict[str, Any]:
    """The body that registers by an ID-JAG."""
    return {"agent_name": name, "identity_type": "identity_assertion", "assertion_type": ID_JAG, "assertion": assertion}
