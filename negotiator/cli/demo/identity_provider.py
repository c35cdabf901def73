"""A small real identity provider for the demo: its own key, published on loopback, and signed ID-JAGs."""

import json
import secrets
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from negotiator.base import values
from negotiator.keys.keyring import ALGORITHM
from negotiator.trust.assertions import ID_JAG_TYPE

_METADATA: Final = ("/.well-known/openid-configuration", "/.well-known/oauth-authorization-server")
_KEYS: Final = "/jwks.json"
_LIFE: Final = 300


class DemoIdentityProvider:
    """Signs ID-JAGs as the issuer `name`; `documents` is what it publishes, by path."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._kid = secrets.token_hex(8)

    def jwks(self) -> dict[str, Any]:
        """Its public keys (RFC 7517 §5)."""
        jwk = ECAlgorithm.to_jwk(self._key.public_key(), as_dict=True)
        return {"keys": [{**jwk, "kid": self._kid, "use": "sig", "alg": ALGORITHM}]}

    def documents(self) -> dict[str, dict[str, Any]]:
        """Its metadata (RFC 8414, OpenID Discovery) and its keys, by path."""
        metadata = {"issuer": self.name, "jwks_uri": f"{self.name}{_KEYS}"}
        return {**dict.fromkeys(_METADATA, metadata), _KEYS: self.jwks()}

    def claims(self, **own: Any) -> dict[str, Any]:
        """The claims of an ID-JAG (draft-ietf-oauth-identity-assertion-authz-grant §3.1).

        `own` adds at least the audience, the client and the subject.
        """
        now = values.now() // 1000
        return {"iss": self.name, "jti": secrets.token_urlsafe(12), "iat": now, "exp": now + _LIFE, **own}

    def sign(self, claims: dict[str, Any]) -> str:
        """The claims as a compact JWS of type ID-JAG."""
        return jwt.encode(claims, self._key, ALGORITHM, headers={"kid": self._kid, "typ": ID_JAG_TYPE})


@contextmanager
def run_identity_provider() -> Generator[DemoIdentityProvider]:
    """A provider on a free port of loopback; its issuer name is its address."""
    provider: DemoIdentityProvider | None = None

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            document = provider.documents().get(self.path) if provider else None
            body = json.dumps(document or {"error": "not_found"}).encode()
            self.send_response(200 if document else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = DemoIdentityProvider(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
