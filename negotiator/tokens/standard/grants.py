"""The grants that need no browser: a client for itself, and a client with an ID-JAG (RFC 6749 §4.4, RFC 7523 §2.1)."""
# pyright: basic, reportAttributeAccessIssue=false, reportIncompatibleVariableOverride=false
# pyright: reportOptionalMemberAccess=false, reportOptionalOperand=false, reportArgumentType=false
# pyright: reportOperatorIssue=false
# Authlib ships no types; see docs/decisions/0006-authlib.md.

from typing import Any

from authlib.oauth2.rfc6749 import InvalidScopeError, TokenEndpointMixin, UnauthorizedClientError
from authlib.oauth2.rfc6749.grants import BaseGrant, ClientCredentialsGrant

from negotiator.scopes import ordered
from negotiator.tokens.clients import JWT_BEARER
from negotiator.tokens.standard.endpoints import METHODS
from negotiator.tokens.standard.presented import Presented


class ScopedGrant:
    """Refuses scopes beyond what a user, an issuer or an earlier grant gave (RFC 6749 §6)."""

    @staticmethod
    def narrow(asked: str | None, allowed: list[str]) -> str:
        """What was asked for, or all that is allowed; `invalid_scope` for anything else."""
        wanted = asked.split() if asked else allowed
        if not set(wanted) <= set(allowed) or not allowed:
            raise InvalidScopeError("A scope was asked for that cannot be granted.")
        return " ".join(ordered(wanted))


class ClientCredentials(ClientCredentialsGrant):
    """RFC 6749 §4.4: the client acts for itself."""

    TOKEN_ENDPOINT_AUTH_METHODS = METHODS

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


def assertion_grant(presented: Presented) -> type[BaseGrant]:
    """RFC 7523 §2.1 with an ID-JAG: the client acts for the user whom the assertion names."""

    class AssertionGrant(ScopedGrant, BaseGrant, TokenEndpointMixin):
        GRANT_TYPE = JWT_BEARER
        TOKEN_ENDPOINT_AUTH_METHODS = [*METHODS, "none"]  # noqa: RUF012  a public client is told why

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
