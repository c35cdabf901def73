"""Claimed identities, and their proofs: a compact JWS (RFC 7515) that binds an identity to a client, validated before
its key is fetched.

DIDs follow W3C DID Core §3.1, did:key v0.7 and the did:web method. An agent id that is an https URL is read as the URL
of a client id metadata document (draft-ietf-oauth-client-id-metadata-document-02 §3); any other agent id is opaque.

`aud`, `sub` and `nonce` bind it to this server, client and challenge, so that a statement made elsewhere proves nothing
here. Keys in the statement itself (`jwk`, `jku`, `x5u`, `x5c`) are ignored: the key is in a did:key, a DID document, or
a client metadata document. Multikeys (did:key v0.7 §2) of the curves Ed25519 and P-256 become JWKs, so that one parser
checks all keys. Documents are fetched through `trust.client_url_fetch`: https, public addresses, no redirects, limited
time and size. Every failure gives the same refusal, so that no one can explore a network through this server.
"""

import hashlib
import re
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Final, NoReturn
from urllib.parse import unquote, urlsplit

import orjson
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from jwt import PyJWK
from jwt.algorithms import ECAlgorithm, OKPAlgorithm

from negotiator.base import values
from negotiator.base.errors import InvalidRequest
from negotiator.base.strict_json import is_array, is_object, read_jws
from negotiator.trust.claims import is_moment, is_text
from negotiator.trust.client_url_fetch import ClientUrlFetcher
from negotiator.trust.fetch import FetchFailed
from negotiator.trust.keysets import KeySet, KeysRefused, parse

LONGEST_IDENTITY: Final = 512
_DID = re.compile(r"did:[a-z0-9]+:[A-Za-z0-9._:%-]+")
_HOST = re.compile(r"(?=.{1,253}\Z)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9-]{1,63}")
_PART = re.compile(r"(?:[A-Za-z0-9._-]|%[0-9A-Fa-f]{2})+")
_DOTS = frozenset({".", ".."})


@dataclass(frozen=True, slots=True)
class ClaimedIdentity:
    """A claimed identity of one of the three types."""

    type: str
    value: str

    @property
    def document_url(self) -> str | None:
        """The URL at which the identity publishes its keys; None when it is proven in another way."""
        if self.type == "did":
            return did_web_url(self.value)
        return self.value if self.type == "agent_id" and is_document_url(self.value) else None

    @property
    def domain(self) -> str | None:
        """The host that the holder controls as a whole, else None.

        A path of a host or a mailbox may be one of many that the host gives to others.
        """
        url = self.document_url
        if url is None:
            return None
        parts = urlsplit(url)
        return parts.hostname if parts.path.startswith("/.well-known/") else None


def is_did(text: str) -> bool:
    """Whether the text has the form of a DID."""
    return len(text) <= LONGEST_IDENTITY and _DID.fullmatch(text) is not None


def did_web_url(did: str) -> str | None:
    """The URL of a did:web document; None for another method, an IP address, or an unusual path."""
    if not did.startswith("did:web:"):
        return None
    authority, *path = did.removeprefix("did:web:").split(":")
    host, _, port = unquote(authority).partition(":")
    if not _is_name(host) or (port and not port.isdecimal()) or unquote(authority).endswith(":"):
        return None
    if any(not _PART.fullmatch(part) or _hides(unquote(part)) for part in path):
        return None
    origin = f"https://{host}:{port}" if port else f"https://{host}"
    return f"{origin}/{'/'.join(path) or '.well-known'}/did.json"


def is_document_url(text: str) -> bool:
    """Whether the URL may be a client id: https, with a path, and without ambiguous parts."""
    if not text.isascii() or not text.isprintable() or "\\" in text or " " in text:
        return False
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    segments = parts.path.split("/")[1:]
    return (
        text.startswith("https://")
        and _is_name(parts.hostname or "")
        and parts.netloc == (f"{parts.hostname}:{port}" if port else parts.hostname)
        and parts.path not in {"", "/"}
        and not _DOTS.intersection(unquote(segment) for segment in segments)
        and not parts.query
        and "?" not in text
        and "#" not in text
    )


def _is_name(host: str) -> bool:
    if not _HOST.fullmatch(host):
        return False
    try:
        ip_address(host)
    except ValueError:
        # A last label of digits is an address to some resolvers ("0x7f.1" included).
        return not re.fullmatch(r"\d+|0x[0-9a-f]*", host.rpartition(".")[2])
    return False


def _hides(part: str) -> bool:
    return part in _DOTS or "/" in part or "\\" in part or not part.isprintable()


PROOF_TYPE: Final = "agent-identity-proof+jwt"
PROOF_ALGORITHMS: Final = ("EdDSA", "ES256")
PROOF_LIFETIME: Final = 300_000
CLOCK_SKEW: Final = 60_000
LONGEST_PROOF: Final = 4096


@dataclass(frozen=True, slots=True)
class ExpectedProof:
    """The values that a proof must have."""

    identity: str
    audience: str
    client_id: str
    nonce: str


@dataclass(frozen=True, slots=True)
class SignedProof:
    """A proof with valid claims, whose signature is not checked yet."""

    kid: str | None
    algorithm: str
    signing_input: bytes
    signature: bytes

    def check(self, key: PyJWK) -> None:
        """Refuse with 400 a signature that this key did not make."""
        if key.algorithm_name != self.algorithm or not key.Algorithm.verify(
            self.signing_input, key.key, self.signature
        ):
            invalid_proof("The signature does not verify.", error="invalid_signature")


def read_proof(text: str, expected: ExpectedProof) -> SignedProof:
    """Parse a proof and check its header and claims; 400 `invalid_proof` or `invalid_audience`."""
    try:
        unverified = read_jws(text, longest=LONGEST_PROOF)
    except ValueError as fault:
        invalid_proof("The proof is not a well-formed compact JWS.", detail=str(fault))
    kid, algorithm = _check_header(unverified.unverified_header)
    _check_claims(unverified.unverified_claims, expected)
    return SignedProof(kid, algorithm, unverified.signing_input, unverified.signature)


def invalid_proof(description: str, *, error: str = "invalid_proof", detail: str = "") -> NoReturn:
    """Raise the 400 of an invalid proof."""
    raise InvalidRequest(description, error=error, detail=detail)


def _check_header(header: dict[str, Any]) -> tuple[str | None, str]:
    typ, algorithm, kid = header.get("typ"), header.get("alg"), header.get("kid")
    if not isinstance(typ, str) or typ.lower().removeprefix("application/") != PROOF_TYPE:
        invalid_proof(f"The typ of the proof must be {PROOF_TYPE}.")
    if algorithm == "Ed25519":  # the name in RFC 9864
        algorithm = "EdDSA"
    if algorithm not in PROOF_ALGORITHMS:
        invalid_proof("The proof is signed with EdDSA or ES256.", error="invalid_signature")
    if "kid" in header and not is_text(kid, 1024):
        invalid_proof("The kid must be a printable string.")
    return kid, algorithm


def _check_claims(claims: dict[str, Any], expected: ExpectedProof) -> None:
    if claims.get("aud") not in (expected.audience, [expected.audience]):
        invalid_proof("The proof was made for another audience.", error="invalid_audience")
    if claims.get("iss") != expected.identity:
        invalid_proof("The iss of the proof is not the identity to be proven.")
    if claims.get("sub") != expected.client_id:
        invalid_proof("The sub of the proof is not this client.")
    nonce = claims.get("nonce")
    if not isinstance(nonce, str) or not values.equal_in_constant_time(nonce, expected.nonce):
        invalid_proof("The nonce of the proof is not the challenge's.")
    issued, expires = claims.get("iat"), claims.get("exp")
    if not is_moment(issued) or not is_moment(expires):
        invalid_proof("The proof needs iat and exp, in seconds.")
    now, issued_at, expires_at = values.now(), int(issued * 1000), int(expires * 1000)
    if expires_at <= now - CLOCK_SKEW or issued_at > now + CLOCK_SKEW:
        invalid_proof("The proof has expired, or is not valid yet.", error="expired")
    if not 0 < expires_at - issued_at <= PROOF_LIFETIME or now - issued_at > PROOF_LIFETIME + CLOCK_SKEW:
        invalid_proof(f"A proof is valid for at most {PROOF_LIFETIME // 1000} seconds.", error="expired")


_BITCOIN: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_VALUES: Final = {digit: value for value, digit in enumerate(_BITCOIN)}
_LONGEST: Final = 128
_ED25519, _P256 = b"\xed\x01", b"\x80\x24"


def jwk_of_did_key(did: str) -> dict[str, Any] | None:
    """The JWK of a did:key; None for other methods, other curves and invalid keys."""
    return jwk_of_multikey(did.removeprefix("did:key:")) if did.startswith("did:key:") else None


def jwk_of_multikey(multikey: str) -> dict[str, Any] | None:
    """The JWK of a multikey, `z` and base58; None for an invalid one."""
    octets = _base58(multikey[1:]) if multikey.startswith("z") else b""
    if octets.startswith(_ED25519) and len(octets) == 34:
        return {"kty": "OKP", "crv": "Ed25519", "x": _base64(octets[2:])}
    if octets.startswith(_P256) and len(octets) == 35:
        return _p256(octets[2:])
    return None


def _base58(text: str) -> bytes:
    if not 0 < len(text) <= _LONGEST or any(digit not in _VALUES for digit in text):
        return b""
    number = 0
    for digit in text:
        number = number * 58 + _VALUES[digit]
    zeros = len(text) - len(text.lstrip("1"))
    return bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8)


def _p256(point: bytes) -> dict[str, Any] | None:
    try:
        key = EllipticCurvePublicKey.from_encoded_point(SECP256R1(), point)
    except (ValueError, UnsupportedAlgorithm):
        return None
    numbers = key.public_numbers()
    x, y = (_base64(part.to_bytes(32)) for part in (numbers.x, numbers.y))
    return {"kty": "EC", "crv": "P-256", "x": x, "y": y}


def _base64(octets: bytes) -> str:
    return urlsafe_b64encode(octets).rstrip(b"=").decode()


_MEMBERS: Final = {"EC": ("crv", "kty", "x", "y"), "OKP": ("crv", "kty", "x")}


def thumbprint(key: PyJWK) -> str:
    """The thumbprint of a public key (RFC 7638): SHA-256, base64url."""
    algorithm = ECAlgorithm if key.key_type == "EC" else OKPAlgorithm
    jwk: dict[str, Any] = algorithm.to_jwk(key.key, as_dict=True)
    required = {name: jwk[name] for name in _MEMBERS[jwk["kty"]]}
    octets = hashlib.sha256(orjson.dumps(required, option=orjson.OPT_SORT_KEYS)).digest()
    return _base64(octets)


MAX_DID_DOCUMENT_BYTES: Final = 65_536
MAX_CLIENT_METADATA_BYTES: Final = 5 * 1024
_SHARED: Final = ("client_secret_basic", "client_secret_post", "client_secret_jwt")


class UnreadableDocument(Exception):
    """The identity's document cannot be fetched or used; `detail` is for the log."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


@dataclass(frozen=True, slots=True)
class PublishedKeys:
    """Fetches the keys of identities."""

    hosts: ClientUrlFetcher

    async def find(self, identity: ClaimedIdentity, kid: str | None, algorithm: str, *, address: str) -> PyJWK:
        """The one key of this identity with this kid and algorithm; 400 when there is none or no document."""
        try:
            keys = await self.all(identity, address=address)
        except UnreadableDocument as fault:
            invalid_proof(
                "The document of this identity cannot be read.", error="identity_unreachable", detail=fault.detail
            )
        key = keys.find(_short(identity, kid), algorithm)
        if key is None:
            invalid_proof("The identity does not have exactly one such key.", error="invalid_signature")
        return key

    async def all(self, identity: ClaimedIdentity, *, address: str | None) -> KeySet:
        """Every key that authenticates the identity. Raises `UnreadableDocument`.

        Fetches are charged to the client address `address`; None for our own checks.
        """
        inline = jwk_of_did_key(identity.value) if identity.type == "did" else None
        if inline is not None:
            return _keys({"keys": [{**inline, "kid": identity.value.removeprefix("did:key:")}]})
        url = identity.document_url
        if url is None:
            raise UnreadableDocument("it is not proven by a signature")
        try:
            if identity.type == "did":
                document = await self.hosts.json(url, limit=MAX_DID_DOCUMENT_BYTES, address=address)
                keys = _of_did(document, identity.value)
            else:
                keys = await self._of_client(url, address)
        except FetchFailed as failed:
            raise UnreadableDocument(failed.detail) from None
        except UnreadableDocument as fault:
            self.hosts.reject(url, fault.detail)
            raise
        self.hosts.accept(url)
        return keys

    async def _of_client(self, url: str, address: str | None) -> KeySet:
        document = await self.hosts.json(url, limit=MAX_CLIENT_METADATA_BYTES, address=address)
        if document.get("client_id") != url:
            raise UnreadableDocument("the document is another client's")
        if document.get("token_endpoint_auth_method") in _SHARED or "client_secret" in document:
            raise UnreadableDocument("the document has a shared secret")
        inline, uri = document.get("jwks"), document.get("jwks_uri")
        if (inline is None) == (uri is None):
            raise UnreadableDocument("the document does not have exactly one of jwks and jwks_uri")
        if uri is not None:
            if not isinstance(uri, str):
                raise UnreadableDocument("jwks_uri is not a string")
            inline = await self.hosts.json(uri, limit=MAX_DID_DOCUMENT_BYTES, address=address)
        if not is_object(inline):
            raise UnreadableDocument("jwks is not an object")
        return _keys(inline)


def _of_did(document: dict[str, Any], did: str) -> KeySet:
    """The keys under `authentication` of this DID's own document (DID Core §5.3.1)."""
    if document.get("id") != did:
        raise UnreadableDocument("the document is another DID's")
    methods = {_absolute(did, method.get("id")): method for method in _objects(document.get("verificationMethod"))}
    authentication: object = document.get("authentication")
    if not is_array(authentication):
        raise UnreadableDocument("nothing authenticates this DID")
    named = [entry if is_object(entry) else methods.get(_absolute(did, entry)) for entry in authentication]
    jwks = [_jwk(did, method) for method in named if method and method.get("controller") == did]
    return _keys({"keys": [jwk for jwk in jwks if jwk]})


def _jwk(did: str, method: dict[str, Any]) -> dict[str, Any] | None:
    name, text = _absolute(did, method.get("id")), method.get("publicKeyMultibase")
    jwk: object = method.get("publicKeyJwk")
    if not is_object(jwk):
        jwk = jwk_of_multikey(text) if isinstance(text, str) else None
    return {**jwk, "kid": name.partition("#")[2]} if name and is_object(jwk) else None


def _absolute(did: str, name: object) -> str:
    """The absolute DID URL; empty for one of another DID, whose keys are not used."""
    if not isinstance(name, str):
        return ""
    whole = f"{did}{name}" if name.startswith("#") else name
    return whole if whole.startswith(f"{did}#") else ""


def _short(identity: ClaimedIdentity, kid: str | None) -> str | None:
    """The part of a kid that names the key within its document; 400 for another DID's."""
    if kid is None or identity.type != "did":
        return kid
    did, _, fragment = kid.partition("#")
    if did not in ("", identity.value) or (not did and not fragment):
        invalid_proof("The kid of the proof names another DID.")
    if fragment:
        return fragment
    return did.removeprefix("did:key:") if did.startswith("did:key:") else None


def _objects(value: object) -> list[dict[str, Any]]:
    return [entry for entry in value if is_object(entry)] if is_array(value) else []


def _keys(document: dict[str, Any]) -> KeySet:
    try:
        return parse(document, PROOF_ALGORITHMS)
    except KeysRefused as refused:
        raise UnreadableDocument(refused.detail) from None
