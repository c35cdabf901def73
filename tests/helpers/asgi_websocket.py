"""A WebSocket of the application without a network between: ASGI's messages, spoken by hand."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import orjson
from starlette.types import ASGIApp, Message, Scope

PATIENCE: Final = 10.0


class WebSocketClosed(Exception):
    """The server closed the socket."""

    def __init__(self, code: int, reason: str = "") -> None:
        super().__init__(f"{code} {reason}")
        self.code = code


class WebSocketRefused(Exception):
    """The upgrade was answered by plain HTTP."""

    def __init__(self, status: int, headers: dict[str, str], body: Any) -> None:
        super().__init__(f"{status} {body}")
        self.status = status
        self.headers = headers
        self.body = body


class AsgiWebSocket:
    """One connection; `said` is everything that came."""

    def __init__(self) -> None:
        self.subprotocol: str | None = None
        self.headers: list[tuple[bytes, bytes]] = []
        self.said: list[dict[str, Any]] = []
        self._to: asyncio.Queue[Message] = asyncio.Queue()
        self._from: asyncio.Queue[Message] = asyncio.Queue()
        self.task: asyncio.Task[None] | None = None

    async def send(self, kind: str, **members: Any) -> None:
        """One message of the protocol."""
        await self.send_text(orjson.dumps({"type": kind, **members}).decode())

    async def send_text(self, text: str) -> None:
        """One text frame, whatever is in it."""
        self._to.put_nowait({"type": "websocket.receive", "text": text})

    async def send_bytes(self, data: bytes) -> None:
        """One binary frame."""
        self._to.put_nowait({"type": "websocket.receive", "bytes": data})

    async def next(self, patience: float = PATIENCE) -> dict[str, Any]:
        """The next message; `Closed` when there is none any more."""
        message = await asyncio.wait_for(self._from.get(), patience)
        if message["type"] == "websocket.close":
            self._from.put_nowait(message)
            raise WebSocketClosed(message["code"], message.get("reason", ""))
        body: dict[str, Any] = orjson.loads(message["text"])
        self.said.append(body)
        return body

    async def until(self, kind: str, **members: Any) -> dict[str, Any]:
        """The next message of this type and with these members."""
        while True:
            body = await self.next()
            if body["type"] == kind and members.items() <= body.items():
                return body

    async def closed(self) -> int:
        """The code of the close; what comes before it is kept in `said`."""
        try:
            while True:
                await self.next()
        except WebSocketClosed as closed:
            return closed.code

    async def leave(self) -> None:
        """Go without a word, and wait until the server has noticed."""
        self._to.put_nowait({"type": "websocket.disconnect", "code": 1006})
        if self.task is not None:
            await self.task

    async def opened(self) -> None:
        """Wait for the upgrade; `Refused`."""
        self._to.put_nowait({"type": "websocket.connect"})
        first = await asyncio.wait_for(self._from.get(), PATIENCE)
        headers = {name.decode(): value.decode() for name, value in first.get("headers", ())}
        if first["type"] == "websocket.http.response.start":
            body = await self._from.get()
            raise WebSocketRefused(first["status"], headers, orjson.loads(body["body"]))
        assert first["type"] == "websocket.accept", first
        self.subprotocol = first.get("subprotocol")


@asynccontextmanager
async def connect(
    application: ASGIApp,
    path: str,
    *,
    headers: Mapping[str, str] | None = None,
    subprotocols: Iterable[str] = (),
    query: str = "",
) -> AsyncGenerator[AsgiWebSocket]:
    """An open socket; `Refused` when it was not let in."""
    socket = AsgiWebSocket()
    offered = list(subprotocols)
    named = {**(headers or {}), **({"sec-websocket-protocol": ", ".join(offered)} if offered else {})}
    scope: Scope = {
        "type": "websocket",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "scheme": "ws",
        "headers": [(name.lower().encode(), value.encode()) for name, value in named.items()],
        "client": ("203.0.113.7", 50_000),
        "server": ("127.0.0.1", 8000),
        "subprotocols": offered,
        "state": {},
        "extensions": {"websocket.http.response": {}},
    }

    async def receive() -> Message:
        return await socket._to.get()  # pyright: ignore[reportPrivateUsage]

    async def send(message: Message) -> None:
        socket._from.put_nowait(message)  # pyright: ignore[reportPrivateUsage]

    async def run() -> None:
        await application(scope, receive, send)

    socket.task = asyncio.create_task(run())
    try:
        await socket.opened()
        yield socket
    finally:
        await socket.leave()
