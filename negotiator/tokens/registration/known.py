"""One place to find a client by its id, whether it has a row or a document."""

from dataclasses import dataclass

from negotiator.store.store import Store
from negotiator.tokens import clients
from negotiator.tokens.clients import RegisteredClient
from negotiator.tokens.registration.documents import Documents
from negotiator.trust import revocations


@dataclass(frozen=True, slots=True)
class KnownClients:
    """Asks the database, or the world, before a transaction opens."""

    store: Store
    documents: Documents

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
