"""One open socket: five tasks read, write, follow events and check timeouts and credential until one ends."""

import asyncio
from collections import deque
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final

import orjson
from starlette.websockets import WebSocket, WebSocketDisconnect

from negotiator.base.caller import Caller
from negotiator.teleprompter import websocket_messages
from negotiator.teleprompter.event_log import EventBatch
from negotiator.teleprompter.websocket_context import OutboxStalled, SharedContext
from negotiator.teleprompter.websocket_handler import Connection
from negotiator.teleprompter.websocket_messages import CloseCode, WebSocketClosing

_FINALS: Final = 64


@dataclass(frozen=True, slots=True)
class Admission:
    """What is known before the upgrade; `caller` is None until the client sends `auth`."""

    session: str
    caller: Caller | None
    origin: str
    after: int | None


class SessionLoop:
    """Runs one accepted socket."""

    def __init__(self, context: SharedContext, socket: WebSocket, admission: Admission, caller: Caller) -> None:
        self._socket = socket
        self._context = context
        self._admission = admission
        self._connection = Connection(context, admission.session, admission.origin, caller, _clock())
        self._said: deque[str] = deque(maxlen=_FINALS)

    async def run(self) -> None:
        """Run until one task ends, send what waits, then raise `WebSocketDisconnect` or `WebSocketClosing`."""
        ended: BaseException | None = None
        try:
            async with asyncio.TaskGroup() as tasks:
                parts = (self._write, self._follow, self._watch, self._stand, self._read)
                for part in parts:
                    tasks.create_task(part())
        except* (WebSocketDisconnect, WebSocketClosing, OutboxStalled) as several:
            gone = [one for one in several.exceptions if isinstance(one, WebSocketDisconnect)]
            ended = (gone or several.exceptions)[0]
        except* Exception as several:
            ended = several.exceptions[0]
        finally:
            self._connection.stop_viewing()
            self._connection.audio.leave()
        if isinstance(ended, WebSocketDisconnect):
            raise ended
        await self._empty()
        raise self._why(ended)

    def _why(self, ended: BaseException | None) -> WebSocketClosing:
        match ended:
            case WebSocketClosing():
                return ended
            case OutboxStalled():
                said = websocket_messages.error_message("stalled", "You read too slowly.", retry_after=1)
                return WebSocketClosing(CloseCode.FULL, "reads too slowly", said)
            case Exception():
                return WebSocketClosing(CloseCode.FAULT, "a fault of ours", self._context.crash(ended))
            case _:
                return WebSocketClosing(CloseCode.OVER, "")

    async def _read(self) -> None:
        connection = self._connection
        if self._admission.after is not None:
            connection.view()
            await connection.begin(self._admission.after)
        while True:
            frame = await websocket_messages.read_frame(self._socket)
            connection.alive_at = _clock()
            await connection.hear(frame)

    async def _write(self) -> None:
        while True:
            await self._socket.send_text((await self._connection.outbox.take()).decode())

    async def _empty(self) -> None:
        """Send the waiting messages, for at most `goodbye` seconds."""
        outbox = self._connection.outbox
        try:
            async with asyncio.timeout(self._context.patience.goodbye):
                while len(outbox):
                    await self._socket.send_text(outbox.pop().decode())
        except TimeoutError:
            return

    async def _follow(self) -> None:
        connection, log = self._connection, self._context.utterances.log
        await connection.begun.wait()
        while True:
            await connection.believed.wait()
            caller = connection.caller
            following = log.follow(caller, connection.session, connection.after or 0)
            async with aclosing(following) as batches:
                async for batch in batches:
                    if batch.over == "expired" and connection.caller is caller:
                        connection.believed.clear()
                    if batch.over == "expired" or not connection.believed.is_set():
                        break
                    await self._tell(batch)
                else:
                    raise WebSocketClosing(CloseCode.OVER, "the session is over")

    async def _tell(self, batch: EventBatch) -> None:
        connection = self._connection
        for event in batch.events:
            await connection.outbox.put(event.line)
            connection.after = event.seq
            if event.type == "transcript.final":
                self._said.append(event.shown["utterance_id"])
        for message in batch.volatile:
            body: dict[str, Any] = orjson.loads(message)
            named = body.get("utterance_id") or body.get("channel")
            if named not in self._said:
                connection.outbox.offer(message, f"{body['type']}:{named}")
        self._connection.audio.paused = batch.state == "paused"
        if connection.producer and batch.producer != connection.producer:
            await self._check_producer()

    async def _check_producer(self) -> None:
        """`WebSocketClosing` if another connection sends audio; the batch may be older than this connection's start."""
        connection = self._connection
        found, _ = await self._context.utterances.log.after(
            connection.caller.principal, connection.session, connection.after or 0, 1
        )
        if found.producer != connection.producer:
            raise WebSocketClosing(CloseCode.TAKEN_OVER, "another connection sends sound now")

    async def _watch(self) -> None:
        """Close an idle socket."""
        connection, patience = self._connection, self._context.patience
        while True:
            await asyncio.sleep(patience.look)
            if _clock() - connection.alive_at >= patience.idle:
                raise WebSocketClosing(CloseCode.IDLE, "nothing came for too long")

    async def _stand(self) -> None:
        """Check the credential when the bus reports a revocation, and every few seconds."""
        connection, log = self._connection, self._context.utterances.log
        while True:
            caller = connection.caller
            with log.bus.following(*await log.topics(caller)) as subscription:
                while (stands := await log.stands(caller)) and connection.caller is caller:
                    connection.believed.set()
                    await subscription.listen(self._context.patience.believed)
            if not stands and connection.caller is caller:
                await self._ended(caller)

    async def _ended(self, caller: Caller) -> None:
        """Stop the traffic; wait for a new ticket unless the holder was revoked. `WebSocketClosing`."""
        connection, guard = self._connection, self._context.pipeline.guard
        connection.believed.clear()
        store = self._context.pipeline.store
        if await store.read(lambda tx: guard.is_withdrawn(tx, caller)):
            raise WebSocketClosing(
                CloseCode.UNBELIEVED, "the credential was revoked", websocket_messages.REVOKED_MESSAGE
            )
        await connection.outbox.put(websocket_messages.EXPIRED_MESSAGE)
        try:
            async with asyncio.timeout(self._context.patience.renewal):
                await connection.believed.wait()
        except TimeoutError:
            raise WebSocketClosing(CloseCode.UNBELIEVED, "the credential ended") from None


def _clock() -> float:
    return asyncio.get_running_loop().time()
