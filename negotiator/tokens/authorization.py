"""The standard endpoints, by Authlib's grant and endpoint machinery: the one file that imports its server.

Authlib's server is synchronous and so is a unit: one server object serves one request inside one
transaction. Authlib *returns* its errors; this adapter raises them, or half a grant would be committed.
"""
# pyright: basic, reportAttributeAccessIssue=false, reportIncompatibleVariableOverride=false
# pyright: reportOptionalMemberAccess=false, reportOptionalOperand=false, reportArgumentType=false
# pyright: reportOperatorIssue=false
# Authlib ships no types; this is the one relaxed file.

from collections.abc import Mapping
from typing import Any, Final, NoReturn

from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import (
    AuthorizationServer,
    InvalidScopeError,
    OAuth2Payload,
    OAuth2Request,
    TokenEndpointMixin,
    UnauthorizedClientError,
)
from authlib.oauth2.rfc6749.grants import BaseGrant, ClientCredentialsGrant
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7662 import IntrospectionEndpoint

from negotiator import audit
from negotiator.errors import Refusal, Unauthorized
from negotiator.scopes import ordered
from negotiator.store.statement import Transaction
from negotiator.tokens import clients
from negotiator.tokens.api_keys.believing import ApiKeys
from negotiator.tokens.api_keys.holder import JWT, KeyHolder
from negotiator.tokens.clients import JWT_BEARER, RegisteredClient
from negotiator.tokens.credentials import Credentials, Issued, Subject
from negotiator.tokens.presented import Presented
from negotiator.tokens.tables import AccessToken

METHODS: Final = list(clients.AUTH_METHODS)


class Payload(OAuth2Payload):
    """The form, as Authlib reads it."""

    def __init__(self, form: Mapping[str, str]) -> None:
        self._form = dict(form)

    @property
    def data(self) -> dict[str, str]:
        return self._form

    @property
    def datalist(self) -> Any:
        return {name: [value] for name, value in self._form.items()}


class Request(OAuth2Request):
    """A POST of a form to one of our endpoints. The URL is the public one, since Authlib insists on TLS in it."""

    def __init__(self, form: Mapping[str, str], authorization: str | None) -> None:
        headers = {"Authorization": authorization} if authorization else {}
        super().__init__("POST", "https://localhost/oauth", headers=headers)
        self.payload = Payload(form)
        self._form = dict(form)

    @property
    def args(self) -> dict[str, str]:
        return {}

    @property
    def form(self) -> dict[str, str]:
        return self._form


class Server(AuthorizationServer):
    """Authlib's server over one transaction, for one request."""

    def __init__(
        self,
        tx: Transaction,
        credentials: Credentials,
        keys: ApiKeys,
        *,
        life: int,
        address: str,
    ) -> None:
        super().__init__()
        self.tx = tx
        self.credentials = credentials
        self.keys = keys
        self._wants_jwt = False
        self.address = address
        self._life = life
        self._issued: Issued | None = None
        self.register_token_generator("default", self._generate)
        self.register_client_auth_method("possession", self._by_possession)

    def query_client(self, client_id: str) -> RegisteredClient | KeyHolder | None:
        row = clients.find(self.tx, client_id)
        if row:
            return RegisteredClient(row)
        return KeyHolder(self.tx, self.keys, client_id, address=self.address)

    def save_token(self, token: dict[str, Any], request: OAuth2Request) -> None:
        """Keep the row of the token that was just generated."""
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

    def create_oauth2_request(self, request: Request) -> Request:
        return request

    def handle_response(self, status: int, body: Any, headers: Any) -> Any:
        return body

    def handle_error_response(self, request: OAuth2Request, error: OAuth2Error) -> NoReturn:
        raise _refusal(error)

    def send_signal(self, name: str, *args: Any, **kwargs: Any) -> None:
        return None

    def token(self, request: Request) -> Any:
        """The token endpoint's answer."""
        self._wants_jwt = request.form.get("requested_token_type") == JWT
        return self.create_token_response(request)

    def act(self, endpoint: "type[Revocation | Introspection]", request: Request) -> Any:
        """The answer of one of the endpoints about tokens."""
        self.register_endpoint(endpoint)
        return self.create_endpoint_response(endpoint.ENDPOINT_NAME, request)

    def _generate(
        self, *, client: RegisteredClient | KeyHolder, user: Subject | None, scope: str, **_: Any
    ) -> dict[str, Any]:
        subject, make = user or Subject(client.client_id), self.credentials.make
        if isinstance(client, KeyHolder):
            subject = client.subject
            make = make if self._wants_jwt else self.credentials.make_opaque
        issued = self._issued = make(subject, ordered(scope.split()), life=self._life)
        return {
            "access_token": issued.text,
            "token_type": "Bearer",
            "expires_in": issued.life,
            "scope": " ".join(issued.scopes),
        }

    def _by_possession(self, _query: Any, request: Request) -> Any:
        """For tokens of agents, which have no secret: whoever holds the token may end it (RFC 7009 §2.1)."""
        if "Authorization" in request.headers or "client_secret" in request.form:
            return None
        token = self.credentials.find(self.tx, request.form.get("token", ""))
        if token is not None and clients.find(self.tx, token.client_id) is not None:
            return None
        return Holder(token.client_id if token else "")


class Holder:
    """Whoever holds a token of a client without a secret."""

    def __init__(self, client_id: str) -> None:
        self.client_id = client_id

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        """Possession is enough to end a token and for nothing else."""
        return method == "possession" and endpoint == Revocation.ENDPOINT_NAME


class _ScopedGrant:
    """Refuses what a client or an assertion does not carry, instead of silently leaving it out."""

    @staticmethod
    def narrow(asked: str | None, allowed: list[str]) -> str:
        wanted = asked.split() if asked else allowed
        if not set(wanted) <= set(allowed) or not allowed:
            raise InvalidScopeError("A scope was asked for that cannot be granted.")
        return " ".join(ordered(wanted))


class ClientCredentials(_ScopedGrant, ClientCredentialsGrant):
    """RFC 6749 §4.4: the client acts for itself."""

    TOKEN_ENDPOINT_AUTH_METHODS = METHODS

    def validate_requested_scope(self) -> None:
        self.request.payload.data["scope"] = self.narrow(
            self.request.payload.scope, self.request.client.scopes
        )


def assertion_grant(presented: Presented) -> type[BaseGrant]:
    """RFC 7523 §2.1 with an ID-JAG: the client acts for the user whom the assertion names."""

    class AssertionGrant(_ScopedGrant, BaseGrant, TokenEndpointMixin):
        GRANT_TYPE = JWT_BEARER
        TOKEN_ENDPOINT_AUTH_METHODS = METHODS

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


class Revocation(RevocationEndpoint):
    """RFC 7009: one token, dead on every worker at its next use; 200 for anything else too."""

    CLIENT_AUTH_METHODS = [*METHODS, "possession"]  # noqa: RUF012  Authlib reads it as it is

    def check_params(self, request: OAuth2Request, client: Any) -> None:
        _require_token(request)

    def query_token(self, token_string: str, token_type_hint: str | None) -> AccessToken | None:
        return self.server.credentials.find(self.server.tx, token_string)

    def authenticate_token(self, request: OAuth2Request, client: Any) -> AccessToken | None:
        self.check_params(request, client)
        token = self.query_token(request.form["token"], None)
        return token if token and token.client_id == client.client_id else None

    def revoke_token(self, token: AccessToken, request: OAuth2Request) -> None:
        self.server.credentials.revoke(self.server.tx, token, actor=token.client_id)


class Introspection(IntrospectionEndpoint):
    """RFC 7662: a client's own live tokens; `{"active": false}` alone for everything else."""

    CLIENT_AUTH_METHODS = METHODS

    def check_params(self, request: OAuth2Request, client: Any) -> None:
        _require_token(request)

    def query_token(self, token_string: str, token_type_hint: str | None) -> AccessToken | None:
        return self.server.credentials.find(self.server.tx, token_string)

    def check_permission(self, token: AccessToken, client: Any, request: OAuth2Request) -> bool:
        return token.client_id == client.client_id and self.server.credentials.is_live(
            self.server.tx, token
        )

    def create_introspection_payload(self, token: AccessToken | None) -> dict[str, Any]:
        return self.server.credentials.describe(token) if token else {"active": False}


def _require_token(request: OAuth2Request) -> None:
    if not request.form.get("token"):
        raise OAuth2Error(error="invalid_request", description="The parameter token is missing.")


def _refusal(error: OAuth2Error) -> Refusal:
    """Authlib's error as one of the family."""
    name, description = (
        str(error.error),
        error.description or "The request was refused.",
    )
    if name == "invalid_client":
        return ClientRefused(description)
    return Refusal(description, error=name)


class ClientRefused(Unauthorized):
    """Client authentication failed (RFC 6749 §5.2)."""

    default_error = "invalid_client"

    @property
    def headers(self) -> dict[str, str]:
        return {"www-authenticate": 'Basic realm="negotiator"'}
