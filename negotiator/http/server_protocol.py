"""The server's HTTP/1.1 protocol: uvicorn's, with limits on the size of headers and on slow requests.

uvicorn's own protocol has no limit on headers, on the time they take or on slow bodies. This one counts bytes before
the parser gets them and refuses with the service's own error format. Deadlines are plain numbers that
`WorkerConnections.watch` compares; a request that arrives in one piece needs no timer.

Its WebSocket protocol is uvicorn's sans-I/O implementation with its own limits and close code. It answers a refused
upgrade by plain HTTP, applies backpressure and sends pings. Compression is off: messages are short, audio does not
compress, and the compression windows would need more memory than the rest of a connection.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast
from urllib.parse import unquote

import httptools
from starlette.types import Scope
from uvicorn._types import ASGI3Application, ASGISendEvent
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.frames import Frame

from negotiator.base.errors import HeadersTooLarge, InvalidRequest, Refusal, RequestTimeout, TargetTooLong, Unavailable
from negotiator.http import connections
from negotiator.http.admission import READ_AGAIN_AFTER
from negotiator.http.connections import (
    BODY_RATE,
    CONNECTION_KEY,
    MAX_TARGET,
    STATE_KEY,
    ConnectionCount,
    WorkerConnections,
)
from negotiator.runtime.thread_pools import ClientPresence

_NEVER: Final = float("inf")
MAX_MESSAGE: Final = 128 * 1024
"""Bytes of the largest message that is read (else 1009); the application closes with 4413 below that."""
_MAX_HEADER: Final = 8000
"""Bytes of one header of a handshake; the websockets library reads lines of at most 8192 bytes."""
_MAX_HEADERS: Final = 120
"""Headers of a handshake; the websockets library reads at most 128."""
_MAX_FRAGMENTS: Final = 1024
"""Frames of one message; without this limit a message could have any number of empty frames."""
_GOING: Final = 1001
_NO_TEXT: Final = 1007
_TOO_BIG: Final = 1009


class BoundedWebSocketProtocol(WebSocketsSansIOProtocol):
    """A WebSocket connection, counted among the worker's streams from its handshake to its end.

    It closes with 1001 when the server stops (RFC 6455 §7.4.1), so that clients reconnect; uvicorn would use 1012.
    """

    shared: WorkerConnections
    address = ""
    counted: ConnectionCount | None = None
    deadline = _NEVER

    async def send(self, message: ASGISendEvent) -> None:
        await super().send(message)
        if self.close_sent:
            # uvicorn would log an upgrade that was refused as an application that did not answer.
            self.handshake_complete = True

    def shutdown(self) -> None:
        if self.handshake_complete and not self.close_sent:
            self.stop_keepalive()
            self.queue.put_nowait({"type": "websocket.disconnect", "code": _GOING})
            self.conn.send_close(_GOING)
            self.close_sent = True
            self.transport.write(b"".join(self.conn.data_to_send()))
        super().shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.shared.release(self)

    def handle_cont(self, event: Frame) -> None:
        if len(self.frames) >= _MAX_FRAGMENTS:
            self.conn.fail(_TOO_BIG, "too many fragments")
            self.handle_parser_exception()
        else:
            super().handle_cont(event)

    def send_receive_event_to_app(self) -> None:
        is_text = self.curr_msg_data_type == "text" and not self.close_sent
        if is_text and not _is_utf8(self.frames):
            # uvicorn would log a traceback, and fail itself if the client's close frame came with the text.
            self.frames = []
            self.conn.fail(_NO_TEXT, "a text that is not UTF-8")
            self.handle_parser_exception()
        else:
            super().send_receive_event_to_app()

    def pause_writing(self) -> None:
        super().pause_writing()
        self.shared.stall(self)

    def resume_writing(self) -> None:
        super().resume_writing()
        self.shared.stalled.pop(self, None)

    def expire(self) -> None:
        """Abort a connection whose client does not read the last bytes; pings detect a lost client earlier."""
        self.transport.abort()

    def evict(self) -> None:
        """Close without a close frame; never called, since streams are not evicted."""
        self.transport.close()


def _is_utf8(frames: Sequence[bytes]) -> bool:
    try:
        b"".join(frames).decode()
    except UnicodeDecodeError:
        return False
    return True


_BETWEEN, _HEADERS, _BODY = range(3)
_MAX_PIPELINED: Final = 64
"""Pipelined requests that may wait for an earlier answer on the same connection."""
_LINGER: Final = 2.0
"""Seconds in which a refused client may still send, so that a reset does not destroy the answer (RFC 9112 §9.6)."""

_PARTING: Final = 0.5
"""Seconds in which an idle client may still send a request after this server was told to stop."""


class _Refused(Exception):
    """Ends parsing; the protocol object holds the refusal."""


_rendered: tuple[list[tuple[bytes, bytes]], bytes] = [], b""


def _default_lines(headers: list[tuple[bytes, bytes]]) -> bytes:
    """The lines of the headers that uvicorn gives every response, of which it makes a new list each second."""
    global _rendered
    known, lines = _rendered
    if known is not headers:
        lines = b"".join(b"%s: %s\r\n" % each for each in headers)
        _rendered = headers, lines
    return lines


class BoundedHttpProtocol(HttpToolsProtocol):
    """One connection. `deadline` is the event loop's time by which its client must act; infinity if it need not."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.shared: WorkerConnections = app_state[STATE_KEY]
        self.presence = ClientPresence()
        self.deadline = _NEVER
        self.counted: ConnectionCount | None = None
        self.address = ""
        self._limit = self.shared.bounds.header_bytes
        self._stage = _BETWEEN
        self._timed = False
        """Whether `deadline` belongs to the headers or the body that is being received."""
        self._unparsed = 0
        """Bytes since the parser last completed headers or a message, or passed on a part of a body."""
        self._body_began = 0.0
        self._body_bytes = 0
        self._ignores_input = False
        """Whether received bytes are dropped: the connection closes, or another protocol has taken it over."""
        self._refusal: tuple[str, Refusal] | None = None
        self._refusal_sent = False
        self.waited = 0.0
        """Seconds for which a request that is read now may have waited in the socket."""
        self._is_last = False
        """Whether the connection closes after its next answer."""
        self._running: RequestResponseCycle | None = None
        """The request that is being answered; `cycle` is the last one that was received."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self.address = self.shared.key(self.client[0] if self.client else "")
        if reason := self.shared.admit(self):
            if not transport.is_closing():
                self._refuse(reason, Unavailable("Too many connections are open; try again soon."))
            return
        self.deadline = self.loop.time() + self.shared.bounds.header_timeout
        self._timed = True

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.presence.gone = True
        if self._running is not None:
            # uvicorn tells only the last request that nobody reads its answer.
            self._running.disconnected = True
            self._running.message_event.set()
        self.shared.release(self)
        self._break_references()

    def data_received(self, data: bytes) -> None:
        if self._ignores_input:
            return
        if self._unparsed + len(data) > self._limit:
            self._receive_in_parts(data)
        else:
            self._feed(data)
        if not self._timed and self._stage != _BETWEEN:
            self._set_deadline()

    def on_message_begin(self) -> None:
        if len(self.pipeline) >= _MAX_PIPELINED:
            self._stop(connections.PIPELINE, Unavailable("Too many requests wait for an answer."))
        super().on_message_begin()
        self.scope["state"][CONNECTION_KEY] = self  # pyright: ignore[reportTypedDictNotRequiredAccess]
        self._stage = _HEADERS

    def on_header(self, name: bytes, value: bytes) -> None:
        # Trailers never become headers (RFC 9110 §6.5.1): a header that a proxy removes could come back as a trailer.
        if self._stage == _HEADERS:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if len(self.url) > MAX_TARGET:
            self._stop(connections.TARGET_TOO_LONG, _target_too_long())
        if len(self.headers) > self.shared.bounds.header_count:
            count = self.shared.bounds.header_count
            refusal = HeadersTooLarge(f"A request may have at most {count} headers.")
            self._stop(connections.HEADERS_TOO_LARGE, refusal)
        if self.parser.should_upgrade():  # pyright: ignore[reportOptionalMemberAccess]
            self._check_upgrade()
            super().on_headers_complete()
            if self._is_last:
                self.cycle.keep_alive = False
        else:
            self._begin_cycle()
        self._stage = _BODY
        self._unparsed = 0
        self._timed = False
        self._body_bytes = 0
        self.deadline = _NEVER
        self._stop_waiting()

    def _begin_cycle(self) -> None:
        """Begin the request, or let it wait for the answer before it."""
        parser: Any = self.parser
        version = parser.get_http_version()
        url = httptools.parse_url(self.url)
        raw_path: bytes = url.path
        path = raw_path.decode("ascii")
        scope: Any = self.scope
        scope["method"] = parser.get_method().decode("ascii")
        scope["http_version"] = version
        scope["path"] = self.root_path + (unquote(path) if "%" in path else path)
        scope["raw_path"] = self.root_path.encode("ascii") + raw_path
        scope["query_string"] = url.query or b""
        keep_alive = version != "1.0" and not self._is_last and parser.should_keep_alive()
        before = self.cycle
        self.cycle = RequestResponseCycle(
            scope,
            self.transport,
            self.flow,
            self.logger,
            self.access_logger,
            self.access_log,
            self.server_state.default_headers,
            asyncio.Event(),
            self.expect_100_continue,
            keep_alive,
            self.on_response_complete,
        )
        app = cast("ASGI3Application", self.app)  # pyright: ignore[reportUnknownMemberType]
        if before is None or before.response_complete:  # pyright: ignore[reportUnnecessaryComparison]
            self._start_asgi_task(self.cycle, app)
        else:
            self.flow.pause_reading()
            self.pipeline.appendleft((self.cycle, app))

    def on_body(self, body: bytes) -> None:
        self._unparsed = 0
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._stage = _BETWEEN
        self._unparsed = 0
        if self._timed:
            self._timed = False
            self.deadline = _NEVER
            self.shared.uploading.pop(self, None)
            if self._is_idle:
                self._wait()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self.server_state.total_requests += 1
        self.shared.end_stream(self)
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        elif self._refusal is not None:
            self._send_refusal()
        elif self._stage == _BETWEEN:
            self._wait()
        elif self._stage == _HEADERS:
            self._set_deadline()
        elif self.expect_100_continue and not self._body_bytes:
            # The client may still send the body (RFC 9110 §10.1.1), so the next request cannot be told from it.
            self.transport.close()
        else:
            self.deadline, self._timed = self.loop.time() + _LINGER, True

    def handle_websocket_upgrade(self) -> None:
        if not self.shared.open_stream(self):
            refusal = Unavailable("Too many streams are open; try again soon.")
            self._refuse(connections.STREAMS, refusal)
            return
        self._ignores_input = True
        super().handle_websocket_upgrade()
        socket = self.transport.get_protocol()
        assert isinstance(socket, BoundedWebSocketProtocol)  # noqa: S101  named beside this class in `cli/serve`
        socket.shared = self.shared
        self.shared.hand_over(self, socket)
        self._break_references()

    def pause_writing(self) -> None:
        super().pause_writing()
        self.shared.stall(self)

    def resume_writing(self) -> None:
        super().resume_writing()
        self.shared.stalled.pop(self, None)

    def open_stream(self) -> bool:
        """Count this connection as a stream until its answer is complete; False when too many are open."""
        return self.shared.open_stream(self)

    def expire(self) -> None:
        """Close or answer 408, since the client is late; allow more time if this server has paused reading."""
        bounds, now = self.shared.bounds, self.loop.time()
        if self.transport.is_closing() or self._refusal_sent:
            self.transport.abort()
        elif self._stage == _BETWEEN:
            self.evict()
        elif self._stage == _HEADERS:
            refusal = RequestTimeout("The headers of the request did not arrive in time.")
            self._refuse(connections.HEADER_TIMEOUT, refusal)
        elif self.flow.read_paused:
            self._body_began += bounds.body_timeout
            self.deadline = now + bounds.body_timeout
        elif self.cycle.response_complete:
            self.evict()
        else:
            allowed = self._body_began + bounds.body_timeout + self._body_bytes / BODY_RATE
            if now < allowed:
                self.deadline = allowed
            else:
                refusal = RequestTimeout("The body of the request did not arrive in time.")
                self._refuse(connections.BODY_TIMEOUT, refusal)

    def shutdown(self) -> None:
        """Close after the answer, or soon when nothing is asked.

        A proxy may just be sending a request over a connection that it kept. Had that been closed, the proxy could not
        tell whether the request was run, and would fail it.
        """
        if self._is_idle and not self.transport.is_closing():
            self._is_last = True
            self.loop.call_later(_PARTING, self._part)
        else:
            super().shutdown()

    def evict(self) -> None:
        """Close without an answer."""
        self._ignores_input = True
        self._stop_waiting()
        self.transport.close()

    def _part(self) -> None:
        if self._is_idle and not self.transport.is_closing():
            self.evict()

    async def send_whole(self, scope: Scope, status: int, lines: bytes, body: bytes) -> None:
        """Answer the running request at once, which uvicorn's `send` does in two steps and with a look at each header.

        The header lines are valid and have the length of the body, if it has one. `scope` is that of the request.
        """
        cycle = self._running
        if cycle is None or cycle.scope is not scope:
            raise RuntimeError("Another request is being answered.")
        if self.flow.write_paused and not cycle.disconnected:
            await self.flow.drain()
        if cycle.disconnected:
            return
        if cycle.response_started:
            raise RuntimeError("The answer has begun.")
        cycle.response_started = cycle.response_complete = True
        cycle.waiting_for_100_continue = False
        close = b"\r\n" if cycle.keep_alive else b"connection: close\r\n\r\n"
        own_lines = _default_lines(cycle.default_headers)
        self.transport.write(b"".join((STATUS_LINE[status], own_lines, lines, close, body)))
        cycle.message_event.set()
        if not cycle.keep_alive:
            self.transport.close()
        cycle.on_response()

    def begin(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        """Run the application for this request."""
        task = self.loop.create_task(cycle.run_asgi(app))
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)
        self.presence.answered_by(task)

    def rest(self) -> None:
        """Read nothing for a moment."""
        self.flow.pause_reading()
        self.loop.call_later(READ_AGAIN_AFTER, self._read_again)

    def _read_again(self) -> None:
        if not self.transport.is_closing():
            self.waited = READ_AGAIN_AFTER
            self.flow.resume_reading()
            # The first call comes before the sockets are looked at, the second one afterwards.
            self.loop.call_soon(self.loop.call_soon, self._forget_wait)

    def _forget_wait(self) -> None:
        self.waited = 0.0

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._running = cycle
        self.shared.admission.arrive(PendingRequest(self, cycle, app))

    @property
    def _is_idle(self) -> bool:
        return not self.pipeline and (not self.cycle or self.cycle.response_complete)

    def _feed(self, data: bytes | memoryview) -> None:
        self._unparsed += len(data)
        try:
            self.parser.feed_data(data)  # pyright: ignore[reportOptionalMemberAccess]
        except httptools.HttpParserUpgrade:
            if self._should_upgrade():
                self.handle_websocket_upgrade()
            else:
                # Offers of other protocols are ignored (RFC 9110 §7.8). The parser cannot continue after one.
                self.cycle.keep_alive = False
                self._ignores_input = True
        except httptools.HttpParserError:
            malformed = InvalidRequest("The request is not valid HTTP/1.1.")
            self._refuse(*(self._refusal or (connections.MALFORMED, malformed)))

    def _receive_in_parts(self, data: bytes) -> None:
        """Feed the parser at most as many bytes as headers may have, so that longer ones are never parsed."""
        rest = memoryview(data)
        while rest and not self._ignores_input:
            allowed = self._limit - self._unparsed
            if allowed <= 0:
                self._refuse(*self._too_large())
                return
            self._feed(rest[:allowed])
            rest = rest[allowed:]

    def _too_large(self) -> tuple[str, Refusal]:
        if self._stage == _HEADERS and len(self.url) > MAX_TARGET:
            return connections.TARGET_TOO_LONG, _target_too_long()
        text = f"The headers of a request may have at most {self._limit} bytes."
        return connections.HEADERS_TOO_LARGE, HeadersTooLarge(text)

    def _check_upgrade(self) -> None:
        """Refuse an upgrade that the parser or the WebSocket library could not handle."""
        names = {name for name, _ in self.headers}
        if b"transfer-encoding" in names or b"content-length" in names:
            # After an upgrade the parser would read the bytes of a body as the next request.
            text = "A request that offers an upgrade may not have a body."
            self._stop(connections.MALFORMED, InvalidRequest(text))
        if not self._should_upgrade():
            return
        longest = max(len(name) + len(value) for name, value in self.headers)
        if longest > _MAX_HEADER or len(self.headers) > _MAX_HEADERS:
            text = "A header of a WebSocket handshake is too long, or there are too many."
            self._stop(connections.HEADERS_TOO_LARGE, HeadersTooLarge(text))
        if not self._is_idle:
            text = "A WebSocket handshake may not follow a request that is not answered yet."
            self._stop(connections.MALFORMED, InvalidRequest(text))

    def _stop(self, reason: str, refusal: Refusal) -> None:
        """End parsing with this refusal; called in the parser's callbacks."""
        self._refusal = reason, refusal
        raise _Refused

    def _set_deadline(self) -> None:
        """Set the time by which the client must finish the headers or the body that it has begun."""
        bounds, now = self.shared.bounds, self.loop.time()
        if self._stage == _BODY:
            self._body_began = now
            self.deadline = now + bounds.body_timeout
            self.shared.uploading[self] = None
        elif self._is_idle:
            self.deadline = now + bounds.header_timeout
            self.shared.idle.pop(self, None)
            self.shared.waiting[self] = None
        else:
            # A part of the next request, while an answer is being sent: that answer comes first.
            return
        self._timed = True

    def _wait(self) -> None:
        """Wait for the next request."""
        self.deadline = self.loop.time() + self.shared.bounds.idle_timeout
        self.shared.idle[self] = None

    def _stop_waiting(self) -> None:
        self.shared.waiting.pop(self, None)
        self.shared.idle.pop(self, None)

    def _refuse(self, reason: str, refusal: Refusal) -> None:
        """Answer with this refusal after the outstanding answers, then close; read nothing more."""
        self._refusal, self._ignores_input = (reason, refusal), True
        self._timed, self.deadline = True, _NEVER
        self._stop_waiting()
        self.shared.uploading.pop(self, None)
        if self._stage == _BODY and self.cycle and not self.cycle.response_complete:
            self._abandon_cycle()
        if self._is_idle:
            self._send_refusal()

    def _abandon_cycle(self) -> None:
        """End the request whose body is incomplete; the refusal is its answer."""
        cycle = self.cycle
        if self.pipeline and self.pipeline[0][0] is cycle:
            self.pipeline.popleft()
            return
        if cycle.response_started:
            self.transport.abort()
        cycle.disconnected = True
        cycle.response_complete = True
        cycle.message_event.set()

    def _send_refusal(self) -> None:
        if self._refusal is None or self._refusal_sent or self.transport.is_closing():
            return
        self._refusal_sent = True
        self.transport.write(self.shared.refusal(*self._refusal))
        self.deadline = self.loop.time() + _LINGER
        self.shared.give_way(self)
        self.flow.resume_reading()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        else:
            self.transport.close()

    def _break_references(self) -> None:
        """Break the reference cycles between this object and its requests, so that memory is freed at once."""
        if self.scope:
            self.scope["state"].pop(CONNECTION_KEY, None)  # pyright: ignore[reportTypedDictNotRequiredAccess]
        self.pipeline.clear()
        self._running = None


@dataclass(slots=True)
class PendingRequest:
    """A request of this connection that has not begun."""

    connection: BoundedHttpProtocol
    cycle: RequestResponseCycle
    app: ASGI3Application

    @property
    def scope(self) -> Any:
        return self.cycle.scope

    @property
    def is_gone(self) -> bool:
        return self.cycle.disconnected or self.cycle.response_complete

    @property
    def waited(self) -> float:
        return self.connection.waited

    def begin(self) -> None:
        """Run the application."""
        self.connection.begin(self.cycle, self.app)

    def refuse(self, answer: bytes, *, body: int) -> None:
        """Answer in place of the application; the connection stays open if the client wants that."""
        cycle, transport = self.cycle, self.connection.transport
        if not cycle.keep_alive:
            answer = answer.replace(b"\r\n", b"\r\nconnection: close\r\n", 1)
        transport.write(answer[:-body] if cycle.scope["method"] == "HEAD" else answer)
        cycle.response_started = cycle.response_complete = True
        if not cycle.keep_alive:
            transport.close()
        complete, cycle.on_response = cycle.on_response, _nothing
        complete()
        self.connection.rest()


def _nothing() -> None:
    """Takes the place of the callback, which would keep the connection in memory."""


def _target_too_long() -> TargetTooLong:
    return TargetTooLong(f"The target of a request may have at most {MAX_TARGET} bytes.")
