"""How many connections a worker has, and how long a client may keep it waiting.

`protocol` and `sockets` report every connection to the worker's `Connections`. `watch` closes the connections whose
deadline has passed. When there are as many connections as there may be, the one that has waited longest for its
client is closed in favour of a new one (docs/decisions/0016-transport.md).
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
from http import HTTPStatus
from typing import Final, Protocol, Self

import orjson

from negotiator.errors import Refusal
from negotiator.http.guard import address_key, is_within
from negotiator.http.pipeline import RefusalRenderer
from negotiator.metrics import MetricRegistry
from negotiator.settings import Network, Settings
from negotiator.telemetry import logger, request_id
from negotiator.values import new_id

log = logger(__name__)

STATE_KEY: Final = "connections"
"""The key of the lifespan state under which the application hands its `Connections` to the server."""
CONNECTION_KEY: Final = "connection"
"""The key of a request's state under which the application finds the connection it came on."""
BODY_RATE: Final = 8 * 1024
"""Bytes per second at which a body may go on after its timeout, in either direction."""
MAX_TARGET: Final = 8000
"""Bytes of a request target; RFC 9110 §4.1 asks servers to support at least so many."""
_RESERVED_DESCRIPTORS: Final = 256
"""Descriptors for databases, files, pipes and outgoing connections; a quarter of all where there are few."""
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
    """What clients may use of a worker; times are in seconds."""

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
    def of(cls, chosen: Settings) -> Self:
        """The bounds that the settings name."""
        return cls(
            header_bytes=chosen.header_limit_bytes,
            header_count=chosen.header_limit_count,
            header_timeout=chosen.header_timeout,
            body_timeout=chosen.body_timeout,
            idle_timeout=chosen.idle_timeout,
            write_timeout=chosen.write_timeout,
            connections=chosen.connection_limit,
            connections_per_address=chosen.connection_limit_address,
            streams=chosen.stream_limit,
            streams_per_address=chosen.stream_limit_address,
        )

    @property
    def refused(self) -> int:
        """Refused connections that are kept open for a moment so that their clients can read why."""
        return max(8, self.connections // 16)

    def within(self, descriptors: int) -> Self:
        """The same bounds, with no more connections and streams than there are descriptors for."""
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
    """Raise this process's soft limit of open files to the hard one; answers the limit that holds then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Some systems refuse the hard limit they name, when it is "unlimited".
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    return soft if soft != resource.RLIM_INFINITY else 1 << 20


class WorkerConnection(Protocol):
    """A connection as `Connections` sees it."""

    deadline: float
    counted: "ConnectionCount | None"
    address: str
    transport: asyncio.Transport

    def expire(self) -> None:
        """Act on a deadline that has passed."""
        ...

    def evict(self) -> None:
        """Close, since another connection needs the place."""
        ...


class ConnectionCount:
    """Open connections of one kind, in all and by client address; the empty address has no limit of its own."""

    def __init__(self, limit: int, per_address: int) -> None:
        self.limit = limit
        self.total = 0
        self._per_address = per_address
        self._by_address: Counter[str] = Counter()

    @property
    def is_full(self) -> bool:
        """Whether there are as many connections as there may be."""
        return self.total >= self.limit

    def is_full_for(self, address: str) -> bool:
        """Whether this address has as many connections as one may have."""
        return bool(address) and self._by_address[address] >= self._per_address

    def add(self, address: str) -> None:
        """Count a connection."""
        self.total += 1
        self._by_address[address] += 1

    def remove(self, address: str) -> None:
        """Count it no longer."""
        self.total -= 1
        left = self._by_address[address] - 1
        if left:
            self._by_address[address] = left
        else:
            del self._by_address[address]


class WorkerConnections:
    """The connections of one worker."""

    def __init__(
        self,
        bounds: TransportBounds,
        *,
        proxies: Iterable[Network],
        refusals: RefusalRenderer,
        headers: Iterable[tuple[bytes, bytes]],
        meters: MetricRegistry,
    ) -> None:
        self.bounds = bounds
        self._headers = tuple(headers)
        self.requests = ConnectionCount(bounds.connections, bounds.connections_per_address)
        self.streams = ConnectionCount(bounds.streams, bounds.streams_per_address)
        self.waiting: OrderedDict[WorkerConnection, None] = OrderedDict()
        """Those whose client is expected to send a request's headers, longest waiting first."""
        self.uploading: OrderedDict[WorkerConnection, None] = OrderedDict()
        """Those whose client has sent a part of a request's body, longest first."""
        self.stalled: dict[WorkerConnection, tuple[float, int]] = {}
        """Those whose client does not read fast enough: since when, and how many bytes were left then."""
        self._members: set[WorkerConnection] = set()
        self._refused: set[WorkerConnection] = set()
        self._proxies = tuple(proxies)
        self._refusals = refusals
        self._logged: dict[str, float] = {}
        name, meaning = "negotiator_transport_refusals_total", "Connections and requests refused"
        self._counters = {each: meters.counter(name, meaning, reason=each) for each in REASONS}

    def key(self, peer: str) -> str:
        """What a client's address is counted by; empty for one that is not limited: a proxy, a Unix socket."""
        return "" if not peer or is_within(peer, self._proxies) else address_key(peer)

    def admit(self, connection: WorkerConnection) -> str:
        """Count a new connection; answers the reason why it is refused, or nothing."""
        self._members.add(connection)
        reason = ""
        if self.requests.is_full_for(connection.address):
            reason = CONNECTIONS_OF_ADDRESS
        elif self.requests.is_full and not self._make_place():
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
        """Count a connection among the streams from now on, if there may be one more."""
        if self.streams.is_full or self.streams.is_full_for(connection.address):
            self.count(STREAMS)
            return False
        self._move(connection, self.streams)
        return True

    def end_stream(self, connection: WorkerConnection) -> None:
        """Count it among the connections for requests again."""
        if connection.counted is self.streams:
            self._move(connection, self.requests)

    def hand_over(self, connection: WorkerConnection, successor: WorkerConnection) -> None:
        """Let another object stand for the same transport."""
        successor.address, successor.counted = connection.address, connection.counted
        connection.counted = None
        self._members.add(successor)
        self.release(connection)

    def stall(self, connection: WorkerConnection) -> None:
        """Note that the client of a connection does not read as fast as is written."""
        size = connection.transport.get_write_buffer_size()
        self.stalled[connection] = (asyncio.get_running_loop().time(), size)

    def release(self, connection: WorkerConnection) -> None:
        """Forget a connection that is lost, or that another object stands for now."""
        self._move(connection, None)
        self._members.discard(connection)
        self._refused.discard(connection)
        self.waiting.pop(connection, None)
        self.uploading.pop(connection, None)
        self.stalled.pop(connection, None)

    def refusal(self, reason: str, refusal: Refusal) -> bytes:
        """The whole HTTP response that carries this refusal and announces that the connection closes."""
        self.count(reason)
        # The context of a connection's callbacks outlives the request, so it must not keep its id.
        return contextvars.copy_context().run(self._render, refusal)

    def count(self, reason: str) -> None:
        """Count a refusal; the limits of connections are logged too, each at most once a minute."""
        self._counters[reason].add()
        now = time.monotonic()
        if reason in _LOGGED and now - self._logged.get(reason, -_LOG_EVERY) >= _LOG_EVERY:
            self._logged[reason] = now
            counts = {"connections": self.requests.total, "streams": self.streams.total}
            log.warning("connection limit reached", limit=reason, **counts)

    async def watch(self) -> None:
        """Close what is late, for as long as the worker runs."""
        bounds, loop = self.bounds, asyncio.get_running_loop()
        shortest = min(
            *(bounds.header_timeout, bounds.body_timeout, bounds.idle_timeout),
            bounds.write_timeout,
        )
        while True:
            await asyncio.sleep(min(1.0, shortest / 4))
            self.check(loop.time())

    def check(self, now: float) -> None:
        """Act on every deadline that has passed at this moment."""
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

    def _make_place(self) -> bool:
        for candidates in (self.waiting, self.uploading):
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
