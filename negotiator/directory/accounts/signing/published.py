"""The keys that an identity publishes: in its own text (did:key), in a DID document, in a client metadata document.

Documents come through `trust.named_hosts` only: https, vetted addresses, no redirects, bounded time and size. Every
failure is the same refusal, so that nobody can explore a network through this service.
"""

from dataclasses import dataclass
from typing import Any, Final

from jwt import PyJWK

from negotiator.directory.accounts.proving.identity import Identity
from negotiator.directory.accounts.signing import multikey
from negotiator.directory.accounts.signing.signed import ALGORITHMS, refuse
from negotiator.strict import is_array, is_object
from negotiator.trust.fetch import FetchFailed
from negotiator.trust.keysets import KeySet, KeysRefused, parse
from negotiator.trust.named_hosts import NamedHosts

DID_BYTES: Final = 65_536
CIMD_BYTES: Final = 5 * 1024
_SHARED: Final = ("client_secret_basic", "client_secret_post", "client_secret_jwt")

Jwk = dict[str, Any]


class Unreadable(Exception):
    """The identity's document cannot be had, or says nothing usable; `detail` is for the log."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


@dataclass(frozen=True, slots=True)
class PublishedKeys:
    """Asks the world for an identity's keys."""

    hosts: NamedHosts

    async def find(
        self, identity: Identity, kid: str | None, algorithm: str, *, address: str
    ) -> PyJWK:
        """The one key of this identity for this kid and algorithm; 400 when there is none or no document."""
        try:
            keys = await self.all(identity, address=address)
        except Unreadable as fault:
            refuse(
                "The document of this identity cannot be read.",
                error="identity_unreachable",
                detail=fault.detail,
            )
        key = keys.find(_short(identity, kid), algorithm)
        if key is None:
            refuse("The identity has not one such key.", error="invalid_signature")
        return key

    async def all(self, identity: Identity, *, address: str | None) -> KeySet:
        """Every key with which the identity signs; raises `Unreadable`.

        `address` is the client address that fetches are charged to, None for a look of our own.
        """
        inline = multikey.jwk_of_did_key(identity.value) if identity.type == "did" else None
        if inline is not None:
            return _parsed([{**inline, "kid": identity.value.removeprefix("did:key:")}])
        url = identity.document_url
        if url is None:
            raise Unreadable("it is not proven by a signature")
        try:
            if identity.type == "did":
                document = await self.hosts.json(url, limit=DID_BYTES, address=address)
                keys = _of_did(document, identity.value)
            else:
                keys = await self._of_client(url, address)
        except FetchFailed as failed:
            raise Unreadable(failed.detail) from None
        except Unreadable as fault:
            self.hosts.reject(url, fault.detail)
            raise
        self.hosts.accept(url)
        return keys

    async def _of_client(self, url: str, address: str | None) -> KeySet:
        document = await self.hosts.json(url, limit=CIMD_BYTES, address=address)
        if document.get("client_id") != url:
            raise Unreadable("the document is another client's")
        if document.get("token_endpoint_auth_method") in _SHARED or "client_secret" in document:
            raise Unreadable("the document speaks of a shared secret")
        inline, uri = document.get("jwks"), document.get("jwks_uri")
        if (inline is None) == (uri is None):
            raise Unreadable("the document has not one of jwks and jwks_uri")
        if uri is not None:
            if not isinstance(uri, str):
                raise Unreadable("jwks_uri is no string")
            inline = await self.hosts.json(uri, limit=DID_BYTES, address=address)
        if not is_object(inline):
            raise Unreadable("jwks is no object")
        return _keys(inline)


def _of_did(document: dict[str, Any], did: str) -> KeySet:
    """The keys under `authentication` of a DID document that is this DID's own (DID Core §5.3.1)."""
    if document.get("id") != did:
        raise Unreadable("the document is another DID's")
    methods = {
        _absolute(did, method.get("id")): method
        for method in _objects(document.get("verificationMethod"))
    }
    authentication: object = document.get("authentication")
    if not is_array(authentication):
        raise Unreadable("nothing authenticates this DID")
    named = [
        entry if is_object(entry) else methods.get(_absolute(did, entry))
        for entry in authentication
    ]
    jwks = [_jwk(did, method) for method in named if method and method.get("controller") == did]
    return _parsed([jwk for jwk in jwks if jwk])


def _jwk(did: str, method: dict[str, Any]) -> Jwk | None:
    name, text = _absolute(did, method.get("id")), method.get("publicKeyMultibase")
    jwk: object = method.get("publicKeyJwk")
    if not is_object(jwk):
        jwk = multikey.jwk(text) if isinstance(text, str) else None
    return {**jwk, "kid": name.partition("#")[2]} if name and is_object(jwk) else None


def _absolute(did: str, name: object) -> str:
    """A DID URL of this DID, or nothing: a key of somebody else's document is not looked at."""
    if not isinstance(name, str):
        return ""
    whole = f"{did}{name}" if name.startswith("#") else name
    return whole if whole.startswith(f"{did}#") else ""


def _short(identity: Identity, kid: str | None) -> str | None:
    """The part of a kid that names the key within its document; the DID in front has to be the identity's."""
    if kid is None or identity.type != "did":
        return kid
    did, _, fragment = kid.partition("#")
    if did not in ("", identity.value) or (not did and not fragment):
        refuse("The kid of the proof names another DID.")
    if fragment:
        return fragment
    return did.removeprefix("did:key:") if did.startswith("did:key:") else None


def _objects(value: object) -> list[dict[str, Any]]:
    return [entry for entry in value if is_object(entry)] if is_array(value) else []


def _parsed(jwks: list[Jwk]) -> KeySet:
    return _keys({"keys": jwks})


def _keys(document: dict[str, Any]) -> KeySet:
    try:
        return parse(document, ALGORITHMS)
    except KeysRefused as refused:
        raise Unreadable(refused.detail) from None
