"""WebSockets as the server speaks them: uvicorn's sans-I/O implementation, with a goodbye and bounds of our own.

It answers a refused upgrade by plain HTTP, holds a full connection back and pings by itself. Compression is off: the
messages are short, sound does not shrink, and its windows would cost more memory than all else a socket has.
"""

from typing import Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from negotiator.http.connections import ConnectionCount, WorkerConnections

MAX_MESSAGE: Final = 128 * 1024
"""Bytes of a message that are read at all (then 1009); the application says 4413 before."""
MAX_HEADER: Final = 8000
"""Bytes of one header of a handshake; the websockets library reads lines of at most 8192 bytes."""
MAX_HEADERS: Final = 120
"""Headers of a handshake; the websockets library reads at most 128."""
_MAX_FRAGMENTS: Final = 1024
"""Frames of one message; empty ones count for nothing in its size and could go on for ever."""
_GOING: Final = 1001
_TOO_BIG: Final = 1009
_NEVER: Final = float("inf")


class BoundedWebSocketProtocol(WebSocketsSansIOProtocol):
    """A WebSocket, counted among the worker's streams from its handshake to its end.

    It says 1001 when the server stops (RFC 6455 §7.4.1), so that clients come back; uvicorn itself says 1012.
    """

    shared: WorkerConnections
    address = ""
    counted: ConnectionCount | None = None
    deadline = _NEVER

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

    def pause_writing(self) -> None:
        super().pause_writing()
        self.shared.stall(self)

    def resume_writing(self) -> None:
        super().resume_writing()
        self.shared.stalled.pop(self, None)

    def expire(self) -> None:
        """Close a connection whose last bytes nobody reads; pings find the client that is gone before."""
        self.transport.abort()

    def evict(self) -> None:
        """Close without a word; streams are never chosen for that."""
        self.transport.close()
