"""What a component is, and the objects that all of them share: store, keys, verifiers, limits, pipeline, pages."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from negotiator import __version__
from negotiator.agents.call_record import AgentCallRecord
from negotiator.agents.delegation import WRONG_CODES_BY_ADDRESS, WRONG_CODES_OVERALL
from negotiator.agents.mail import Mailer
from negotiator.agents.mail_queue import MailQueue
from negotiator.agents.schemas import ANONYMOUS_BUDGET, ASSERTION_BUDGET
from negotiator.agents.security_event_routes import EVENTS_BUDGET
from negotiator.base import scopes, values
from negotiator.base.caller import CallerRate, anonymous_caller
from negotiator.compose.shared_secrets import load_pepper, make_keyring
from negotiator.config.settings import Settings
from negotiator.console.admin.admin_router import ADMIN_ENTRY, TriedService
from negotiator.console.browser_sessions import BrowserCookies, BrowserSessions
from negotiator.console.page_renderer import PageRenderer
from negotiator.console.page_router import LIVE_PATH, NavigationEntry, PageRouter
from negotiator.console.people.sign_in_pages import PASSWORDS_BY_ACCOUNT, SIGN_INS_BY_ADDRESS
from negotiator.directory.accounts_queries import RateLevels
from negotiator.directory.accounts_routes import DAILY_BUDGET, DIRECTORY_BASELINE_BUDGET, HOURLY_BUDGET
from negotiator.directory.catalogue_index import CatalogueIndex
from negotiator.discovery import health_routes
from negotiator.discovery.authorization_metadata import resource_paths
from negotiator.discovery.health_routes import HealthCheck
from negotiator.discovery.site import SiteDescription
from negotiator.http.admission import OverloadRecord
from negotiator.http.cursors import Cursors
from negotiator.http.guard import Guard
from negotiator.http.limit_stores import DatabaseLimitStore, FileLimitStore, RedisLimitStore
from negotiator.http.limits import (
    BASELINE_BUDGET,
    DEFAULT_BUDGET,
    REVOCATION_BUDGET,
    LimitStore,
    RateBudget,
    RateLimits,
)
from negotiator.http.operation import Operation
from negotiator.http.pipeline import Pipeline, RefusalRenderer
from negotiator.keys.keyring import Keyring
from negotiator.mcp.endpoint import MCP_PATH
from negotiator.runtime import thread_pools
from negotiator.runtime.metrics import COMMIT_UNITS_BUCKETS, MetricRegistry
from negotiator.store.store import Store, make_store
from negotiator.teleprompter.session_view import TELEPROMPTER_BUDGET
from negotiator.tokens.access_tokens import AccessTokens, BearerAuthenticator
from negotiator.tokens.api_keys import ApiKeyAuthenticator
from negotiator.tokens.client_registration_routes import CLIENT_BUDGET
from negotiator.trust.assertions import AssertionVerifier
from negotiator.trust.client_url_fetch import CONNECTIONS, FETCHES, HOSTS, ClientUrlFetcher
from negotiator.trust.dpop import DpopProofChecker
from negotiator.trust.fetcher import Fetcher
from negotiator.trust.issuer_queries import Issuers
from negotiator.trust.keysets import FETCHES_AT_ONCE, IssuerKeys
from negotiator.trust.security_events import SecurityEventVerifier
from negotiator.users import session_queries

if TYPE_CHECKING:
    from negotiator.runtime.trace_export import TraceExport


class OperationSlice(Protocol):
    """Anything that offers operations."""

    def operations(self) -> list[Operation]: ...


def _no_pages(_site: SiteDescription) -> Sequence[BaseRoute]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """What a component offers over HTTP, its health checks, its periodic tasks and what it closes at the end.

    `sockets` are the WebSocket endpoints, by the path of the operation they belong to. `public_pages` makes the public
    pages once the whole site is known; `page_paths` are their paths, which any origin may read. `periodic_tasks` run
    every minute. `page_operations` have no address: only pages call them, for the signed-in user. `tried_services` are
    those that an administrator may try.
    """

    operations: tuple[Operation, ...] = ()
    page_operations: tuple[Operation, ...] = ()
    pages: tuple[BaseRoute, ...] = ()
    checks: Mapping[str, HealthCheck] = field(default_factory=dict[str, HealthCheck])
    public_pages: Callable[[SiteDescription], Sequence[BaseRoute]] = _no_pages
    page_paths: tuple[str, ...] = ()
    sockets: Mapping[str, ASGIApp] = field(default_factory=dict[str, ASGIApp])
    periodic_tasks: tuple[Callable[[], Awaitable[None]], ...] = ()
    closes: tuple[Callable[[], Awaitable[None]], ...] = ()
    tried_services: tuple[TriedService, ...] = ()


def offered_operations(slices: Iterable[OperationSlice]) -> tuple[Operation, ...]:
    return tuple(operation for slice_ in slices for operation in slice_.operations())


_DOCUMENT_SECONDS = 5.0
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_REGISTRATIONS = "registrations from one address"


class Services:
    """The shared objects of one process; no file or connection is opened before the process starts.

    `resources` are the resource indicators of tokens (RFC 8707).
    """

    def __init__(self, settings: Settings) -> None:
        base, secret = settings.base_url, load_pepper(settings)
        self.settings, self.secret = settings, secret
        self.meters = meters = MetricRegistry(settings.data_dir / "metrics")
        self.overload, self.traces = OverloadRecord(meters), _traces(settings, meters)
        for pool in thread_pools.POOLS:
            pool.measure(meters)
        self.store = store = _store(settings, meters, self.overload)
        self.rate_levels = RateLevels(*(CallerRate(rpm, rpm) for rpm in settings.level_rates))
        self.keyring: Keyring = make_keyring(settings, store)
        self.credentials = AccessTokens(
            store,
            self.keyring,
            issuer=base,
            pepper=secret,
            find_standing=self.rate_levels.standing,
            offered=scopes.of_services(settings.services),
        )
        self.api_keys = ApiKeyAuthenticator(store, secret, self.rate_levels.standing)
        self.cursors = Cursors(secret)
        self.fetcher = Fetcher(allow_loopback=settings.allow_loopback_fetch, at_once=FETCHES_AT_ONCE)
        self.issuer_keys = IssuerKeys(self.fetcher, clock=lambda: values.now())
        paths = resource_paths(scopes.of_services(settings.services), MCP_PATH)
        self.resources = frozenset(f"{base}{path}" for path in paths)
        issuers, self.agent_calls = Issuers(store), AgentCallRecord(store)
        self.receiver = SecurityEventVerifier(base, issuers.find, self.issuer_keys, clock=lambda: values.now())
        self.verifier = AssertionVerifier(
            audience=base,
            resources=self.resources,
            find_issuer=issuers.find,
            keys=self.issuer_keys,
            clock=lambda: values.now(),
        )
        self.proofs = DpopProofChecker(store, base, secret, demands_nonce=settings.dpop_nonce)
        callers = BearerAuthenticator(self.api_keys, self.credentials)
        guard = Guard(callers, settings.proxies, self.proofs, session_queries.is_live)
        limits = build_limits(settings, store, meters, pepper=secret)
        self.client_urls, _ = _client_url_fetcher(settings, limits)
        self.client_key_urls, pool = _client_url_fetcher(settings, limits, apart="keys of ")
        self.client_keys = IssuerKeys(pool, clock=lambda: values.now(), for_clients=True)
        self.pipeline = Pipeline(guard, limits, RefusalRenderer(base), store, self.agent_calls)
        self.page_router = _page_router(settings, store, limits, guard, secret)
        self.catalogue_index = catalogue = CatalogueIndex(store, folder=settings.data_dir / "search-index")
        meters.sampled_gauge(
            "negotiator_catalogue_index_tools",
            "Tools in the search index of a worker; the greatest",
            lambda: catalogue.size,
            greatest=True,
        )
        self.mailer = Mailer(settings.smtp_url, sender=settings.mail_from, outbox=settings.outbox_folder)
        self.mails = mails = MailQueue(store, self.mailer, secret)
        meters.sampled_gauge(
            "negotiator_mails_waiting",
            "Mails that are not sent yet, of all machines that share the database",
            lambda: mails.waiting,
            greatest=True,
        )


def _store(settings: Settings, meters: MetricRegistry, overload: OverloadRecord) -> Store:
    commits = meters.histogram("negotiator_commit_units", "Changes that shared a commit", COMMIT_UNITS_BUCKETS)
    store = make_store(
        settings.database_url,
        committed=commits.observe,
        refused=lambda: overload.note("database"),
        connections=settings.database_connections,
    )
    for state in ("running", "waiting"):
        meters.sampled_gauge(
            "negotiator_database_work",
            "Units of the current commit or connections in use, and those that wait for either",
            lambda state=state: getattr(store.load, state),
            state=state,
        )
    return store


def _traces(settings: Settings, meters: MetricRegistry) -> "TraceExport | None":
    if not settings.traces_url:
        return None
    from negotiator.runtime.trace_export import TraceExport  # only where traces are on

    return TraceExport(settings.traces_url, sample=settings.traces_sample, version=__version__, meters=meters)


def _page_router(settings: Settings, store: Store, limits: RateLimits, guard: Guard, secret: bytes) -> PageRouter:
    """The router of the console pages; its home is the page after a sign-in that names no other page."""
    assistant, directory = ("assistant" in settings.services, "directory" in settings.services)
    entries = [
        (assistant, NavigationEntry("home", "/", "Home")),
        (assistant, NavigationEntry("live", LIVE_PATH, "On the call")),
        (assistant, NavigationEntry("memories", "/memories", "What you know")),
        (assistant, NavigationEntry("tactics", "/tactics", "Tactics")),
        (assistant, NavigationEntry("wins", "/wins", "Results")),
        (directory, NavigationEntry("tools", "/tools", "Tools")),
        (assistant, NavigationEntry("agents", "/agents", "Agents")),
        (True, ADMIN_ENTRY),
    ]
    shown = tuple(entry for is_offered, entry in entries if is_offered)
    home = "/" if assistant else "/account"
    sessions = BrowserSessions(BrowserCookies(settings.base_url, secret), store, guard)
    return PageRouter(store, limits, sessions, PageRenderer(settings.base_url), home, shown)


def _client_url_fetcher(settings: Settings, limits: RateLimits, *, apart: str = "") -> tuple[ClientUrlFetcher, Fetcher]:
    """A fetcher with its own pool, so that slow hosts named by clients do not delay the fetching of issuers' keys.

    Its budgets are kept under keys that begin with `apart`.
    """
    pool = Fetcher(allow_loopback=settings.allow_loopback_fetch, total_seconds=_DOCUMENT_SECONDS, at_once=CONNECTIONS)

    async def charge(budget: str, key: str) -> int:
        taken = await limits.charge(anonymous_caller(f"{apart}{key}"), budget)
        return 0 if taken.taken else taken.retry_after

    return ClientUrlFetcher(pool, charge), pool


def rate_budgets(settings: Settings) -> tuple[RateBudget, ...]:
    """All budgets; tests/contract/http/test_budgets.py compares each with the headers of real answers."""
    rate, registrations = settings.limit_rpm, settings.register_limit_anonymous
    apart = max(rate, 600)  # who gives agents little must not keep monitors, issuers and calls out with them
    fetches, tries = settings.limit_fetch_rpm, settings.sign_in_limit_address
    return (
        RateBudget(DEFAULT_BUDGET, rate, _MINUTE, settings.limit_burst or rate),
        _budget(BASELINE_BUDGET, settings.limit_baseline_rpm, _MINUTE),
        _budget(ANONYMOUS_BUDGET, registrations, _HOUR, counted=_REGISTRATIONS),
        _budget(ASSERTION_BUDGET, settings.register_limit_assertion, _HOUR, counted=_REGISTRATIONS),
        _budget(TELEPROMPTER_BUDGET, 5 * apart, _MINUTE, part=10),
        _budget(EVENTS_BUDGET, apart, _MINUTE),
        _budget(CLIENT_BUDGET, registrations, _HOUR, counted=_REGISTRATIONS),
        _budget(health_routes.HEALTH_BUDGET, apart, _MINUTE),
        _budget(REVOCATION_BUDGET, apart, _MINUTE),
        _budget(DIRECTORY_BASELINE_BUDGET, settings.limit_directory_rpm, _MINUTE),
        _budget(HOURLY_BUDGET, settings.register_limit_directory, _HOUR, counted=_REGISTRATIONS),
        _budget(DAILY_BUDGET, settings.register_limit_directory_daily, _DAY, counted=_REGISTRATIONS),
        _budget(WRONG_CODES_BY_ADDRESS, settings.claim_failures_per_address, _HOUR),
        _budget(WRONG_CODES_OVERALL, settings.claim_failures_per_hour, _HOUR),
        _budget(FETCHES, fetches, _MINUTE, part=4),
        _budget(HOSTS, fetches, _MINUTE, part=4),
        _budget(SIGN_INS_BY_ADDRESS, tries, _HOUR, part=6),
        _budget(PASSWORDS_BY_ACCOUNT, tries // 5, _HOUR, part=6),
    )


def build_limits(settings: Settings, store: Store, meters: MetricRegistry, *, pepper: bytes) -> RateLimits:
    """The rate limits over all budgets, with a counter of refusals for each."""
    limiter: LimitStore
    file = FileLimitStore(settings.data_dir / "limits", pepper)
    if settings.redis_url:
        limiter = RedisLimitStore(settings.redis_url, file)
    elif settings.database_url.startswith("sqlite"):
        limiter = file
    else:
        limiter = DatabaseLimitStore(store)
    made = {budget.name: budget for budget in rate_budgets(settings)}
    name, meaning = "negotiator_limit_refusals_total", "Calls that found their budget empty"
    refusals = {each: meters.counter(name, meaning, budget=each) for each in made}
    # The health check has to answer while the database hangs.
    own = {health_routes.HEALTH_BUDGET: file} if isinstance(limiter, DatabaseLimitStore) else {}
    return RateLimits(limiter, made, refused=lambda budget: refusals[budget].add(), stores=own)


def _budget(name: str, quota: int, window: int, *, part: int = 1, counted: str = "requests") -> RateBudget:
    """A budget of which this part of the quota, a half or a tenth, may be used at once."""
    return RateBudget(name, quota, window, max(1, quota // part), counted)
