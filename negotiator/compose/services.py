"""The objects that all components share: store, keys, verifiers, credentials, request pipeline and page router."""

from typing import TYPE_CHECKING

from negotiator import __version__
from negotiator.agents.call_record import AgentCallRecord
from negotiator.agents.mail import Mailer
from negotiator.agents.mail_queue import MailQueue
from negotiator.base import scopes, values
from negotiator.base.caller import CallerRate, anonymous_caller
from negotiator.compose.rate_budgets import build_limits
from negotiator.compose.shared_secrets import load_pepper, make_keyring
from negotiator.config.settings import Settings
from negotiator.console.admin.admin_router import ADMIN_ENTRY
from negotiator.console.browser_sessions import BrowserCookies, BrowserSessions
from negotiator.console.page_renderer import PageRenderer
from negotiator.console.page_router import LIVE_PATH, NavigationEntry, PageRouter
from negotiator.directory.accounts_queries import RateLevels
from negotiator.directory.catalogue_index import CatalogueIndex
from negotiator.discovery.authorization_metadata import resource_paths
from negotiator.http.admission import OverloadRecord
from negotiator.http.cursors import Cursors
from negotiator.http.guard import Guard
from negotiator.http.limits import RateLimits
from negotiator.http.pipeline import Pipeline, RefusalRenderer
from negotiator.keys.keyring import Keyring
from negotiator.mcp.endpoint import MCP_PATH
from negotiator.runtime import thread_pools
from negotiator.runtime.metrics import COMMIT_UNITS_BUCKETS, MetricRegistry
from negotiator.store.store import Store, make_store
from negotiator.tokens.access_tokens import AccessTokens, BearerAuthenticator
from negotiator.tokens.api_keys import ApiKeyAuthenticator
from negotiator.trust.assertions import AssertionVerifier
from negotiator.trust.client_url_fetch import CONNECTIONS, ClientUrlFetcher
from negotiator.trust.dpop import DpopProofChecker
from negotiator.trust.fetcher import Fetcher
from negotiator.trust.issuer_queries import Issuers
from negotiator.trust.keysets import FETCHES_AT_ONCE, IssuerKeys
from negotiator.trust.security_events import SecurityEventVerifier
from negotiator.users import session_queries

if TYPE_CHECKING:
    from negotiator.runtime.trace_export import TraceExport

_DOCUMENT_SECONDS = 5.0


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
        self.api_keys = ApiKeyAuthenticator(
            store, secret, self.rate_levels.standing, unused_days=settings.key_unused_days
        )
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

    return TraceExport(
        settings.traces_url,
        sample=settings.traces_sample,
        follows_caller=settings.traces_follow_caller,
        version=__version__,
        meters=meters,
    )


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
