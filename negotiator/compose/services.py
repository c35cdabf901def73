"""The objects that all components share: store, keys, verifiers, credentials, request pipeline and page router."""

from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Services:
    """The shared objects of one process; `resources` are the resource indicators of tokens (RFC 8707)."""

    settings: Settings
    meters: MetricRegistry
    traces: "TraceExport | None"
    overload: OverloadRecord
    secret: bytes
    store: Store
    keyring: Keyring
    credentials: AccessTokens
    rate_levels: RateLevels
    api_keys: ApiKeyAuthenticator
    cursors: Cursors
    fetcher: Fetcher
    client_urls: ClientUrlFetcher
    issuer_keys: IssuerKeys
    proofs: DpopProofChecker
    verifier: AssertionVerifier
    receiver: SecurityEventVerifier
    resources: frozenset[str]
    pipeline: Pipeline
    agent_calls: AgentCallRecord
    mailer: Mailer
    mails: MailQueue
    catalogue_index: CatalogueIndex
    page_router: PageRouter


def build_services(settings: Settings) -> Services:
    """Build the shared objects; no file or connection is opened before the process starts."""
    base, secret = settings.base_url, load_pepper(settings)
    meters = MetricRegistry(settings.data_dir / "metrics")
    overload, traces = OverloadRecord(meters), _traces(settings, meters)
    for pool in thread_pools.POOLS:
        pool.measure(meters)
    store, rate_levels = _store(settings, meters, overload), _levels(settings)
    keyring = make_keyring(settings, store)
    credentials = _credentials(settings, store, keyring=keyring, pepper=secret, rate_levels=rate_levels)
    keys = ApiKeyAuthenticator(store, secret, rate_levels.standing, unused_days=settings.key_unused_days)
    fetcher = Fetcher(allow_loopback=settings.allow_loopback_fetch, at_once=FETCHES_AT_ONCE)
    issuer_keys = IssuerKeys(fetcher, clock=lambda: values.now())
    resources = frozenset(f"{base}{path}" for path in resource_paths(scopes.of_services(settings.services), MCP_PATH))
    issuers, agent_calls = Issuers(store), AgentCallRecord(store)
    proofs = DpopProofChecker(store, base, secret, demands_nonce=settings.dpop_nonce)
    guard = _guard(settings, keys, credentials, proofs)
    limits = build_limits(settings, store, meters, pepper=secret)
    catalogue = CatalogueIndex(store, folder=settings.data_dir / "search-index")
    meters.sampled_gauge(
        "negotiator_catalogue_index_tools",
        "Tools in the search index of a worker; the greatest",
        lambda: catalogue.size,
        greatest=True,
    )
    mailer = Mailer(settings.smtp_url, sender=settings.mail_from, outbox=settings.outbox_folder)
    mails = MailQueue(store, mailer, secret)
    meters.sampled_gauge(
        "negotiator_mails_waiting",
        "Mails that are not sent yet, of all machines that share the database",
        lambda: mails.waiting,
        greatest=True,
    )
    return Services(
        settings=settings,
        meters=meters,
        traces=traces,
        overload=overload,
        secret=secret,
        catalogue_index=catalogue,
        store=store,
        keyring=keyring,
        credentials=credentials,
        rate_levels=rate_levels,
        api_keys=keys,
        cursors=Cursors(secret),
        fetcher=fetcher,
        client_urls=_client_url_fetcher(settings, limits),
        issuer_keys=issuer_keys,
        proofs=proofs,
        receiver=SecurityEventVerifier(base, issuers.find, issuer_keys, clock=lambda: values.now()),
        verifier=_verifier(base, resources, issuers, issuer_keys),
        resources=resources,
        pipeline=Pipeline(guard, limits, RefusalRenderer(base), store, agent_calls),
        agent_calls=agent_calls,
        mailer=mailer,
        mails=mails,
        page_router=_page_router(settings, store, limits, guard, secret),
    )


def _verifier(base: str, resources: frozenset[str], issuers: Issuers, keys: IssuerKeys) -> AssertionVerifier:
    return AssertionVerifier(
        audience=base, resources=resources, find_issuer=issuers.find, keys=keys, clock=lambda: values.now()
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


def _credentials(
    settings: Settings, store: Store, *, keyring: Keyring, pepper: bytes, rate_levels: RateLevels
) -> AccessTokens:
    return AccessTokens(
        store,
        keyring,
        issuer=settings.base_url,
        pepper=pepper,
        find_standing=rate_levels.standing,
        offered=scopes.of_services(settings.services),
    )


def _levels(settings: Settings) -> RateLevels:
    return RateLevels(*(CallerRate(rpm, rpm) for rpm in settings.level_rates))


def _guard(settings: Settings, keys: ApiKeyAuthenticator, credentials: AccessTokens, proofs: DpopProofChecker) -> Guard:
    callers = BearerAuthenticator(keys, credentials)
    return Guard(callers, settings.proxies, proofs, session_queries.is_live)


def _page_router(settings: Settings, store: Store, limits: RateLimits, guard: Guard, secret: bytes) -> PageRouter:
    """The router of the console pages; its home is the page after a sign-in that names no other page."""
    assistant, directory = ("assistant" in settings.services, "directory" in settings.services)
    entries = [
        *((NavigationEntry("home", "/", "Home"),) if assistant else ()),
        *((NavigationEntry("live", LIVE_PATH, "On the call"),) if assistant else ()),
        *((NavigationEntry("memories", "/memories", "What you know"),) if assistant else ()),
        *((NavigationEntry("tactics", "/tactics", "Tactics"),) if assistant else ()),
        *((NavigationEntry("wins", "/wins", "Results"),) if assistant else ()),
        *((NavigationEntry("tools", "/tools", "Tools"),) if directory else ()),
        *((NavigationEntry("agents", "/agents", "Agents"),) if assistant else ()),
        ADMIN_ENTRY,
    ]
    home = "/" if assistant else "/account"
    sessions = BrowserSessions(BrowserCookies(settings.base_url, secret), store, guard)
    return PageRouter(store, limits, sessions, PageRenderer(settings.base_url), home, tuple(entries))


def _client_url_fetcher(settings: Settings, limits: RateLimits) -> ClientUrlFetcher:
    """A fetcher with its own pool, so that slow hosts named by clients do not delay the fetching of issuers' keys."""
    pool = Fetcher(allow_loopback=settings.allow_loopback_fetch, total_seconds=_DOCUMENT_SECONDS, at_once=CONNECTIONS)

    async def charge(budget: str, key: str) -> int:
        taken = await limits.charge(anonymous_caller(key), budget)
        return 0 if taken.taken else taken.retry_after

    return ClientUrlFetcher(pool, charge)
