"""All wings under one roof: the description of the service and everything that one process is made of."""

from dataclasses import dataclass

from negotiator import __version__, scopes
from negotiator.agents.delegation import Delegations
from negotiator.agents.schemas import ID_JAG, VERIFIED_EMAIL
from negotiator.discovery.documents import Document
from negotiator.discovery.health import Health
from negotiator.discovery.metadata import Authorization
from negotiator.discovery.published import published
from negotiator.edge.endpoint import Doorway
from negotiator.edge.operation import Service
from negotiator.keys import Keyring
from negotiator.settings import Settings
from negotiator.store.store import Store
from negotiator.tokens import clients
from negotiator.wiring.access import access
from negotiator.wiring.assistant import assistant
from negotiator.wiring.directory import directory
from negotiator.wiring.ground import Ground, lay
from negotiator.wiring.memory import remembering
from negotiator.wiring.wing import Wing, offered


@dataclass(frozen=True, slots=True)
class House:
    """Everything that one process is made of."""

    ground: Ground
    wings: tuple[Wing, ...]
    delegations: Delegations
    service: Service
    documents: tuple[Document, ...]

    @property
    def settings(self) -> Settings:
        """The operator's choices."""
        return self.ground.settings

    @property
    def store(self) -> Store:
        """The one store."""
        return self.ground.store

    @property
    def keyring(self) -> Keyring:
        """The signing keys."""
        return self.ground.keyring

    @property
    def doorway(self) -> Doorway:
        """What every endpoint shares."""
        return self.ground.doorway

    @property
    def readable(self) -> frozenset[str]:
        """The paths that pages of any origin may read."""
        reads = (operation for operation in self.service.operations if operation.method == "GET")
        public = {operation.path for operation in reads if operation.access == "public"}
        return frozenset(public | {document.path for document in self.documents})

    async def close(self) -> None:
        """Let go of everything, the store last."""
        for wing in self.wings:
            for close in wing.closes:
                await close()
        await self.ground.issuer_keys.close()
        await self.ground.fetcher.close()
        await self.doorway.limits.close()
        await self.store.close()


def build(chosen: Settings) -> House:
    """Make every object and hand each what it needs."""
    ground = lay(chosen)
    entered = access(ground)
    health = Wing(operations=offered([Health(ground.store, __version__, ("assistant",))]))
    remembered = remembering(ground)
    wings = (assistant(ground), remembered.wing, directory(ground), entered.wing, health)
    service = Service(
        chosen.base_url,
        scopes.ASSISTANT,
        tuple(operation for wing in wings for operation in wing.operations),
    )
    documents = published(service, _authorization(), version=__version__, jwks=ground.keyring.jwks)
    return House(ground, wings, entered.delegations, service, documents)


def _authorization() -> Authorization:
    """What the slices say of themselves for the metadata."""
    return Authorization(
        grants=clients.GRANTS,
        client_auth_methods=clients.AUTH_METHODS,
        identity_types=("anonymous", "identity_assertion"),
        assertion_types=(ID_JAG, VERIFIED_EMAIL),
    )
