"""What every wing stands on: the store, the keys, whom we believe, what we hand out, the door, the pages' room."""

import contextlib
import os
import secrets
from dataclasses import dataclass

from negotiator import scopes, values
from negotiator.agents.mail import Mailer
from negotiator.caller import Rate, nobody
from negotiator.console.cookies import Cookies
from negotiator.console.pages import Pages
from negotiator.console.room import Room
from negotiator.console.visitor import Visitors
from negotiator.cursors import Cursors
from negotiator.directory.accounts.registered import Levels
from negotiator.directory.listing.following import Following
from negotiator.discovery.metadata import parts
from negotiator.edge.guard import Guard
from negotiator.edge.refusals import Refusals
from negotiator.edge.steps import Doorway
from negotiator.keys import Keyring
from negotiator.limits.budgets import Limits
from negotiator.metrics.meters import UNITS, Meters
from negotiator.settings import Settings
from negotiator.store.store import Store, make_store
from negotiator.tokens.api_keys.believing import ApiKeys, Believing
from negotiator.tokens.credentials import Credentials
from negotiator.trust.assertions import Verifier
from negotiator.trust.fetch import Fetcher
from negotiator.trust.issuers import Issuers
from negotiator.trust.keysets import IssuerKeys
from negotiator.trust.named_hosts import CONNECTIONS, NamedHosts
from negotiator.trust.possession.checking import Proofs
from negotiator.trust.signals.receiver import Receiver
from negotiator.wiring.budgets import make_limits

_DOCUMENT_SECONDS = 5.0


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
    named_hosts: NamedHosts
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
    guard = _guard(chosen, keys, credentials, proofs)
    limits = make_limits(chosen, store, meters, pepper=secret)
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
        named_hosts=_named_hosts(chosen, limits),
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


def _named_hosts(chosen: Settings, limits: Limits) -> NamedHosts:
    """A pool of its own: slow hosts that clients name do not delay the keys of issuers."""
    pool = Fetcher(
        allow_loopback=chosen.allow_loopback_fetch,
        total_seconds=_DOCUMENT_SECONDS,
        at_once=CONNECTIONS,
    )

    async def charge(budget: str, key: str) -> int:
        taken = await limits.charge(nobody(key), budget)
        return 0 if taken.taken else taken.retry_after

    return NamedHosts(pool, charge)
