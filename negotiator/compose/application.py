"""All wings under one roof: the description of the service and everything that one process is made of."""

from dataclasses import dataclass

from starlette.routing import Route

from negotiator import __version__, scopes
from negotiator.agents.delegation import Delegations
from negotiator.agents.schemas import ID_JAG, VERIFIED_EMAIL
from negotiator.compose.assistant import build_assistant
from negotiator.compose.component import Component, offered_operations
from negotiator.compose.directory import build_directory
from negotiator.compose.identity import build_agent_access, build_user_pages
from negotiator.compose.mcp import McpService, build_mcp
from negotiator.compose.services import Services, build_services
from negotiator.console.page_router import SIGN_IN_PATH
from negotiator.discovery.authorization_metadata import AuthorizationServerInfo
from negotiator.discovery.documents import PublicDocument
from negotiator.discovery.health_routes import HealthEndpoint
from negotiator.discovery.metrics_routes import MetricsEndpoint, issuing_operations
from negotiator.discovery.published_documents import make_site, published_documents
from negotiator.discovery.site import DirectoryRates, SiteDescription
from negotiator.http.operation import ServiceDescription
from negotiator.http.pipeline import Pipeline
from negotiator.keys import ALGORITHM, RS256, Keyring
from negotiator.mcp.endpoint import MCP_PATH
from negotiator.settings import Settings
from negotiator.store.store import Store
from negotiator.tokens import clients
from negotiator.tokens.clients import JWT_BEARER
from negotiator.trust.issuers import ALGORITHMS
from negotiator.trust.security_events import SUPPORTED
from negotiator.users.userinfo_routes import USERINFO_CLAIMS


@dataclass(frozen=True, slots=True)
class Application:
    """Everything that one process is made of."""

    ground: Services
    wings: tuple[Component, ...]
    delegations: Delegations
    service: ServiceDescription
    documents: tuple[PublicDocument, ...]
    site: SiteDescription
    speech: McpService
    scrape: MetricsEndpoint

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
    def doorway(self) -> Pipeline:
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
        return frozenset(called | shown | read | {MCP_PATH})

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


def build_application(chosen: Settings) -> Application:
    """Make every object of the services that run here, and hand each what it needs."""
    ground = build_services(chosen)
    entered = build_agent_access(ground)
    made = {"assistant": build_assistant, "directory": build_directory}
    running = [make(ground) for name, make in made.items() if name in chosen.services]
    checks = {name: check for wing in running for name, check in wing.checks.items()}
    answering = HealthEndpoint(ground.store, __version__, tuple(chosen.services), checks)
    health = Component(operations=offered_operations([answering]))
    wings = (*running, entered.wing, build_user_pages(ground, entered.delegations), health)
    service = ServiceDescription(
        chosen.base_url,
        scopes.of_services(chosen.services),
        tuple(operation for wing in wings for operation in wing.operations),
    )
    spoken = build_mcp(ground, service)
    pages = [route.path for wing in wings for route in wing.pages if isinstance(route, Route)]
    addresses = [address for wing in wings for address in wing.addresses]
    said = [document.path for document in spoken.documents]
    site = make_site(
        service,
        __version__,
        [*pages, *addresses, *said],
        personal=pages,
        rates=_rates(chosen),
        sign_in=SIGN_IN_PATH,
        mcp=MCP_PATH,
    )
    documents = published_documents(site, _authorization(chosen), jwks=ground.keyring.jwks)
    return Application(
        ground=ground,
        wings=wings,
        delegations=entered.delegations,
        service=service,
        documents=(*documents, *spoken.documents),
        site=site,
        speech=spoken,
        scrape=MetricsEndpoint(
            ground.meters, issuing_operations(service), ground.doorway, chosen.metrics_token
        ),
    )


def _rates(chosen: Settings) -> DirectoryRates:
    return DirectoryRates(
        chosen.limit_directory_rpm,
        chosen.limit_unproven_rpm,
        chosen.limit_proven_rpm,
        chosen.limit_vetted_rpm,
    )


def _authorization(chosen: Settings) -> AuthorizationServerInfo:
    """What the slices say of themselves for the metadata; assertions are the assistant's way in."""
    asserts = "assistant" in chosen.services
    return AuthorizationServerInfo(
        grants=tuple(grant for grant in clients.GRANTS if asserts or grant != JWT_BEARER),
        client_auth_methods=clients.AUTH_METHODS,
        client_algorithms=ALGORITHMS,
        assertion_types=(ID_JAG, VERIFIED_EMAIL) if asserts else (),
        id_token_algorithms=(RS256, ALGORITHM),
        claims=USERINFO_CLAIMS,
        proof_algorithms=ALGORITHMS,
        events=SUPPORTED if asserts else (),
    )
