"""Finds a client by its id, in the database or in a Client ID Metadata Document.

Such a client's id is the URL of its metadata document (draft-ietf-oauth-client-id-metadata-document-01). Fetching is
limited and goes to public addresses only (`trust.client_url_fetch`). A document is cached for as long as its cache
headers say, for at most a day. A failed fetch or an invalid document is remembered for a minute.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from negotiator.base import values
from negotiator.runtime.telemetry import logger
from negotiator.store.store import Store
from negotiator.tokens import client_metadata, clients
from negotiator.tokens.client_metadata import DOCUMENT_METHODS, MetadataRefused, is_document_address
from negotiator.tokens.clients import RegisteredClient
from negotiator.tokens.tables import Client
from negotiator.trust import revocations
from negotiator.trust.client_url_fetch import ClientUrlFetcher
from negotiator.trust.fetch import FetchedDocument, FetchFailed

MAX_BYTES: Final = 5 * 1024
MAX_DOCUMENTS: Final = 1024
DEFAULT_LIFETIME: Final = 300
MAX_LIFETIME: Final = 86_400
_SECRETS: Final = ("client_secret", "client_secret_expires_at")
log = logger(__name__)


@dataclass(slots=True)
class ClientDocuments:
    """Fetches metadata documents and caches the valid ones; `clock` returns milliseconds."""

    hosts: ClientUrlFetcher
    offered: Iterable[str]
    allow_loopback: bool
    clock: Callable[[], int] = lambda: values.now()
    _kept: OrderedDict[str, tuple[int, RegisteredClient]] = field(
        default_factory=lambda: OrderedDict[str, tuple[int, RegisteredClient]]()
    )

    def names(self, client_id: str) -> bool:
        """Whether this client id is the URL of a metadata document."""
        return is_document_address(client_id, allow_loopback=self.allow_loopback)

    async def find(self, client_id: str, address: str) -> RegisteredClient | None:
        """The client that the document at this URL describes; None when it cannot be fetched or is not valid.

        The fetch counts against the limit of the network address `address`; 429 beyond that limit.
        """
        kept = self._kept.get(client_id)
        if kept is not None and kept[0] > self.clock():
            self._kept.move_to_end(client_id)
            return kept[1]
        try:
            document = await self.hosts.document(client_id, limit=MAX_BYTES, address=address)
            client = read_document(
                client_id, document.body, offered=self.offered, at=self.clock(), allow_loopback=self.allow_loopback
            )
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
        seconds = DEFAULT_LIFETIME if document.max_age is None else min(document.max_age, MAX_LIFETIME)
        if seconds <= 0:
            self._kept.pop(client_id, None)
            return
        self._kept[client_id] = (self.clock() + seconds * 1000, client)
        self._kept.move_to_end(client_id)
        while len(self._kept) > MAX_DOCUMENTS:
            self._kept.popitem(last=False)


def read_document(
    client_id: str, body: dict[str, Any], *, offered: Iterable[str], at: int, allow_loopback: bool = False
) -> RegisteredClient:
    """The client that a document describes; raises `MetadataRefused`.

    A document is public, so that it may hold public keys but no secret.
    """
    if body.get("client_id") != client_id:
        raise MetadataRefused("The document names another client.")
    if any(name in body for name in _SECRETS):
        raise MetadataRefused("A document carries no secret.")
    told = client_metadata.read_metadata(
        body, offered=offered, allow_loopback=allow_loopback, methods=DOCUMENT_METHODS, otherwise="none"
    )
    row = clients.columns(client_id, replace(told, origin=clients.BY_DOCUMENT), secret_digest="", created_at=at)
    return RegisteredClient(Client(**row))


@dataclass(frozen=True, slots=True)
class ClientLookup:
    """Finds a client by its id before a transaction opens, because its document may have to be fetched."""

    store: Store
    documents: ClientDocuments

    async def find(self, client_id: str, address: str) -> RegisteredClient | None:
        """The client with this id; None when there is none, it was removed or its document is not valid."""
        if self.documents.names(client_id):
            return await self.document(client_id, address)
        return await self.row(client_id)

    async def row(self, client_id: str) -> RegisteredClient | None:
        """The client that is stored with this id."""
        row = await self.store.read(lambda tx: clients.find(tx, client_id))
        return RegisteredClient(row) if row else None

    async def document(self, client_id: str | None, address: str) -> RegisteredClient | None:
        """The client with a document at this id; None for another kind of id and for one that an operator removed."""
        if client_id is None or not self.documents.names(client_id):
            return None
        before = await self.store.read(lambda tx: revocations.revoked_before(tx, client_id))
        return None if before == revocations.FOREVER else await self.documents.find(client_id, address)
