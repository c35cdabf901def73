"""A holder of API keys at the token endpoint, as Authlib wants to see a client: any live key is its secret."""
# pyright: reportIncompatibleMethodOverride=false
# Authlib documents what it passes more narrowly than it annotates it.

from typing import Final

from authlib.oauth2.rfc6749 import ClientMixin

from negotiator.scopes import ordered
from negotiator.store.statement import Transaction
from negotiator.tokens.api_keys import rows
from negotiator.tokens.api_keys.believing import ApiKeys, LiveKey
from negotiator.tokens.clients import SECRET_METHODS
from negotiator.tokens.issued import Subject

JWT: Final = "urn:ietf:params:oauth:token-type:jwt"
TOKEN_TYPES: Final = (JWT, "urn:ietf:params:oauth:token-type:access_token")


class KeyHolder(ClientMixin):
    """A client id that may hold keys; whether it does shows when one is presented."""

    def __init__(self, tx: Transaction, keys: ApiKeys, client_id: str, *, address: str) -> None:
        self._tx = tx
        self._address = address
        self._keys = keys
        self._proof: LiveKey | None = None
        self.client_id = client_id

    @property
    def scopes(self) -> list[str]:
        """What the client may ask for; nothing before it has shown a key."""
        return ordered(self._proof.standing.scopes) if self._proof else []

    @property
    def subject(self) -> Subject:
        """Whom a token is for: it stands on the client and on the key it was got with."""
        if self._proof is None:
            raise AssertionError("a token for a client that has shown no key")
        return Subject(self.client_id, identity=rows.identity(self._proof.row.id))

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
