"""An Authlib authorization server over one read of the store.

One server object serves one request. It authenticates the client and validates the request while it reads, and gives a
unit that changes what the request asks for. The unit confirms first what was read about the client; Authlib takes no
part in it. Authlib returns its errors as responses; this adapter raises them.
"""
# pyright: basic, reportAttributeAccessIssue=false, reportIncompatibleVariableOverride=false
# pyright: reportOptionalMemberAccess=false, reportOptionalOperand=false, reportArgumentType=false
# pyright: reportOperatorIssue=false
# Authlib ships no types; see docs/decisions/0006-authlib.md.

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn, TypeVar

from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import AuthorizationServer, OAuth2Request
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload

from negotiator import audit
from negotiator.base.errors import Refusal
from negotiator.base.scopes import ordered
from negotiator.runtime.telemetry import logger
from negotiator.store.statement import Transaction
from negotiator.tokens import client_authentication, clients
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
from negotiator.tokens.authlib_endpoints import (
    PublicTokenHolder,
    RefreshTokenWithGrant,
    TokenIntrospection,
    TokenRevocation,
)
from negotiator.tokens.client_authentication import ClientAssertion, ClientAuthenticationFailed
from negotiator.tokens.clients import (
    AGENT_ID_PREFIX,
    JWT_TOKEN_TYPE,
    REFRESH_TOKEN,
    AgentClient,
    ApiKeyClient,
    RegisteredClient,
)
from negotiator.tokens.id_tokens import IdTokenContent
from negotiator.tokens.refresh_tokens import NewRefreshToken, RefreshTokens
from negotiator.tokens.tables import AccessToken
from negotiator.trust.claims import AssertionRefused, Reason

log = logger(__name__)
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class StoredGrant:
    """What a unit of the token endpoint stored; `signed_in` is the content of an ID token of the code flow."""

    token: NewToken
    refresh_token: NewRefreshToken | None = None
    signed_in: IdTokenContent | None = None


StoreGrant = Callable[[Transaction], StoredGrant]
Change = Callable[[Transaction], None]


class TokenEndpointRequest(OAuth2Request):
    """A POST of a form to an OAuth endpoint. The URL is a constant with https, which Authlib requires."""

    def __init__(self, form: Mapping[str, str], authorization: str | None) -> None:
        headers = {"Authorization": authorization} if authorization else {}
        super().__init__("POST", "https://localhost/oauth", headers=headers)
        self.payload = BasicOAuth2Payload(dict(form))

    @property
    def form(self) -> dict[str, str]:
        return self.payload.data


class TokenServer(AuthorizationServer):
    """Authlib's server over one read, for one request.

    `known` is a client without a row, whose metadata document was fetched before, `presented` the verified ID-JAG of
    the request. `key` is the thumbprint of the key that the client has proven to hold (RFC 9449). `life` is the
    lifetime of a new access token in seconds. `change` is what an endpoint other than the token endpoint will change.
    """

    def __init__(
        self,
        tx: Transaction,
        credentials: AccessTokens,
        keys: ApiKeyAuthenticator,
        *,
        refreshing: RefreshTokens,
        pepper: bytes,
        life: int,
        address: str,
        known: RegisteredClient | None = None,
        presented: PresentedAssertion | None = None,
        key: str | None = None,
    ) -> None:
        super().__init__()
        self.tx = tx
        self.credentials = credentials
        self.keys = keys
        self._wants_jwt = False
        self._refreshes = False
        self._resource: str | None = None
        self.refreshing = refreshing
        self.pepper = pepper
        self.presented = presented
        self.address = address
        self.life = life
        self.key = key
        self.offered = credentials.offered
        self.change: Change | None = None
        self._known = known
        self._assertion: ClientAssertion | None = None
        self.register_client_auth_method("possession", self._by_possession)
        self.register_client_auth_method(clients.PRIVATE_KEY_JWT, self._by_key)

    def query_client(self, client_id: str) -> RegisteredClient | ApiKeyClient | AgentClient:
        if self._known is not None and self._known.client_id == client_id:
            return self._known
        row = clients.find(self.tx, client_id)
        if row:
            return RegisteredClient(row)
        if self._refreshes and client_id.startswith(AGENT_ID_PREFIX):
            return AgentClient(client_id)
        return ApiKeyClient(self.tx, self.keys, client_id, address=self.address)

    def query_any_token(self, text: str) -> AccessToken | RefreshTokenWithGrant | None:
        """The row of an access token or a refresh token, live or not; None for any other text."""
        found = self.credentials.find(self.tx, text)
        if found is not None:
            return found
        renewing = self.refreshing.find(self.tx, text)
        return RefreshTokenWithGrant(*renewing) if renewing else None

    def make(self, client: Any, scope: str, user: TokenSubject | None = None) -> NewToken:
        """A token for these scopes; the client acts for itself unless a `user` is given."""
        subject, typ = user or TokenSubject(client.client_id), ACCESS_TOKEN_TYPE
        if isinstance(client, ApiKeyClient):
            subject, typ = client.subject, ACCESS_TOKEN_TYPE if self._wants_jwt else OPAQUE
        base, asked = self.credentials.issuer, self._resource
        resource = narrow_resources(subject.resource, asked, base=base)
        if subject.key != self.key or subject.resource != resource:
            subject = replace(subject, key=self.key, resource=resource)
        return self.credentials.make(subject, ordered(scope.split()), life=self.life, typ=typ)

    def record(self, tx: Transaction, token: NewToken) -> None:
        """Store a new token."""
        self.credentials.record(tx, token)
        audit.record(
            tx, "token.issued", token.subject.client_id, actor=self.address, jti=token.jti, scope=" ".join(token.scopes)
        )

    def create_oauth2_request(self, request: TokenEndpointRequest) -> TokenEndpointRequest:
        return request

    def handle_response(self, status: int, body: Any, headers: Any) -> Any:
        return body

    def handle_error_response(self, request: OAuth2Request, error: OAuth2Error) -> NoReturn:
        raise _refusal(error)

    def send_signal(self, name: str, *args: Any, **kwargs: Any) -> None:
        return None

    def token(self, request: TokenEndpointRequest) -> StoreGrant:
        """The unit that stores what the request is granted; raises a `Refusal` for an error."""
        self._wants_jwt = request.form.get("requested_token_type") == JWT_TOKEN_TYPE
        self._refreshes = request.form.get("grant_type") == REFRESH_TOKEN
        self._resource = request.form.get("resource")
        redeem = self.create_token_response(request)
        return self._after_confirmation(request.client, redeem)

    def act(
        self, endpoint: "type[TokenRevocation | TokenIntrospection]", request: TokenEndpointRequest
    ) -> tuple[Any, Change | None]:
        """The response of the revocation or introspection endpoint, and its unit, if there is anything to change.

        Raises a `Refusal` for an error.
        """
        self.register_endpoint(endpoint)
        body = self.create_endpoint_response(endpoint.ENDPOINT_NAME, request)
        client, change = request.client, self.change
        key_used = isinstance(client, ApiKeyClient) and client.is_use_due
        if change is None and self._assertion is None and not key_used:
            return body, None
        return body, self._after_confirmation(client, change or (lambda _tx: None))

    def _after_confirmation(
        self, client: Any, change: Callable[[Transaction], Result]
    ) -> Callable[[Transaction], Result]:
        """A unit that confirms first what was read about the client, and uses up its assertion."""
        assertion = self._assertion

        def unit(tx: Transaction) -> Result:
            client.confirm(tx)
            if assertion is not None and not assertion.use(tx):
                raise ClientAuthenticationFailed
            return change(tx)

        return unit

    def _by_key(self, _query: Any, request: TokenEndpointRequest) -> Any:
        """Authenticate a client by the assertion that it signed (RFC 7523 §2.2); None when that fails."""
        client_id = client_authentication.claimed_client_id(request.form)
        client = self.query_client(client_id) if client_id else None
        if not isinstance(client, RegisteredClient) or client.row.jwks is None:
            return None
        try:
            assertion = client_authentication.verify_client_assertion(
                request.form["client_assertion"],
                client_id=client.client_id,
                jwks=client.row.jwks,
                audience=self.credentials.issuer,
            )
            if assertion.is_used(self.tx):
                raise AssertionRefused(Reason.REPLAY, "The assertion was used before.")
        except AssertionRefused as refused:
            # Authlib answers every failed authentication alike; the log has the reason.
            log.info("client refused", client_id=client_id, detail=f"{refused} {refused.detail}")
            return None
        self._assertion = assertion
        return client

    def _by_possession(self, _query: Any, request: TokenEndpointRequest) -> Any:
        """Accept possession of the token in place of authentication, for tokens of public clients (RFC 7009 §2.1)."""
        if "Authorization" in request.headers or "client_secret" in request.form:
            return None
        token = self.query_any_token(request.form.get("token", ""))
        row = clients.find(self.tx, token.client_id) if token is not None else None
        if row is not None and not RegisteredClient(row).is_public:
            return None
        return PublicTokenHolder(token.client_id if token else "")


def _refusal(error: OAuth2Error) -> Refusal:
    """Authlib's error as a `Refusal`."""
    name, description = (str(error.error), error.description or "The request was refused.")
    if name == "invalid_client":
        if description.startswith("The client cannot authenticate with methods"):
            return ClientAuthenticationFailed()
        return ClientAuthenticationFailed(description)
    return Refusal(description, error=name)
