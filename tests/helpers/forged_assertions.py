"""An identity provider for tests: keys of every kind, a signer of any nonsense, a still clock."""

import base64
import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import HMACAlgorithm, get_default_algorithms

from negotiator.trust.assertions import Assertion, AssertionKind, AssertionVerifier
from negotiator.trust.claims import AssertionRefused, Reason
from negotiator.trust.fetch import FetchedDocument, FetchFailed
from negotiator.trust.fetcher import Fetcher
from negotiator.trust.issuers import Issuer
from negotiator.trust.keysets import IssuerKeys

NOW = 1_795_000_000_000
SECONDS = NOW // 1000
BASE = "https://negotiator.example"
IDP = "https://idp.example"
TYP = "oauth-id-jag+jwt"


class _Absent:
    """Says that a member is left out, by the same name in every worker of a parallel run."""

    def __repr__(self) -> str:
        return "absent"


ABSENT: Final = _Absent()


@cache
def private_key(alg: str) -> Any:
    """The provider's own key for an algorithm, made once."""
    if alg in {"RS256", "PS256"}:
        return rsa.generate_private_key(65537, 2048)
    if alg == "EdDSA":
        return ed25519.Ed25519PrivateKey.generate()
    return ec.generate_private_key(ec.SECP384R1() if alg == "ES384" else ec.SECP256R1())


@cache
def unknown_key(alg: str) -> Any:
    """Somebody else's key of the same kind."""
    return private_key.__wrapped__(alg)


def jwk(made_for: str, kid: str | None = None, /, **members: Any) -> dict[str, Any]:
    """The public JWK of the provider's key for an algorithm, named after it; members on top."""
    public = get_default_algorithms()[made_for].to_jwk(private_key(made_for).public_key(), as_dict=True)
    kept = {name: value for name, value in public.items() if name != "key_ops"}
    return changed(kept | {"kid": kid or made_for, "use": "sig", "alg": made_for}, members)


def jwks(*keys: Mapping[str, Any]) -> str:
    return json.dumps({"keys": list(keys)})


def encode(data: Mapping[str, Any] | bytes) -> str:
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def sign(
    header: Mapping[str, Any] | bytes, payload: Mapping[str, Any] | bytes, *, alg: str = "ES256", key: Any = None
) -> str:
    """A compact JWS of whatever header and payload are given, truly signed."""
    text = f"{encode(header)}.{encode(payload)}"
    algorithm = get_default_algorithms()[alg]
    return f"{text}.{encode(algorithm.sign(text.encode(), key or private_key(alg)))}"


def changed(members: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in (members | changes).items() if value is not ABSENT}


def header(**changes: Any) -> dict[str, Any]:
    return changed({"typ": TYP, "alg": "ES256", "kid": "ES256"}, changes)


def claims(**changes: Any) -> dict[str, Any]:
    """The claims of a good ID-JAG, with changes; `ABSENT` takes one away."""
    good = {
        "iss": IDP,
        "sub": "user-1",
        "aud": BASE,
        "client_id": "agent-1",
        "jti": "jti-1",
        "iat": SECONDS - 10,
        "exp": SECONDS + 290,
    }
    return changed(good, changes)


def token(**changes: Any) -> str:
    return sign(header(), claims(**changes))


def issuer(**settings: Any) -> Issuer:
    algorithms = settings.pop("algorithms", ("ES256",))
    settings.setdefault("jwks", jwks(*(jwk(alg) for alg in ("ES256", "RS256", "EdDSA", "ES384"))))
    return Issuer(settings.pop("issuer", IDP), algorithms, **settings)


class StaticKeys(Fetcher):
    """A fetcher that answers from a dict, and writes down what it was asked."""

    def __init__(self, documents: dict[str, FetchedDocument] | None = None) -> None:
        self.documents = documents or {}
        self.asked: list[str] = []

    async def document(self, url: str, *, limit: int = 65_536) -> FetchedDocument:
        self.asked.append(url)
        if url not in self.documents:
            raise FetchFailed(f"{url}: not on the shelf")
        return self.documents[url]


def verifier(*issuers: Issuer, fetcher: Fetcher | None = None, now: int = NOW) -> AssertionVerifier:
    """A verifier that trusts these issuers, at a moment that stands still."""
    trusted = {each.issuer: each for each in issuers or (issuer(),)}

    async def find(name: str) -> Issuer | None:
        return trusted.get(name)

    def clock() -> int:
        return now

    return AssertionVerifier(
        audience=BASE,
        resources=frozenset({BASE, f"{BASE}/mcp"}),
        find_issuer=find,
        keys=IssuerKeys(fetcher or StaticKeys(), clock),
        clock=clock,
    )


async def accepted(
    text: str, *issuers: Issuer, kind: AssertionKind = "id_jag", client_id: str | None = None, now: int = NOW
) -> Assertion:
    return await verifier(*issuers, now=now).verify(text, kind=kind, client_id=client_id)


async def reason(
    text: str, *issuers: Issuer, kind: AssertionKind = "id_jag", client_id: str | None = None, now: int = NOW
) -> Reason | None:
    """Why the text is refused, or None if it is believed."""
    try:
        await accepted(text, *issuers, kind=kind, client_id=client_id, now=now)
    except AssertionRefused as refused:
        return refused.reason
    return None


def hmac_token(secret: bytes) -> str:
    """A token that uses public material as an HMAC secret, the classic confusion."""
    algorithm = HMACAlgorithm(HMACAlgorithm.SHA256)
    text = f"{encode(header(alg='HS256'))}.{encode(claims())}"
    return f"{text}.{encode(algorithm.sign(text.encode(), secret))}"
