"""WebSockets as the server speaks them: uvicorn's sans-I/O implementation, with a goodbye of our own.

It answers a refused upgrade by plain HTTP, holds a full connection back and pings by itself. Compression is off: the
messages are short, sound does not shrink, and its windows would cost more memory than all else a socket has.
"""

from typing import Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

LARGEST: Final = 128 * 1024
"""Bytes of a message that are read at all (then 1009); the application says 4413 before."""
_GOING: Final = 1001


class Sockets(WebSocketsSansIOProtocol):
    """Says 1001 when the server stops (RFC 6455 §7.4.1), so that clients come back; uvicorn itself says 1012."""

    def shutdown(self) -> None:
        if self.handshake_complete and not self.close_sent:
            self.stop_keepalive()
            self.queue.put_nowait({"type": "websocket.disconnect", "code": _GOING})
            self.conn.send_close(_GOING)
            self.close_sent = True
            self.transport.write(b"".join(self.conn.data_to_send()))
        super().shutdown()
