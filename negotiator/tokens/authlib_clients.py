"""Two kinds of clients without a row in `clients`, in the interface that Authlib calls at the token endpoint.

`confirm` checks in the unit that stores a token what was read before it.

An agent is a public client that may redeem the refresh tokens of its own grants. A client that holds API keys
authenticates with any live key as its secret.
"""

# pyright: reportIncompatibleMethodOverride=false
# Authlib's annotations allow more types than the values that it documents.

from typing import Final

from authlib.oauth2.rfc6749 import ClientMixin

from negotiator.base.scopes import ordered
from negotiator.store.statement import Transaction
from negotiator.tokens import api_key_queries
from negotiator.tokens.access_tokens import TokenSubject
from negotiator.tokens.authenticator import ApiKeyAuthenticator, LiveApiKey, is_use_due
from negotiator.tokens.client_authentication import ClientAuthenticationFailed
from negotiator.tokens.clients import CLIENT_CREDENTIALS, REFRESH_TOKEN, SECRET_METHODS

AGENT_ID_PREFIX: Final = "agt_"


class AgentClient(ClientMixin):
    """An agent by its id, which is not looked up: the grant of its refresh token determines the scopes."""

    is_public = True
    scopes: tuple[str, ...] = ()

    def __init__(self, client_id: str) -> None:
        self.client_id = client_id

    def confirm(self, tx: Transaction) -> None:
        """Do nothing: the grant is checked in the unit."""

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
        """False, because an agent has no secret."""
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
    """A client that authenticates with an API key; whether it has one is checked when it presents it."""

    def __init__(self, tx: Transaction, keys: ApiKeyAuthenticator, client_id: str, *, address: str) -> None:
        self._tx = tx
        self._address = address
        self._keys = keys
        self._proof: LiveApiKey | None = None
        self.client_id = client_id

    @property
    def scopes(self) -> list[str]:
        """The scopes that the client may request; empty until it has presented a live key."""
        return ordered(self._proof.standing.scopes) if self._proof else []

    @property
    def subject(self) -> TokenSubject:
        """The subject of a token: revoking the client or the presented key ends the token."""
        if self._proof is None:
            raise AssertionError("a token for a client that has shown no key")
        return TokenSubject(self.client_id, identity=api_key_queries.key_identity(self._proof.row.id))

    @property
    def is_use_due(self) -> bool:
        """Whether `confirm` will write that the key was used."""
        return self._proof is not None and is_use_due(self._proof)

    def confirm(self, tx: Transaction) -> None:
        """Record that the key was used; `ClientAuthenticationFailed` if it is not live any more or opens less."""
        before = self._proof
        now = before and self._keys.confirm(tx, before, self._address)
        if before is None or now is None or not before.standing.scopes <= now.standing.scopes:
            raise ClientAuthenticationFailed

    def get_client_id(self) -> str:
        return self.client_id

    def get_default_redirect_uri(self) -> None:
        return None

    def get_allowed_scope(self, scope: str | None) -> str:
        """Those requested scopes that the client may have; all of its scopes when none is requested."""
        asked = scope.split() if scope else self.scopes
        return " ".join(name for name in self.scopes if name in asked)

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return False

    def check_client_secret(self, client_secret: str) -> bool:
        """Whether the secret is a live API key of this client."""
        found = self._keys.live(self._tx, client_secret)
        self._proof = found if found and found.row.client_id == self.client_id else None
        return self._proof is not None

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method in SECRET_METHODS

    def check_response_type(self, response_type: str) -> bool:
        return False

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type == CLIENT_CREDENTIALS
