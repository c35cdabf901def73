"""An authenticator in software: it makes passkeys for what a page asks, and signs with them, as a browser does."""

import base64
import hashlib
import json
import os
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from tests.helpers.form_browser import BASE

PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40


def encode(content: bytes) -> str:
    """Base64url without padding."""
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def decode(text: str) -> bytes:
    """The bytes of base64url without padding."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass
class SoftwareAuthenticator:
    """One passkey. A test may change what it says: `origin`, `rp_id`, `flags`, `counter`, `handle`, `more`."""

    origin: str = BASE
    rp_id: str = "negotiator.example"
    flags: int = PRESENT | VERIFIED
    counter: int = 0
    handle: bytes = b""
    more: dict[str, Any] = field(default_factory=dict[str, Any])
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    id: bytes = field(default_factory=lambda: os.urandom(16))

    def create(self, options: dict[str, Any]) -> str:
        """The answer to creation options."""
        self.handle = decode(options["user"]["id"])
        point = self.key.public_key().public_numbers()
        public = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: point.x.to_bytes(32), -3: point.y.to_bytes(32)})
        attested = bytes(16) + len(self.id).to_bytes(2) + self.id + public
        data = self._data(ATTESTED) + attested
        statement = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        client = self._client_data("webauthn.create", options["challenge"])
        return self._written({"clientDataJSON": encode(client), "attestationObject": encode(statement)})

    def get(self, options: dict[str, Any]) -> str:
        """The answer to request options; the counter goes up by one."""
        self.counter += 1
        data, client = self._data(0), self._client_data("webauthn.get", options["challenge"])
        signature = self.key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        return self._written(
            {
                "clientDataJSON": encode(client),
                "authenticatorData": encode(data),
                "signature": encode(signature),
                "userHandle": encode(self.handle),
            }
        )

    def _data(self, more: int) -> bytes:
        party = hashlib.sha256(self.rp_id.encode()).digest()
        return party + bytes([self.flags | more]) + self.counter.to_bytes(4)

    def _client_data(self, kind: str, challenge: str) -> bytes:
        return json.dumps({"type": kind, "challenge": challenge, "origin": self.origin, **self.more}).encode()

    def _written(self, response: dict[str, str]) -> str:
        own = encode(self.id)
        return json.dumps({"id": own, "rawId": own, "type": "public-key", "response": response})
