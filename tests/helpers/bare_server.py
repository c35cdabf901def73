"""The bounded transport around a small application, in a thread: what the protocol does, without the product."""

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson
import uvicorn
from starlette.types import Receive, Scope, Send

from negotiator.config.settings import Network
from negotiator.http.admission import AdmissionQueue, OverloadRecord, Priorities, RefusedAnswers
from negotiator.http.connections import CONNECTION_KEY, STATE_KEY, TransportBounds, WorkerConnections
from negotiator.http.pipeline import RefusalRenderer
from negotiator.http.server_protocol import BoundedHttpProtocol, BoundedWebSocketProtocol
from negotiator.runtime.metrics import MetricRegistry
from negotiator.store.waiting import Priority

SMALL: Final = TransportBounds(
    header_bytes=4096,
    header_count=30,
    header_timeout=0.5,
    body_timeout=0.5,
    idle_timeout=1.2,
    write_timeout=0.6,
    connections=40,
    connections_per_address=30,
    streams=6,
    streams_per_address=4,
)
_WAIT: Final = 60.0


@dataclass
class BareServer:
    """A server on a loopback port, and what its application saw."""

    port: int
    connections: WorkerConnections
    meters: MetricRegistry
    seen: list[Scope] = field(default_factory=list[Scope])
    server: uvicorn.Server | None = None

    def begin_to_stop(self) -> None:
        """What SIGTERM does; returns when no new connection is accepted."""
        assert self.server is not None
        self.server.should_exit = True
        self.until(self._refuses)

    def _refuses(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) != 0

    def connect(self, source: str = "127.0.0.1") -> socket.socket:
        """A connection from this loopback address."""
        made = socket.create_connection(("127.0.0.1", self.port), timeout=_WAIT, source_address=(source, 0))
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return made

    def exchange(self, *parts: bytes, gap: float = 0.0, source: str = "127.0.0.1") -> bytes:
        """Send the parts with a pause between them; everything the server says until it closes."""
        with self.connect(source) as made:
            for part in parts:
                with contextlib.suppress(OSError):  # a server that has said no may close meanwhile
                    made.sendall(part)
                time.sleep(gap)
            return receive_all(made)

    def count(self, reason: str) -> int:
        """How many refusals of this reason were counted."""
        snapshot = self.meters.snapshot()
        return next(snapshot.cells[series.place] for series in snapshot.series if ("reason", reason) in series.labels)

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something that happens in the server's thread."""
        end = time.monotonic() + _WAIT
        while not condition():
            assert time.monotonic() < end, "it did not happen in time"
            time.sleep(0.01)


def receive_all(made: socket.socket) -> bytes:
    """What comes until the other side closes or resets."""
    received = bytearray()
    with contextlib.suppress(ConnectionError):
        while chunk := made.recv(65_536):
            received += chunk
    return bytes(received)


def statuses(received: bytes) -> list[int]:
    """The statuses of the responses, in their order."""
    return [int(part[:3]) for part in received.split(b"HTTP/1.1 ")[1:]]


@contextlib.contextmanager
def serve(
    folder: Path,
    bounds: TransportBounds = SMALL,
    proxies: tuple[Network, ...] = (),
    *,
    database_wait: Callable[[Priority], float] = lambda _priority: 0.0,
) -> Generator[BareServer]:
    """Run a server with these bounds."""
    meters = MetricRegistry(folder)
    connections = WorkerConnections(
        bounds,
        admission=AdmissionQueue(
            Priorities([]),
            RefusedAnswers([], ([(b"content-type", b"text/html")], b"<p>Busy.</p>")),
            OverloadRecord(meters),
            database_wait,
        ),
        proxies=proxies,
        refusals=RefusalRenderer("http://127.0.0.1"),
        headers=[(b"x-content-type-options", b"nosniff")],
        meters=meters,
    )
    listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
    running = BareServer(listening.getsockname()[1], connections, meters)
    server = uvicorn.Server(
        uvicorn.Config(
            _application(running),
            http=BoundedHttpProtocol,
            ws=BoundedWebSocketProtocol,
            ws_per_message_deflate=False,
            loop="uvloop",
            lifespan="on",
            log_config=None,
            proxy_headers=False,
            timeout_graceful_shutdown=1,
        )
    )
    running.server = server
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    running.until(lambda: server.started)
    yield running
    server.should_exit = True
    thread.join(_WAIT)
    assert not thread.is_alive()


def _application(running: BareServer) -> Callable[[Scope, Receive, Send], Any]:
    """Answers what it was sent; `/stream` never ends, `/slow` takes a second, `/early` reads no body."""

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(running, scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.accept"})
            while (await receive())["type"] != "websocket.disconnect":
                pass
        else:
            running.seen.append(scope)
            await _answer(scope, receive, send)

    return application


async def _lifespan(running: BareServer, scope: Scope, receive: Receive, send: Send) -> None:
    await receive()
    scope["state"][STATE_KEY] = running.connections
    watching = asyncio.create_task(running.connections.watch())
    await send({"type": "lifespan.startup.complete"})
    await receive()
    watching.cancel()
    await send({"type": "lifespan.shutdown.complete"})


async def _answer(scope: Scope, receive: Receive, send: Send) -> None:
    path, status, body = scope["path"], 200, b""
    if path == "/stream" and not scope["state"][CONNECTION_KEY].open_stream():
        path, status = "/early", 503
    if path not in {"/early", "/stream"}:
        async for chunk in _body(receive):
            body += chunk
    headers = [[name.decode("latin-1"), value.decode("latin-1")] for name, value in scope["headers"]]
    content = orjson.dumps({"path": path, "bytes": len(body), "headers": headers})
    if path == "/slow":
        await asyncio.sleep(1)
    if path == "/big":
        content = b"x" * 32_000_000
    if path != "/stream":
        lines = b"content-length: %d\r\n" % len(content)
        await scope["state"][CONNECTION_KEY].send_whole(scope, status, lines, content)
        return
    await send({"type": "http.response.start", "status": status, "headers": []})
    await send({"type": "http.response.body", "body": b"begun", "more_body": True})
    while (await receive())["type"] != "http.disconnect":
        pass
    scope["ended"] = True
    await send({"type": "http.response.body", "body": content})


async def _body(receive: Receive) -> AsyncGenerator[bytes]:
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionAbortedError
        yield message.get("body", b"")
        if not message.get("more_body"):
            return
