"""Limits on a worker's connections: how many there are, and how long a client may keep one waiting.

The protocols of `server_protocol` report every connection to the worker's `WorkerConnections`, whose `watch` closes
those whose deadline has passed. When all connections are in use, the one that has waited longest for its client is
closed in favour of a new one (docs/decisions/0016-transport.md).
"""

import asyncio
import contextlib
import contextvars
import resource
import time
from collections import Counter, OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from email.utils import formatdate
from functools import partial
from http import HTTPStatus
from typing import Final, Protocol, Self

import orjson

from negotiator.base.errors import Refusal
from negotiator.base.values import new_id
from negotiator.config.settings import Network, Settings
from negotiator.http.admission import AdmissionQueue
from negotiator.http.guard import address_key, is_within
from negotiator.http.pipeline import RefusalRenderer
from negotiator.runtime.metrics import MetricRegistry
from negotiator.runtime.telemetry import logger, request_id

log = logger(__name__)

STATE_KEY: Final = "connections"
"""The key of the `WorkerConnections` in the lifespan state, where the server's protocols find it."""
CONNECTION_KEY: Final = "connection"
"""The key of the connection in a request's state."""
WHOLE: Final = "http.response.whole"
"""The ASGI extension, and the message, by which an answer is sent at once: its status, its header lines, its body."""
BODY_RATE: Final = 8 * 1024
"""Bytes per second that a body must reach, in either direction, to continue after its timeout."""
MAX_TARGET: Final = 8000
"""Bytes of a request target; RFC 9110 §4.1 asks servers to support at least 8000."""
_MAX_HEADER_BYTES: Final = 16 * 1024
"""Bytes of a request's request line and headers."""
_MAX_HEADERS: Final = 100
_RESERVED_DESCRIPTORS: Final = 256
"""Descriptors for databases, files, pipes and outgoing connections; a quarter of all where there are few."""
_UNREAD: Final = 1.0
"""Seconds for which a client may read next to nothing before its connection makes place for others."""
_LOG_EVERY: Final = 60.0
_NEVER: Final = float("inf")

MALFORMED: Final = "malformed"
HEADERS_TOO_LARGE: Final = "headers_too_large"
TARGET_TOO_LONG: Final = "target_too_long"
HEADER_TIMEOUT: Final = "header_timeout"
BODY_TIMEOUT: Final = "body_timeout"
WRITE_TIMEOUT: Final = "write_timeout"
PIPELINE: Final = "pipeline"
CONNECTIONS: Final = "connections"
CONNECTIONS_OF_ADDRESS: Final = "connections_of_address"
STREAMS: Final = "streams"
EVICTED: Final = "evicted"
REASONS: Final = (
    *(MALFORMED, HEADERS_TOO_LARGE, TARGET_TOO_LONG, HEADER_TIMEOUT, BODY_TIMEOUT, WRITE_TIMEOUT),
    *(PIPELINE, CONNECTIONS, CONNECTIONS_OF_ADDRESS, STREAMS, EVICTED),
)
_LOGGED: Final = {CONNECTIONS, CONNECTIONS_OF_ADDRESS, STREAMS, EVICTED}


@dataclass(frozen=True, slots=True)
class TransportBounds:
    """The limits of a worker's connections; times are in seconds."""

    header_bytes: int
    header_count: int
    header_timeout: float
    body_timeout: float
    idle_timeout: float
    write_timeout: float
    connections: int
    connections_per_address: int
    streams: int
    streams_per_address: int

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The bounds from the settings."""
        return cls(
            header_bytes=_MAX_HEADER_BYTES,
            header_count=_MAX_HEADERS,
            header_timeout=settings.header_timeout,
            body_timeout=settings.body_timeout,
            idle_timeout=settings.idle_timeout,
            write_timeout=settings.body_timeout,
            connections=settings.connection_limit,
            connections_per_address=settings.connection_limit_address,
            streams=settings.connection_limit,
            streams_per_address=settings.connection_limit_address,
        )

    @property
    def refused(self) -> int:
        """The number of refused connections that stay open for a moment so that their clients can read the answer."""
        return max(8, self.connections // 16)

    def within(self, descriptors: int) -> Self:
        """These bounds, with connections and streams reduced to fit the number of file descriptors."""
        usable = descriptors - min(_RESERVED_DESCRIPTORS, descriptors // 4)
        needed = self.connections + self.streams + self.refused
        if needed <= usable:
            return self
        return replace(
            self,
            connections=max(1, self.connections * usable // needed),
            streams=max(1, self.streams * usable // needed),
        )


def raise_descriptor_limit() -> int:
    """Raise this process's soft limit of open files to the hard one; return the limit that holds then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Some systems report "unlimited" as the hard limit and refuse to set it.
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    return soft if soft != resource.RLIM_INFINITY else 1 << 20


class WorkerConnection(Protocol):
    """A connection as `WorkerConnections` sees it."""

    deadline: float
    counted: "ConnectionCount | None"
    address: str
    transport: asyncio.Transport

    def expire(self) -> None:
        """Act on a deadline that has passed."""
        ...

    def evict(self) -> None:
        """Close in favour of another connection."""
        ...


class ConnectionCount:
    """Counts open connections of one kind, in total and by client address; the empty address is not limited."""

    def __init__(self, limit: int, per_address: int) -> None:
        self.limit = limit
        self.total = 0
        self._per_address = per_address
        self._by_address: Counter[str] = Counter()

    @property
    def is_full(self) -> bool:
        return self.total >= self.limit

    def is_full_for(self, address: str) -> bool:
        return bool(address) and self._by_address[address] >= self._per_address

    def add(self, address: str) -> None:
        self.total += 1
        self._by_address[address] += 1

    def remove(self, address: str) -> None:
        self.total -= 1
        remaining = self._by_address[address] - 1
        if remaining:
            self._by_address[address] = remaining
        else:
            del self._by_address[address]


class WorkerConnections:
    """The open connections of one worker, their limits and their deadlines."""

    def __init__(
        self,
        bounds: TransportBounds,
        *,
        admission: AdmissionQueue,
        proxies: Iterable[Network],
        refusals: RefusalRenderer,
        headers: Iterable[tuple[bytes, bytes]],
        meters: MetricRegistry,
    ) -> None:
        self.bounds = bounds
        self.admission = admission
        self._headers = tuple(headers)
        self.requests = ConnectionCount(bounds.connections, bounds.connections_per_address)
        self.streams = ConnectionCount(bounds.streams, bounds.streams_per_address)
        self.waiting: OrderedDict[WorkerConnection, None] = OrderedDict()
        """Connections that wait for their first request's headers, or for the rest of any headers, longest first."""
        self.idle: OrderedDict[WorkerConnection, None] = OrderedDict()
        """Connections that have had an answer and wait for the next request, longest waiting first."""
        self.uploading: OrderedDict[WorkerConnection, None] = OrderedDict()
        """Connections that wait for the rest of a request's body, longest waiting first."""
        self.stalled: dict[WorkerConnection, tuple[float, int]] = {}
        """Connections whose client reads too slowly: since when, and how many bytes were unsent then."""
        self._members: set[WorkerConnection] = set()
        self._refused: set[WorkerConnection] = set()
        self._proxies = tuple(proxies)
        self._refusals = refusals
        self._logged: dict[str, float] = {}
        name, meaning = "negotiator_transport_refusals_total", "Connections and requests refused"
        self._counters = {each: meters.counter(name, meaning, reason=each) for each in REASONS}
        for kind, count in (("requests", self.requests), ("streams", self.streams)):
            meters.sampled_gauge(
                "negotiator_connections", "Open connections", partial(getattr, count, "total"), kind=kind
            )
        meters.sampled_gauge("negotiator_admission_waiting", "Requests that have not begun", lambda: admission.waiting)

    def key(self, peer: str) -> str:
        """The key that a client's address is counted by; empty without a limit: for a proxy or a Unix socket."""
        return "" if not peer or is_within(peer, self._proxies) else address_key(peer)

    def admit(self, connection: WorkerConnection) -> str:
        """Count a new connection; return the reason for which it is refused, or the empty string."""
        self._members.add(connection)
        reason = ""
        if self.requests.is_full_for(connection.address):
            reason = CONNECTIONS_OF_ADDRESS
        elif self.requests.is_full and not self._evict_one():
            reason = CONNECTIONS
        if reason:
            if len(self._refused) >= self.bounds.refused:
                self.count(reason)
                connection.transport.abort()
            else:
                self._refused.add(connection)
            return reason
        self._move(connection, self.requests)
        self.waiting[connection] = None
        return ""

    def open_stream(self, connection: WorkerConnection) -> bool:
        """Count a connection as a stream from now on; False when there are too many."""
        if self.streams.is_full or self.streams.is_full_for(connection.address):
            self.count(STREAMS)
            return False
        self._move(connection, self.streams)
        return True

    def end_stream(self, connection: WorkerConnection) -> None:
        """Count the connection as one for requests again."""
        if connection.counted is self.streams:
            self._move(connection, self.requests)

    def hand_over(self, connection: WorkerConnection, successor: WorkerConnection) -> None:
        """Replace the object of a connection, when another protocol takes over its transport."""
        successor.address, successor.counted = connection.address, connection.counted
        connection.counted = None
        self._members.add(successor)
        self.release(connection)

    def give_way(self, connection: WorkerConnection) -> None:
        """Make a connection that was refused, and that its client has yet to close, the first to be closed."""
        if connection.counted is self.requests:
            self.waiting[connection] = None
            self.waiting.move_to_end(connection, last=False)

    def stall(self, connection: WorkerConnection) -> None:
        """Record that the client of a connection reads more slowly than the server writes."""
        size = connection.transport.get_write_buffer_size()
        self.stalled[connection] = (asyncio.get_running_loop().time(), size)

    def release(self, connection: WorkerConnection) -> None:
        """Remove a connection that is lost or was handed over."""
        self._move(connection, None)
        self._members.discard(connection)
        self._refused.discard(connection)
        self.waiting.pop(connection, None)
        self.idle.pop(connection, None)
        self.uploading.pop(connection, None)
        self.stalled.pop(connection, None)

    def refusal(self, reason: str, refusal: Refusal) -> bytes:
        """The whole HTTP response for this refusal, with `Connection: close`."""
        self.count(reason)
        # A copy: the context of a connection's callbacks outlives the request and must not keep its id.
        return contextvars.copy_context().run(self._render, refusal)

    def count(self, reason: str) -> None:
        """Count a refusal; a reached limit of connections or streams is logged too, at most once a minute."""
        self._counters[reason].add()
        now = time.monotonic()
        if reason in _LOGGED and now - self._logged.get(reason, -_LOG_EVERY) >= _LOG_EVERY:
            self._logged[reason] = now
            counts = {"connections": self.requests.total, "streams": self.streams.total}
            log.warning("connection limit reached", limit=reason, **counts)

    async def watch(self) -> None:
        """Close connections whose deadline has passed, as long as the worker runs."""
        bounds, loop = self.bounds, asyncio.get_running_loop()
        shortest = min(*(bounds.header_timeout, bounds.body_timeout, bounds.idle_timeout), bounds.write_timeout)
        while True:
            await asyncio.sleep(min(1.0, shortest / 4))
            self.check(loop.time())
            self.admission.record.check()

    def check(self, now: float) -> None:
        """Act on every deadline that has passed at the time `now` of the event loop."""
        late: list[WorkerConnection] = []
        for connection in self._members:
            if connection.deadline <= now:
                late.append(connection)
            elif connection.deadline == _NEVER and connection.transport.is_closing():
                connection.deadline = now + self.bounds.write_timeout
        for connection in late:
            connection.deadline = _NEVER
            try:
                connection.expire()
            except Exception as fault:
                log.error("could not close a connection", exc_info=fault)
                connection.transport.abort()
        for connection, (since, size) in list(self.stalled.items()):
            written = size - connection.transport.get_write_buffer_size()
            if now >= since + self.bounds.write_timeout + max(0, written) / BODY_RATE:
                self.count(WRITE_TIMEOUT)
                connection.transport.abort()

    def _unread(self) -> WorkerConnection | None:
        """The connection whose client has for the longest time, a second at least, read next to nothing."""
        now = asyncio.get_running_loop().time()
        for connection, (since, size) in self.stalled.items():
            if now < since + _UNREAD:
                break
            written = size - connection.transport.get_write_buffer_size()
            if connection.counted is self.requests and written < BODY_RATE * (now - since):
                return connection
        return None

    def _evict_one(self) -> bool:
        if (unread := self._unread()) is not None:
            self._move(unread, None)
            self.count(EVICTED)
            unread.transport.abort()  # to close it would wait for its client
            return True
        # Connections without a request displace idle ones until they are half of all, and then each other.
        first = self.waiting if 2 * len(self.waiting) >= self.requests.limit else self.idle
        for candidates in (first, self.waiting, self.idle, self.uploading):
            if candidates:
                victim, _ = candidates.popitem(last=False)
                self._move(victim, None)
                self.count(EVICTED)
                victim.evict()
                return True
        return False

    def _move(self, connection: WorkerConnection, tally: ConnectionCount | None) -> None:
        if connection.counted is not None:
            connection.counted.remove(connection.address)
        connection.counted = tally
        if tally is not None:
            tally.add(connection.address)

    def _render(self, refusal: Refusal) -> bytes:
        request_id.set(new_id("req"))
        answer = self._refusals.answer(refusal)
        status = HTTPStatus(answer.status or HTTPStatus.BAD_REQUEST)
        body = orjson.dumps(answer.body)
        headers = {
            "date": formatdate(usegmt=True),
            "content-type": "application/json",
            "content-length": str(len(body)),
            "cache-control": "no-store",
            "connection": "close",
            "x-request-id": request_id.get(),
            **answer.headers,
        }
        lines = [f"HTTP/1.1 {status} {status.phrase}".encode()]
        lines += [f"{name}: {value}".encode("latin-1") for name, value in headers.items()]
        lines += [name + b": " + value for name, value in self._headers]
        return b"\r\n".join([*lines, b"", body])
