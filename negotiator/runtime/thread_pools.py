"""Threads for work that would hold up the event loop: a small pool for each kind of work, with a bounded wait.

A kind of work waits for its own pool alone: a sign-in never waits for advice. The event loop's default pool is left to
look-ups of names that the operator configured. Sizes and reasons: docs/decisions/0024-threads.md.
"""

import asyncio
import contextvars
import math
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from functools import partial
from typing import Any, Final, Generic, ParamSpec, TypeVar

from negotiator.base.errors import RequestAborted, Unavailable
from negotiator.runtime.fault_log import FaultLog
from negotiator.runtime.metrics import Counter, Gauge, Histogram, MetricRegistry

P = ParamSpec("P")
T = TypeVar("T")

PATIENCE: Final = 1.0
"""Seconds that a call may wait for a thread."""
FULL_FOR: Final = 5.0
"""Seconds after its last refusal for which a pool is called full."""
_LONGEST_RETRY: Final = 30
_WEIGHT: Final = 0.1
"""Of the newest call in the mean duration of a pool's calls."""
_TICKS: Final = 1_000_000
_WAIT_BOUNDS: Final = (0.001, 0.01, 0.1, 0.25, 0.5, 1.0)


class ClientPresence:
    """Whether the client of a connection is still there, and the task that answers its request."""

    __slots__ = ("_task", "gone")

    def __init__(self) -> None:
        self.gone = False
        self._task: weakref.ref[asyncio.Task[Any]] | None = None

    def answered_by(self, task: asyncio.Task[Any]) -> None:
        self._task = weakref.ref(task)

    @property
    def is_answered_here(self) -> bool:
        """Whether the current task answers the client's request."""
        return self._task is not None and self._task() is asyncio.current_task()


_answering: ContextVar[ClientPresence | None] = ContextVar("answering", default=None)
"""The client of a request. Tasks that its task starts inherit this, and may outlive the request."""


def answer_for(client: ClientPresence) -> None:
    """Let calls of the task that answers this client, but of no task that it starts, begin only while it is there."""
    _answering.set(client)


def _client() -> ClientPresence | None:
    """The client whose request the current task answers."""
    client = _answering.get()
    return client if client is not None and client.is_answered_here else None


class ThreadPool:
    """At most `threads` threads, started when they are first needed, and the calls that wait for one of them."""

    def __init__(self, name: str, threads: int) -> None:
        self.name = name
        self._threads = threads
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._lock = threading.Lock()
        self._waiting = 0
        self._running: dict[object, float] = {}
        """When each call began that runs now."""
        self._mean = 0.0
        """Seconds that a call takes."""
        self._refused_at = -FULL_FOR
        self._faults = FaultLog(f"calls are refused, all threads for {name} are busy")
        self._metrics: tuple[Gauge, Histogram, Counter] | None = None

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call the function on a thread, for a request.

        503 at once when the wait for a thread would be longer than a second, and after a second in any case.
        `RequestAborted`, without calling it, when the client has gone before a thread was free.
        """
        expected = self._expected_wait()
        if expected > PATIENCE:
            raise self._refusal(expected)
        return await self._call(partial(function, *args, **kwargs), _client(), PATIENCE)

    async def run_unhurried(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call the function on a thread, for work that more than one request waits for, however long the wait is."""
        return await self._call(partial(function, *args, **kwargs), None, None)

    def state(self) -> str:
        """`ok`, or `full` when a call was refused within the last seconds."""
        return "full" if time.monotonic() < self._refused_at + FULL_FOR else "ok"

    def measure(self, meters: MetricRegistry) -> None:
        """Register the metrics of this pool and count in them from now on."""
        self._metrics = (
            meters.gauge(
                "negotiator_thread_calls", "Calls that run on the threads of a pool or wait for one", pool=self.name
            ),
            meters.histogram(
                "negotiator_thread_wait_seconds",
                "Time that a call waited for a thread",
                _WAIT_BOUNDS,
                per_unit=_TICKS,
                pool=self.name,
            ),
            meters.counter(
                "negotiator_thread_refusals_total",
                "Calls refused because all threads of a pool were busy",
                pool=self.name,
            ),
        )

    async def _call(self, function: Callable[[], T], client: ClientPresence | None, patience: float | None) -> T:
        asked, waited = time.monotonic(), 0.0
        context = contextvars.copy_context()

        def work() -> T:
            nonlocal waited
            key, began = object(), time.monotonic()
            waited = began - asked
            with self._lock:
                self._waiting -= 1
                self._running[key] = began
            is_wanted = client is None or not client.gone
            try:
                if not is_wanted:
                    raise RequestAborted
                return context.run(function)
            finally:
                with self._lock:
                    del self._running[key]
                    if is_wanted:
                        self._mean += _WEIGHT * (time.monotonic() - began - self._mean)

        with self._lock:
            self._waiting += 1
        begun = self._executor.submit(work)
        self._show_depth()
        ended = asyncio.wrap_future(begun)
        try:
            await asyncio.wait([ended], timeout=patience)
            if not ended.done() and self._withdraw(begun):
                raise self._refusal(self._expected_wait())
            try:
                return await ended
            finally:
                self._began_in_time(waited)
        except asyncio.CancelledError:
            self._withdraw(begun)
            ended.cancel()
            raise
        finally:
            self._show_depth()

    def _withdraw(self, call: "Future[T]") -> bool:
        """Take back a call that has not begun; False when it has."""
        if not call.cancel():
            return False
        with self._lock:
            self._waiting -= 1
        return True

    def _expected_wait(self) -> float:
        """Seconds that a call would wait for a thread now, by the mean duration of the recent ones.

        A running call that took longer than the mean is expected to take as long again.
        """
        with self._lock:
            if len(self._running) + self._waiting < self._threads:
                return 0.0
            now, mean = time.monotonic(), self._mean
            passed = [now - began for began in self._running.values()]
            first = min((mean - each if each < mean else each for each in passed), default=0.0)
            return first + self._waiting * mean / self._threads

    def _refusal(self, expected: float) -> Unavailable:
        self._refused_at = time.monotonic()
        self._faults.failed(f"{self._waiting} calls wait")
        if self._metrics:
            self._metrics[2].add()
        return Unavailable(
            "The server is busy; try again soon.",
            retry_after=max(1, min(math.ceil(expected), _LONGEST_RETRY)),
            detail=f"all threads for {self.name} are busy",
        )

    def _began_in_time(self, waited: float) -> None:
        if self._metrics:
            self._metrics[1].observe(round(waited * _TICKS))
        if self.state() == "ok":
            self._faults.worked()

    def _show_depth(self) -> None:
        if self._metrics:
            self._metrics[0].set(self._waiting + len(self._running))


PASSWORDS: Final = ThreadPool("passwords", 2)
"""Hashing and checking passwords."""
ADVICE: Final = ThreadPool("advice", 2)
"""Next moves, leverage, plans, tactics and rehearsals."""
SEARCH: Final = ThreadPool("search", 2)
"""Indexes, the checks of submitted texts, and vectors without a sentence model."""
FILES: Final = ThreadPool("files", 2)
"""Reading, writing and compressing whole files; learning from them; loading large libraries."""
LIVE: Final = ThreadPool("live", 2)
"""What a running call waits for: finding voices in its sound, learning from the user's feedback."""
POOLS: Final = (PASSWORDS, ADVICE, SEARCH, FILES, LIVE)


def state() -> str:
    """The health check: `ok`, or the pools that refused calls within the last seconds."""
    full = [pool.name for pool in POOLS if pool.state() == "full"]
    return f"lesser: no free thread for {', '.join(full)}" if full else "ok"


class BuiltOnce(Generic[T]):
    """The value of `build`, which is called once, at the first use."""

    __slots__ = ("_build", "_built", "_lock")

    def __init__(self, build: Callable[[], T]) -> None:
        self._build = build
        self._lock = threading.Lock()
        self._built: tuple[T] | None = None

    @property
    def built(self) -> T | None:
        """The value if it was needed before."""
        return self._built[0] if self._built else None

    async def get(self) -> T:
        """The value; while it is built on a thread, the caller waits and the event loop does not."""
        return self._built[0] if self._built else await FILES.run_unhurried(self.now)

    def now(self) -> T:
        """The value; it is built on the caller's thread when it is missing."""
        if self._built is None:
            with self._lock:
                if self._built is None:
                    self._built = (self._build(),)
        return self._built[0]
