"""The grants of the token endpoint as Authlib classes.

They are client credentials (RFC 6749 §4.4), an ID-JAG (RFC 7523 §2.1), authorization codes (RFC 6749 §4.1.3,
RFC 7636) and refresh tokens (RFC 6749 §6). Each validates the request while the server reads, and answers with
`redeem`: the unit that stores what is granted.
"""

# pyright: basic, reportAttributeAccessIssue=false, reportIncompatibleVariableOverride=false
# pyright: reportOptionalMemberAccess=false, reportOptionalOperand=false, reportArgumentType=false
# pyright: reportOperatorIssue=false
# Authlib ships no types; see docs/decisions/0006-authlib.md.

from typing import Any, Final

from authlib.oauth2.rfc6749 import InvalidRequestError, InvalidScopeError, TokenEndpointMixin, UnauthorizedClientError
from authlib.oauth2.rfc6749.grants import BaseGrant

from negotiator.base import values
from negotiator.base.errors import Refusal
from negotiator.base.scopes import ordered
from negotiator.store.statement import Transaction
from negotiator.tokens import authorization_codes
from negotiator.tokens.authlib_endpoints import ACCEPTED_AUTH_METHODS
from negotiator.tokens.authlib_server import StoredGrant
from negotiator.tokens.authorization_codes import PresentedCode
from negotiator.tokens.clients import (
    AUTHORIZATION_CODE,
    CLIENT_CREDENTIALS,
    JWT_BEARER,
    REFRESH_TOKEN,
    RegisteredClient,
)
from negotiator.tokens.id_tokens import IdTokenContent
from negotiator.tokens.refresh_tokens import NewRefreshToken
from negotiator.tokens.tables import AuthorizationGrant


def narrow(asked: str | None, allowed: list[str]) -> str:
    """The requested scopes, or all allowed ones when none is requested; `invalid_scope` for any other scope.

    The allowed ones are those of a user, an issuer or an earlier grant (RFC 6749 §6).
    """
    wanted = asked.split() if asked else allowed
    if not set(wanted) <= set(allowed) or not allowed:
        raise Refusal("A scope was asked for that cannot be granted.", error="invalid_scope")
    return " ".join(ordered(wanted))


class _TokenGrant(BaseGrant, TokenEndpointMixin):
    TOKEN_ENDPOINT_AUTH_METHODS = [*ACCEPTED_AUTH_METHODS, "none"]  # noqa: RUF012  so that a public client gets an error that names the reason
    UNAUTHORIZED = "This client may not use this grant."

    def authenticated(self) -> Any:
        """The authenticated client; `unauthorized_client` when it may not use this grant."""
        client = self.request.client = self.authenticate_token_endpoint_client()
        if not client.check_grant_type(self.GRANT_TYPE):
            raise UnauthorizedClientError(self.UNAUTHORIZED)
        return client

    def create_token_response(self) -> tuple[int, Any, Any]:
        return 200, self.redeem, self.TOKEN_RESPONSE_HEADER

    def redeem(self, tx: Transaction) -> StoredGrant:
        """Store what is granted."""
        raise NotImplementedError


class ClientCredentials(_TokenGrant):
    """The client credentials grant (RFC 6749 §4.4): the client acts for itself."""

    GRANT_TYPE = CLIENT_CREDENTIALS
    TOKEN_ENDPOINT_AUTH_METHODS = ACCEPTED_AUTH_METHODS
    UNAUTHORIZED = f"The client is not authorized to use 'grant_type={CLIENT_CREDENTIALS}'"

    def validate_token_request(self) -> None:
        """Grant the requested scopes that the client may have (RFC 6749 §3.3); `invalid_scope` when it may have none.

        The MCP SDKs request every scope of the challenge, whatever the client was given.
        """
        client = self.authenticated()
        allowed = [name for name in client.scopes if name in self.server.offered]
        asked = (self.request.payload.scope or "").split() or allowed
        granted = ordered(set(asked) & set(allowed))
        if not granted:
            raise InvalidScopeError("The client may have none of these scopes.")
        self.token = self.server.make(client, " ".join(granted))

    def redeem(self, tx: Transaction) -> StoredGrant:
        self.server.record(tx, self.token)
        return StoredGrant(self.token)


class AssertionGrant(_TokenGrant):
    """An ID-JAG (RFC 7523 §2.1): the client acts for the user that it names."""

    GRANT_TYPE = JWT_BEARER

    def validate_token_request(self) -> None:
        self.authenticated()

    def redeem(self, tx: Transaction) -> StoredGrant:
        client = self.request.client
        user, allowed = self.server.presented.admit(tx, client.client_id)
        own = client.row.scope.split()
        scope = narrow(self.request.payload.scope, [name for name in allowed if name in own])
        token = self.server.make(client, scope, user)
        self.server.record(tx, token)
        return StoredGrant(token)


class _FlowGrant(_TokenGrant):
    def needed(self, name: str) -> str:
        """The value of a required parameter; `invalid_request` when it is missing."""
        value = self.request.form.get(name)
        if not value:
            raise InvalidRequestError(f"The parameter {name} is missing.")
        return value

    def bound_key(self) -> str | None:
        """The thumbprint of the key that new refresh tokens are bound to; None for a confidential client.

        A confidential client authenticates when it uses the refresh token, so that no binding is needed (RFC 9449 §5).
        """
        return self.server.key if self.request.client.is_public else None

    def store(
        self, tx: Transaction, grant: AuthorizationGrant, scope: str, following: NewRefreshToken | None
    ) -> StoredGrant:
        """Store the access token; a client other than an agent also gets the content of an ID token."""
        client = self.request.client
        token = self.server.make(client, scope, authorization_codes.subject(grant))
        self.server.record(tx, token)
        signed_in = None
        if isinstance(client, RegisteredClient):
            renewed = self.GRANT_TYPE == REFRESH_TOKEN
            signed_in = IdTokenContent(grant, client.row.id_token_alg, renewed)
        return StoredGrant(token, following, signed_in)


class CodeRedemption(_FlowGrant):
    """An authorization code (RFC 6749 §4.1.3, RFC 7636)."""

    GRANT_TYPE = AUTHORIZATION_CODE

    def validate_token_request(self) -> None:
        client = self.authenticated()
        self.presented = PresentedCode(
            self.needed("code"),
            client.client_id,
            self.needed("redirect_uri"),
            self.needed("code_verifier"),
            self.server.key,
        )
        # The client's metadata document may have changed since the user granted access.
        if not client.check_redirect_uri(self.presented.redirect_uri):
            raise authorization_codes.invalid_grant_refusal("The redirect URI is not the client's any more.")

    def redeem(self, tx: Transaction) -> StoredGrant:
        server = self.server
        found = authorization_codes.redeem(tx, self.presented, pepper=server.pepper)
        authorization_codes.extend(tx, found.id, until=values.now() + server.life * 1000)
        following = (
            server.refreshing.issue(tx, found.id, granted_at=found.created_at, key=self.bound_key())
            if self.request.client.check_grant_type(REFRESH_TOKEN)
            else None
        )
        return self.store(tx, found, found.scope, following)


class Refreshing(_FlowGrant):
    """A refresh token (RFC 6749 §6)."""

    GRANT_TYPE = REFRESH_TOKEN

    def validate_token_request(self) -> None:
        self.authenticated()
        self.presented = self.needed("refresh_token")

    def redeem(self, tx: Transaction) -> StoredGrant:
        found, following = self.server.refreshing.rotate(
            tx, self.presented, client_id=self.request.client.client_id, key=self.bound_key()
        )
        scope = narrow(self.request.payload.scope, found.scope.split())
        return self.store(tx, found, scope, following)


TOKEN_GRANTS: Final = (ClientCredentials, AssertionGrant, CodeRedemption, Refreshing)
