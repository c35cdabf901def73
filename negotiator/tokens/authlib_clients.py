"""A claimed agent at the token endpoint: a public client that may redeem the refresh tokens of its own grants.

A holder of API keys at the token endpoint, as Authlib wants to see a client: any live key is its secret.
"""

# pyright: reportIncompatibleMethodOverride=false
# Authlib documents what it passes more narrowly than it annotates it.

from typing import Final

from authlib.oauth2.rfc6749 import ClientMixin

from negotiator.scopes import ordered
from negotiator.store.statement import Transaction
from negotiator.tokens import api_key_queries
from negotiator.tokens.access_tokens import TokenSubject
from negotiator.tokens.authenticator import ApiKeyAuthenticator, LiveApiKey
from negotiator.tokens.clients import REFRESH_TOKEN, SECRET_METHODS

AGENT_ID_PREFIX: Final = "agt_"


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
        return grant_type == REFRESH_TOKEN


JWT_TOKEN_TYPE: Final = "urn:ietf:params:oauth:token-type:jwt"  # noqa: S105
TOKEN_TYPES: Final = (JWT_TOKEN_TYPE, "urn:ietf:params:oauth:token-type:access_token")


class ApiKeyClient(ClientMixin):
    """A client id that may hold keys; whether it does shows when one is presented."""

    def __init__(
        self, tx: Transaction, keys: ApiKeyAuthenticator, client_id: str, *, address: str
    ) -> None:
        self._tx = tx
        self._address = address
        self._keys = keys
        self._proof: LiveApiKey | None = None
        self.client_id = client_id

    @property
    def scopes(self) -> list[str]:
        """What the client may ask for; nothing before it has shown a key."""
        return ordered(self._proof.standing.scopes) if self._proof else []

    @property
    def subject(self) -> TokenSubject:
        """Whom a token is for: it stands on the client and on the key it was got with."""
        if self._proof is None:
            raise AssertionError("a token for a client that has shown no key")
        return TokenSubject(
            self.client_id, identity=api_key_queries.key_identity(self._proof.row.id)
        )

    def get_client_id(self) -> str:
        return self.client_id

    def get_default_redirect_uri(self) -> None:
        return None

    def get_allowed_scope(self, scope: str | None) -> str:
        """The client's own scopes, cut to those asked for."""
        asked = scope.split() if scope else self.scopes
        return " ".join(name for name in self.scopes if name in asked)

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return False

    def check_client_secret(self, client_secret: str) -> bool:
        """Whether this is a live key of this very client."""
        found = self._keys.admit(self._tx, client_secret, self._address)
        self._proof = found if found and found.row.client_id == self.client_id else None
        return self._proof is not None

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method in SECRET_METHODS

    def check_response_type(self, response_type: str) -> bool:
        return False

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type == "client_credentials"
