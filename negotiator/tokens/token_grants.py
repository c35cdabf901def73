"""What the token, revocation and introspection endpoints do for an authenticated client.

The grants are client credentials (RFC 6749 §4.4), an ID-JAG (RFC 7523 §2.1), authorization codes (RFC 6749 §4.1.3,
RFC 7636) and refresh tokens (RFC 6749 §6). Each validates the request while the server reads, and gives the unit that
stores what is granted.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from negotiator.base import values
from negotiator.base.errors import InvalidRequest, Refusal
from negotiator.base.scopes import nothing_left, ordered
from negotiator.store.statement import Transaction
from negotiator.tokens import authorization_codes, clients, consent_queries
from negotiator.tokens.access_tokens import NewToken, audience_claim
from negotiator.tokens.assertion_grants import narrow
from negotiator.tokens.authlib_server import ACCEPTED_AUTH_METHODS, POSSESSION, TokenClient, TokenServer, holder_of
from negotiator.tokens.authorization_codes import PresentedCode
from negotiator.tokens.clients import (
    AUTHORIZATION_CODE,
    BY_DOCUMENT,
    CLIENT_CREDENTIALS,
    JWT_BEARER,
    REFRESH_TOKEN,
    AgentClient,
    RegisteredClient,
)
from negotiator.tokens.id_tokens import IdTokenContent
from negotiator.tokens.refresh_tokens import NewRefreshToken
from negotiator.tokens.tables import AccessToken, AuthorizationGrant, RefreshToken


@dataclass(frozen=True, slots=True)
class StoredGrant:
    """What a unit of the token endpoint stored; `signed_in` is the content of an ID token of the code flow."""

    token: NewToken
    refresh_token: NewRefreshToken | None = None
    signed_in: IdTokenContent | None = None


StoreGrant = Callable[[Transaction], StoredGrant]
Change = Callable[[Transaction], None]
_WITH_NONE: Final = (*ACCEPTED_AUTH_METHODS, "none")
"""So that a public client gets an error that names the reason."""


def grant_token(server: TokenServer) -> StoreGrant:
    """The unit that stores what the request is granted; raises a `Refusal` for an error (RFC 6749 §5.2)."""
    name = server.form.get("grant_type", "")
    if name not in _GRANTS:
        raise Refusal("The request was refused.", error="unsupported_grant_type")
    methods = ACCEPTED_AUTH_METHODS if name == CLIENT_CREDENTIALS else _WITH_NONE
    client: TokenClient = server.authenticated(methods)
    if not client.check_grant_type(name):
        refusal = "This client may not use this grant."
        if name == CLIENT_CREDENTIALS:
            refusal = f"The client is not authorized to use 'grant_type={CLIENT_CREDENTIALS}'"
        raise Refusal(refusal, error="unauthorized_client")
    return server.after_confirmation(client, _GRANTS[name](server, client))


def _client_credentials(server: TokenServer, client: TokenClient) -> StoreGrant:
    """The client acts for itself, with the requested scopes that it may have."""
    own = clients.own_scopes(server.tx, client) if isinstance(client, RegisteredClient) else client.scopes
    allowed = [name for name in own if name in server.credentials.offered]
    token = server.make(client, " ".join(narrow(server.form, allowed)))

    def store(tx: Transaction) -> StoredGrant:
        server.record(tx, token)
        return StoredGrant(token)

    return store


def _assertion(server: TokenServer, client: TokenClient) -> StoreGrant:
    """The client acts for the user whom an ID-JAG names."""

    def store(tx: Transaction) -> StoredGrant:
        assert server.presented is not None  # noqa: S101  the endpoint has verified it
        is_known = not isinstance(client, RegisteredClient) or client.row.origin != BY_DOCUMENT
        user, allowed = server.presented.admit(tx, client.client_id, is_known=is_known)
        scopes = narrow(server.form, [name for name in allowed if name in client.scopes])
        token = server.make(client, " ".join(scopes), user)
        server.record(tx, token)
        return StoredGrant(token)

    return store


def _code(server: TokenServer, client: TokenClient) -> StoreGrant:
    """An authorization code."""
    presented = PresentedCode(
        _needed(server, "code"),
        client.client_id,
        _needed(server, "redirect_uri"),
        _needed(server, "code_verifier"),
        server.key,
    )
    # The client's metadata document may have changed since the user granted access.
    if not isinstance(client, RegisteredClient) or not client.check_redirect_uri(presented.redirect_uri):
        raise authorization_codes.invalid_grant_refusal("The redirect URI is not the client's any more.")

    def store(tx: Transaction) -> StoredGrant:
        found = authorization_codes.redeem(tx, presented, pepper=server.pepper)
        _check_strength(tx, client, found)
        authorization_codes.extend(tx, found.id, until=values.now() + server.life * 1000)
        following = None
        if client.check_grant_type(REFRESH_TOKEN):
            key = _bound_key(server, client)
            following = server.refreshing.issue(tx, found.id, granted_at=found.created_at, key=key)
        return _store_user_token(server, tx, client, found, found.scope, following)

    return store


def _refresh(server: TokenServer, client: TokenClient) -> StoreGrant:
    """A refresh token."""
    presented = _needed(server, "refresh_token")

    def store(tx: Transaction) -> StoredGrant:
        key = _bound_key(server, client)
        sender = server.sender if _is_public(client) else ""
        found, following = server.refreshing.rotate(tx, presented, client_id=client.client_id, key=key, sender=sender)
        _check_strength(tx, client, found)
        held = found.scope.split()
        asked = server.form.get("scope", "").split() or held
        if more := set(asked) - set(held):  # RFC 6749 §6
            raise Refusal(nothing_left(" ".join(sorted(more)), held), error="invalid_scope")
        return _store_user_token(server, tx, client, found, " ".join(ordered(asked)), following)

    return store


def _check_strength(tx: Transaction, client: TokenClient, grant: AuthorizationGrant) -> None:
    """Refuse a client whose document gave its keys up after the user let it in: anybody could be it now."""
    if not isinstance(client, RegisteredClient) or client.row.origin != BY_DOCUMENT:
        return
    if consent_queries.has_weakened(tx, grant.user_id, grant.client_id, auth_method=client.row.auth_method):
        raise authorization_codes.invalid_grant_refusal("The client has to ask the user again.")


_GRANTS: Final[dict[str, Callable[[TokenServer, TokenClient], StoreGrant]]] = {
    CLIENT_CREDENTIALS: _client_credentials,
    JWT_BEARER: _assertion,
    AUTHORIZATION_CODE: _code,
    REFRESH_TOKEN: _refresh,
}


def _needed(server: TokenServer, name: str) -> str:
    """The value of a required parameter; `invalid_request` when it is missing."""
    value = server.form.get(name)
    if not value:
        raise InvalidRequest(f"The parameter {name} is missing.")
    return value


def _bound_key(server: TokenServer, client: TokenClient) -> str | None:
    """The thumbprint of the key that new refresh tokens are bound to; None for a confidential client.

    A confidential client authenticates when it uses the refresh token, so that no binding is needed (RFC 9449 §5).
    """
    return server.key if _is_public(client) else None


def _is_public(client: TokenClient) -> bool:
    return isinstance(client, AgentClient) or (isinstance(client, RegisteredClient) and client.is_public)


def _store_user_token(
    server: TokenServer,
    tx: Transaction,
    client: TokenClient,
    grant: AuthorizationGrant,
    scope: str,
    following: NewRefreshToken | None,
) -> StoredGrant:
    """Store the access token; a client other than an agent also gets the content of an ID token."""
    token = server.make(client, scope, authorization_codes.subject(grant))
    server.record(tx, token)
    signed_in = None
    if isinstance(client, RegisteredClient):
        renewed = server.form["grant_type"] == REFRESH_TOKEN
        signed_in = IdTokenContent(grant, client.row.id_token_alg, renewed)
    return StoredGrant(token, following, signed_in)


def revoke_token(server: TokenServer) -> tuple[dict[str, Any], Change | None]:
    """Revoke one token (RFC 7009): the answer and its unit, if there is anything to change.

    The same answer also for a token that is unknown or belongs to another client. Every worker refuses the token from
    its next use on.
    """
    client = server.authenticated((*ACCEPTED_AUTH_METHODS, POSSESSION), "revocation")
    token = server.find_token(server.form["token"])
    if token is None or (client_id := holder_of(token)) != client.client_id:
        return {}, _confirmation(server, client)

    def change(tx: Transaction) -> None:
        if isinstance(token, AccessToken):
            server.credentials.revoke(tx, token, actor=client_id)
        else:
            # Revoking a refresh token also revokes the access tokens of its grant (RFC 7009 §2.1).
            authorization_codes.end(tx, token[1].id, client_id=client_id, actor=client_id, reason="revoked")

    return {}, server.after_confirmation(client, change)


def introspect_token(server: TokenServer) -> tuple[dict[str, Any], Change | None]:
    """Describe a client's own live token (RFC 7662); the answer to any other is `{"active": false}`.

    The unit says that the client authenticated, if that changes anything.
    """
    client = server.authenticated(ACCEPTED_AUTH_METHODS, "introspection")
    token = server.find_token(server.form["token"])
    shown: dict[str, Any] = {"active": False}
    if token is not None and holder_of(token) == client.client_id:
        if isinstance(token, AccessToken):
            if server.credentials.is_live(server.tx, token):
                shown = _described(token, server.credentials.issuer)
        elif server.refreshing.is_live(server.tx, token[0]):
            shown = _described_refresh(*token)
    return shown, _confirmation(server, client)


def _confirmation(server: TokenServer, client: Any) -> Change | None:
    return server.after_confirmation(client, lambda _tx: None) if server.has_to_confirm(client) else None


def _described(token: AccessToken, issuer: str) -> dict[str, Any]:
    return {
        "active": True,
        "scope": token.scope,
        "client_id": token.client_id,
        "token_type": "DPoP" if token.key else "Bearer",
        "exp": token.expires_at // 1000,
        "iat": token.issued_at // 1000,
        "sub": token.user_id or token.client_id,
        "aud": audience_claim(token.resource, base=issuer),
        "iss": issuer,
        "jti": token.jti,
        **({"cnf": {"jkt": token.key}} if token.key else {}),
    }


def _described_refresh(row: RefreshToken, grant: AuthorizationGrant) -> dict[str, Any]:
    return {
        "active": True,
        "scope": grant.scope,
        "client_id": grant.client_id,
        "exp": row.expires_at // 1000,
        "iat": row.issued_at // 1000,
        "sub": grant.user_id,
    }
