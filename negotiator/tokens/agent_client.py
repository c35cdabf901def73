"""A claimed agent at the token endpoint: a public client that may redeem the refresh tokens of its own grants."""
# pyright: reportIncompatibleMethodOverride=false
# Authlib documents what it passes more narrowly than it annotates it.

from typing import Final

from authlib.oauth2.rfc6749 import ClientMixin

from negotiator.tokens.clients import REFRESH

PREFIX: Final = "agt_"


class AgentClient(ClientMixin):
    """Any id of an agent: what it may have is said by the grant behind the refresh token that it shows."""

    is_public = True
    scopes: tuple[str, ...] = ()

    def __init__(self, client_id: str) -> None:
        self.client_id = client_id

    def get_client_id(self) -> str:
        return self.client_id

    def get_default_redirect_uri(self) -> None:
        return None

    def get_allowed_scope(self, scope: str | None) -> str:
        del scope
        return ""

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return False

    def check_client_secret(self, client_secret: str) -> bool:
        """An agent has no secret; one that is sent anyway is wrong."""
        return False

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method == "none"

    def check_response_type(self, response_type: str) -> bool:
        return False

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type == REFRESH
