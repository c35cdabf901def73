"""Codes and refresh tokens at the token endpoint, by Authlib's machinery (RFC 6749 §4.1.3, §6; RFC 7636)."""
# pyright: basic, reportAttributeAccessIssue=false, reportIncompatibleVariableOverride=false
# pyright: reportOptionalMemberAccess=false, reportArgumentType=false
# Authlib ships no types; see docs/decisions/0006-authlib.md.

from dataclasses import dataclass
from typing import Any

from authlib.oauth2.rfc6749 import InvalidRequestError, TokenEndpointMixin, UnauthorizedClientError
from authlib.oauth2.rfc6749.grants import BaseGrant

from negotiator import values
from negotiator.tokens.clients import CODE, REFRESH, RegisteredClient
from negotiator.tokens.flow import authorizations
from negotiator.tokens.flow.authorizations import Presented
from negotiator.tokens.flow.identity import SignedIn
from negotiator.tokens.flow.refreshing import NewRefreshToken, Refreshing
from negotiator.tokens.flow.tables import Authorization
from negotiator.tokens.standard.endpoints import METHODS
from negotiator.tokens.standard.grants import ScopedGrant


@dataclass(frozen=True, slots=True)
class Flow:
    """What the two grants share. `pepper` keys the digests of codes."""

    pepper: bytes
    refreshing: Refreshing

    def grants(self) -> list[type[BaseGrant]]:
        """The grant classes, for one request's server."""
        return [_code(self), _refresh(self)]


class _FlowGrant(ScopedGrant, BaseGrant, TokenEndpointMixin):
    TOKEN_ENDPOINT_AUTH_METHODS = [*METHODS, "none"]  # noqa: RUF012  Authlib reads it as it is

    def authenticated(self) -> Any:
        """The client, if it may use this grant."""
        client = self.request.client = self.authenticate_token_endpoint_client()
        if not client.check_grant_type(self.GRANT_TYPE):
            raise UnauthorizedClientError("This client may not use this grant.")
        return client

    def needed(self, name: str) -> str:
        """A parameter that must be there."""
        value = self.request.form.get(name)
        if not value:
            raise InvalidRequestError(f"The parameter {name} is missing.")
        return value

    def kept_key(self) -> str | None:
        """The key that refresh tokens are bound to: a client that has a secret proves itself by that (RFC 9449 §5)."""
        return self.server.key if self.request.client.is_public else None

    def answer(self, grant: Authorization, scope: str, following: NewRefreshToken | None) -> Any:
        """The token response; who signed in is kept for whoever signs the ID token. An agent signs nobody in."""
        token = self.generate_token(
            user=authorizations.subject(grant), scope=scope, include_refresh_token=False
        )
        self.save_token(token)
        if following is not None:
            token["refresh_token"] = following.text
        client = self.request.client
        if isinstance(client, RegisteredClient):
            signing = client.row.id_token_alg
            self.server.signed_in = SignedIn(grant, signing, self.GRANT_TYPE == REFRESH)
        return 200, token, self.TOKEN_RESPONSE_HEADER


def _code(flow: Flow) -> type[BaseGrant]:
    class AuthorizationCode(_FlowGrant):
        GRANT_TYPE = CODE

        def validate_token_request(self) -> None:
            client = self.authenticated()
            presented = Presented(
                self.needed("code"),
                client.client_id,
                self.needed("redirect_uri"),
                self.needed("code_verifier"),
                self.server.key,
            )
            # A document that a client is known by may have changed since the user was asked.
            if not client.check_redirect_uri(presented.redirect_uri):
                raise authorizations.refuse("The redirect URI is not the client's any more.")
            self.found = authorizations.redeem(self.server.tx, presented, pepper=flow.pepper)

        def create_token_response(self) -> Any:
            tx, found = self.server.tx, self.found
            until = values.now() + self.server.life * 1000
            authorizations.prolong(tx, found.id, until=until)
            refreshes = self.request.client.check_grant_type(REFRESH)
            key = self.kept_key()
            following = (
                flow.refreshing.issue(tx, found.id, granted_at=found.created_at, key=key)
                if refreshes
                else None
            )
            return self.answer(found, found.scope, following)

    return AuthorizationCode


def _refresh(flow: Flow) -> type[BaseGrant]:
    class Refresh(_FlowGrant):
        GRANT_TYPE = REFRESH

        def validate_token_request(self) -> None:
            client, tx = self.authenticated(), self.server.tx
            self.found, self.following = flow.refreshing.rotate(
                tx,
                self.needed("refresh_token"),
                client_id=client.client_id,
                key=self.kept_key(),
            )
            self.request.scope = self.narrow(self.request.payload.scope, self.found.scope.split())

        def create_token_response(self) -> Any:
            return self.answer(self.found, self.request.scope, self.following)

    return Refresh
