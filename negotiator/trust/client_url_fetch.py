"""Fetches documents at URLs that clients name: DID documents, metadata and key sets of agents and clients.

They have their own connection pool, so that slow hosts do not delay the keys of configured issuers. Fetches are limited
by a budget for each client address and a budget for each host over all clients; a URL that failed is not fetched again
for a minute. At most four fetches of a host run at once, and a host that did not answer three times is left alone for
half a minute, so that hosts that hang take no room from others.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import Any, Final
from urllib.parse import urlsplit

from negotiator.base import values
from negotiator.base.errors import TooManyRequests, Unavailable
from negotiator.runtime.circuit_breaker import CircuitBreaker
from negotiator.trust.fetch import (
    TOTAL_SECONDS,
    FetchedDocument,
    FetchedText,
    FetchFailed,
    FetchRedirected,
    HostFailing,
)
from negotiator.trust.fetcher import Fetcher

AT_ONCE: Final = 64
"""Fetches for clients that run at once."""
HOST_AT_ONCE: Final = 4
HOST_COOL_DOWN: Final = 30.0
_OWN: Final = 2
"""Further connections for the service's own fetches of known documents."""
_SOON: Final = 2
CONNECTIONS: Final = AT_ONCE + _OWN
FAILURE_SECONDS: Final = 60
REMEMBERED: Final = 1024
"""Number of URLs whose failure, or success, is remembered in one process."""
FETCHES: Final = "fetches"
HOSTS: Final = "hosts"

Fetched = FetchedDocument | FetchedText
Charge = Callable[[str, str], Awaitable[int]]
"""Takes one call of a budget for a key; returns 0, or the seconds to wait when the budget is empty."""


class ClientUrlFetcher:
    """Fetches JSON documents from hosts that clients name; `clock` returns milliseconds."""

    def __init__(self, pool: Fetcher, charge: Charge, *, clock: Callable[[], int] = lambda: values.now()) -> None:
        self._pool = pool
        self._charge = charge
        self._clock = clock
        self._failures: OrderedDict[str, tuple[int, str]] = OrderedDict()
        self._good: OrderedDict[str, None] = OrderedDict()
        self._flights: dict[tuple[str, int], asyncio.Task[Fetched | FetchFailed]] = {}
        self._breakers: OrderedDict[str, CircuitBreaker] = OrderedDict()

    async def document(self, url: str, *, limit: int, address: str | None) -> FetchedDocument:
        """The document, at most `limit` bytes; raises `FetchFailed`, `TooManyRequests` for an empty budget, and
        `Unavailable` while too many fetches run.

        `address` is the client's. None means that the service itself checks a known document again: no budget is
        charged, and a remembered failure does not count.
        """
        found = await self._shared((url, limit), lambda: self._pool.document(url, limit=limit), address=address)
        assert isinstance(found, FetchedDocument)  # noqa: S101  what the pool answers
        return found

    async def text(self, url: str, *, limit: int, address: str) -> FetchedText:
        """The page or text at the URL, cut at `limit` bytes, under the same budgets; raises as `document` does.

        A redirect is raised as `FetchRedirected`.
        """
        found = await self._shared((url, -limit), lambda: self._pool.text(url, limit=limit), address=address)
        assert isinstance(found, FetchedText)  # noqa: S101  what the pool answers
        return found

    async def json(self, url: str, *, limit: int, address: str | None) -> dict[str, Any]:
        """The JSON object of the document."""
        return (await self.document(url, limit=limit, address=address)).body

    def accept(self, url: str) -> None:
        """Record that the document at this URL was valid; it then has a budget apart from new URLs of its host."""
        _keep(self._good, url, None)

    def reject(self, url: str, detail: str) -> None:
        """Record that the document could not be fetched or was invalid."""
        self._good.pop(url, None)
        until = self._clock() + FAILURE_SECONDS * 1000
        _keep(self._failures, url, (until, f"{detail} (remembered)"))

    async def close(self) -> None:
        """Cancel the running fetches."""
        flights = list(self._flights.values())
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)
        await self._pool.close()

    async def _shared(
        self, key: tuple[str, int], fetch: Callable[[], Awaitable[Fetched]], *, address: str | None
    ) -> Fetched:
        """What `fetch` answers; calls with the same key share one fetch."""
        url = key[0]
        if address is not None and (failure := self._remembered(url)):
            raise FetchFailed(failure)
        flight = self._flights.get(key)
        breaker = None
        if flight is None:
            if address is not None:
                breaker = self._breaker(url)
                await self._pay(url, address)
            # Another call may have begun the same fetch while this one was charged.
            flight = self._flights.get(key)
        if flight is None:
            if address is not None and len(self._flights) >= AT_ONCE:
                # Waiting for a connection here would count as a timeout of the host.
                raise Unavailable("Too many documents are being fetched now.", retry_after=_SOON)
            flight = self._flights[key] = asyncio.create_task(self._fetch(key, fetch, breaker))
        found = await asyncio.shield(flight)
        if isinstance(found, FetchFailed):
            raise found
        return found

    def _remembered(self, url: str) -> str | None:
        until, failure = self._failures.get(url, (0, ""))
        now = self._clock()
        if not now < until <= now + FAILURE_SECONDS * 1000:  # later: before the clock was set back
            self._failures.pop(url, None)
            return None
        return failure

    def _host_key(self, url: str) -> str:
        """The host; URLs with a valid document are apart from new ones, which anybody can name."""
        host = _host(url)
        return f"{host} believed" if url in self._good else host

    def _breaker(self, url: str) -> CircuitBreaker:
        """The breaker of the URL's host; raises when it refuses a call now."""
        key = self._host_key(url)
        breaker = self._breakers.get(key)
        if breaker is None:
            breaker = CircuitBreaker(
                "",  # clients choose the hosts, so these are not logged
                "Too many documents of this host are being fetched now.",
                seconds=2 * TOTAL_SECONDS,
                at_once=HOST_AT_ONCE,
                faults=(HostFailing,),
                cool_down=HOST_COOL_DOWN,
            )
        _keep(self._breakers, key, breaker)
        if breaker.is_open and breaker.wait_seconds:
            raise FetchFailed(f"{breaker.error} (the host is left alone)")
        breaker.require()
        return breaker

    async def _pay(self, url: str, address: str) -> None:
        for budget, key in ((FETCHES, address), (HOSTS, self._host_key(url))):
            if wait := await self._charge(budget, key):
                raise TooManyRequests(
                    "Too many documents were asked for; wait as long as Retry-After says.", retry_after=wait
                )

    async def _fetch(
        self, key: tuple[str, int], fetch: Callable[[], Awaitable[Fetched]], breaker: CircuitBreaker | None
    ) -> Fetched | FetchFailed:
        url = key[0]
        try:
            async with breaker.call() if breaker else nullcontext():
                found = await fetch()
        except FetchRedirected as redirected:
            return redirected
        except FetchFailed as failed:
            self.reject(url, failed.detail)
            return failed
        finally:
            self._flights.pop(key, None)
        self._failures.pop(url, None)
        return found


def _host(url: str) -> str:
    try:
        host = urlsplit(url).hostname
    except ValueError:
        host = None
    if not host:
        raise FetchFailed("the URL has no host")
    return host.rstrip(".")


def _keep(entries: OrderedDict[str, Any], url: str, entry: Any) -> None:
    entries[url] = entry
    entries.move_to_end(url)
    while len(entries) > REMEMBERED:
        entries.popitem(last=False)
