"""Answers requests for operations in front of all middleware, whose work for them is done here in one pass.

Middleware costs a wrapped `send`, copies of the headers and a second look at each of them; together more than reading a
negotiation (docs/decisions/0003-edge.md). Browsers get their pages, and all other requests their answers, from the
application behind.
"""

import time
from collections.abc import Iterable
from typing import Any, cast

from starlette.types import ASGIApp, Receive, Scope, Send

from negotiator.http.connections import CONNECTION_KEY
from negotiator.http.endpoint import (
    BodyChunks,
    Endpoint,
    EndpointPaths,
    header_pairs,
    read_headers,
    render,
    stream_body,
)
from negotiator.http.middleware import SHARED_HEADERS, begin_request, security_headers
from negotiator.runtime.metrics import RequestMetrics
from negotiator.runtime.tracing import end_request_span


class DirectOperations:
    """Adds to each answer of an operation the headers that `ResponseMiddleware` gives all others, and counts it.

    Every operation may be called by pages of any origin (`Application.shared`).
    """

    def __init__(self, app: ASGIApp, endpoints: Iterable[Endpoint], *, https: bool, traffic: RequestMetrics) -> None:
        self._app = app
        self._paths = EndpointPaths(endpoints)
        self._traffic = traffic
        shown = [*security_headers(https=https), *SHARED_HEADERS]
        self._lines = b"".join(b"%s: %s\r\n" % each for each in shown) + b"x-request-id: "

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        methods, parameters = self._paths.find(scope["path"])
        endpoint = methods.get(scope["method"]) if methods is not None else None
        if endpoint is None:
            await self._app(scope, receive, send)
            return
        headers = read_headers(scope)
        if "text/html" in headers.get("accept", ""):
            await self._app(scope, receive, send)
            return
        began = time.perf_counter_ns()
        scope["path_params"] = parameters
        current = begin_request(scope, headers.get("x-request-id", "").encode())
        answered = await endpoint.answer(scope, receive, headers)
        if answered is None:
            return
        answer, own_lines = answered
        head, body = render(answer)
        lines = b"%s%s%s%s\r\n" % (head, own_lines, self._lines, current.encode())
        status = int(answer.status or 200)
        took = time.perf_counter_ns() - began
        self._traffic.observe(endpoint.operation.name, status, took)
        end_request_span(endpoint.operation.name, status)
        connection = scope.get("state", {}).get(CONNECTION_KEY)
        if body is not None and connection is not None:
            await connection.send_whole(scope, status, lines, body)
            return
        start: dict[str, Any] = {"type": "http.response.start", "status": status}
        await send({**start, "headers": header_pairs(lines)})
        if body is None:
            await stream_body(cast("BodyChunks", answer.body), receive, send)
        else:
            await send({"type": "http.response.body", "body": body})
