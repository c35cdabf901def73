"""The server's WebSocket protocol: uvicorn's sans-I/O implementation with its own limits and close code.

It answers a refused upgrade by plain HTTP, applies backpressure and sends pings. Compression is off: messages are
short, audio does not compress, and the compression windows would need more memory than the rest of a connection.
"""

from collections.abc import Sequence
from typing import Final

from uvicorn._types import ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from negotiator.http.connections import ConnectionCount, WorkerConnections

MAX_MESSAGE: Final = 128 * 1024
"""Bytes of the largest message that is read (else 1009); the application closes with 4413 below that."""
MAX_HEADER: Final = 8000
"""Bytes of one header of a handshake; the websockets library reads lines of at most 8192 bytes."""
MAX_HEADERS: Final = 120
"""Headers of a handshake; the websockets library reads at most 128."""
_MAX_FRAGMENTS: Final = 1024
"""Frames of one message; without this limit a message could have any number of empty frames."""
_GOING: Final = 1001
_NO_TEXT: Final = 1007
_TOO_BIG: Final = 1009
_NEVER: Final = float("inf")


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
