"""What every wing stands on: the store, the keys, whom we believe, what we hand out, the door, the page router."""

import contextlib
import os
import secrets
from dataclasses import dataclass

from negotiator import scopes, values
from negotiator.agents.mail import Mailer
from negotiator.caller import CallerRate, anonymous_caller
from negotiator.compose.rate_budgets import build_limits
from negotiator.console.browser_sessions import BrowserSessions
from negotiator.console.cookies import BrowserCookies
from negotiator.console.page_renderer import PageRenderer
from negotiator.console.page_router import PageRouter
from negotiator.directory.accounts_queries import RateLevels
from negotiator.directory.catalogue_index import CatalogueIndex
from negotiator.discovery.authorization_metadata import resource_paths
from negotiator.http.cursors import Cursors
from negotiator.http.guard import Guard
from negotiator.http.limits import RateLimits
from negotiator.http.pipeline import Pipeline, RefusalRenderer
from negotiator.keys import Keyring
from negotiator.mcp.endpoint import MCP_PATH
from negotiator.metrics import COMMIT_UNITS_BUCKETS, MetricRegistry
from negotiator.settings import Settings
from negotiator.store.store import Store, make_store
from negotiator.tokens.access_tokens import AccessTokens
from negotiator.tokens.authenticator import ApiKeyAuthenticator, BearerAuthenticator
from negotiator.trust.assertions import AssertionVerifier
from negotiator.trust.client_url_fetch import CONNECTIONS, ClientUrlFetcher
from negotiator.trust.dpop import DpopProofChecker
from negotiator.trust.fetch import Fetcher
from negotiator.trust.issuer_queries import Issuers
from negotiator.trust.keysets import IssuerKeys
from negotiator.trust.security_events import SecurityEventVerifier

_DOCUMENT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Services:
    """The shared objects of one process; `resources` are what a token may be asked for (RFC 8707)."""

    settings: Settings
    meters: MetricRegistry
    secret: bytes
    store: Store
    keyring: Keyring
    credentials: AccessTokens
    levels: RateLevels
    api_keys: ApiKeyAuthenticator
    cursors: Cursors
    fetcher: Fetcher
    named_hosts: ClientUrlFetcher
    issuer_keys: IssuerKeys
    proofs: DpopProofChecker
    verifier: AssertionVerifier
    receiver: SecurityEventVerifier
    resources: frozenset[str]
    doorway: Pipeline
    mailer: Mailer
    following: CatalogueIndex
    router: PageRouter


def build_services(chosen: Settings) -> Services:
    """Make the shared objects from settings; nothing is opened before the process starts."""
    base, secret, meters = (
        chosen.base_url,
        load_pepper(chosen),
        MetricRegistry(chosen.data_dir / "metrics"),
    )
    store, keyring, levels = _store(chosen, meters), Keyring(chosen.keys_dir), _levels(chosen)
    credentials = _credentials(chosen, store, keyring=keyring, pepper=secret, levels=levels)
    keys = ApiKeyAuthenticator(store, secret, levels.standing, unused_days=chosen.key_unused_days)
    fetcher = Fetcher(allow_loopback=chosen.allow_loopback_fetch)
    issuer_keys = IssuerKeys(fetcher, clock=lambda: values.now())
    resources = frozenset(
        f"{base}{path}" for path in resource_paths(scopes.of_services(chosen.services), MCP_PATH)
    )
    issuers = Issuers(store)
    proofs = DpopProofChecker(store, base, secret, demands_nonce=chosen.dpop_nonce)
    guard = _guard(chosen, keys, credentials, proofs)
    limits = build_limits(chosen, store, meters, pepper=secret)
    return Services(
        settings=chosen,
        meters=meters,
        secret=secret,
        following=CatalogueIndex(store),
        store=store,
        keyring=keyring,
        credentials=credentials,
        levels=levels,
        api_keys=keys,
        cursors=Cursors(secret),
        fetcher=fetcher,
        named_hosts=_named_hosts(chosen, limits),
        issuer_keys=issuer_keys,
        proofs=proofs,
        receiver=SecurityEventVerifier(base, issuers.find, issuer_keys, clock=lambda: values.now()),
        verifier=_verifier(base, resources, issuers, issuer_keys),
        resources=resources,
        doorway=Pipeline(guard, limits, RefusalRenderer(base), store),
        mailer=Mailer(chosen.smtp_url, sender=chosen.mail_from, outbox=chosen.data_dir / "outbox"),
        router=_router(chosen, store, limits, guard, secret),
    )


def _verifier(
    base: str, resources: frozenset[str], issuers: Issuers, keys: IssuerKeys
) -> AssertionVerifier:
    return AssertionVerifier(
        audience=base,
        resources=resources,
        find_issuer=issuers.find,
        keys=keys,
        clock=lambda: values.now(),
    )


def _store(chosen: Settings, meters: MetricRegistry) -> Store:
    commits = meters.histogram(
        "negotiator_commit_units", "Changes that shared a commit", COMMIT_UNITS_BUCKETS
    )
    return make_store(chosen.database_url, committed=commits.observe)


def _credentials(
    chosen: Settings, store: Store, *, keyring: Keyring, pepper: bytes, levels: RateLevels
) -> AccessTokens:
    return AccessTokens(
        store,
        keyring,
        issuer=chosen.base_url,
        pepper=pepper,
        find_standing=levels.standing,
        offered=scopes.of_services(chosen.services),
    )


def _levels(chosen: Settings) -> RateLevels:
    rates = (chosen.limit_unproven_rpm, chosen.limit_proven_rpm, chosen.limit_vetted_rpm)
    return RateLevels(*(CallerRate(rpm, rpm) for rpm in rates))


def _guard(
    chosen: Settings, keys: ApiKeyAuthenticator, credentials: AccessTokens, proofs: DpopProofChecker
) -> Guard:
    return Guard(BearerAuthenticator(keys, credentials), chosen.proxies, proofs)


def load_pepper(chosen: Settings) -> bytes:
    """The secret behind codes and cursors: the operator's, or one made on the first start and kept."""
    if chosen.secret:
        return chosen.secret.encode()
    path = chosen.data_dir / "secret"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(32))
    return path.read_bytes()


def _router(
    chosen: Settings, store: Store, limits: RateLimits, guard: Guard, secret: bytes
) -> PageRouter:
    """What every page stands in; whoever signs in for nothing in particular goes to his agents, if there can be any."""
    home = "/agents" if "assistant" in chosen.services else "/account"
    visitors = BrowserSessions(BrowserCookies(chosen.base_url, secret), store, guard)
    return PageRouter(store, limits, visitors, PageRenderer(chosen.base_url), home)


def _named_hosts(chosen: Settings, limits: RateLimits) -> ClientUrlFetcher:
    """A pool of its own: slow hosts that clients name do not delay the keys of issuers."""
    pool = Fetcher(
        allow_loopback=chosen.allow_loopback_fetch,
        total_seconds=_DOCUMENT_SECONDS,
        at_once=CONNECTIONS,
    )

    async def charge(budget: str, key: str) -> int:
        taken = await limits.charge(anonymous_caller(key), budget)
        return 0 if taken.taken else taken.retry_after

    return ClientUrlFetcher(pool, charge)
