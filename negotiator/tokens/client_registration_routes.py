"""`/oauth/register` (RFC 7591): a client registers itself and gets an id, and a secret if it authenticates by one.

MCP 2026-07-28 (Authorization, Client Registration) deprecates this in favour of client ID metadata documents
(`client_documents`). It stays for clients that cannot publish a document.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Final, NotRequired

import orjson
from pydantic import ConfigDict, WithJsonSchema
from typing_extensions import TypedDict

from negotiator.base import values
from negotiator.base.schema import Lenient, example_schema
from negotiator.http.operation import REGISTRATION_BODY_LIMIT, Answer, Call, Operation
from negotiator.store.store import Store
from negotiator.tokens import client_metadata, clients
from negotiator.tokens.clients import NewClient

CLIENT_BUDGET: Final = "client-registration"
_NO_CACHE: Final = {"cache-control": "no-store", "pragma": "no-cache"}
_STRINGS: Final = WithJsonSchema({"type": "array", "items": {"type": "string"}})
_URIS: Final = WithJsonSchema({"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 10})
_STRING: Final = WithJsonSchema({"type": "string"})
_OBJECT: Final = WithJsonSchema({"type": "object"})


class RegisterClient(Lenient):
    """The client metadata of RFC 7591 §2 that is supported; `client_metadata.read_metadata` checks each member."""

    model_config = ConfigDict(
        json_schema_extra={
            **example_schema(
                {
                    "client_name": "My assistant",
                    "redirect_uris": ["http://127.0.0.1/callback"],
                    "grant_types": ["authorization_code", "refresh_token"],
                    "token_endpoint_auth_method": "none",
                }
            ),
            "required": ["redirect_uris"],
        },
        extra="allow",
    )

    redirect_uris: Annotated[Any, _URIS] = None
    client_name: Annotated[Any, _STRING] = None
    client_uri: Annotated[Any, _STRING] = None
    grant_types: Annotated[Any, _STRINGS] = None
    response_types: Annotated[Any, _STRINGS] = None
    scope: Annotated[Any, _STRING] = None
    token_endpoint_auth_method: Annotated[Any, _STRING] = None
    token_endpoint_auth_signing_alg: Annotated[Any, _STRING] = None
    jwks: Annotated[Any, _OBJECT] = None
    jwks_uri: Annotated[Any, _STRING] = None
    id_token_signed_response_alg: Annotated[Any, _STRING] = None


class ClientInformation(TypedDict):
    """The registration response (RFC 7591 §3.2.1)."""

    client_id: str
    client_id_issued_at: int
    client_secret: NotRequired[str]
    client_secret_expires_at: NotRequired[int]
    client_name: str
    client_uri: NotRequired[str]
    redirect_uris: list[str]
    grant_types: list[str]
    response_types: list[str]
    scope: str
    token_endpoint_auth_method: str
    jwks: NotRequired[dict[str, Any]]
    jwks_uri: NotRequired[str]
    id_token_signed_response_alg: str


@dataclass(frozen=True, slots=True)
class ClientRegistrationRoutes:
    """The registration endpoint. `offered` lists the scopes that this service grants."""

    store: Store
    offered: tuple[str, ...]
    allow_loopback: bool

    def operations(self) -> list[Operation]:
        return [
            Operation(
                name="register_client",
                method="POST",
                path="/oauth/register",
                summary="Register an OAuth client that has no metadata document (deprecated by MCP 2026-07-28)",
                run=self.register,
                input=RegisterClient,
                output=ClientInformation,
                status=201,
                access="open",
                body_limit=REGISTRATION_BODY_LIMIT,
                refusals=(400, 413, 415),
                budget=lambda _: CLIENT_BUDGET,
                tag="tokens",
            )
        ]

    async def register(self, call: Call[RegisterClient]) -> Answer:
        """Store a client (RFC 7591 §3). It can do nothing until a user grants it access."""
        given = call.input.model_dump(exclude_none=True)
        told = client_metadata.read_metadata(given, offered=self.offered, allow_loopback=self.allow_loopback)
        client_id, secret = await self.store.write(lambda tx: clients.add(tx, told, actor=call.address))
        return Answer(_information(client_id, secret, told), 201, _NO_CACHE)


def _information(client_id: str, secret: str, told: NewClient) -> ClientInformation:
    information: ClientInformation = {
        "client_id": client_id,
        "client_id_issued_at": values.now() // 1000,
        "client_name": told.name,
        "redirect_uris": list(told.redirect_uris),
        "grant_types": list(told.grants),
        "response_types": ["code"],
        "scope": " ".join(told.scopes),
        "token_endpoint_auth_method": told.auth_method,
        "id_token_signed_response_alg": told.id_token_alg,
    }
    if told.uri:
        information["client_uri"] = told.uri
    if told.jwks:
        information["jwks"] = orjson.loads(told.jwks)
    if told.jwks_uri:
        information["jwks_uri"] = told.jwks_uri
    if secret:
        information["client_secret"] = secret
        information["client_secret_expires_at"] = 0
    return information
