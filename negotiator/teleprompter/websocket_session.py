"""One open socket: its parts run side by side until one of them ends it."""

import asyncio
from collections import deque
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final

import orjson

from negotiator.caller import Caller
from negotiator.teleprompter import websocket_messages
from negotiator.teleprompter.audio_pipeline import AudioChannels, TokenBucket
from negotiator.teleprompter.event_log import EventBatch
from negotiator.teleprompter.websocket_context import ConnectionState, SharedContext
from negotiator.teleprompter.websocket_handler import MessageHandler
from negotiator.teleprompter.websocket_messages import (
    AsgiWebSocket,
    CloseCode,
    SocketDisconnected,
    WebSocketClosing,
)
from negotiator.teleprompter.websocket_outbox import OutboxStalled

_MESSAGES: Final = 200
_MESSAGES_AT_ONCE: Final = 1000
"""Frames a second: two channels in pieces of 20 ms are a hundred."""
_FINALS: Final = 64


@dataclass(frozen=True, slots=True)
class Admission:
    """What was known before the upgrade: which session, who (unless he says it later), from where, since when."""

    session: str
    caller: Caller | None
    origin: str
    after: int | None


class SessionLoop:
    """One socket, from the moment it is let in."""

    def __init__(
        self, floor: SharedContext, wire: AsgiWebSocket, shown: Admission, caller: Caller
    ) -> None:
        self._wire = wire
        self._floor = floor
        self._shown = shown
        self._seat = ConnectionState(floor, shown.session, shown.origin, caller, _clock())
        self._seat.believed.set()
        self._voices = AudioChannels(floor.stage, shown.session, lambda: self._seat.caller)
        pace = TokenBucket(_MESSAGES, _MESSAGES_AT_ONCE, self._seat.alive_at)
        self._talk = MessageHandler(self._seat, self._voices, pace)
        self._said: deque[str] = deque(maxlen=_FINALS)

    async def run(self) -> None:
        """Until somebody leaves. `Left`, or `Closing` with the code that says why; what waited was sent before."""
        ended: BaseException | None = None
        try:
            async with asyncio.TaskGroup() as tasks:
                parts = (self._write, self._follow, self._watch, self._stand, self._read)
                for part in parts:
                    tasks.create_task(part())
        except* (SocketDisconnected, WebSocketClosing, OutboxStalled) as several:
            ended = several.exceptions[0]
        except* Exception as several:
            ended = several.exceptions[0]
        finally:
            self._seat.stop_viewing()
            self._voices.leave()
        if isinstance(ended, SocketDisconnected):
            raise ended
        await self._empty()
        raise self._why(ended)

    def _why(self, ended: BaseException | None) -> WebSocketClosing:
        match ended:
            case WebSocketClosing():
                return ended
            case OutboxStalled():
                said = websocket_messages.error_message(
                    "stalled", "You read too slowly.", retry_after=1
                )
                return WebSocketClosing(CloseCode.FULL, "reads too slowly", said)
            case Exception():
                return WebSocketClosing(
                    CloseCode.FAULT, "a fault of ours", self._floor.crash(ended)
                )
            case _:
                return WebSocketClosing(CloseCode.OVER, "")

    async def _read(self) -> None:
        seat = self._seat
        if self._shown.after is not None:
            seat.view()
            await seat.begin(self._shown.after, {})
        while True:
            frame = await self._wire.read()
            seat.alive_at = _clock()
            await self._talk.hear(frame)

    async def _write(self) -> None:
        while True:
            await self._wire.write(await self._seat.outbox.take())

    async def _empty(self) -> None:
        """Send what still waits, to who still reads."""
        outbox = self._seat.outbox
        try:
            async with asyncio.timeout(self._floor.patience.goodbye):
                while len(outbox):
                    await self._wire.write(outbox.pop())
        except TimeoutError:
            return

    async def _follow(self) -> None:
        seat, log = self._seat, self._floor.listening.log
        await seat.begun.wait()
        while True:
            await seat.believed.wait()
            caller = seat.caller
            following = log.follow(caller, seat.session, seat.after or 0)
            async with aclosing(following) as batches:
                async for batch in batches:
                    if batch.over == "expired" and seat.caller is caller:
                        seat.believed.clear()
                    if batch.over == "expired" or not seat.believed.is_set():
                        break
                    await self._tell(batch)
                else:
                    raise WebSocketClosing(CloseCode.OVER, "the session is over")

    async def _tell(self, batch: EventBatch) -> None:
        seat = self._seat
        for event in batch.events:
            await seat.say(event.line)
            seat.after = event.seq
            if event.type == "transcript.final":
                self._said.append(event.shown["utterance_id"])
        for message in batch.volatile:
            body: dict[str, Any] = orjson.loads(message)
            named = body.get("utterance_id") or body.get("channel")
            if named not in self._said:
                seat.outbox.offer(message, f"{body['type']}:{named}")
        self._voices.paused = batch.state == "paused"
        if seat.producer and batch.producer != seat.producer:
            await self._check_producer()

    async def _check_producer(self) -> None:
        """`Closing` if another connection sends sound now; the batch that said so may be older than our own start."""
        seat = self._seat
        found, _ = await self._floor.listening.log.after(
            seat.owner, seat.session, seat.after or 0, 1
        )
        if found.producer != seat.producer:
            raise WebSocketClosing(CloseCode.TAKEN_OVER, "another connection sends sound now")

    async def _watch(self) -> None:
        """Close a socket on which nothing came for too long."""
        seat, patience = self._seat, self._floor.patience
        while True:
            await asyncio.sleep(patience.look)
            if _clock() - seat.alive_at >= patience.idle:
                raise WebSocketClosing(CloseCode.IDLE, "nothing came for too long")

    async def _stand(self) -> None:
        """Ask whether the credential stands: as soon as its revocation is told on the bus, and every few seconds."""
        seat, log = self._seat, self._floor.listening.log
        while True:
            caller = seat.caller
            with log.bus.following(*await log.topics(caller)) as ears:
                while (stands := await log.stands(caller)) and seat.caller is caller:
                    seat.believed.set()
                    await ears.listen(self._floor.patience.believed)
            if not stands and seat.caller is caller:
                await self._ended(caller)

    async def _ended(self, caller: Caller) -> None:
        """Hear and tell nothing more; wait for a fresh ticket if the holder may still get one. `Closing`."""
        seat, guard = self._seat, self._floor.pipeline.guard
        seat.believed.clear()
        store = self._floor.pipeline.store
        if await store.read(lambda tx: guard.is_withdrawn(tx, caller)):
            raise WebSocketClosing(
                CloseCode.UNBELIEVED,
                "the credential was revoked",
                websocket_messages.REVOKED_MESSAGE,
            )
        await seat.say(websocket_messages.EXPIRED_MESSAGE)
        try:
            async with asyncio.timeout(self._floor.patience.renewal):
                await seat.believed.wait()
        except TimeoutError:
            raise WebSocketClosing(CloseCode.UNBELIEVED, "the credential ended") from None


def _clock() -> float:
    return asyncio.get_running_loop().time()
