"""An OpenID provider on loopback for the tests: it signs anybody in, and says whatever a test wants it to say."""

import base64
import hashlib
import json
import secrets
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from negotiator.base import values
from tests.helpers.fake_issuer import FakeIssuer

CLIENT = "negotiator-at-corp"
SECRET = "a secret: of & the provider's"


@dataclass
class FakeOpenIdProvider:
    """The provider; `claims` and `metadata` change what it says, None leaves a member out."""

    name: str
    idp: FakeIssuer
    claims: dict[str, Any] = field(default_factory=dict[str, Any])
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    headers: dict[str, Any] = field(default_factory=dict[str, Any])
    asked: dict[str, str] = field(default_factory=dict[str, str])
    codes: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    exchanges: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    faults: int = 0
    """So many answers are 503."""

    def sign_in(self, url: str) -> str:
        """The URL that the provider's page sends a user back to."""
        self.asked = {name: value[0] for name, value in parse_qs(urlsplit(url).query).items()}
        code = secrets.token_urlsafe(16)
        self.codes[code] = self.asked
        answer = {"code": code, "state": self.asked["state"], "iss": self.name}
        return f"{self.asked['redirect_uri']}?{urlencode(answer)}"

    def exchange(self, form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        """What the token endpoint answers: once a code, to whoever knows the secret and the verifier."""
        self.exchanges.append(form)
        asked = self.codes.pop(form.get("code", ""), None)
        pair = base64.b64encode(f"{CLIENT}:{urlencode({'': SECRET})[1:].replace('+', '%20')}".encode())
        hashed = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(hashed).decode().rstrip("=")
        known = authorization == f"Basic {pair.decode()}" or form.get("client_secret") == SECRET
        if asked is None or not known or challenge != asked["code_challenge"]:
            return 400, {"error": "invalid_grant"}
        now = values.now() // 1000
        claims = {"aud": CLIENT, "client_id": None, "nonce": asked["nonce"], "exp": now + 600}
        told = {**claims, "sub": "corp-7", "name": "Ada Corp", **self.claims}
        text = self.idp.assertion(headers={"typ": "JWT", **self.headers}, **told)
        return 200, {"id_token": text, "access_token": "x", "token_type": "Bearer"}

    def documents(self) -> dict[str, dict[str, Any]]:
        """What it publishes, by path."""
        told = {
            "issuer": self.name,
            "authorization_endpoint": f"{self.name}/authorize",
            "token_endpoint": f"{self.name}/token",
            "jwks_uri": f"{self.name}/keys",
            "authorization_response_iss_parameter_supported": True,
            **self.metadata,
        }
        return {"/.well-known/openid-configuration": told, "/keys": self.idp.jwks()}


@contextmanager
def fake_openid_provider() -> Generator[FakeOpenIdProvider]:
    """A provider that answers on a free port of loopback."""
    provider: FakeOpenIdProvider | None = None

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            assert provider is not None
            if self.path.startswith("/authorize?"):
                self.send_response(303)
                self.send_header("Location", provider.sign_in(self.path))
                self.end_headers()
                return
            document = provider.documents().get(self.path)
            self._say(200 if document else 404, document or {})

        def do_POST(self) -> None:
            assert provider is not None
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: value[0] for name, value in parse_qs(body).items()}
            self._say(*provider.exchange(form, self.headers.get("Authorization", "")))

        def _say(self, status: int, told: dict[str, Any]) -> None:
            assert provider is not None
            if provider.faults:
                provider.faults -= 1
                status = 503
            body = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    name = f"http://127.0.0.1:{server.server_port}"
    provider = FakeOpenIdProvider(name, FakeIssuer(CLIENT, name))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
