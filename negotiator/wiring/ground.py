"""What every wing stands on: the store, the keys, whom we believe, what we hand out, the door, the pages' room."""

import contextlib
import os
import secrets
from dataclasses import dataclass

from negotiator import scopes, values
from negotiator.agents.mail import Mailer
from negotiator.agents.schemas import ANONYMOUS_BUDGET, ASSERTION_BUDGET
from negotiator.agents.signals.routes import BUDGET as EVENT_BUDGET
from negotiator.caller import Rate
from negotiator.console.cookies import Cookies
from negotiator.console.entry.passwords import BY_ACCOUNT, BY_ADDRESS
from negotiator.console.pages import Pages
from negotiator.console.room import Room
from negotiator.console.visitor import Visitors
from negotiator.cursors import Cursors
from negotiator.directory.accounts.registered import Levels
from negotiator.directory.accounts.routes import BASELINE, DAILY_BUDGET, HOURLY_BUDGET
from negotiator.directory.listing.following import Following
from negotiator.discovery import health
from negotiator.discovery.metadata import parts
from negotiator.edge.guard import Guard
from negotiator.edge.refusals import Refusals
from negotiator.edge.steps import Doorway
from negotiator.keys import Keyring
from negotiator.limits.budgets import Budget, Limiter, Limits
from negotiator.limits.places import InDatabase, InRedis, SharedTable
from negotiator.metrics.meters import UNITS, Meters
from negotiator.settings import Settings
from negotiator.store.store import Store, make_store
from negotiator.teleprompter.routes import BUDGET as TELEPROMPTER
from negotiator.tokens.api_keys.believing import ApiKeys, Believing
from negotiator.tokens.credentials import Credentials
from negotiator.tokens.registration.routes import CLIENT_BUDGET
from negotiator.trust.assertions import Verifier
from negotiator.trust.fetch import Fetcher
from negotiator.trust.issuers import Issuers
from negotiator.trust.keysets import IssuerKeys
from negotiator.trust.possession.checking import Proofs
from negotiator.trust.signals.receiver import Receiver

_SIXTH = 6
"""Of an hour's passwords, how many may be tried at once: one in six."""
_TENTH = 10
"""Of a minute's utterances, how many may come at once: one in ten."""


@dataclass(frozen=True, slots=True)
class Ground:
    """The shared objects of one process; `resources` are what a token may be asked for (RFC 8707)."""

    settings: Settings
    meters: Meters
    secret: bytes
    store: Store
    keyring: Keyring
    credentials: Credentials
    levels: Levels
    api_keys: ApiKeys
    cursors: Cursors
    fetcher: Fetcher
    issuer_keys: IssuerKeys
    proofs: Proofs
    verifier: Verifier
    receiver: Receiver
    resources: frozenset[str]
    doorway: Doorway
    mailer: Mailer
    following: Following
    room: Room


def lay(chosen: Settings) -> Ground:
    """Make the shared objects from settings; nothing is opened before the process starts."""
    base, secret, meters = chosen.base_url, pepper(chosen), Meters(chosen.data_dir / "metrics")
    store, keyring, levels = _store(chosen, meters), Keyring(chosen.keys_dir), _levels(chosen)
    credentials = _credentials(chosen, store, keyring=keyring, pepper=secret, levels=levels)
    keys = ApiKeys(store, secret, levels.standing, unused_days=chosen.key_unused_days)
    fetcher = Fetcher(allow_loopback=chosen.allow_loopback_fetch)
    issuer_keys = IssuerKeys(fetcher, clock=lambda: values.now())
    resources = frozenset(f"{base}{path}" for path in parts(scopes.of(chosen.services)))
    issuers = Issuers(store)
    proofs = Proofs(store, base, secret, demands_nonce=chosen.dpop_nonce)
    guard, limits = _guard(chosen, keys, credentials, proofs), _limits(chosen, store, meters)
    return Ground(
        settings=chosen,
        meters=meters,
        secret=secret,
        following=Following(store),
        store=store,
        keyring=keyring,
        credentials=credentials,
        levels=levels,
        api_keys=keys,
        cursors=Cursors(secret),
        fetcher=fetcher,
        issuer_keys=issuer_keys,
        proofs=proofs,
        receiver=Receiver(base, issuers.find, issuer_keys, clock=lambda: values.now()),
        verifier=_verifier(base, resources, issuers, issuer_keys),
        resources=resources,
        doorway=Doorway(guard, limits, Refusals(base), store),
        mailer=Mailer(chosen.smtp_url, sender=chosen.mail_from, outbox=chosen.data_dir / "outbox"),
        room=_room(chosen, store, limits, guard, secret),
    )


def _verifier(base: str, resources: frozenset[str], issuers: Issuers, keys: IssuerKeys) -> Verifier:
    return Verifier(
        audience=base,
        resources=resources,
        find_issuer=issuers.find,
        keys=keys,
        clock=lambda: values.now(),
    )


def _store(chosen: Settings, meters: Meters) -> Store:
    commits = meters.histogram("negotiator_commit_units", "Changes that shared a commit", UNITS)
    return make_store(chosen.database_url, committed=commits.saw)


def _credentials(
    chosen: Settings, store: Store, *, keyring: Keyring, pepper: bytes, levels: Levels
) -> Credentials:
    return Credentials(
        store,
        keyring,
        issuer=chosen.base_url,
        pepper=pepper,
        find_standing=levels.standing,
        offered=scopes.of(chosen.services),
    )


def _levels(chosen: Settings) -> Levels:
    rates = (chosen.limit_unproven_rpm, chosen.limit_proven_rpm, chosen.limit_vetted_rpm)
    return Levels(*(Rate(rpm, rpm) for rpm in rates))


def _guard(chosen: Settings, keys: ApiKeys, credentials: Credentials, proofs: Proofs) -> Guard:
    return Guard(Believing(keys, credentials), chosen.proxies, proofs)


def pepper(chosen: Settings) -> bytes:
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


def _room(chosen: Settings, store: Store, limits: Limits, guard: Guard, secret: bytes) -> Room:
    """What every page stands in; whoever signs in for nothing in particular goes to his agents, if there can be any."""
    home = "/agents" if "assistant" in chosen.services else "/account"
    visitors = Visitors(Cookies(chosen.base_url, secret), store, guard)
    return Room(store, limits, visitors, Pages(chosen.base_url), home)


def _limits(chosen: Settings, store: Store, meters: Meters) -> Limits:
    limiter: Limiter
    if chosen.redis_url:
        limiter = InRedis(chosen.redis_url)
    elif chosen.database_url.startswith("sqlite"):
        limiter = SharedTable(chosen.data_dir / "limits")
    else:
        limiter = InDatabase(store)
    baseline, anonymous, assertion = (
        chosen.limit_baseline_rpm,
        chosen.register_limit_anonymous,
        chosen.register_limit_assertion,
    )
    registered = chosen.register_limit_clients
    by_address, by_account = chosen.sign_in_limit_address, chosen.sign_in_limit_account
    budgets = (
        Budget("default", chosen.limit_rpm, 60, chosen.limit_burst or chosen.limit_rpm),
        Budget("baseline", baseline, 60, baseline),
        Budget(ANONYMOUS_BUDGET, anonymous, 3600, anonymous),
        Budget(ASSERTION_BUDGET, assertion, 3600, assertion),
        Budget(
            TELEPROMPTER, chosen.limit_teleprompter_rpm, 60, chosen.limit_teleprompter_rpm // _TENTH
        ),
        Budget(EVENT_BUDGET, chosen.limit_events_rpm, 60, chosen.limit_events_rpm),
        Budget(CLIENT_BUDGET, registered, 3600, registered),
        Budget(health.BUDGET, chosen.limit_health_rpm, 60, chosen.limit_health_rpm),
        *_of_the_directory(chosen),
        Budget(BY_ADDRESS, by_address, 3600, by_address // _SIXTH),
        Budget(BY_ACCOUNT, by_account, 3600, by_account // _SIXTH),
    )
    name, meaning = "negotiator_limit_refusals_total", "Calls that found their budget empty"
    refusals = {each.name: meters.counter(name, meaning, budget=each.name) for each in budgets}
    return Limits(
        limiter,
        {budget.name: budget for budget in budgets},
        refused=lambda budget: refusals[budget].add(),
    )


def _of_the_directory(chosen: Settings) -> tuple[Budget, ...]:
    baseline = chosen.limit_directory_rpm
    hourly, daily = chosen.register_limit_directory, chosen.register_limit_directory_daily
    return (
        Budget(BASELINE, baseline, 60, baseline),
        Budget(HOURLY_BUDGET, hourly, 3600, hourly),
        Budget(DAILY_BUDGET, daily, 86_400, daily),
    )
