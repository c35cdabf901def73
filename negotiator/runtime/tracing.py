"""The span of the work that this task does, and spans inside it. Nothing here loads OpenTelemetry (`trace_export`).

Without a current span, which is so while tracing is off, each function returns at once.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Final, Literal, Protocol

from negotiator.base.errors import Refusal

SpanKind = Literal["server", "client", "consumer", "internal"]
Attributes = Mapping[str, str | int | float]
"""Values that say nothing about a person: no credential, no address, no text of theirs, no value of a statement."""

_SERVER_ERROR: Final = 500


class Span(Protocol):
    """A piece of work with a beginning and an end."""

    @property
    def is_open(self) -> bool:
        """Whether it is recorded and has not ended."""
        ...

    @property
    def traceparent(self) -> str:
        """The header that makes another service's spans a part of this one (W3C Trace Context §3.2)."""
        ...

    def child(self, name: str, kind: SpanKind = "internal", attributes: Attributes = ...) -> "Span":
        """Begin a span inside this one. May be called on any thread."""
        ...

    def rename(self, name: str) -> None: ...

    def note(self, attributes: Attributes) -> None: ...

    def end(self, error: str = "") -> None:
        """End the span, as a failure if `error` names one; later calls change nothing."""
        ...


class TraceSource(Protocol):
    """Begins traces, of which only a share is recorded."""

    def begin(self, name: str, kind: SpanKind = "internal", *, traceparent: str = "") -> Span | None:
        """The first span of some work; None when the work belongs to no trace."""
        ...

    def join(self, name: str, kind: SpanKind, traceparent: str) -> Span | None:
        """A span inside one that another process of this service records; None when the header is malformed."""
        ...


current_span: ContextVar[Span | None] = ContextVar("current span", default=None)


def error_name(raised: BaseException) -> str:
    """The type of a failure, as a span's error; empty for a refusal that is the client's fault."""
    if isinstance(raised, Refusal) and raised.status < _SERVER_ERROR:
        return ""
    return type(raised).__name__


class SpanBlock:
    """`with` this block, the span is the current one; it ends with the block. Without a span nothing happens."""

    __slots__ = ("_span", "_token")

    def __init__(self, span: Span | None) -> None:
        self._span = span
        self._token: Token[Span | None] | None = None

    def __enter__(self) -> Span | None:
        if self._span is not None:
            self._token = current_span.set(self._span)
        return self._span

    def __exit__(
        self, _kind: type[BaseException] | None, raised: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        if self._span is None or self._token is None:
            return
        current_span.reset(self._token)
        self._span.end("" if raised is None else error_name(raised))


_NO_STEP: Final = SpanBlock(None)


def step(name: str, kind: SpanKind = "internal", attributes: Attributes | None = None) -> SpanBlock:
    """A span inside the current one, for a `with` block; its value is None while nothing is recorded."""
    span = current_span.get()
    if span is None or not span.is_open:
        return _NO_STEP
    return SpanBlock(span.child(name, kind, attributes or {}))


def outgoing_headers() -> dict[str, str]:
    """The headers by which a service that the operator chose joins the trace."""
    span = current_span.get()
    return {} if span is None else {"traceparent": span.traceparent}


def traced_task(
    source: TraceSource | None, name: str, task: Callable[[], Awaitable[None]]
) -> Callable[[], Awaitable[None]]:
    """The task, each of its runs in a trace of its own if there is a source."""
    if source is None:
        return task

    async def run() -> None:
        with SpanBlock(source.begin(name)):
            await task()

    return run
