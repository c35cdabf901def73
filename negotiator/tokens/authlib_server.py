"""An Authlib authorization server over one transaction.

Authlib's server is synchronous, as is a unit of the store: one server object serves one request inside one
transaction. Authlib returns its errors as responses; this adapter raises them, so that the transaction is undone.
"""
# pyright: basic, reportAttributeAccessIssue=false, reportIncompatibleVariableOverride=false
# pyright: reportOptionalMemberAccess=false, reportOptionalOperand=false, reportArgumentType=false
# pyright: reportOperatorIssue=false
# Authlib ships no types; see docs/decisions/0006-authlib.md.

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NoReturn

from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import AuthorizationServer, OAuth2Payload, OAuth2Request

from negotiator import audit
from negotiator.errors import Refusal, Unauthorized
from negotiator.scopes import ordered
from negotiator.store.statement import Transaction
from negotiator.telemetry import logger
from negotiator.tokens import client_authentication, clients
from negotiator.tokens.access_tokens import (
    AccessTokens,
    IssuedToken,
    TokenSubject,
    narrow_resources,
)
from negotiator.tokens.authenticator import ApiKeyAuthenticator
from negotiator.tokens.authlib_clients import (
    AGENT_ID_PREFIX,
    JWT_TOKEN_TYPE,
    AgentClient,
    ApiKeyClient,
)
from negotiator.tokens.authlib_endpoints import (
    PublicTokenHolder,
    RefreshTokenWithGrant,
    TokenIntrospection,
    TokenRevocation,
)
from negotiator.tokens.clients import REFRESH_TOKEN, RegisteredClient
from negotiator.tokens.id_tokens import IdTokenContent
from negotiator.tokens.refresh_tokens import RefreshTokens
from negotiator.tokens.tables import AccessToken
from negotiator.trust.claims import AssertionRefused

log = logger(__name__)


class FormPayload(OAuth2Payload):
    """The form of a request, in the interface that Authlib reads."""

    def __init__(self, form: Mapping[str, str]) -> None:
        self._form = dict(form)

    @property
    def data(self) -> dict[str, str]:
        return self._form

    @property
    def datalist(self) -> Any:
        return {name: [value] for name, value in self._form.items()}


class TokenEndpointRequest(OAuth2Request):
    """A POST of a form to an OAuth endpoint. The URL is a constant with https, which Authlib requires."""

    def __init__(self, form: Mapping[str, str], authorization: str | None) -> None:
        headers = {"Authorization": authorization} if authorization else {}
        super().__init__("POST", "https://localhost/oauth", headers=headers)
        self.payload = FormPayload(form)
        self._form = dict(form)

    @property
    def args(self) -> dict[str, str]:
        return {}

    @property
    def form(self) -> dict[str, str]:
        return self._form


class TokenServer(AuthorizationServer):
    """Authlib's server over one transaction, for one request.

    `known` is a client without a row, whose metadata document was fetched before the transaction. `signed_in` holds
    the content of the ID token after a grant of the code flow was redeemed. `key` is the thumbprint of the key that
    the client has proven to hold (RFC 9449). `life` is the lifetime of a new access token in seconds.
    """

    def __init__(
        self,
        tx: Transaction,
        credentials: AccessTokens,
        keys: ApiKeyAuthenticator,
        *,
        refreshing: RefreshTokens,
        life: int,
        address: str,
        known: RegisteredClient | None = None,
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
        self.address = address
        self.life = life
        self.key = key
        self.offered = credentials.offered
        self.signed_in: IdTokenContent | None = None
        self._known = known
        self._issued: IssuedToken | None = None
        self.register_token_generator("default", self._generate)
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

    def save_token(self, token: dict[str, Any], request: OAuth2Request) -> None:
        """Store the row of the token that was just generated."""
        issued = self._issued
        if issued is None or issued.text != token["access_token"]:
            raise AssertionError("a token is saved that was not generated here")
        self.credentials.record(self.tx, issued)
        audit.record(
            self.tx,
            "token.issued",
            issued.subject.client_id,
            actor=self.address,
            jti=issued.jti,
            scope=token["scope"],
        )

    def create_oauth2_request(self, request: TokenEndpointRequest) -> TokenEndpointRequest:
        return request

    def handle_response(self, status: int, body: Any, headers: Any) -> Any:
        return body

    def handle_error_response(self, request: OAuth2Request, error: OAuth2Error) -> NoReturn:
        raise _refusal(error)

    def send_signal(self, name: str, *args: Any, **kwargs: Any) -> None:
        return None

    def token(self, request: TokenEndpointRequest) -> Any:
        """The response of the token endpoint; raises a `Refusal` for an error."""
        self._wants_jwt = request.form.get("requested_token_type") == JWT_TOKEN_TYPE
        self._refreshes = request.form.get("grant_type") == REFRESH_TOKEN
        self._resource = request.form.get("resource")
        return self.create_token_response(request)

    def act(
        self, endpoint: "type[TokenRevocation | TokenIntrospection]", request: TokenEndpointRequest
    ) -> Any:
        """The response of the revocation or introspection endpoint; raises a `Refusal` for an error."""
        self.register_endpoint(endpoint)
        return self.create_endpoint_response(endpoint.ENDPOINT_NAME, request)

    def _generate(
        self,
        *,
        client: RegisteredClient | ApiKeyClient | AgentClient,
        user: TokenSubject | None,
        scope: str,
        **_: Any,
    ) -> dict[str, Any]:
        subject, make = user or TokenSubject(client.client_id), self.credentials.make
        if isinstance(client, ApiKeyClient):
            subject = client.subject
            make = make if self._wants_jwt else self.credentials.make_opaque
        base, asked = self.credentials.issuer, self._resource
        resource = narrow_resources(subject.resource, asked, base=base)
        subject = replace(subject, key=self.key, resource=resource)
        issued = self._issued = make(subject, ordered(scope.split()), life=self.life)
        return {
            "access_token": issued.text,
            "token_type": subject.token_type,
            "expires_in": issued.life,
            "scope": " ".join(issued.scopes),
        }

    def _by_key(self, _query: Any, request: TokenEndpointRequest) -> Any:
        """Authenticate a client by the assertion that it signed (RFC 7523 §2.2); None when that fails."""
        client_id = client_authentication.claimed_client_id(request.form)
        client = self.query_client(client_id) if client_id else None
        if not isinstance(client, RegisteredClient) or client.row.jwks is None:
            return None
        try:
            client_authentication.verify_client_assertion(
                self.tx,
                request.form["client_assertion"],
                client_id=client.client_id,
                jwks=client.row.jwks,
                audience=self.credentials.issuer,
            )
        except AssertionRefused as refused:
            # Authlib answers every failed authentication alike; the log has the reason.
            log.info("client refused", client_id=client_id, detail=f"{refused} {refused.detail}")
            return None
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
    name, description = (
        str(error.error),
        error.description or "The request was refused.",
    )
    if name == "invalid_client":
        if description.startswith("The client cannot authenticate with methods"):
            description = (
                "The client could not be authenticated: send `client_id`, and `client_secret` or `client_assertion` if "
                "the client has one."
            )
        return ClientAuthenticationFailed(description)
    return Refusal(description, error=name)


class ClientAuthenticationFailed(Unauthorized):
    """Client authentication failed (RFC 6749 §5.2)."""

    default_error = "invalid_client"

    @property
    def headers(self) -> dict[str, str]:
        return {"www-authenticate": 'Basic realm="negotiator"'}
