"""Spans by OpenTelemetry's API, which does nothing until `trace_export` gives it a tracer.

The current span is not OpenTelemetry's own: the spans of libraries may hold what must not leave this process.
"""

from collections.abc import Callable, Coroutine, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import wraps
from typing import Any, Final, TypeVar, cast

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import INVALID_SPAN, NoOpTracer, Span, SpanKind, StatusCode, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from negotiator.base.errors import Refusal
from negotiator.runtime.telemetry import request_id

M = TypeVar("M", bound=Callable[..., Coroutine[Any, Any, Any]])

NEW_TRACE: Final = Context()
"""The parent of a span that begins a trace of its own."""
_PROPAGATOR: Final = TraceContextTextMapPropagator()
_NOTHING: Final = nullcontext(INVALID_SPAN)
_SERVER_ERROR: Final = 500
_current: ContextVar[Span] = ContextVar("current span", default=INVALID_SPAN)
_tracer: Tracer = NoOpTracer()


def use_tracer(tracer: Tracer) -> None:
    """Begin spans by this tracer from now on, in this process."""
    global _tracer
    _tracer = tracer


def span(
    name: str,
    kind: SpanKind = SpanKind.INTERNAL,
    attributes: Mapping[str, str | int] | None = None,
    *,
    parent: Context | None = None,
) -> AbstractContextManager[Span]:
    """A span for a `with` block, inside the current one if that is recorded, or inside `parent`.

    Names and attributes say nothing about a person: no credential, no address, no text of theirs.
    """
    if parent is None:
        outer = _current.get()
        if not outer.is_recording():
            return _NOTHING
        parent = trace.set_span_in_context(outer, NEW_TRACE)
    return _begun(name, kind, attributes, parent)


@contextmanager
def _begun(name: str, kind: SpanKind, attributes: Mapping[str, str | int] | None, parent: Context) -> Generator[Span]:
    begun = _tracer.start_span(name, parent, kind, attributes)
    token = _current.set(begun)
    try:
        yield begun
    except BaseException as raised:
        if begun.is_recording():
            if isinstance(raised, Refusal) and raised.status < _SERVER_ERROR:
                begun.set_attribute("negotiator.refusal", raised.error)
            else:
                _mark_failed(begun, type(raised).__name__)
        raise
    finally:
        _current.reset(token)
        if begun.is_recording():
            begun.end()


def traced(name: str) -> Callable[[M], M]:
    """Give each call of a coroutine function, which asks another service, a span inside the current one."""

    def decorate(function: M) -> M:
        @wraps(function)
        async def call(*args: Any, **kwargs: Any) -> Any:
            with span(name, SpanKind.CLIENT):
                return await function(*args, **kwargs)

        return cast("M", call)

    return decorate


def current_span() -> Span:
    """The span of the work that this task does; one that records nothing where there is none."""
    return _current.get()


def _mark_failed(failed: Span, error: str) -> None:
    """Note the type of a failure; its message may hold what must not leave this process."""
    failed.set_attribute("error.type", error)
    failed.set_status(StatusCode.ERROR)


def sent_context(traceparent: str) -> Context:
    """The span that a header names (W3C Trace Context §3.2), as a parent; `NEW_TRACE` when the header is malformed."""
    return _PROPAGATOR.extract({"traceparent": traceparent}, NEW_TRACE)


def outgoing_headers() -> dict[str, str]:
    """The headers by which a service that the operator chose joins the trace."""
    headers: dict[str, str] = {}
    _PROPAGATOR.inject(headers, trace.set_span_in_context(_current.get(), NEW_TRACE))
    return headers


def end_request_span(operation: str, status: int) -> None:
    """End the request's span at the head of its answer; what a stream sends later belongs to no span."""
    current = _current.get()
    if not current.is_recording():
        return
    current.update_name(operation)
    current.set_attributes({"http.response.status_code": status, "negotiator.request_id": request_id.get()})
    if status >= _SERVER_ERROR:
        _mark_failed(current, str(status))
    current.end()
