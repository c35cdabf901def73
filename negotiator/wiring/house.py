"""All wings under one roof: the description of the service and everything that one process is made of."""

from dataclasses import dataclass

from starlette.routing import Route

from negotiator import __version__, scopes
from negotiator.agents.delegation import Delegations
from negotiator.agents.schemas import ID_JAG, VERIFIED_EMAIL
from negotiator.discovery.documents import Document
from negotiator.discovery.health import Health
from negotiator.discovery.metadata import Authorization
from negotiator.discovery.published import published, site_of
from negotiator.discovery.scrape import Scrape, issuing
from negotiator.discovery.site import Rates, Site
from negotiator.edge.operation import Service
from negotiator.edge.steps import Doorway
from negotiator.keys import ALGORITHM, RS256, Keyring
from negotiator.mcp.door import PATH as MCP
from negotiator.settings import Settings
from negotiator.store.store import Store
from negotiator.tokens import clients
from negotiator.tokens.clients import JWT_BEARER
from negotiator.trust.possession.proofs import ALGORITHMS
from negotiator.trust.signals.kinds import SUPPORTED
from negotiator.users.userinfo import CLAIMS
from negotiator.wiring.access import access
from negotiator.wiring.assistant import assistant
from negotiator.wiring.directory import directory
from negotiator.wiring.ground import Ground, lay
from negotiator.wiring.people import people
from negotiator.wiring.speech import Speech, speech
from negotiator.wiring.wing import Wing, offered


@dataclass(frozen=True, slots=True)
class House:
    """Everything that one process is made of."""

    ground: Ground
    wings: tuple[Wing, ...]
    delegations: Delegations
    service: Service
    documents: tuple[Document, ...]
    site: Site
    speech: Speech
    scrape: Scrape

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
    def shared(self) -> frozenset[str]:
        """The paths that pages of any origin may call: operations, documents, public pages and `/mcp`."""
        called = {
            path
            for operation in self.service.operations
            for path in (operation.path, *operation.aliases)
        }
        shown = {address for wing in self.wings for address in wing.addresses}
        read = {document.path for document in self.documents}
        return frozenset(called | shown | read | {MCP})

    async def close(self) -> None:
        """Let go of everything, the store last."""
        for wing in self.wings:
            for close in wing.closes:
                await close()
        await self.ground.issuer_keys.close()
        await self.ground.api_keys.close()
        await self.ground.fetcher.close()
        await self.ground.named_hosts.close()
        await self.doorway.limits.close()
        await self.store.close()
        self.ground.meters.close()


def build(chosen: Settings) -> House:
    """Make every object of the services that run here, and hand each what it needs."""
    ground = lay(chosen)
    entered = access(ground)
    made = {"assistant": assistant, "directory": directory}
    running = [make(ground) for name, make in made.items() if name in chosen.services]
    checks = {name: check for wing in running for name, check in wing.checks.items()}
    answering = Health(ground.store, __version__, tuple(chosen.services), checks)
    health = Wing(operations=offered([answering]))
    wings = (*running, entered.wing, people(ground, entered.delegations), health)
    service = Service(
        chosen.base_url,
        scopes.of(chosen.services),
        tuple(operation for wing in wings for operation in wing.operations),
    )
    spoken = speech(ground, service)
    pages = [route.path for wing in wings for route in wing.pages if isinstance(route, Route)]
    addresses = [address for wing in wings for address in wing.addresses]
    said = [document.path for document in spoken.documents]
    site = site_of(
        service, __version__, [*pages, *addresses, *said], personal=pages, rates=_rates(chosen)
    )
    documents = published(site, _authorization(chosen), jwks=ground.keyring.jwks)
    return House(
        ground=ground,
        wings=wings,
        delegations=entered.delegations,
        service=service,
        documents=(*documents, *spoken.documents),
        site=site,
        speech=spoken,
        scrape=Scrape(ground.meters, issuing(service), ground.doorway, chosen.metrics_token),
    )


def _rates(chosen: Settings) -> Rates:
    return Rates(
        chosen.limit_directory_rpm,
        chosen.limit_unproven_rpm,
        chosen.limit_proven_rpm,
        chosen.limit_vetted_rpm,
    )


def _authorization(chosen: Settings) -> Authorization:
    """What the slices say of themselves for the metadata; assertions are the assistant's way in."""
    asserts = "assistant" in chosen.services
    return Authorization(
        grants=tuple(grant for grant in clients.GRANTS if asserts or grant != JWT_BEARER),
        client_auth_methods=clients.AUTH_METHODS,
        client_algorithms=ALGORITHMS,
        assertion_types=(ID_JAG, VERIFIED_EMAIL) if asserts else (),
        id_token_algorithms=(RS256, ALGORITHM),
        claims=CLAIMS,
        proof_algorithms=ALGORITHMS,
        events=SUPPORTED if asserts else (),
    )
