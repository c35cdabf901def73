"""The queue of a worker's requests: which one begins next, and which is refused because it would wait too long.

The event loop begins a few requests at a time, so that it looks at its sockets in between. All others wait here, by
priority, with the time at which they came. A request that would wait longer than a second gets 503 at once. The bound
is far lower in a queue that has not been empty for half a second, so that what is admitted is answered almost as
quickly as on a quiet day. Waits are measured, so a quick machine admits more (docs/decisions/0023-overload.md).
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from email.utils import formatdate
from typing import Any, Final, Protocol

import orjson

from negotiator.base.errors import Unavailable
from negotiator.base.values import new_id
from negotiator.http.operation import Operation
from negotiator.runtime.fault_log import FaultLog
from negotiator.runtime.metrics import Counter, MetricRegistry
from negotiator.store.waiting import LONGEST_WAIT, Priority, QueuePace

_AT_ONCE: Final = 4
"""Requests that begin between two looks at the sockets."""
_SHARE: Final = 4
"""Of this many requests that begin, one is of the lowest priority that waits, so that no priority starves."""
_REFUSED_PER_START: Final = 8
"""For this many refusals one more request begins, so that refusing cannot use up the processor."""
_STANDING_AFTER: Final = 0.5
"""Seconds without an empty queue after which a request may wait no longer than these two say."""
_STANDING_WAIT: Final = 0.02
_STANDING_LENGTH: Final = 32
"""A wait of this many seconds, and one for this many requests at the measured pace, are always allowed."""
_OVER_AFTER: Final = 5.0
"""Seconds without a refusal after which the overload is over."""
_READS: Final = {"GET", "HEAD", "OPTIONS"}
_HTML: Final = b"text/html"
READ_AGAIN_AFTER: Final = 0.5
"""Seconds for which nothing more is read from a refused connection, so that clients that do not wait cost little."""
_RETRY_AFTER: Final = 3
"""Refused clients are asked to wait from one second to this many, so that they do not all return at once."""

QUEUES: Final = ("processor", "database")


class Priorities:
    """The priority of a request: that of its operation if this is urgent, else by its method."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self._urgent = {
            (each.method, path) for each in operations if each.urgent for path in (each.path, *each.aliases)
        }
        self.unqueued = frozenset(
            (method, each.path) for each in operations if each.probe for method in (each.method, "HEAD")
        )
        """Requests that begin at once, whatever waits."""

    def of(self, method: str, path: str) -> Priority:
        """The priority of this request."""
        if (method, path) in self._urgent:
            return Priority.URGENT
        return Priority.READ if method in _READS else Priority.CHANGE


class OverloadRecord:
    """Counts refused requests by queue, and logs when the refusals begin and end."""

    def __init__(self, meters: MetricRegistry) -> None:
        name, meaning = "negotiator_overload_refusals_total", "Requests refused as they would wait"
        self._counters: dict[str, Counter] = {each: meters.counter(name, meaning, queue=each) for each in QUEUES}
        self._faults = FaultLog("requests are refused: more come than can be served in time")
        self._last = 0.0

    def note(self, queue: str) -> None:
        """Count one refusal."""
        self._counters[queue].add()
        self._last = time.monotonic()
        self._faults.failed(f"the queue for the {queue} is too long")

    def state(self) -> str:
        """The health check in one word."""
        return "refusing" if self._faults.error else "ok"

    def check(self) -> None:
        """Log the end when no request has been refused for a while."""
        if self._faults.error and time.monotonic() - self._last > _OVER_AFTER:
            self._faults.worked()


class WaitingRequest(Protocol):
    """A request that has not begun."""

    @property
    def scope(self) -> Any: ...

    @property
    def is_gone(self) -> bool:
        """Whether its client has disconnected or its answer has been sent."""
        ...

    @property
    def waited(self) -> float:
        """Seconds for which it may have waited before it was read."""
        ...

    def begin(self) -> None:
        """Run the application."""
        ...

    def refuse(self, answer: bytes, *, body: int) -> None:
        """Send this whole HTTP response, whose last `body` bytes are its body."""
        ...


class RefusedAnswers:
    """The bytes of a refusal, made of parts that are rendered once: refusing has to be cheap."""

    def __init__(
        self, headers: Iterable[tuple[bytes, bytes]], page: tuple[Sequence[tuple[bytes, bytes]], bytes]
    ) -> None:
        own = dict(headers)
        common = b"".join(b"%s: %s\r\n" % each for each in own.items())
        self._json = common + b"content-type: application/json\r\ncontent-length: "
        page_headers, self._page_body = page
        shown = {name: value for name, value in page_headers if name not in {*_OWN, *own}}
        self._page = common + b"".join(b"%s: %s\r\n" % each for each in shown.items())
        refusal = Unavailable("Too many requests are waiting; try again soon.")
        members = {"error": refusal.error, "error_description": refusal.description}
        self._start = orjson.dumps(members)[:-1] + b',"request_id":"'
        self._retry_after = 0
        self._date, self._dated = b"", 0.0

    def render(self, headers: Iterable[tuple[bytes, bytes]], now: float) -> tuple[bytes, int]:
        """The response to a request with these headers, and the size of its body."""
        for_people = any(name == b"accept" and _HTML in value for name, value in headers)
        made = new_id("req").encode()
        self._retry_after = self._retry_after % _RETRY_AFTER + 1
        if now - self._dated > 1:
            self._date, self._dated = formatdate(usegmt=True).encode(), now
        if for_people:
            body, kind = self._page_body, self._page + b"content-length: "
        else:
            body, kind = self._start + made + b'"}', self._json
        head = (
            b"HTTP/1.1 503 Service Unavailable\r\ndate: %s\r\nretry-after: %d\r\ncache-control: no-store\r\n"
            b"x-request-id: %s\r\n%s%d\r\n\r\n"
        )
        return head % (self._date, self._retry_after, made, kind, len(body)) + body, len(body)


_OWN: Final = {b"content-length", b"cache-control", b"retry-after", b"date", b"x-request-id"}


class AdmissionQueue:
    """A worker's waiting requests; `database_wait` estimates what a request of a priority waits for the database."""

    def __init__(
        self,
        priorities: Priorities,
        answers: RefusedAnswers,
        record: OverloadRecord,
        database_wait: Callable[[Priority], float],
    ) -> None:
        self.record = record
        self._priorities = priorities
        self._answers = answers
        self._database_wait = database_wait
        self._fresh: list[tuple[Priority, float, WaitingRequest]] = []
        """Requests that came since the last turn of the event loop."""
        self._lines: tuple[deque[tuple[float, WaitingRequest]], ...] = tuple(deque() for _ in Priority)
        self._waiting = 0
        self._pace = QueuePace()
        self._free_starts = _AT_ONCE
        self._begun = 0
        self._chosen = 0
        self._scheduled = False
        self._turned_at = self._empty_at = time.monotonic()

    @property
    def waiting(self) -> int:
        """The requests that have not begun."""
        return self._waiting + len(self._fresh)

    def arrive(self, request: WaitingRequest) -> None:
        """Begin the request, or let it wait; it begins or is refused within a bounded time."""
        scope = request.scope
        if (scope["method"], scope["path"]) in self._priorities.unqueued:
            scope["priority"] = Priority.URGENT
            request.begin()
            return
        priority = self._priorities.of(scope["method"], scope["path"])
        scope["priority"] = priority
        if not self._scheduled:
            self._scheduled = True
            self._turned_at = time.monotonic()
            if not self._database_wait(Priority.READ):
                self._empty_at = self._turned_at
            asyncio.get_running_loop().call_soon(self._turn)
        if self._free_starts and not self._waiting and not self._database_wait(priority):
            self._free_starts -= 1
            self._begun += 1
            request.begin()
        else:
            self._fresh.append((priority, request.waited, request))

    def _turn(self) -> None:
        """Refuse what would wait too long, and begin the next few."""
        now = time.monotonic()
        if self._waiting and self._begun:
            self._pace.moved(self._begun, now - self._turned_at)
        elif not self._waiting and not self._database_wait(Priority.READ):
            self._empty_at = now
        self._turned_at, self._begun = now, 0
        starts = _AT_ONCE + self._sort(now) // _REFUSED_PER_START
        while self._waiting and self._begun < starts:
            self._begin_one(now)
        self._free_starts = max(0, starts - self._begun)
        if self._waiting or self._begun:
            asyncio.get_running_loop().call_soon(self._turn)
        else:
            self._scheduled = False

    def _sort(self, now: float) -> int:
        """Put fresh requests in line; returns how many were refused instead."""
        fresh, self._fresh = self._fresh, []
        refused = 0
        standing = now - self._empty_at > _STANDING_AFTER
        for priority, waited, request in fresh:
            allowed = LONGEST_WAIT
            if standing and priority != Priority.URGENT:
                allowed = max(_STANDING_WAIT, _STANDING_LENGTH * self._pace.each)
            of_database = self._database_wait(priority)
            if waited + self._expected_wait(priority) + of_database > allowed:
                refused += 1
                self._refuse(request, now, "database" if of_database > allowed / 2 else "processor")
            else:
                self._lines[priority].append((now, request))
                self._waiting += 1
        return refused

    def _expected_wait(self, priority: Priority) -> float:
        ahead = sum(map(len, self._lines[: priority + 1]))
        if ahead < self._waiting or priority == Priority.URGENT:
            return ahead * self._pace.each
        others = ahead - len(self._lines[priority])
        # While others come first, one of `_SHARE` is of the lowest priority.
        return max(ahead, len(self._lines[priority]) * (_SHARE if others else 1)) * self._pace.each

    def _begin_one(self, now: float) -> None:
        lines = [line for line in self._lines if line]
        self._chosen += 1
        line = lines[0] if self._chosen % _SHARE else lines[-1]
        came, request = line.popleft()
        self._waiting -= 1
        if request.is_gone:
            return
        if now - came > LONGEST_WAIT:
            self._refuse(request, now, "processor")
            return
        self._begun += 1
        request.begin()

    def _refuse(self, request: WaitingRequest, now: float, queue: str) -> None:
        if request.is_gone:
            return
        self.record.note(queue)
        answer, body = self._answers.render(request.scope["headers"], now)
        request.refuse(answer, body=body)
