"""A collector of traces on loopback: it takes OTLP/HTTP, or lets the sender wait."""

import threading
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class TraceCollector:
    """What was sent; `answers` is set while the collector answers."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/v1/traces"
        self.answers = threading.Event()
        self.answers.set()
        self.asked = threading.Event()
        self.bodies: list[bytes] = []

    @property
    def spans(self) -> list[Any]:
        """All spans, in the order in which they were sent."""
        requests: list[Any] = [ExportTraceServiceRequest.FromString(body) for body in self.bodies]
        return [
            span
            for request in requests
            for sent in request.resource_spans
            for scope in sent.scope_spans
            for span in scope.spans
        ]


def span_attributes(span: Any) -> dict[str, Any]:
    """The attributes of a span, by name."""
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in span.attributes}


def only(spans: Iterable[Any], name: str) -> Any:
    """The only span of this name."""
    [found] = [span for span in spans if span.name == name]
    return found


@contextmanager
def collecting() -> Generator[TraceCollector]:
    """A collector inside this block."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            collector.asked.set()
            collector.answers.wait()
            collector.bodies.append(body)
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector = TraceCollector(server.server_address[1])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield collector
    finally:
        collector.answers.set()
        server.shutdown()
        server.server_close()
