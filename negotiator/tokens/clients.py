"""OAuth clients, added by an operator or by their own registration (RFC 7591), and two kinds that have no row here.

An agent is a public client that may redeem the refresh tokens of its own grants. A client that holds API keys
authenticates with any live key as its secret. `confirm` checks in the unit that stores a token what was read before it.
"""

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import BigInteger, Integer, bindparam, delete, update
from sqlmodel import col, select

from negotiator.base import values
from negotiator.base.errors import FieldError, NotFound, ValidationFailed
from negotiator.base.scopes import ASSISTANT, DIRECTORY, ordered
from negotiator.keys.keyring import ALGORITHM, RS256
from negotiator.store import audit
from negotiator.store.statement import Query, RowInsertion, Statement, Transaction, entity, replacement
from negotiator.tokens import api_keys, redirect_uris
from negotiator.tokens.access_tokens import TokenSubject
from negotiator.tokens.api_keys import ApiKeyAuthenticator, LiveApiKey, is_use_due
from negotiator.tokens.client_authentication import ClientAuthenticationFailed
from negotiator.tokens.tables import Client
from negotiator.trust import revocations

CLIENT_CREDENTIALS: Final = "client_credentials"
JWT_BEARER: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"
AUTHORIZATION_CODE: Final = "authorization_code"
REFRESH_TOKEN: Final = "refresh_token"  # noqa: S105
GRANTS: Final = (CLIENT_CREDENTIALS, JWT_BEARER, AUTHORIZATION_CODE, REFRESH_TOKEN)
USERLESS_GRANTS: Final = (CLIENT_CREDENTIALS, JWT_BEARER)
"""The grants that need no browser; the default for a client that an operator adds."""
CODE_FLOW_GRANTS: Final = (AUTHORIZATION_CODE, REFRESH_TOKEN)
SECRET_METHODS: Final = ("client_secret_basic", "client_secret_post")
PRIVATE_KEY_JWT: Final = "private_key_jwt"
AUTH_METHODS: Final = (PRIVATE_KEY_JWT, *SECRET_METHODS, "none")
"""The strongest first."""
UNUSED_DAYS: Final = 7
BY_DOCUMENT: Final = "document"
"""The `origin` of a client whose id is the URL of its metadata document; its row only says what it was allowed."""

_ADD = RowInsertion(Client)
_LIST = Query(select(Client).where(col(Client.removed_at).is_(None)).order_by(col(Client.id)), entity(Client))
_FIND = Query(
    select(Client).where(col(Client.id) == bindparam("client"), col(Client.removed_at).is_(None)), entity(Client)
)
_STANDS = Query(
    select(Client.id).where(
        col(Client.id) == bindparam("client"),
        col(Client.removed_at).is_(None),
        col(Client.secret_digest) == bindparam("digest"),
    ),
    tuple,
)
_USED = Statement(
    update(Client)
    .where(col(Client.id) == bindparam("client"), col(Client.used_at).is_(None))
    .values(used_at=bindparam("at", type_=BigInteger))
)
_DELETE_UNUSED = Statement(
    delete(Client).where(
        col(Client.id).in_(
            select(col(Client.id))
            .where(
                col(Client.origin) == "registered",
                col(Client.used_at).is_(None),
                col(Client.created_at) < bindparam("at", type_=BigInteger),
            )
            .order_by(col(Client.created_at))
            .limit(bindparam("limit", type_=Integer))
        )
    )
)
_CHANGE_SECRET = Statement(
    update(Client)
    .where(col(Client.id) == bindparam("client"), col(Client.removed_at).is_(None), col(Client.secret_digest) != "")
    .values(secret_digest=bindparam("fresh"))
)
_ALLOW = replacement(Client, ("id",), ("scope", "removed_at"))
_REMOVE = Statement(
    update(Client)
    .where(col(Client.id) == bindparam("client"), col(Client.removed_at).is_(None))
    .values(removed_at=bindparam("at", type_=BigInteger))
)


AGENT_ID_PREFIX: Final = "agt_"
JWT_TOKEN_TYPE: Final = "urn:ietf:params:oauth:token-type:jwt"  # noqa: S105
TOKEN_TYPES: Final = (JWT_TOKEN_TYPE, "urn:ietf:params:oauth:token-type:access_token")


@dataclass(frozen=True, slots=True)
class NewClient:
    """The properties of a client, from an operator or, with `origin` `registered`, from the client's own metadata.

    `jwks` is the client's JWK Set as JSON text, `jwks_uri` the address where it is; one of them goes with the
    `auth_method` `private_key_jwt`.
    """

    name: str
    grants: tuple[str, ...]
    scopes: tuple[str, ...]
    redirect_uris: tuple[str, ...] = ()
    auth_method: str = "client_secret_basic"
    id_token_alg: str = RS256
    uri: str = ""
    origin: str = "operator"
    jwks: str | None = None
    jwks_uri: str | None = None


class RegisteredClient:
    """A client with the methods that Authlib's server calls."""

    def __init__(self, row: Client) -> None:
        self.row = row
        self.client_id = row.id

    @property
    def scopes(self) -> list[str]:
        """The scopes that the client may request."""
        return self.row.scope.split()

    def confirm(self, tx: Transaction) -> None:
        """Raise `ClientAuthenticationFailed` if the client was removed, or its secret changed, since it was read."""
        stands = self.row.origin == BY_DOCUMENT or tx.one(_STANDS, client=self.client_id, digest=self.row.secret_digest)
        if not stands:
            raise ClientAuthenticationFailed

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        """Whether the client registered this URI; the port of a loopback URI may differ."""
        return any(redirect_uris.matches(own, redirect_uri) for own in self.row.redirect_uris.split())

    def check_client_secret(self, client_secret: str) -> bool:
        return values.equal_in_constant_time(values.digest(client_secret), self.row.secret_digest)

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        """Whether the client may authenticate by this method; both ways to send a secret count as the same."""
        if self.row.auth_method in SECRET_METHODS:
            return method in SECRET_METHODS
        return method == self.row.auth_method

    @property
    def is_public(self) -> bool:
        """Whether the client has neither a secret nor keys and so cannot authenticate (RFC 6749 §2.1)."""
        return self.row.auth_method == "none"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type in self.row.grants.split()


class AgentClient:
    """An agent by its id, which is not looked up: the grant of its refresh token determines the scopes."""

    is_public = True
    scopes: tuple[str, ...] = ()

    def __init__(self, client_id: str) -> None:
        self.client_id = client_id

    def confirm(self, tx: Transaction) -> None:
        """Do nothing: the grant is checked in the unit."""

    def check_client_secret(self, client_secret: str) -> bool:
        """False, because an agent has no secret."""
        return False

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method == "none"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type == REFRESH_TOKEN


class ApiKeyClient:
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
        return TokenSubject(self.client_id, identity=api_keys.key_identity(self._proof.row.id))

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

    def check_client_secret(self, client_secret: str) -> bool:
        """Whether the secret is a live API key of this client."""
        found = self._keys.live(self._tx, client_secret)
        self._proof = found if found and found.row.client_id == self.client_id else None
        return self._proof is not None

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method in SECRET_METHODS

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type == CLIENT_CREDENTIALS


class PublicTokenHolder:
    """The sender of a revocation request with a token of a public client, which cannot authenticate."""

    def __init__(self, client_id: str) -> None:
        self.client_id = client_id

    def confirm(self, tx: Transaction) -> None:
        """Do nothing: the token was read, and only a live one is revoked."""

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        """Possession of the token is enough to revoke it, and for no other endpoint."""
        return method == "possession" and endpoint == "revocation"


def add(tx: Transaction, client: NewClient, *, actor: str = "operator") -> tuple[str, str]:
    """Add a client and return its id and its secret; the secret is empty for a client without one.

    Only the digest of the secret is stored. 422 for an unknown value or a combination that is not allowed.
    """
    _check("grant", client.grants, GRANTS)
    _check("scope", client.scopes, (*ASSISTANT, *DIRECTORY))
    _check("auth_method", (client.auth_method,), AUTH_METHODS)
    _check("id_token_alg", (client.id_token_alg,), (RS256, ALGORITHM))
    _check_redirects(client)
    public = client.auth_method == "none"
    if public and set(client.grants) & set(USERLESS_GRANTS):
        raise ValidationFailed([FieldError("/grant", "A client without a secret may use the code flow only.")])
    if (client.auth_method == PRIVATE_KEY_JWT) != ((client.jwks or client.jwks_uri) is not None):
        raise ValidationFailed([FieldError("/jwks", f"Keys go with {PRIVATE_KEY_JWT}, and it with keys.")])
    secretive = client.auth_method in SECRET_METHODS
    client_id, secret = values.new_id("cli"), values.new_secret() if secretive else ""
    digest = values.digest(secret) if secretive else ""
    tx.run(_ADD, **columns(client_id, client, secret_digest=digest, created_at=values.now()))
    event = "client.added" if client.origin == "operator" else "client.registered"
    audit.record(tx, event, client_id, actor=actor, name=client.name)
    return client_id, secret


def columns(client_id: str, client: NewClient, *, secret_digest: str, created_at: int) -> dict[str, Any]:
    """The row of a new client."""
    return {
        "id": client_id,
        "name": client.name,
        "secret_digest": secret_digest,
        "auth_method": client.auth_method,
        "jwks": client.jwks,
        "jwks_uri": client.jwks_uri,
        "grants": " ".join(client.grants),
        "scope": " ".join(ordered(client.scopes)),
        "redirect_uris": " ".join(client.redirect_uris),
        "origin": client.origin,
        "uri": client.uri,
        "id_token_alg": client.id_token_alg,
        "created_at": created_at,
        "used_at": None,
        "removed_at": None,
    }


def is_address(client_id: str) -> bool:
    """Whether this is the id of a client known by its document."""
    return client_id.startswith(("https://", "http://"))


def allow(tx: Transaction, address: str, scopes: tuple[str, ...], *, actor: str = "operator") -> None:
    """Let the client with a document at this URL have these scopes for itself, in place of those it had.

    A client that was removed may come again. 422 for another kind of id or an unknown scope.
    """
    if not is_address(address) or not address.isprintable() or " " in address:
        raise ValidationFailed([FieldError("/address", "The address of its document begins with https://.")])
    _check("scope", scopes, (*ASSISTANT, *DIRECTORY))
    new = NewClient(
        redirect_uris.display_host(address),
        (CLIENT_CREDENTIALS,),
        scopes,
        auth_method=PRIVATE_KEY_JWT,
        origin=BY_DOCUMENT,
    )
    row = columns(address, new, secret_digest="", created_at=values.now())
    tx.run(_ALLOW, **row)
    if revocations.revoked_before(tx, address) == revocations.FOREVER:
        revocations.restore(tx, address)
    audit.record(tx, "client.allowed", address, actor=actor, scope=row["scope"])


def own_scopes(tx: Transaction, client: RegisteredClient) -> list[str]:
    """The scopes that the client may have for itself; for one known by its document, what an administrator allowed."""
    if client.row.origin != BY_DOCUMENT:
        return client.scopes
    row = find(tx, client.client_id)
    return [name for name in client.scopes if row and name in row.scope.split()]


def find(tx: Transaction, client_id: str) -> Client | None:
    """The client with this id, unless it was removed."""
    return tx.one(_FIND, client=client_id)


def list_clients(tx: Transaction) -> list[Client]:
    """All clients, oldest first."""
    return tx.all(_LIST)


def change_secret(tx: Transaction, client_id: str, *, actor: str = "operator") -> str:
    """Give a client a new secret and return it; the old one stops at once. 404 without such a client."""
    secret = values.new_secret()
    if not tx.run(_CHANGE_SECRET, client=client_id, fresh=values.digest(secret)):
        raise NotFound(f"There is no client {client_id} with a secret.")
    audit.record(tx, "client.secret_changed", client_id, actor=actor)
    return secret


def remove(tx: Transaction, client_id: str, *, actor: str = "operator") -> None:
    """Remove a client and end its tokens; 404 when there is no such client.

    The id of a client that is the URL of its metadata document stays blocked until it is allowed again.
    """
    if not tx.run(_REMOVE, client=client_id, at=values.now()) and not is_address(client_id):
        raise NotFound(f"There is no client {client_id}.")
    revocations.revoke(tx, client_id)
    audit.record(tx, "client.removed", client_id, actor=actor)


def mark_used(tx: Transaction, client_id: str) -> None:
    """Record that a user granted the client access, so that `delete_unused` keeps it."""
    tx.run(_USED, client=client_id, at=values.now())


def delete_unused(tx: Transaction, now: int, limit: int) -> int:
    """Delete clients that registered themselves more than a week before `now` (ms) and that no user has used.

    Deletes up to `limit` and returns their number.
    """
    return tx.run(_DELETE_UNUSED, at=now - UNUSED_DAYS * values.DAY, limit=limit)


def summary(client: Client) -> dict[str, Any]:
    """The members of a client that the command line shows to an operator."""
    return {
        "client_id": client.id,
        "name": client.name,
        "grants": client.grants.split(),
        "scopes": client.scope.split(),
        "redirect_uris": client.redirect_uris.split(),
        "token_endpoint_auth_method": client.auth_method,
        "origin": client.origin,
        "created_at": values.timestamp(client.created_at),
    }


def _check(what: str, given: tuple[str, ...], known: tuple[str, ...]) -> None:
    if unknown := [value for value in given if value not in known]:
        raise ValidationFailed([FieldError(f"/{what}", f"{unknown[0]} is not one of {', '.join(known)}.")])


def _check_redirects(client: NewClient) -> None:
    for uri in client.redirect_uris:
        if why := redirect_uris.registration_fault(uri, private_schemes=client.origin == "operator"):
            raise ValidationFailed([FieldError("/redirect_uri", why)])
    if AUTHORIZATION_CODE in client.grants and client.redirect_uris == () and client.origin != "operator":
        raise ValidationFailed([FieldError("/redirect_uri", "The code flow needs one.")])
