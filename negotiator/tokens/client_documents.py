"""Client ID Metadata Documents: a client whose id is the URL of what it says of itself (draft -01).

Fetching is bounded and goes to public addresses only (`trust.named_hosts`). A document counts while its own cache
headers say so, within our bounds; that one cannot be had or believed is remembered for a minute.

One place to find a client by its id, whether it has a row or a document.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from negotiator import values
from negotiator.store.store import Store
from negotiator.telemetry import logger
from negotiator.tokens import client_metadata, clients
from negotiator.tokens.client_metadata import MetadataRefused
from negotiator.tokens.clients import PRIVATE_KEY_JWT, NewClient, RegisteredClient
from negotiator.tokens.tables import Client
from negotiator.trust import revocations
from negotiator.trust.client_url_fetch import ClientUrlFetcher
from negotiator.trust.fetch import FetchedDocument, FetchFailed

MAX_BYTES: Final = 5 * 1024
MAX_DOCUMENTS: Final = 1024
LONGEST_ID: Final = 1024
DEFAULT_LIFETIME: Final = 300
MAX_LIFETIME: Final = 86_400
_SECRETS: Final = ("client_secret", "client_secret_expires_at")
log = logger(__name__)


def is_document_id(client_id: str, *, allow_loopback: bool) -> bool:
    """Whether the id may be fetched: an https URL with a path, no dot segments, credentials or fragment."""
    schemes = {"https", "http"} if allow_loopback else {"https"}
    if len(client_id) > LONGEST_ID or not client_id.isascii() or not client_id.isprintable():
        return False
    try:
        parts = urlsplit(client_id)
        host = parts.hostname
    except ValueError:
        return False
    segments = [unquote(part) for part in parts.path.split("/")]
    return (
        parts.scheme in schemes
        and bool(host)
        and parts.path.startswith("/")
        and not {".", ".."} & set(segments)
        and "@" not in parts.netloc
        and not any(mark in client_id for mark in ' \\#"<>')
        and parts.netloc == parts.netloc.lower()
    )


@dataclass(slots=True)
class ClientDocuments:
    """Reads documents and keeps the good ones; `clock` answers milliseconds."""

    hosts: ClientUrlFetcher
    offered: Iterable[str]
    allow_loopback: bool
    clock: Callable[[], int] = lambda: values.now()
    _kept: OrderedDict[str, tuple[int, RegisteredClient]] = field(
        default_factory=lambda: OrderedDict[str, tuple[int, RegisteredClient]]()
    )

    def names(self, client_id: str) -> bool:
        """Whether this is an id of the kind that is fetched."""
        return is_document_id(client_id, allow_loopback=self.allow_loopback)

    async def find(self, client_id: str, address: str) -> RegisteredClient | None:
        """The client that its document describes; None when it cannot be had or believed.

        `address` is the client address that the fetch is charged to; 429 when it has caused too many.
        """
        kept = self._kept.get(client_id)
        if kept is not None and kept[0] > self.clock():
            self._kept.move_to_end(client_id)
            return kept[1]
        try:
            document = await self.hosts.document(client_id, limit=MAX_BYTES, address=address)
            client = read_document(client_id, document.body, offered=self.offered, at=self.clock())
        except (FetchFailed, MetadataRefused) as failed:
            log.info("client document refused", client_id=client_id, detail=str(failed))
            self._kept.pop(client_id, None)
            if isinstance(failed, MetadataRefused):
                self.hosts.reject(client_id, str(failed))
            return None
        self.hosts.accept(client_id)
        self._keep(client_id, client, document)
        return client

    def _keep(self, client_id: str, client: RegisteredClient, document: FetchedDocument) -> None:
        seconds = (
            DEFAULT_LIFETIME if document.max_age is None else min(document.max_age, MAX_LIFETIME)
        )
        if seconds <= 0:
            self._kept.pop(client_id, None)
            return
        self._kept[client_id] = (self.clock() + seconds * 1000, client)
        self._kept.move_to_end(client_id)
        while len(self._kept) > MAX_DOCUMENTS:
            self._kept.popitem(last=False)


def read_document(
    client_id: str, body: dict[str, Any], *, offered: Iterable[str], at: int
) -> RegisteredClient:
    """The client a document describes; raises `MetadataRefused`. No secret can stand in a document; keys can."""
    if body.get("client_id") != client_id:
        raise MetadataRefused("The document names another client.")
    if any(name in body for name in _SECRETS):
        raise MetadataRefused("A document carries no secret.")
    told = client_metadata.read_metadata(body, offered=offered, otherwise="none")
    if told.auth_method not in ("none", PRIVATE_KEY_JWT):
        raise MetadataRefused(
            f"A client known by its document authenticates by {PRIVATE_KEY_JWT} or none."
        )
    return RegisteredClient(_row(client_id, told, at))


def _row(client_id: str, told: NewClient, at: int) -> Client:
    return Client(
        id=client_id,
        name=told.name,
        secret_digest="",
        auth_method=told.auth_method,
        jwks=told.jwks,
        grants=" ".join(told.grants),
        scope=" ".join(told.scopes),
        redirect_uris=" ".join(told.redirect_uris),
        origin="document",
        uri=told.uri,
        id_token_alg=told.id_token_alg,
        created_at=at,
        used_at=None,
        removed_at=None,
    )


@dataclass(frozen=True, slots=True)
class ClientLookup:
    """Asks the database, or the world, before a transaction opens."""

    store: Store
    documents: ClientDocuments

    async def find(self, client_id: str, address: str) -> RegisteredClient | None:
        """The client of this id; None when there is none, or none that counts any more."""
        if self.documents.names(client_id):
            return await self.document(client_id, address)
        row = await self.store.read(lambda tx: clients.find(tx, client_id))
        return RegisteredClient(row) if row else None

    async def document(self, client_id: str | None, address: str) -> RegisteredClient | None:
        """The client of a document; None for an id of another kind, and for one that an operator shut out."""
        if client_id is None or not self.documents.names(client_id):
            return None
        before = await self.store.read(lambda tx: revocations.revoked_before(tx, client_id))
        return (
            None if before == revocations.FOREVER else await self.documents.find(client_id, address)
        )
