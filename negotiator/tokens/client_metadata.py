"""Reads the metadata that a client states, member by member.

Sources: RFC 7591 §2, OpenID Connect Dynamic Client Registration §2 and draft-ietf-oauth-client-id-metadata-document-01.
An unsupported member is left out of the response, as RFC 7591 §2 allows, unless the client would rely on it; then the
registration is refused.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from negotiator.base.errors import Refusal
from negotiator.base.scopes import ordered
from negotiator.base.strict_json import is_array
from negotiator.base.values import has_invisible_characters
from negotiator.keys.keyring import ALGORITHM, RS256
from negotiator.tokens import client_authentication, redirect_uris
from negotiator.tokens.clients import (
    AUTH_METHODS,
    AUTHORIZATION_CODE,
    CODE_FLOW_GRANTS,
    GRANTS,
    PRIVATE_KEY_JWT,
    USERLESS_GRANTS,
    NewClient,
)
from negotiator.trust.issuers import ALGORITHMS
from negotiator.trust.keysets import KeysRefused

_MOST_REDIRECTS: Final = 10
_LONGEST_NAME: Final = 100
_LONGEST_URI: Final = 2000
_LONGEST_ADDRESS: Final = 1024
DOCUMENT_METHODS: Final = (PRIVATE_KEY_JWT, "none")
"""How a client known by its document may authenticate, the strongest first."""
_COUNTED_ON: Final = (
    "dpop_bound_access_tokens",
    "id_token_encrypted_response_alg",
    "request_object_signing_alg",
    "require_pushed_authorization_requests",
    "require_signed_request_object",
    "tls_client_certificate_bound_access_tokens",
    "userinfo_encrypted_response_alg",
    "userinfo_signed_response_alg",
)


class MetadataRefused(Refusal):
    """The client's metadata is not accepted (RFC 7591 §3.2.2)."""

    default_error = "invalid_client_metadata"


def is_document_address(url: str, *, allow_loopback: bool) -> bool:
    """Whether a client's document or key set may be at this URL: https, a path without dot segments, no credentials and
    no fragment.

    With `allow_loopback`, an http URL is accepted too.
    """
    schemes = {"https", "http"} if allow_loopback else {"https"}
    if "://" not in url or len(url) > _LONGEST_ADDRESS or not url.isascii() or not url.isprintable():
        return False
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    segments = [unquote(part) for part in parts.path.split("/")]
    return (
        parts.scheme in schemes
        and bool(host)
        and parts.path.startswith("/")
        and not {".", ".."} & set(segments)
        and "@" not in parts.netloc
        and not any(mark in url for mark in ' \\#"<>')
        and parts.netloc == parts.netloc.lower()
    )


def read_metadata(
    members: Mapping[str, Any], *, offered: Iterable[str], allow_loopback: bool = False, has_document: bool = False
) -> NewClient:
    """The client that the metadata describes, with scopes from `offered` only; raises `MetadataRefused`.

    `has_document` means that its id is the URL of a document with the metadata: then it has no secret, and with keys it
    may use the grants without a browser too. With `allow_loopback`, its keys may be at an http URL.
    """
    methods, otherwise = (DOCUMENT_METHODS, "none") if has_document else (AUTH_METHODS, "client_secret_basic")
    members = {name: value for name, value in members.items() if value is not None}
    for name in _COUNTED_ON:
        if members.get(name):
            raise MetadataRefused(f"{name} is not supported.")
    if members.get("subject_type", "public") != "public":
        raise MetadataRefused("Only subject_type public is supported.")
    method = _auth_method(members, methods, otherwise)
    known = GRANTS if has_document and method == PRIVATE_KEY_JWT else CODE_FLOW_GRANTS
    grants = tuple(name for name in known if name in _words(members, "grant_types", (AUTHORIZATION_CODE,)))
    uris: tuple[str, ...] = ()
    if AUTHORIZATION_CODE in grants:
        uris = _redirect_uris(members.get("redirect_uris"))
        if "code" not in _words(members, "response_types", ("code",)):
            raise MetadataRefused("response_types has code in it, the only one that is supported.")
    elif not set(grants) & set(USERLESS_GRANTS):
        raise MetadataRefused("grant_types has authorization_code in it.")
    signing = members.get("id_token_signed_response_alg", RS256)
    if signing not in (RS256, ALGORITHM):
        raise MetadataRefused("id_token_signed_response_alg is RS256 or ES256.")
    return NewClient(
        _name(members, otherwise=redirect_uris.display_host(uris[0] if uris else members["client_id"])),
        grants,
        _scopes(members, offered),
        uris,
        method,
        signing,
        _uri(members),
        "registered",
        *(_keys(members, allow_loopback=allow_loopback) if method == PRIVATE_KEY_JWT else (None, None)),
    )


def _auth_method(members: Mapping[str, Any], methods: tuple[str, ...], otherwise: str) -> str:
    """The method that is stated; else the strongest of those that the client lists beside it."""
    stated = members.get("token_endpoint_auth_method")
    listed = _words(members, "token_endpoint_auth_methods_supported", ())
    if stated is None and not listed:
        return otherwise
    for method in methods:
        if method == stated or (stated not in methods and method in listed):
            return method
    raise MetadataRefused(f"token_endpoint_auth_method is one of {', '.join(methods)}.")


def _redirect_uris(given: Any) -> tuple[str, ...]:
    if not is_array(given) or not 1 <= len(given) <= _MOST_REDIRECTS:
        raise MetadataRefused(f"redirect_uris is a list of 1 to {_MOST_REDIRECTS} URIs.", error="invalid_redirect_uri")
    uris: list[str] = []
    for uri in given:
        why = redirect_uris.registration_fault(uri) if isinstance(uri, str) else "A redirect URI is a string."
        if why or not isinstance(uri, str):
            raise MetadataRefused(why, error="invalid_redirect_uri")
        uris.append(uri)
    return tuple(dict.fromkeys(uris))


def _keys(members: Mapping[str, Any], *, allow_loopback: bool) -> tuple[str | None, str | None]:
    """The JWK Set of a `private_key_jwt` client as JSON text, or the address where it is; the other is None."""
    algorithm = members.get("token_endpoint_auth_signing_alg")
    if algorithm is not None and algorithm not in ALGORITHMS:
        raise MetadataRefused(f"token_endpoint_auth_signing_alg is one of {', '.join(ALGORITHMS)}.")
    inline, uri = members.get("jwks"), members.get("jwks_uri")
    if (inline is None) == (uri is None):
        raise MetadataRefused(f"{PRIVATE_KEY_JWT} needs either jwks or jwks_uri.")
    if inline is None:
        if not isinstance(uri, str) or not is_document_address(uri, allow_loopback=allow_loopback):
            raise MetadataRefused("jwks_uri is an https URL.")
        return None, uri
    try:
        return client_authentication.read_client_keys(inline), None
    except KeysRefused as refused:
        raise MetadataRefused("jwks is a set of public keys that can be used.", detail=refused.detail) from None


def _words(members: Mapping[str, Any], name: str, otherwise: tuple[str, ...]) -> list[str]:
    given = members.get(name, otherwise)
    if isinstance(given, tuple):
        return list(otherwise)
    if not is_array(given) or not all(isinstance(word, str) for word in given):
        raise MetadataRefused(f"{name} is a list of strings.")
    return [str(word) for word in given]


def _scopes(members: Mapping[str, Any], offered: Iterable[str]) -> tuple[str, ...]:
    known, given = set(offered), members.get("scope")
    if given is None or given == "":
        return tuple(ordered(known))
    if not isinstance(given, str):
        raise MetadataRefused("scope is a string.")
    scopes = ordered(set(given.split()) & known)
    if not scopes:
        raise MetadataRefused("No scope among these is offered here.")
    return tuple(scopes)


def _name(members: Mapping[str, Any], *, otherwise: str) -> str:
    given = members.get("client_name")
    if given is None:
        return otherwise[:_LONGEST_NAME]
    if not isinstance(given, str) or not given.strip() or len(given) > _LONGEST_NAME:
        raise MetadataRefused(f"client_name is a string of 1 to {_LONGEST_NAME} characters.")
    if has_invisible_characters(given):
        raise MetadataRefused("client_name has control, bidirectional or invisible characters.")
    return given.strip()


def _uri(members: Mapping[str, Any]) -> str:
    given = members.get("client_uri", "")
    if given == "":
        return ""
    if (
        not isinstance(given, str)
        or len(given) > _LONGEST_URI
        or not given.isascii()
        or not given.isprintable()
        or " " in given
    ):
        raise MetadataRefused("client_uri is an https URL.")
    try:
        parts = urlsplit(given)
    except ValueError:
        raise MetadataRefused("client_uri is an https URL.") from None
    if parts.scheme not in {"https", "http"} or not parts.hostname:
        raise MetadataRefused("client_uri is an https URL.")
    return given if parts.scheme == "https" else ""
