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
from negotiator.tokens.client_metadata import MetadataRefused, is_document_address
from negotiator.tokens.clients import RegisteredClient
from negotiator.tokens.tables import Client
from negotiator.trust import revocations
from negotiator.trust.client_url_fetch import FAILURE_SECONDS, ClientUrlFetcher
from negotiator.trust.fetch import FetchFailed

MAX_BYTES: Final = 5 * 1024
MAX_DOCUMENTS: Final = 1024
DEFAULT_LIFETIME: Final = 300
MAX_LIFETIME: Final = 86_400
UNREADABLE: Final = (
    "It could not be fetched: it has to be a JSON object of at most 5 KiB at a public https address, answered with "
    "status 200 and without a redirect."
)
_SECRETS: Final = ("client_secret", "client_secret_expires_at")
log = logger(__name__)


@dataclass(slots=True)
class ClientDocuments:
    """Fetches metadata documents and caches the valid ones; `clock` returns milliseconds."""

    hosts: ClientUrlFetcher
    offered: Iterable[str]
    allow_loopback: bool
    clock: Callable[[], int] = lambda: values.now()
    _kept: OrderedDict[str, tuple[int, RegisteredClient | str]] = field(
        default_factory=lambda: OrderedDict[str, tuple[int, RegisteredClient | str]]()
    )

    def names(self, client_id: str) -> bool:
        """Whether this client id is the URL of a metadata document."""
        return is_document_address(client_id, allow_loopback=self.allow_loopback)

    async def find(self, client_id: str, address: str) -> RegisteredClient:
        """The client that the document at this URL describes; `MetadataRefused` says why there is none.

        The fetch counts against the limit of the network address `address`; 429 beyond that limit.
        """
        until, found = self._kept.get(client_id, (0, ""))
        if until <= self.clock():
            found, seconds = await self._read(client_id, address)
            self._keep(client_id, found, seconds)
        if isinstance(found, str):
            raise MetadataRefused(found)
        return found

    async def _read(self, client_id: str, address: str) -> tuple[RegisteredClient | str, int]:
        """The client of the fetched document, or why there is none, and for how many seconds that counts."""
        try:
            document = await self.hosts.document(client_id, limit=MAX_BYTES, address=address)
            client = read_document(
                client_id, document.body, offered=self.offered, at=self.clock(), allow_loopback=self.allow_loopback
            )
        except (FetchFailed, MetadataRefused) as failed:
            log.info("client document refused", client_id=client_id, detail=str(failed))
            if isinstance(failed, FetchFailed):
                return UNREADABLE, FAILURE_SECONDS
            self.hosts.reject(client_id, str(failed))
            return failed.description, FAILURE_SECONDS
        self.hosts.accept(client_id)
        return client, DEFAULT_LIFETIME if document.max_age is None else min(document.max_age, MAX_LIFETIME)

    def _keep(self, client_id: str, found: RegisteredClient | str, seconds: int) -> None:
        self._kept[client_id] = (self.clock() + seconds * 1000, found)
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
    told = client_metadata.read_metadata(body, offered=offered, allow_loopback=allow_loopback, has_document=True)
    row = clients.columns(client_id, replace(told, origin=clients.BY_DOCUMENT), secret_digest="", created_at=at)
    return RegisteredClient(Client(**row))


@dataclass(frozen=True, slots=True)
class ClientLookup:
    """Finds a client by its id before a transaction opens, because its document may have to be fetched."""

    store: Store
    documents: ClientDocuments

    async def find(self, client_id: str, address: str) -> RegisteredClient | None:
        """The client with this id; None when there is none; `MetadataRefused`, for people, for a document of no use."""
        if not self.documents.names(client_id):
            return await self.row(client_id)
        if await self._is_removed(client_id):
            raise MetadataRefused(
                "An administrator of this server has shut this program out. Ask them to allow it again."
            )
        try:
            return await self.documents.find(client_id, address)
        except MetadataRefused as refused:
            raise MetadataRefused(
                f"This program cannot be let in, because the document about it at {client_id} cannot be used. "
                f"{refused.description} Tell whoever makes the program; the document is read again after a minute."
            ) from None

    async def row(self, client_id: str) -> RegisteredClient | None:
        """The client that is stored with this id."""
        row = await self.store.read(lambda tx: clients.find(tx, client_id))
        return RegisteredClient(row) if row and row.origin != clients.BY_DOCUMENT else None

    async def document(self, client_id: str | None, address: str) -> RegisteredClient | None:
        """The client with a document at this id; None for another id, a removed one and a document of no use."""
        if client_id is None or not self.documents.names(client_id) or await self._is_removed(client_id):
            return None
        try:
            return await self.documents.find(client_id, address)
        except MetadataRefused:
            return None

    async def _is_removed(self, client_id: str) -> bool:
        return await self.store.read(lambda tx: revocations.revoked_before(tx, client_id)) == revocations.FOREVER
