"""Parses an authorization request from its query string.

Sources: RFC 6749 §4.1.1, RFC 7636, RFC 8707, RFC 9449 §10 and OpenID Connect Core §3.1.2.1. An error is sent to the
redirect URI only after the URI is known to be registered for the client.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl

from negotiator.base.errors import InvalidRequest
from negotiator.base.scopes import ANONYMOUS, READING, nothing_left, ordered
from negotiator.tokens.clients import RegisteredClient

MAX_QUERY_LENGTH: Final = 8000
_FIELDS: Final = 60
_DIGEST: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_PROMPTS: Final = frozenset({"none", "login", "consent", "select_account"})
_SECONDS: Final = re.compile(r"[0-9]{1,10}")
_SCOPE: Final = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+(?: +[\x21\x23-\x5b\x5d-\x7e]+)*")
_LONGEST_NONCE: Final = 512
_UNSUPPORTED: Final = {
    "request": "request_not_supported",
    "request_uri": "request_uri_not_supported",
    "registration": "registration_not_supported",
}
BACK_FROM_SIGN_IN: Final = "signed_in_after"


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """A client's request for access. `key` is the thumbprint of the key that the code will be bound to.

    `max_age` is the greatest age of the user's sign-in in seconds. `signed_in_after` is the earliest time of the
    sign-in in seconds since the epoch; this service adds it when it sends the user to its own sign-in page, so its
    presence shows that the user returns from there.
    """

    client: RegisteredClient
    redirect_uri: str
    state: str | None
    scopes: list[str]
    resource: str
    nonce: str
    challenge: str
    key: str | None
    prompts: frozenset[str]
    max_age: int | None
    signed_in_after: int | None


class AuthorizationRequestRefused(Exception):
    """The request cannot be granted; the error is sent to the client's redirect URI (RFC 6749 §4.1.2.1)."""

    def __init__(self, error: str, description: str, *, redirect_uri: str, state: str | None) -> None:
        super().__init__(description)
        self.error = error
        self.description = description
        self.redirect_uri = redirect_uri
        self.state = state


class RequestParameters(Mapping[str, str]):
    """The request's parameters. A repeated name counts as absent and is listed in `repeated`."""

    def __init__(self, query: str) -> None:
        try:
            if len(query) > MAX_QUERY_LENGTH or not query.isascii():
                raise ValueError("too long, or not ASCII")
            pairs = parse_qsl(query, keep_blank_values=True, errors="strict", max_num_fields=_FIELDS)
        except ValueError as fault:
            raise InvalidRequest("The request is malformed.", detail=str(fault)) from None
        if any("\0" in name or "\0" in value for name, value in pairs):
            raise InvalidRequest("The request is malformed.")
        values: dict[str, list[str]] = {}
        for name, value in pairs:
            if value:
                values.setdefault(name, []).append(value)
        self.resources = values.pop("resource", [])
        self.repeated = {name for name, found in values.items() if len(found) > 1}
        self._values = {name: found[0] for name, found in values.items() if len(found) == 1}

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def redirect_target(members: RequestParameters, client: RegisteredClient) -> str:
    """The request's redirect URI; raises `InvalidRequest`, shown to the user, when the client did not register it."""
    uri = members.get("redirect_uri")
    if uri is None:
        raise InvalidRequest(
            f"The program “{client.row.name}” does not say where the answer goes (redirect_uri). Tell whoever makes it."
        )
    if not client.check_redirect_uri(uri):
        raise InvalidRequest(
            f"The program “{client.row.name}” wants its answer at an address (redirect_uri) that it never registered. "
            "Nothing was sent there. If you did not begin this yourself, close this page; else tell whoever makes it."
        )
    return uri


def parse_request(
    members: RequestParameters, client: RegisteredClient, *, resources: frozenset[str], offered: set[str]
) -> AuthorizationRequest:
    """The parsed request of a client; `resources` and `offered` are the resources and scopes of this service.

    Raises `InvalidRequest` for a redirect URI that the client did not register, and `AuthorizationRequestRefused` for
    any other fault.
    """
    uri, state = redirect_target(members, client), members.get("state")
    scopes, fault = _scopes(members.get("scope", ""), client, offered), _fault(members, client, resources)
    if fault is not None or isinstance(scopes, str):
        error, description = fault or ("invalid_scope", str(scopes))
        raise AuthorizationRequestRefused(error, description, redirect_uri=uri, state=state)
    return AuthorizationRequest(
        client,
        uri,
        state,
        scopes,
        " ".join(dict.fromkeys(members.resources)),
        members.get("nonce", ""),
        members["code_challenge"],
        members.get("dpop_jkt"),
        frozenset(members.get("prompt", "").split()),
        int(members["max_age"]) if "max_age" in members else None,
        int(members[BACK_FROM_SIGN_IN]) if BACK_FROM_SIGN_IN in members else None,
    )


def _fault(members: RequestParameters, client: RegisteredClient, resources: frozenset[str]) -> tuple[str, str] | None:
    """The OAuth error code and its description for any fault but one of scopes; None without a fault."""
    if members.repeated:
        return "invalid_request", "A parameter is repeated."
    for name, error in _UNSUPPORTED.items():
        if name in members:
            return error, f"The parameter {name} is not supported."
    if "response_type" not in members:
        return "invalid_request", "The parameter response_type is missing."
    if members["response_type"] != "code":
        return "unsupported_response_type", "Only response_type=code is supported."
    if members.get("response_mode", "query") != "query":
        return "invalid_request", "Only response_mode=query is supported."
    if not client.check_grant_type("authorization_code"):
        return "unauthorized_client", "This client may not use the code flow."
    challenge = members.get("code_challenge", "")
    if members.get("code_challenge_method") != "S256" or not _DIGEST.fullmatch(challenge):
        return "invalid_request", "PKCE is required, with code_challenge_method=S256."
    if "dpop_jkt" in members and not _DIGEST.fullmatch(members["dpop_jkt"]):
        return "invalid_request", "The parameter dpop_jkt is no SHA-256 thumbprint of a key."
    if not set(members.resources) <= resources:
        return "invalid_target", "A resource is not one of this service's."
    return _openid_fault(members)


def _openid_fault(members: RequestParameters) -> tuple[str, str] | None:
    if len(members.get("nonce", "")) > _LONGEST_NONCE:
        return "invalid_request", f"A nonce has at most {_LONGEST_NONCE} characters."
    prompts = set(members.get("prompt", "").split())
    if not prompts <= _PROMPTS or ("none" in prompts and len(prompts) > 1):
        return "invalid_request", "The parameter prompt is unknown or contradicts itself."
    for name in ("max_age", BACK_FROM_SIGN_IN):
        if name in members and not _SECONDS.fullmatch(members[name]):
            return "invalid_request", f"The parameter {name} is no number of seconds."
    return None


def _scopes(asked: str, client: RegisteredClient, offered: set[str]) -> list[str] | str:
    """The requested scopes that may be granted; why not, when none may.

    `offline_access` is always ignored: a client with the refresh token grant gets refresh tokens without it.
    """
    own = [name for name in client.row.scope.split() if name in offered]
    if asked and not _SCOPE.fullmatch(asked.strip(" ")):
        return "The parameter scope is malformed."
    wanted = set(asked.split()) - {"offline_access"}
    if not wanted:
        usual = {*ANONYMOUS} if set(ANONYMOUS) & offered else {*READING}
        wanted = {name for name in own if name in usual} or {*own}
    return ordered(wanted & {*own}) or nothing_left(asked, own)
