"""The application object: all components of a process and the description of the service they offer."""

import dataclasses
import functools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import orjson
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from negotiator import __version__
from negotiator.agents import registration
from negotiator.agents.delegation import Delegations
from negotiator.agents.schemas import ID_JAG, VERIFIED_EMAIL
from negotiator.base import scopes
from negotiator.compose.admin import build_admin_pages
from negotiator.compose.assistant import build_assistant
from negotiator.compose.directory import build_directory
from negotiator.compose.housekeeping import ClockComparison, Housekeeping
from negotiator.compose.identity import build_agent_access, build_user_pages
from negotiator.compose.ownership import chores
from negotiator.compose.services import Component, Services, offered_operations
from negotiator.compose.shared_secrets import SecretsComparison
from negotiator.config.settings import Settings
from negotiator.console.page_router import SIGN_IN_PATH, DeferredPages
from negotiator.discovery import catalogs
from negotiator.discovery.authorization_metadata import AuthorizationServerInfo
from negotiator.discovery.documents import PublicDocument
from negotiator.discovery.health_routes import HealthCheck, HealthEndpoint, ReadinessEndpoints, database_state
from negotiator.discovery.metrics_routes import MetricsEndpoint, issuing_operations
from negotiator.discovery.probe_routes import ProbeEndpoint
from negotiator.discovery.public_pages import DOCS_PATHS, HOME_PATH, POLICY_PATHS
from negotiator.discovery.published_documents import PUBLISHED_PATHS, published_documents
from negotiator.discovery.site import DirectoryRates, RegistrationLimits, SiteDescription
from negotiator.discovery.skills import offered_skills
from negotiator.http.operation import ServiceDescription
from negotiator.http.pipeline import RefusalRenderer
from negotiator.keys.keyring import ALGORITHM, RS256
from negotiator.mcp.endpoint import MCP_PATH, McpEndpoint, requires_credential
from negotiator.mcp.skills import McpSkills
from negotiator.runtime import stopping, thread_pools
from negotiator.runtime.fault_log import close_all
from negotiator.runtime.metrics import MetricRegistry
from negotiator.runtime.tracing import NEW_TRACE, span
from negotiator.tokens import clients
from negotiator.tokens.clients import JWT_BEARER
from negotiator.trust.issuers import ALGORITHMS
from negotiator.trust.security_events import SUPPORTED
from negotiator.users.userinfo_routes import USERINFO_CLAIMS

if TYPE_CHECKING:
    from negotiator.mcp.server import McpServer


class Application:
    """Everything that one process consists of: the components of the services that the settings enable, and what they
    share."""

    def __init__(self, settings: Settings) -> None:
        self.services = services = Services(settings)
        self.settings, self.store, self.keyring = settings, services.store, services.keyring
        self.pipeline = services.pipeline
        access = build_agent_access(services)
        self.delegations: Delegations = access.delegations
        builders = {"assistant": build_assistant, "directory": build_directory}
        enabled = [build(services) for name, build in builders.items() if name in settings.services]
        tried = tuple(each for component in enabled for each in component.tried_services)
        clocks, meters = ClockComparison(), services.meters
        meters.sampled_gauge(
            "negotiator_clock_difference_seconds",
            "Between this machine's clock and the database's; the greatest of the workers",
            lambda: clocks.apart_seconds,
            greatest=True,
            per_unit=1000,
        )
        rounds = meters.timestamp(
            "negotiator_housekeeping_timestamp_seconds",
            "When this machine last finished a round of housekeeping; 0 for never",
        )
        self.housekeeping = Housekeeping(
            *(self.store, chores(settings.audit_retention_days), clocks), lambda now: rounds.set(now // 1000)
        )
        self.secrets = SecretsComparison(settings, self.store, services.secret, self.keyring)
        parts = (*enabled, access.component, build_user_pages(services, access.delegations))
        checks = {name: check for component in parts for name, check in component.checks.items()}
        checks |= {"clock": clocks.state, "secrets": self.secrets.state, "mail": services.mails.state}
        checks["threads"] = thread_pools.state
        if settings.redis_url:
            checks["redis"] = self.pipeline.limits.state
        checks["load"] = services.overload.state
        _show_checks(meters, {**checks, "database": partial(database_state, self.store)})
        endpoint = HealthEndpoint(self.store, __version__, tuple(settings.services), checks)
        readiness = ReadinessEndpoints(self.store, stopping.is_announced)
        health = Component(operations=offered_operations([endpoint, readiness]))
        self.components: tuple[Component, ...] = (*parts, build_admin_pages(services, tried), health)
        self.service = service = ServiceDescription(
            settings.base_url,
            scopes.of_services(settings.services),
            tuple(operation for component in self.components for operation in component.operations),
        )
        self.mcp, mcp_documents = _build_mcp(services, service)
        pages = [route.path for component in self.components for route in component.pages if isinstance(route, Route)]
        public_pages = [path for component in self.components for path in component.page_paths]
        self.site = SiteDescription(
            service,
            __version__,
            PUBLISHED_PATHS | {*pages, *public_pages, *(document.path for document in mcp_documents)},
            personal=frozenset(pages),
            rates=DirectoryRates(settings.limit_directory_rpm, *settings.level_rates),
            registrations=_registrations(settings),
            policies=_policies(settings.policies_dir),
            support=settings.support_address,
            processors=_processors(settings),
            sign_in=SIGN_IN_PATH,
            mcp=MCP_PATH,
        )
        documents = published_documents(self.site, _authorization(settings), self.keyring)
        self.documents: tuple[PublicDocument, ...] = (*documents, *mcp_documents)
        home = next(document for document in documents if document.path == HOME_PATH)
        own = (operation for component in self.components for operation in component.page_operations)
        described = dataclasses.replace(service, operations=(*service.operations, *own))

        def build_console() -> tuple[Route, ...]:
            from negotiator.compose import console  # imported by the first request

            return console.build_console(services, described, home, self.site)

        self.console = DeferredPages(build_console)
        self.home: tuple[BaseRoute, ...] = ()
        """The path of the home page, in front of the document of that path; none without the assistant."""
        if "assistant" in settings.services:
            self.home = (self.console.for_browsers(home),)
        self.metrics = MetricsEndpoint(meters, issuing_operations(service), self.pipeline, settings.metrics_token)
        self.probe = ProbeEndpoint(self.pipeline.guard, services.secret)

    @property
    def shared(self) -> frozenset[str]:
        """The paths that pages of any origin may call: operations, documents, public pages and `/mcp`."""
        called = {path for operation in self.service.operations for path in (operation.path, *operation.aliases)}
        pages = {path for component in self.components for path in component.page_paths}
        documents = {document.path for document in self.documents}
        return frozenset(called | pages | documents | {MCP_PATH, *DOCS_PATHS})

    @property
    def periodic_tasks(self) -> Sequence[Callable[[], Awaitable[None]]]:
        """What each worker does each minute: store what was seen, do the chores, then the components' own tasks."""
        services = self.services

        async def store_what_was_seen() -> None:
            seen = services.credentials.take_seen()
            await self.store.write(partial(registration.mark_seen, when=seen))
            await services.agent_calls.flush()

        async def keep_house() -> None:
            with span("housekeeping", parent=NEW_TRACE):
                await self.housekeeping.run()

        own = (task for component in self.components for task in component.periodic_tasks)
        return (store_what_was_seen, keep_house, self.secrets.compare, *own)

    async def close(self) -> None:
        """Close every component, then the shared objects, the store last."""
        services = self.services
        await close_all(
            *(close for component in self.components for close in component.closes),
            *(services.agent_calls.close, services.issuer_keys.close, services.api_keys.close),
            *(services.client_keys.close, services.client_key_urls.close, services.client_urls.close),
            *(services.fetcher.close, self.pipeline.limits.close),
            self.store.close,
            *([services.traces.close] if services.traces else []),
        )
        services.meters.close()


def build_application(settings: Settings) -> Application:
    """The application of these settings; nothing is opened yet."""
    return Application(settings)


def _build_mcp(services: Services, service: ServiceDescription) -> tuple[ASGIApp, tuple[PublicDocument, ...]]:
    """The MCP endpoint and the documents that describe it.

    The MCP SDK is imported by the first message or the first request for the card.
    """
    base = service.base
    pipeline = dataclasses.replace(services.pipeline, refusals=RefusalRenderer(base, MCP_PATH))

    @functools.cache
    def server() -> "McpServer":
        from negotiator.mcp.server import McpServer

        return McpServer(service, pipeline, __version__, McpSkills(offered_skills(service)))

    @functools.cache
    def card() -> bytes:
        spoken, locked = server(), requires_credential(service)
        described = catalogs.server_card(base, spoken.server_info, spoken.versions, spoken.capabilities, locked=locked)
        return orjson.dumps(described)

    return (
        McpEndpoint(service, pipeline, server=server, origins=services.settings.allowed_origins),
        (
            PublicDocument(catalogs.WELL_KNOWN_CARD_PATH, "application/json", card, catalogs.CARD_CACHE_HEADERS),
            PublicDocument(catalogs.CARD_PATH, catalogs.CARD_TYPE, card, catalogs.CARD_CACHE_HEADERS),
        ),
    )


_TROUBLE: Final = {"lesser": 1, "failing": 2, "refusing": 2, "down": 2}


def _show_checks(meters: MetricRegistry, checks: Mapping[str, HealthCheck]) -> None:
    """A gauge for each health check; circuit breakers show in those of the parts that they guard."""

    def trouble(check: HealthCheck) -> int:
        return _TROUBLE.get(check().partition(":")[0], 0)

    for name, check in checks.items():
        meters.sampled_gauge(
            "negotiator_check_trouble",
            "0 well or off, 1 lesser, 2 failing; the worst of the workers",
            partial(trouble, check),
            greatest=True,
            check=name,
        )


def _registrations(settings: Settings) -> RegistrationLimits:
    return RegistrationLimits(
        settings.register_limit_anonymous, settings.register_limit_directory, settings.register_limit_directory_daily
    )


def _policies(folder: Path | None) -> dict[str, str]:
    """The operator's own texts by the path of their page."""
    files = {path: folder / f"{path[1:]}.txt" for path in POLICY_PATHS} if folder else {}
    return {path: file.read_text("utf-8") for path, file in files.items() if file.exists()}


def _processors(settings: Settings) -> tuple[str, ...]:
    """What is sent to which other service, a sentence each."""
    connected = (
        (settings.advisor_url, "The words of plans and answers, and the negotiation they are about, go to {}."),
        (settings.embedding_url, "Memories, tools and what is searched for go to {}."),
        (settings.speech_url, "The sound of calls goes to {}, which turns it into words."),
        (settings.smtp_url, "E-mails to you go through {}."),
    )
    return tuple(text.format(urlsplit(url).hostname) for url, text in connected if url)


def _authorization(settings: Settings) -> AuthorizationServerInfo:
    """What the authorization server metadata lists; only the assistant accepts identity assertions."""
    asserts = "assistant" in settings.services
    return AuthorizationServerInfo(
        grants=tuple(grant for grant in clients.GRANTS if asserts or grant != JWT_BEARER),
        client_auth_methods=clients.AUTH_METHODS,
        client_algorithms=ALGORITHMS,
        assertion_types=(ID_JAG, VERIFIED_EMAIL) if asserts else (),
        id_token_algorithms=(RS256, ALGORITHM),
        claims=USERINFO_CLAIMS,
        proof_algorithms=ALGORITHMS,
        events=SUPPORTED if asserts else (),
        registrations=_registrations(settings),
    )
