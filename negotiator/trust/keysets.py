"""Strict reading of JWK Sets, and a cache of each issuer's keys.

Keys are looked up by (kid, alg), so that a key verifies only the algorithms that it was made for (RFC 7517, RFC 8725
§3.1).
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, Final
from urllib.parse import urlsplit

from jwt import PyJWK, PyJWTError

from negotiator.base.errors import Refusal
from negotiator.base.strict_json import is_array, is_object, read_object, read_segment
from negotiator.base.values import DAY
from negotiator.runtime import telemetry
from negotiator.runtime.fault_log import FaultLog
from negotiator.trust.fetch import FetchedDocument, FetchFailed
from negotiator.trust.fetcher import Fetcher
from negotiator.trust.issuers import ALGORITHMS, Issuer, canonical_algorithm

log = telemetry.logger(__name__)

MAX_BYTES: Final = 65_536
MAX_KEYS: Final = 50
MAX_ISSUERS: Final = 256
MAX_CLIENTS: Final = 1024
FETCHES_AT_ONCE: Final = 128
"""Each issuer has one fetch at a time, so that no issuer whose host hangs keeps the keys of another waiting."""
RSA_BITS: Final = range(2048, 8193)
FLOOR: Final = 600_000
CEILING: Final = DAY
COOL_DOWN: Final = 30_000
CLIENT_COOL_DOWN: Final = 60_000
_LATELY: Final = 600_000
FLIGHT_SECONDS: Final = 10.0

_AWAY: Final = "the keys of an issuer cannot be fetched"

FetchKeys = Callable[[str], Awaitable[FetchedDocument]]
"""Fetches the key set at a URL within the caller's budgets; raises `FetchFailed`, or a `Refusal` without a fetch."""

_FITS: Final = {
    ("RSA", None): ("RS256", "PS256"),
    ("EC", "P-256"): ("ES256",),
    ("EC", "P-384"): ("ES384",),
    ("OKP", "Ed25519"): ("EdDSA",),
}
_COORDINATES: Final = {"RSA": ("n", "e"), "EC": ("x", "y"), "OKP": ("x",)}
_PRIVATE: Final = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})


class KeysRefused(Exception):
    """The document is not a usable JWK Set; `detail` says why, for the log."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class KeysUnavailable(Exception):
    """An issuer's keys cannot be fetched now; `retry_after` is in seconds."""

    def __init__(self, detail: str, *, retry_after: int) -> None:
        super().__init__(detail)
        self.detail = detail
        self.retry_after = retry_after


class NoSuchKey(Exception):
    """The issuer does not publish exactly one key for this kid and algorithm."""


@dataclass(frozen=True, slots=True)
class KeySet:
    """Public keys as (kid, alg, key); a key without `alg` is listed for each algorithm that it fits."""

    keys: tuple[tuple[str | None, str, PyJWK], ...]

    def find(self, kid: str | None, alg: str) -> PyJWK | None:
        """The single key for `alg`, and for `kid` unless that is None; None when no key or several match."""
        found = [key for name, made_for, key in self.keys if made_for == alg and kid in (None, name)]
        return found[0] if len(found) == 1 else None


def parse(document: dict[str, Any], algorithms: Iterable[str]) -> KeySet:
    """The keys of a JWK Set (RFC 7517 §5) for these algorithms; unusable ones are skipped.

    Raises `KeysRefused` for the whole set when it is malformed, has more than 50 keys, or contains private or
    symmetric keys: then the other keys cannot be trusted either.
    """
    entries: object = document.get("keys")
    if not is_array(entries) or len(entries) > MAX_KEYS:
        raise KeysRefused(f"not a list of at most {MAX_KEYS} keys")
    allowed = tuple(algorithms)
    keys: list[tuple[str | None, str, PyJWK]] = []
    for jwk in entries:
        if not is_object(jwk):
            raise KeysRefused("a key is no object")
        if jwk.get("kty") == "oct" or not _PRIVATE.isdisjoint(jwk):
            raise KeysRefused("publishes private or symmetric key material")
        kid = jwk.get("kid")
        if kid is not None and not isinstance(kid, str):
            raise KeysRefused("a kid is no string")
        keys.extend((kid, alg, key) for alg in _serves(jwk, allowed) if (key := _load(jwk, alg)))
    return KeySet(tuple(keys))


def fitting_algorithms(document: dict[str, Any]) -> tuple[str, ...]:
    """The algorithms that the usable keys of a JWK Set fit, in the order of `ALGORITHMS`; raises `KeysRefused`."""
    found = {algorithm for _, algorithm, _ in parse(document, ALGORITHMS).keys}
    return tuple(algorithm for algorithm in ALGORITHMS if algorithm in found)


def misfit(algorithms: Iterable[str], fitting: Sequence[str]) -> str:
    """Why keys that are `fitting` for others verify nothing signed with these algorithms; empty if one is for both."""
    allowed = tuple(algorithms)
    if not set(allowed).isdisjoint(fitting):
        return ""
    theirs = f"the keys fit {', '.join(fitting)}" if fitting else "there is no usable key"
    return f"no key fits {' or '.join(allowed)}, so that every assertion would be refused: {theirs}"


def _serves(jwk: dict[str, Any], allowed: tuple[str, ...]) -> list[str]:
    """The allowed algorithms that `kty`, `crv`, `use`, `key_ops` and `alg` all permit."""
    kind, curve = jwk.get("kty"), jwk.get("crv")
    if not isinstance(kind, str) or not isinstance(curve, str | None):
        return []
    if jwk.get("use", "sig") != "sig":
        return []
    operations = jwk.get("key_ops", ["verify"])
    if not isinstance(operations, list) or "verify" not in operations:
        return []
    fits = [alg for alg in _FITS.get((kind, curve), ()) if alg in allowed]
    if "alg" not in jwk:
        return fits
    stated = canonical_algorithm(jwk["alg"])
    return [alg for alg in fits if alg == stated]


def _load(jwk: dict[str, Any], alg: str) -> PyJWK | None:
    try:
        for name in _COORDINATES[jwk["kty"]]:
            read_segment(jwk[name].encode("ascii"))
        key = PyJWK(jwk, alg)
    except (PyJWTError, ValueError, TypeError, KeyError, AttributeError):
        return None
    if jwk["kty"] == "RSA" and key.key.key_size not in RSA_BITS:
        return None
    return key


@dataclass(slots=True)
class _Entry:
    """One issuer's keys. Times are milliseconds; `source` is the configuration that they were fetched by."""

    source: tuple[str, str, tuple[str, ...]]
    faults: FaultLog
    keys: KeySet | None = None
    fresh_until: int = 0
    stale_until: int = 0
    retry_at: int = 0
    failure: str = ""
    flight: asyncio.Task[Refusal | None] | None = field(default=None, repr=False)


class IssuerKeys:
    """The keys of all issuers, cached for 10 minutes to a day as the issuer's `max-age` says.

    For an unknown kid or after a failure, each issuer's keys are fetched at most once every 30 s (`for_clients`: 60 s);
    meanwhile calls are answered at once. After a failed fetch the old set is used until it is a day old. A changed
    configuration discards the cached keys.
    """

    def __init__(self, fetcher: Fetcher, clock: Callable[[], int], *, for_clients: bool = False) -> None:
        self._fetcher = fetcher
        self._clock = clock
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        # Strangers choose the hosts of clients, so that these have no line in the log.
        self._cool_down, self._most, self._patience = (
            (CLIENT_COOL_DOWN, MAX_CLIENTS, inf) if for_clients else (COOL_DOWN, MAX_ISSUERS, 0.0)
        )

    async def find(self, issuer: Issuer, kid: str | None, alg: str, *, fetch: FetchKeys | None = None) -> PyJWK:
        """The key for this kid and canonical algorithm; raises `NoSuchKey`, `KeysUnavailable` or what `fetch` refuses.

        `fetch` is how a set at a `jwks_uri` is fetched when it is not the service's own matter.
        """
        entry = self._entry(issuer)
        if is_old := self._clock() >= entry.fresh_until:
            await self._refresh(issuer, entry, fetch)
        key = self._usable(entry).find(kid, alg)
        if key is None and not issuer.jwks and not (is_old and entry.fresh_until > self._clock()):
            await self._refresh(issuer, entry, fetch)
            key = self._usable(entry).find(kid, alg)
        if key is None:
            raise NoSuchKey(f"{issuer.issuer} has not one key for kid {kid!r} and {alg}")
        return key

    def state(self) -> str:
        """The health check: `ok`, or `failing` with the number of issuers whose keys could not be fetched lately."""
        since = self._clock() - _LATELY
        tried = [entry for entry in self._entries.values() if entry.retry_at > since]
        failing = sum(bool(entry.failure) for entry in tried)
        if not failing:
            return "ok"
        return f"failing: the keys of {failing} of {len(tried)} issuers cannot be fetched"

    async def close(self) -> None:
        """Cancel the running fetches."""
        flights = [entry.flight for entry in self._entries.values() if entry.flight]
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)

    def _entry(self, issuer: Issuer) -> _Entry:
        source = (issuer.jwks, issuer.jwks_uri, issuer.algorithms)
        entry = self._entries.get(issuer.issuer)
        if entry is None or entry.source != source:
            entry = self._entries[issuer.issuer] = _Entry(source, FaultLog(_AWAY, patience=self._patience))
        self._entries.move_to_end(issuer.issuer)
        while len(self._entries) > self._most:
            self._entries.popitem(last=False)
        return entry

    def _usable(self, entry: _Entry) -> KeySet:
        now = self._clock()
        if entry.keys is None or now >= entry.stale_until:
            wait = min(max(1, -(-(entry.retry_at - now) // 1000)), self._cool_down // 1000)
            raise KeysUnavailable(entry.failure or "the keys are too old", retry_after=wait)
        return entry.keys

    async def _refresh(self, issuer: Issuer, entry: _Entry, fetch: FetchKeys | None) -> None:
        """Wait for the running fetch, or start one unless the cool-down of an earlier one lasts."""
        while True:
            is_own = entry.flight is None
            if entry.flight is None:
                now = self._clock()
                # A time further ahead was noted before the clock was set back.
                if now < entry.retry_at <= now + self._cool_down:
                    return
                entry.flight = asyncio.create_task(self._fly(issuer, entry, fetch or self._fetcher.document, now))
            # A waiting request may be cancelled; the fetch goes on for the others.
            refusal = await asyncio.shield(entry.flight)
            if refusal is None:
                return
            if is_own:
                raise refusal
            # Somebody else's budget was empty, which says nothing about the caller's.

    async def _fly(self, issuer: Issuer, entry: _Entry, fetch: FetchKeys, now: int) -> Refusal | None:
        before, entry.retry_at = entry.retry_at, now + self._cool_down
        is_known = now < entry.fresh_until
        try:
            async with asyncio.timeout(FLIGHT_SECONDS):
                document = await self._document(issuer, fetch)
            entry.keys = parse(document.body, issuer.algorithms)
        except Refusal as refusal:
            entry.retry_at = before
            return refusal
        except (FetchFailed, KeysRefused) as failed:
            entry.failure = failed.detail
            entry.faults.failed(failed.detail)
        except TimeoutError:
            entry.failure = f"{issuer.issuer}: its keys took too long"
            entry.faults.failed(entry.failure)
        else:
            entry.failure = ""
            entry.faults.worked()
            now = self._clock()
            lifetime = CEILING if issuer.jwks else max(FLOOR, min((document.max_age or 0) * 1000, CEILING))
            entry.fresh_until, entry.stale_until = now + lifetime, now + CEILING
            if not is_known:
                entry.retry_at = now  # a key that is published right after this is found at once
        finally:
            entry.flight = None
        return None

    async def _document(self, issuer: Issuer, fetch: FetchKeys) -> FetchedDocument:
        if issuer.jwks:
            return _inline(issuer)
        uri = issuer.jwks_uri
        if not uri:
            uri = await discover(self._fetcher, issuer.issuer)
            if is_elsewhere(issuer.issuer, uri):
                log.info("an issuer's keys are on another host", issuer=issuer.issuer, jwks_uri=uri)
        return await fetch(uri)


async def discover(fetcher: Fetcher, issuer: str) -> str:
    """The `jwks_uri` in the issuer's metadata (RFC 8414 §3, OpenID Discovery §4); raises `FetchFailed`."""
    parts = urlsplit(issuer)
    if not parts.scheme or not parts.netloc or parts.query or parts.fragment:
        raise FetchFailed(f"{issuer} is not an issuer URL whose keys can be discovered")
    path = parts.path.rstrip("/")
    origin = f"{parts.scheme}://{parts.netloc}"
    failures: list[str] = []
    for well_known in (
        f"{origin}/.well-known/oauth-authorization-server{path}",
        f"{origin}{path}/.well-known/openid-configuration",
    ):
        try:
            metadata = await fetcher.json(well_known)
        except FetchFailed as failed:
            failures.append(failed.detail)
            continue
        uri = metadata.get("jwks_uri")
        if metadata.get("issuer") == issuer and isinstance(uri, str):
            return uri
        failures.append(f"{well_known}: names another issuer or no jwks_uri")
    raise FetchFailed("; ".join(failures))


def is_elsewhere(issuer: str, jwks_uri: str) -> bool:
    """Whether an issuer's keys are on another host than the issuer, which is allowed but logged."""
    return urlsplit(issuer).netloc.lower() != urlsplit(jwks_uri).netloc.lower()


def _inline(issuer: Issuer) -> FetchedDocument:
    text = issuer.jwks.encode()
    if len(text) > MAX_BYTES:
        raise KeysRefused(f"the configured set of {issuer.issuer} is too long")
    try:
        return FetchedDocument(read_object(text), None)
    except ValueError as invalid:
        raise KeysRefused(f"the configured set of {issuer.issuer} is unusable: {invalid}") from None
