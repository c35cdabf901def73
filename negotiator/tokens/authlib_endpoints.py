"""Revocation (RFC 7009) and introspection (RFC 7662) of access tokens and refresh tokens, as Authlib endpoints."""
# pyright: basic, reportAttributeAccessIssue=false, reportIncompatibleVariableOverride=false
# pyright: reportOptionalMemberAccess=false, reportOptionalOperand=false, reportArgumentType=false
# pyright: reportOperatorIssue=false
# Authlib ships no types; see docs/decisions/0006-authlib.md.

from dataclasses import dataclass
from typing import Any, Final

from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import OAuth2Request
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7662 import IntrospectionEndpoint

from negotiator.store.statement import Transaction
from negotiator.tokens import authorization_codes, clients
from negotiator.tokens.access_tokens import audience_claim
from negotiator.tokens.tables import AccessToken, AuthorizationGrant, RefreshToken

ACCEPTED_AUTH_METHODS: Final = [*clients.SECRET_METHODS, clients.PRIVATE_KEY_JWT]


@dataclass(frozen=True, slots=True)
class RefreshTokenWithGrant:
    """A refresh token with the grant it renews."""

    row: RefreshToken
    grant: AuthorizationGrant

    @property
    def client_id(self) -> str:
        """The id of the client that holds the token."""
        return self.grant.client_id

    def describe(self) -> dict[str, Any]:
        """The introspection response for a live refresh token (RFC 7662 §2.2)."""
        return {
            "active": True,
            "scope": self.grant.scope,
            "client_id": self.grant.client_id,
            "exp": self.row.expires_at // 1000,
            "iat": self.row.issued_at // 1000,
            "sub": self.grant.user_id,
        }


class PublicTokenHolder:
    """The sender of a revocation request with a token of a public client, which cannot authenticate."""

    def __init__(self, client_id: str) -> None:
        self.client_id = client_id

    def confirm(self, tx: Transaction) -> None:
        """Do nothing: the token was read, and only a live one is revoked."""

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        """Possession of the token is enough to revoke it, and for no other endpoint."""
        return method == "possession" and endpoint == TokenRevocation.ENDPOINT_NAME


class TokenRevocation(RevocationEndpoint):
    """Revokes one token (RFC 7009); 200 also for a token that is unknown or belongs to another client.

    Every worker refuses the token from its next use on.
    """

    CLIENT_AUTH_METHODS = [*ACCEPTED_AUTH_METHODS, "possession"]  # noqa: RUF012  Authlib reads this attribute

    def check_params(self, request: OAuth2Request, client: Any) -> None:
        _require_token(request)

    def query_token(self, token_string: str, token_type_hint: str | None) -> Any:
        return self.server.query_any_token(token_string)

    def authenticate_token(self, request: OAuth2Request, client: Any) -> Any:
        self.check_params(request, client)
        token = self.query_token(request.form["token"], None)
        return token if token and token.client_id == client.client_id else None

    def revoke_token(self, token: AccessToken | RefreshTokenWithGrant, request: OAuth2Request) -> None:
        client_id, credentials = token.client_id, self.server.credentials

        def change(tx: Transaction) -> None:
            if isinstance(token, RefreshTokenWithGrant):
                # Revoking a refresh token also revokes the access tokens of its grant (RFC 7009 §2.1).
                grant = token.grant.id
                authorization_codes.end(tx, grant, client_id=client_id, actor=client_id, reason="revoked")
            else:
                credentials.revoke(tx, token, actor=client_id)

        self.server.change = change


class TokenIntrospection(IntrospectionEndpoint):
    """Describes a client's own live tokens (RFC 7662); the response to any other token is `{"active": false}`."""

    CLIENT_AUTH_METHODS = ACCEPTED_AUTH_METHODS

    def check_params(self, request: OAuth2Request, client: Any) -> None:
        _require_token(request)

    def query_token(self, token_string: str, token_type_hint: str | None) -> Any:
        return self.server.query_any_token(token_string)

    def check_permission(self, token: AccessToken | RefreshTokenWithGrant, client: Any, request: OAuth2Request) -> bool:
        if token.client_id != client.client_id:
            return False
        if isinstance(token, RefreshTokenWithGrant):
            return self.server.refreshing.is_live(self.server.tx, token.row)
        return self.server.credentials.is_live(self.server.tx, token)

    def create_introspection_payload(self, token: AccessToken | RefreshTokenWithGrant | None) -> dict[str, Any]:
        if isinstance(token, RefreshTokenWithGrant):
            return token.describe()
        return _described(token, self.server.credentials.issuer) if token else {"active": False}


def _described(token: AccessToken, issuer: str) -> dict[str, Any]:
    """The introspection response for a live access token (RFC 7662 §2.2)."""
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


def _require_token(request: OAuth2Request) -> None:
    if not request.form.get("token"):
        raise OAuth2Error(error="invalid_request", description="The parameter token is missing.")
