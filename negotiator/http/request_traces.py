"""Spans of requests: one from the arrival of a request to the head of its answer."""

from collections.abc import Iterable, Mapping

from starlette.types import ASGIApp, Receive, Scope, Send

from negotiator.base.caller import Caller
from negotiator.base.errors import Refusal
from negotiator.http.pipeline import CallObserver
from negotiator.runtime import tracing
from negotiator.runtime.metrics import MetricRegistry, RequestMetrics
from negotiator.runtime.telemetry import request_id, trace_id

_TRACEPARENT = b"traceparent"
_LENGTH = 55
"""Of a `traceparent` of version 00; a longer one is of a version that is not known here."""


class RequestTraces:
    """Begins a span for each request, inside the caller's if it sent a valid `traceparent`."""

    def __init__(self, app: ASGIApp, source: tracing.TraceSource) -> None:
        self._app = app
        self._source = source

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        sent = [value for name, value in scope["headers"] if name == _TRACEPARENT]
        parent = sent[0].decode("latin-1") if len(sent) == 1 and len(sent[0]) == _LENGTH else ""
        span = self._source.begin("request", "server", traceparent=parent)
        if span is None:
            await self._app(scope, receive, send)
            return
        span.note({"http.request.method": scope.get("method", "WEBSOCKET")})
        token = trace_id.set(span.traceparent.split("-")[1])
        try:
            with tracing.SpanBlock(span):
                await self._app(scope, receive, send)
        finally:
            trace_id.reset(token)


class TracedRequestMetrics(RequestMetrics):
    """Ends the request's span where the answer is counted; what a stream sends later belongs to no span."""

    def __init__(self, meters: MetricRegistry, operations: Iterable[str], routes: Mapping[str, str]) -> None:
        super().__init__(meters, operations)
        self._routes = routes

    def observe(self, operation: str, status: int, nanoseconds: int) -> None:
        super().observe(operation, status, nanoseconds)
        span = tracing.current_span.get()
        if span is None or not span.is_open:
            return
        span.rename(operation)
        span.note({"http.response.status_code": status, "negotiator.request_id": request_id.get()})
        if route := self._routes.get(operation):
            span.note({"http.route": route})
        span.end(str(status) if status >= 500 else "")


class TracedCalls:
    """A `CallObserver` that names the operation of a call, which an MCP message does not show, in its span."""

    def __init__(self, calls: CallObserver) -> None:
        self._calls = calls

    def note(self, caller: Caller, operation: str, subject: str, refusal: Refusal | None) -> None:
        self._calls.note(caller, operation, subject, refusal)
        if (span := tracing.current_span.get()) is not None:
            span.note({"negotiator.operation": operation})
            if refusal is not None:
                span.note({"negotiator.refusal": refusal.error})
