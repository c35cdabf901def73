"""One WebSocket connection as ASGI has it: texts and bytes in, texts out, a close code."""

from dataclasses import dataclass

from starlette.types import Receive, Send

from negotiator.teleprompter.streams.protocol import Code


class Left(Exception):
    """The client is gone, or the server is about to be."""


class Closing(Exception):
    """The socket is to be closed; `said` goes out before, if there is something to say."""

    def __init__(self, code: Code, reason: str, said: bytes = b"") -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.said = said


@dataclass(frozen=True, slots=True)
class Wire:
    """The two callables of a connection."""

    receive: Receive
    send: Send

    async def accept(self, subprotocol: str | None) -> None:
        """Upgrade."""
        await self.send({"type": "websocket.accept", "subprotocol": subprotocol})

    async def read(self) -> str | bytes:
        """The next frame; `Left` when there is none any more."""
        message = await self.receive()
        if message["type"] != "websocket.receive":
            raise Left
        text = message.get("text")
        return text if text is not None else message.get("bytes") or b""

    async def write(self, message: bytes) -> None:
        """Send one text frame; waits while the connection is full."""
        try:
            await self.send({"type": "websocket.send", "text": message.decode()})
        except OSError as gone:
            raise Left from gone

    async def close(self, code: Code, reason: str) -> None:
        """Say goodbye, to whoever is still there."""
        try:
            await self.send({"type": "websocket.close", "code": int(code), "reason": reason})
        except OSError as gone:
            raise Left from gone
