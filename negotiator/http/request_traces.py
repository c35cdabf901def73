"""Spans of requests: one from the arrival of a request to the head of its answer."""

from typing import Final

from opentelemetry.trace import SpanKind, format_trace_id
from starlette.types import ASGIApp, Receive, Scope, Send

from negotiator.runtime import tracing
from negotiator.runtime.telemetry import trace_id

_TRACEPARENT: Final = b"traceparent"
_LENGTH: Final = 55
"""Of a `traceparent` of version 00; a longer one is of a version that is not known here."""


class RequestTraces:
    """Begins a span for each request, inside the caller's if it sent a valid `traceparent`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        sent = [value for name, value in scope["headers"] if name == _TRACEPARENT]
        parent = tracing.NEW_TRACE
        if len(sent) == 1 and len(sent[0]) == _LENGTH:
            parent = tracing.sent_context(sent[0].decode("latin-1"))
        method = {"http.request.method": scope.get("method", "WEBSOCKET")}
        with tracing.span("request", SpanKind.SERVER, method, parent=parent) as span:
            is_known = span.is_recording() or parent is not tracing.NEW_TRACE
            token = trace_id.set(format_trace_id(span.get_span_context().trace_id) if is_known else "")
            try:
                await self._app(scope, receive, send)
            finally:
                trace_id.reset(token)
