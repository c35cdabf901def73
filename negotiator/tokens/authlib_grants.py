"""The grants of the token endpoint as Authlib classes.

They are client credentials (RFC 6749 §4.4), an ID-JAG (RFC 7523 §2.1), authorization codes (RFC 6749 §4.1.3,
RFC 7636) and refresh tokens (RFC 6749 §6).
"""

# pyright: basic, reportAttributeAccessIssue=false, reportIncompatibleVariableOverride=false
# pyright: reportOptionalMemberAccess=false, reportOptionalOperand=false, reportArgumentType=false
# pyright: reportOperatorIssue=false
# Authlib ships no types; see docs/decisions/0006-authlib.md.

from dataclasses import dataclass
from typing import Any

from authlib.oauth2.rfc6749 import (
    InvalidRequestError,
    InvalidScopeError,
    TokenEndpointMixin,
    UnauthorizedClientError,
)
from authlib.oauth2.rfc6749.grants import BaseGrant, ClientCredentialsGrant

from negotiator import values
from negotiator.scopes import ordered
from negotiator.tokens import authorization_codes
from negotiator.tokens.assertion_grants import PresentedAssertion
from negotiator.tokens.authlib_endpoints import ACCEPTED_AUTH_METHODS
from negotiator.tokens.authorization_codes import PresentedCode
from negotiator.tokens.clients import (
    AUTHORIZATION_CODE,
    JWT_BEARER,
    REFRESH_TOKEN,
    RegisteredClient,
)
from negotiator.tokens.id_tokens import IdTokenContent
from negotiator.tokens.refresh_tokens import NewRefreshToken, RefreshTokens
from negotiator.tokens.tables import AuthorizationGrant


class ScopedGrant:
    """Refuses scopes beyond those that a user, an issuer or an earlier grant allows (RFC 6749 §6)."""

    @staticmethod
    def narrow(asked: str | None, allowed: list[str]) -> str:
        """The requested scopes, or all allowed ones when none is requested; `invalid_scope` for any other scope."""
        wanted = asked.split() if asked else allowed
        if not set(wanted) <= set(allowed) or not allowed:
            raise InvalidScopeError("A scope was asked for that cannot be granted.")
        return " ".join(ordered(wanted))


class ScopedClientCredentialsGrant(ClientCredentialsGrant):
    """The client credentials grant (RFC 6749 §4.4): the client acts for itself."""

    TOKEN_ENDPOINT_AUTH_METHODS = ACCEPTED_AUTH_METHODS

    def validate_requested_scope(self) -> None:
        """Grant the requested scopes that the client may have (RFC 6749 §3.3); `invalid_scope` when it may have none.

        The MCP SDKs request every scope of the challenge, whatever the client was given.
        """
        allowed = [name for name in self.request.client.scopes if name in self.server.offered]
        asked = (self.request.payload.scope or "").split() or allowed
        granted = ordered(set(asked) & set(allowed))
        if not granted:
            raise InvalidScopeError("The client may have none of these scopes.")
        self.request.payload.data["scope"] = " ".join(granted)


def assertion_grant(presented: PresentedAssertion) -> type[BaseGrant]:
    """A grant class (RFC 7523 §2.1) for one request with an ID-JAG: the client acts for the user that it names."""

    class AssertionGrant(ScopedGrant, BaseGrant, TokenEndpointMixin):
        GRANT_TYPE = JWT_BEARER
        TOKEN_ENDPOINT_AUTH_METHODS = [*ACCEPTED_AUTH_METHODS, "none"]  # noqa: RUF012  so that a public client gets an error that names the reason

        def validate_token_request(self) -> None:
            client = self.request.client = self.authenticate_token_endpoint_client()
            if not client.check_grant_type(self.GRANT_TYPE):
                raise UnauthorizedClientError("This client may not use this grant.")
            self.request.user, allowed = presented.admit(self.server.tx, client.client_id)
            own = client.row.scope.split()
            self.request.scope = self.narrow(
                self.request.payload.scope, [name for name in allowed if name in own]
            )

        def create_token_response(self) -> tuple[int, dict[str, Any], Any]:
            token = self.generate_token(
                user=self.request.user,
                scope=self.request.scope,
                include_refresh_token=False,
            )
            self.save_token(token)
            return 200, token, self.TOKEN_RESPONSE_HEADER

    return AssertionGrant


@dataclass(frozen=True, slots=True)
class CodeFlowGrants:
    """Builds the grants of the code flow. `pepper` keys the digests of codes."""

    pepper: bytes
    refreshing: RefreshTokens

    def grants(self) -> list[type[BaseGrant]]:
        """New grant classes for authorization codes and refresh tokens, for the server of one request."""
        return [_code(self), _refresh(self)]


class _FlowGrant(ScopedGrant, BaseGrant, TokenEndpointMixin):
    TOKEN_ENDPOINT_AUTH_METHODS = [*ACCEPTED_AUTH_METHODS, "none"]  # noqa: RUF012  Authlib reads this attribute

    def authenticated(self) -> Any:
        """The authenticated client; `unauthorized_client` when it may not use this grant."""
        client = self.request.client = self.authenticate_token_endpoint_client()
        if not client.check_grant_type(self.GRANT_TYPE):
            raise UnauthorizedClientError("This client may not use this grant.")
        return client

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

    def answer(
        self, grant: AuthorizationGrant, scope: str, following: NewRefreshToken | None
    ) -> Any:
        """The token response; for a client other than an agent, `server.signed_in` gets the ID token's content."""
        token = self.generate_token(
            user=authorization_codes.subject(grant), scope=scope, include_refresh_token=False
        )
        self.save_token(token)
        if following is not None:
            token["refresh_token"] = following.text
        client = self.request.client
        if isinstance(client, RegisteredClient):
            signing = client.row.id_token_alg
            self.server.signed_in = IdTokenContent(grant, signing, self.GRANT_TYPE == REFRESH_TOKEN)
        return 200, token, self.TOKEN_RESPONSE_HEADER


def _code(flow: CodeFlowGrants) -> type[BaseGrant]:
    class AuthorizationCode(_FlowGrant):
        GRANT_TYPE = AUTHORIZATION_CODE

        def validate_token_request(self) -> None:
            client = self.authenticated()
            presented = PresentedCode(
                self.needed("code"),
                client.client_id,
                self.needed("redirect_uri"),
                self.needed("code_verifier"),
                self.server.key,
            )
            # The client's metadata document may have changed since the user granted access.
            if not client.check_redirect_uri(presented.redirect_uri):
                raise authorization_codes.invalid_grant_refusal(
                    "The redirect URI is not the client's any more."
                )
            self.found = authorization_codes.redeem(self.server.tx, presented, pepper=flow.pepper)

        def create_token_response(self) -> Any:
            tx, found = self.server.tx, self.found
            until = values.now() + self.server.life * 1000
            authorization_codes.extend(tx, found.id, until=until)
            refreshes = self.request.client.check_grant_type(REFRESH_TOKEN)
            key = self.bound_key()
            following = (
                flow.refreshing.issue(tx, found.id, granted_at=found.created_at, key=key)
                if refreshes
                else None
            )
            return self.answer(found, found.scope, following)

    return AuthorizationCode


def _refresh(flow: CodeFlowGrants) -> type[BaseGrant]:
    class Refresh(_FlowGrant):
        GRANT_TYPE = REFRESH_TOKEN

        def validate_token_request(self) -> None:
            client, tx = self.authenticated(), self.server.tx
            self.found, self.following = flow.refreshing.rotate(
                tx,
                self.needed("refresh_token"),
                client_id=client.client_id,
                key=self.bound_key(),
            )
            self.request.scope = self.narrow(self.request.payload.scope, self.found.scope.split())

        def create_token_response(self) -> Any:
            return self.answer(self.found, self.request.scope, self.following)

    return Refresh
