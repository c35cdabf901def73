"""Agents that walk up to the directory: their keys, their statements, and the part of the web they live in."""

import email
from email.policy import default
from pathlib import Path
from typing import Any, Final

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm, OKPAlgorithm

from negotiator.base import values
from negotiator.trust.fetch import FetchedDocument, FetchFailed
from negotiator.trust.fetcher import Fetcher
from tests.helpers.form_browser import BASE

REGISTER: Final = "/api/auth/register"
CHALLENGE: Final = "/api/auth/challenge"
VERIFY: Final = "/api/auth/verify"
ROTATE: Final = "/api/auth/rotate"
REVOKE: Final = "/api/auth/revoke"
TOKEN: Final = "/oauth/token"
BITCOIN: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
READS: Final = ["tools:read", "categories:read", "bookmarks:read"]


def encode_multikey(prefix: bytes, key: bytes) -> str:
    """The multikey of a raw public key with its multicodec prefix."""
    octets = prefix + key
    number, digits = int.from_bytes(octets), ""
    while number:
        number, digit = divmod(number, 58)
        digits = BITCOIN[digit] + digits
    return f"z{'1' * (len(octets) - len(octets.lstrip(bytes(1))))}{digits}"


class StatementSigner:
    """A key pair, of either curve that is understood, and the statements made with it."""

    def __init__(self, curve: str = "Ed25519") -> None:
        self.private: Ed25519PrivateKey | EllipticCurvePrivateKey
        if curve == "Ed25519":
            self.private, self.algorithm = Ed25519PrivateKey.generate(), "EdDSA"
            raw = self.private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
            self.multikey = encode_multikey(b"\xed\x01", raw)
        else:
            self.private, self.algorithm = generate_private_key(SECP256R1()), "ES256"
            public = self.private.public_key()
            raw = public.public_bytes(Encoding.X962, PublicFormat.CompressedPoint)
            self.multikey = encode_multikey(b"\x80\x24", raw)

    @property
    def did(self) -> str:
        """The did:key of the pair."""
        return f"did:key:{self.multikey}"

    def jwk(self, kid: str = "one") -> dict[str, Any]:
        """The public half."""
        algorithm = OKPAlgorithm if self.algorithm == "EdDSA" else ECAlgorithm
        public: Any = self.private.public_key()
        return {**algorithm.to_jwk(public, as_dict=True), "kid": kid}

    def statement(self, record: dict[str, Any], identity: str = "", **changes: Any) -> str:
        """A good statement for the challenge in this record; None as a change leaves a member out.

        A change named `typ`, `alg`, `kid`, `jwk`, `jku` or `crit` is of the header, any other of the payload.
        """
        identity = identity or self.did
        now = values.now() // 1000
        asked = record["identity"]["challenge"]
        payload: dict[str, Any] = {
            "iss": identity,
            "aud": BASE,
            "nonce": asked["nonce"],
            "sub": record["client_id"],
            "iat": now,
            "exp": now + 300,
        }
        header: dict[str, Any] = {"typ": "agent-identity-proof+jwt", "kid": self._kid(identity)}
        names = {"typ", "kid", "jwk", "jku", "crit"}
        header |= {name: value for name, value in changes.items() if name in names}
        payload |= {name: value for name, value in changes.items() if name not in {*names, "alg"}}
        return jwt.encode(
            {name: value for name, value in payload.items() if value is not None},
            changes.get("key", self.private),
            changes.get("alg", self.algorithm),
            headers={name: value for name, value in header.items() if value is not None},
        )

    def _kid(self, identity: str) -> str:
        if identity.startswith("did:key:"):
            return f"{identity}#{identity.removeprefix('did:key:')}"
        return f"{identity}#one" if identity.startswith("did:") else "one"

    def did_document(self, did: str, **changes: Any) -> dict[str, Any]:
        """The document by which a did:web names this key."""
        method = {"id": f"{did}#one", "type": "JsonWebKey", "controller": did}
        method = {**method, "publicKeyJwk": self.jwk()}
        return {"id": did, "verificationMethod": [method], "authentication": ["#one"], **changes}

    def client_document(self, url: str, **changes: Any) -> dict[str, Any]:
        """The document by which an agent-id URL names this key."""
        return {"client_id": url, "jwks": {"keys": [self.jwk()]}, **changes}


class FakeWeb:
    """The documents of the world, by URL; what is not there cannot be fetched. `asked` are the URLs that were."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.documents: dict[str, dict[str, Any]] = {}
        self.asked: list[str] = []

        async def document(_fetcher: Fetcher, url: str, *, limit: int = 65_536) -> FetchedDocument:
            del limit
            self.asked.append(url)
            if url not in self.documents:
                raise FetchFailed("not there")
            return FetchedDocument(self.documents[url], None)

        patch.setattr(Fetcher, "document", document)


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> FakeWeb:
    """The rest of the world."""
    return FakeWeb(monkeypatch)


def registration_body(kind: str = "agent_id", value: str = "my-agent-1", **more: Any) -> dict[str, Any]:
    """The body of a registration."""
    return {"agent_name": "walker", "identity_type": kind, "identity_value": value, **more}


async def register_account(
    client: httpx2.AsyncClient, kind: str = "agent_id", value: str = "my-agent-1", **more: Any
) -> dict[str, Any]:
    """Register and answer the record."""
    answer = await client.post(REGISTER, json=registration_body(kind, value, **more))
    assert answer.status_code == 201, answer.text
    record: dict[str, Any] = answer.json()
    return record


def key_header(record: dict[str, Any]) -> dict[str, str]:
    """The header that presents the key of a record."""
    return {"Authorization": f"Bearer {record['api_key']}"}


async def prove(client: httpx2.AsyncClient, record: dict[str, Any], proof: str, **more: Any) -> httpx2.Response:
    """Answer the challenge in a record."""
    asked = record["identity"]["challenge"]
    sent = {"challenge_id": asked["id"], "proof": proof, **more}
    return await client.post(VERIFY, json=sent, headers=key_header(record))


async def prove_did(client: httpx2.AsyncClient, signer: StatementSigner) -> dict[str, Any]:
    """Register an agent that proves the did:key of this pair, and answer its record."""
    record = await register_account(client, "did", signer.did)
    answer = await prove(client, record, signer.statement(record))
    assert answer.status_code == 200, answer.text
    return record


async def buy_token(client: httpx2.AsyncClient, record: dict[str, Any], **more: str) -> httpx2.Response:
    """Ask for a token with the key of a record."""
    sent = {"grant_type": "client_credentials", **more}
    return await client.post(TOKEN, data=sent, auth=(record["client_id"], record["api_key"]))


async def is_accepted(client: httpx2.AsyncClient, credential: str) -> bool:
    """Whether a credential is believed now."""
    answer = await client.get("/api/health", headers={"Authorization": f"Bearer {credential}"})
    assert answer.status_code in {200, 401}, answer.text
    return answer.status_code == 200


def sent_mails(data_dir: Path) -> list[tuple[str, str]]:
    """What went out, oldest first: to whom, with which text."""
    files = sorted((data_dir / "outbox").glob("*.eml"))
    read = (email.message_from_bytes(path.read_bytes(), policy=default) for path in files)
    return [(str(mail["to"]), str(mail.get_content())) for mail in read]


def code_in(mail: str) -> str:
    """The code in a mail's text."""
    return mail.split()[0]
