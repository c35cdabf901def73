"""OAuth clients: added by an operator, known to Authlib through `RegisteredClient`."""
# pyright: reportIncompatibleMethodOverride=false
# Authlib documents what it passes more narrowly than it annotates it.

from dataclasses import dataclass
from typing import Any, Final

from authlib.oauth2.rfc6749 import ClientMixin
from sqlalchemy import BigInteger, bindparam, update
from sqlmodel import col, select

from negotiator import audit, values
from negotiator.errors import FieldError, NotFound, ValidationFailed
from negotiator.scopes import ASSISTANT, DIRECTORY, ordered
from negotiator.store.statement import Query, Statement, Transaction, entity, insertion
from negotiator.tokens.tables import Client
from negotiator.trust import revocations

JWT_BEARER: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"
GRANTS: Final = ("client_credentials", JWT_BEARER)
AUTH_METHODS: Final = ("client_secret_basic", "client_secret_post")

_ADD = Statement(insertion(Client))
_LIST = Query(
    select(Client).where(col(Client.removed_at).is_(None)).order_by(col(Client.id)),
    entity(Client),
)
_FIND = Query(
    select(Client).where(col(Client.id) == bindparam("client"), col(Client.removed_at).is_(None)),
    entity(Client),
)
_REMOVE = Statement(
    update(Client)
    .where(col(Client.id) == bindparam("client"), col(Client.removed_at).is_(None))
    .values(removed_at=bindparam("at", type_=BigInteger))
)


@dataclass(frozen=True, slots=True)
class NewClient:
    """What an operator says of a client."""

    name: str
    grants: tuple[str, ...]
    scopes: tuple[str, ...]
    redirect_uris: tuple[str, ...] = ()
    auth_method: str = "client_secret_basic"


class RegisteredClient(ClientMixin):
    """A client row as Authlib wants to see it."""

    def __init__(self, row: Client) -> None:
        self.row = row
        self.client_id = row.id

    @property
    def scopes(self) -> list[str]:
        """What the client may ask for."""
        return self.row.scope.split()

    def get_client_id(self) -> str:
        return self.row.id

    def get_default_redirect_uri(self) -> None:
        return None

    def get_allowed_scope(self, scope: str | None) -> str:
        """The client's own scopes, cut to those asked for; all of them when none are (RFC 6749 §3.3)."""
        own = self.row.scope.split()
        return " ".join(
            own if not scope else [name for name in ordered(scope.split()) if name in own]
        )

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return redirect_uri in self.row.redirect_uris.split()

    def check_client_secret(self, client_secret: str) -> bool:
        return values.same(values.digest(client_secret), self.row.secret_digest)

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        """Either way of sending the secret proves the same; the registered one is what we advertise to the client."""
        return method in AUTH_METHODS

    def check_response_type(self, response_type: str) -> bool:
        return False

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type in self.row.grants.split()


def add(tx: Transaction, client: NewClient) -> tuple[str, str]:
    """Add a client; answers its id and, once, its secret. 422 for an unknown grant, scope or method."""
    _check("grant", client.grants, GRANTS)
    _check("scope", client.scopes, (*ASSISTANT, *DIRECTORY))
    _check("auth_method", (client.auth_method,), AUTH_METHODS)
    client_id, secret = values.new_id("cli"), values.new_secret()
    tx.run(
        _ADD,
        id=client_id,
        name=client.name,
        secret_digest=values.digest(secret),
        auth_method=client.auth_method,
        grants=" ".join(client.grants),
        scope=" ".join(ordered(client.scopes)),
        redirect_uris=" ".join(client.redirect_uris),
        created_at=values.now(),
        removed_at=None,
    )
    audit.record(tx, "client.added", client_id, actor="operator", name=client.name)
    return client_id, secret


def find(tx: Transaction, client_id: str) -> Client | None:
    """The client of this id, unless it was removed."""
    return tx.one(_FIND, client=client_id)


def every(tx: Transaction) -> list[Client]:
    """All clients, oldest first."""
    return tx.all(_LIST)


def remove(tx: Transaction, client_id: str) -> None:
    """Remove a client and kill its tokens; 404 when there is none."""
    if not tx.run(_REMOVE, client=client_id, at=values.now()):
        raise NotFound(f"There is no client {client_id}.")
    revocations.revoke(tx, client_id)
    audit.record(tx, "client.removed", client_id, actor="operator")


def summary(client: Client) -> dict[str, Any]:
    """What an operator sees of a client."""
    return {
        "client_id": client.id,
        "name": client.name,
        "grants": client.grants.split(),
        "scopes": client.scope.split(),
        "redirect_uris": client.redirect_uris.split(),
        "token_endpoint_auth_method": client.auth_method,
        "created_at": values.timestamp(client.created_at),
    }


def _check(what: str, given: tuple[str, ...], known: tuple[str, ...]) -> None:
    if unknown := [value for value in given if value not in known]:
        raise ValidationFailed(
            [FieldError(f"/{what}", f"{unknown[0]} is not one of {', '.join(known)}.")]
        )
