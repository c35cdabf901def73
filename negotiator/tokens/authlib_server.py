"""One request at the standard OAuth endpoints: who sends it, by Authlib's client authentication, and its tokens.

One object serves one request over one read of the store. It authenticates the client and validates the request while it
reads; `token_grants` gives units that change what the request asks for. A unit confirms first what was read about the
client; Authlib takes no part in it.
"""
# Authlib ships no types; see docs/decisions/0006-authlib.md.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from authlib.oauth2.rfc6749 import InvalidClientError
from authlib.oauth2.rfc6749.authenticate_client import ClientAuthentication
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload

from negotiator.base.scopes import ordered
from negotiator.store import audit
from negotiator.store.statement import Transaction
from negotiator.tokens import clients
from negotiator.tokens.access_tokens import (
    ACCESS_TOKEN_TYPE,
    OPAQUE,
    AccessTokens,
    NewToken,
    TokenSubject,
    narrow_resources,
)
from negotiator.tokens.api_keys import ApiKeyAuthenticator
from negotiator.tokens.assertion_grants import PresentedAssertion
from negotiator.tokens.client_authentication import ClientAssertion, ClientAuthenticationFailed
from negotiator.tokens.clients import (
    AGENT_ID_PREFIX,
    JWT_TOKEN_TYPE,
    REFRESH_TOKEN,
    AgentClient,
    ApiKeyClient,
    PublicTokenHolder,
    RegisteredClient,
)
from negotiator.tokens.refresh_tokens import RefreshTokens
from negotiator.tokens.tables import AccessToken, AuthorizationGrant, RefreshToken

Result = TypeVar("Result")

ACCEPTED_AUTH_METHODS: Final = (*clients.SECRET_METHODS, clients.PRIVATE_KEY_JWT)
POSSESSION: Final = "possession"
"""In place of authentication: to have the token of a public client is enough to revoke it."""
TokenClient = RegisteredClient | ApiKeyClient | AgentClient
StoredToken = AccessToken | tuple[RefreshToken, AuthorizationGrant]


def holder_of(token: StoredToken) -> str:
    """The id of the client that holds the token."""
    return token[1].client_id if isinstance(token, tuple) else token.client_id


class TokenServer:
    """One request with this form and `Authorization` header.

    `known` is a client that was looked up before, `proof` its verified assertion and `presented` the verified ID-JAG of
    the request. `key` is the thumbprint of the key that the client has proven to hold (RFC 9449). `life` is the
    lifetime of a new access token in seconds. `sender` names the address and the program of the request.
    """

    def __init__(
        self,
        tx: Transaction,
        form: Mapping[str, str],
        authorization: str | None,
        credentials: AccessTokens,
        keys: ApiKeyAuthenticator,
        *,
        refreshing: RefreshTokens,
        pepper: bytes,
        life: int,
        address: str,
        sender: str,
        known: RegisteredClient | None = None,
        proof: ClientAssertion | None = None,
        presented: PresentedAssertion | None = None,
        key: str | None = None,
    ) -> None:
        self.tx = tx
        self.form = dict(form)
        self.credentials = credentials
        self.refreshing = refreshing
        self.pepper = pepper
        self.presented = presented
        self.life = life
        self.key = key
        self._keys = keys
        self._address = address
        self.sender = sender
        self._known = known
        self._proof = proof
        self._assertion: ClientAssertion | None = None
        # What Authlib reads beside `form`.
        self.headers = {"Authorization": authorization} if authorization else {}
        self.payload: Any = BasicOAuth2Payload(self.form)
        find_client: Any = self._find_client
        self._authentication: Any = ClientAuthentication(find_client)
        self._authentication.register(POSSESSION, self._by_possession)
        self._authentication.register(clients.PRIVATE_KEY_JWT, self._by_key)

    def authenticated(self, methods: Sequence[str], endpoint: str = "token") -> Any:
        """The client of the request, authenticated by one of these methods; raises `ClientAuthenticationFailed`."""
        try:
            return self._authentication(self, list(methods), endpoint)
        except InvalidClientError:
            raise ClientAuthenticationFailed from None

    def find_token(self, text: str) -> StoredToken | None:
        """The row of an access token, or of a refresh token with its grant, live or not; None for any other text."""
        return self.credentials.find(self.tx, text) or self.refreshing.find(self.tx, text)

    def make(self, client: TokenClient, scope: str, user: TokenSubject | None = None) -> NewToken:
        """A token for these scopes; the client acts for itself unless a `user` is given."""
        subject, typ = user or TokenSubject(client.client_id), ACCESS_TOKEN_TYPE
        if isinstance(client, ApiKeyClient):
            wants_jwt = self.form.get("requested_token_type") == JWT_TOKEN_TYPE
            subject, typ = client.subject, ACCESS_TOKEN_TYPE if wants_jwt else OPAQUE
        resource = narrow_resources(subject.resource, self.form.get("resource"), base=self.credentials.issuer)
        if subject.key != self.key or subject.resource != resource:
            subject = replace(subject, key=self.key, resource=resource)
        return self.credentials.make(subject, ordered(scope.split()), life=self.life, typ=typ)

    def record(self, tx: Transaction, token: NewToken) -> None:
        """Store a new token."""
        self.credentials.record(tx, token)
        scope, client_id = " ".join(token.scopes), token.subject.client_id
        audit.record(tx, "token.issued", client_id, actor=self._address, jti=token.jti, scope=scope)

    def after_confirmation(
        self, client: TokenClient | PublicTokenHolder, change: Callable[[Transaction], Result]
    ) -> Callable[[Transaction], Result]:
        """A unit that confirms first what was read about the client, and uses up its assertion."""
        assertion = self._assertion

        def unit(tx: Transaction) -> Result:
            client.confirm(tx)
            if assertion is not None and not assertion.use(tx):
                raise ClientAuthenticationFailed
            return change(tx)

        return unit

    def has_to_confirm(self, client: TokenClient | PublicTokenHolder) -> bool:
        """Whether the authentication itself changes something: an assertion or the use of a key."""
        return self._assertion is not None or (isinstance(client, ApiKeyClient) and client.is_use_due)

    def _find_client(self, client_id: str) -> TokenClient:
        if self._known is not None and self._known.client_id == client_id:
            return self._known
        row = clients.find(self.tx, client_id)
        if row:
            return RegisteredClient(row)
        if self.form.get("grant_type") == REFRESH_TOKEN and client_id.startswith(AGENT_ID_PREFIX):
            return AgentClient(client_id)
        return ApiKeyClient(self.tx, self._keys, client_id, address=self._address)

    def _by_key(self, _query: Any, _request: Any) -> RegisteredClient | None:
        """Authenticate a client by the assertion that it signed (RFC 7523 §2.2); None when that fails."""
        if self._proof is None or self._proof.is_used(self.tx):
            return None
        self._assertion = self._proof
        return self._known

    def _by_possession(self, _query: Any, _request: Any) -> PublicTokenHolder | None:
        """Accept possession of the token in place of authentication, for tokens of public clients (RFC 7009 §2.1)."""
        if self.headers or "client_secret" in self.form:
            return None
        token = self.find_token(self.form.get("token", ""))
        row = clients.find(self.tx, holder_of(token)) if token is not None else None
        if row is not None and not RegisteredClient(row).is_public:
            return None
        return PublicTokenHolder(holder_of(token) if token else "")
