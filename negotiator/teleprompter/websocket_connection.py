"""One open socket: what it was told, the tasks that serve it, and the client's messages."""

import asyncio
import secrets
from collections import deque
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import orjson
from opentelemetry.trace import SpanKind
from starlette.websockets import WebSocket, WebSocketDisconnect

from negotiator.base.caller import Caller
from negotiator.base.errors import Refusal, Unauthorized
from negotiator.runtime.tracing import NEW_TRACE, span
from negotiator.teleprompter import session_transitions, websocket_messages
from negotiator.teleprompter.audio_pipeline import AudioChannels, AudioTooFast, TokenBucket
from negotiator.teleprompter.cues.catalogue import Speaker
from negotiator.teleprompter.event_log import EventBatch
from negotiator.teleprompter.queries import LiveSession
from negotiator.teleprompter.schemas import Utterance
from negotiator.teleprompter.session_transitions import Transition
from negotiator.teleprompter.session_view import MAX_FRAME_BYTES, SESSION_LIMITS
from negotiator.teleprompter.speech.recognizer import RecognizerBusy
from negotiator.teleprompter.websocket_context import Outbox, OutboxStalled, SharedContext
from negotiator.teleprompter.websocket_messages import (
    AuthMessage,
    ClientMessage,
    CloseCode,
    MarkMessage,
    StartMessage,
    TextMessage,
    WebSocketClosing,
)

_MESSAGES: Final = 200
_MESSAGES_AT_ONCE: Final = 1000
"""Messages in a burst; 200 a second are allowed, two channels in pieces of 20 ms need 100."""
_REFUSED_IN_A_ROW: Final = 20
_LET_GO: Final = (0.2, 0.5, 1.0, 2.0)
_CHANGES: Final[dict[str, Transition]] = {
    "pause": session_transitions.pause_session,
    "resume": session_transitions.resume_session,
    "stop": partial(session_transitions.end_session, reason="asked"),
}
_FINALS: Final = 64


@dataclass(frozen=True, slots=True)
class Admission:
    """What is known before the upgrade; `caller` is None until the client sends `auth`."""

    session: str
    caller: Caller | None
    origin: str
    after: int | None


class Connection:
    """Serves one accepted socket of a session.

    Five tasks read, write, follow events and check timeouts and credential until one ends. Messages are handled in
    order.
    """

    def __init__(self, context: SharedContext, socket: WebSocket, admission: Admission, caller: Caller) -> None:
        self._context = context
        self._socket = socket
        self._session = admission.session
        self._origin = admission.origin
        self._asked_after = admission.after
        self._caller = caller
        self._alive_at = _clock()
        """When something last came from the client."""
        self._outbox = Outbox()
        self._after: int | None = None
        """The number up to which the client was told; None before it follows at all."""
        self._said: deque[str] = deque(maxlen=_FINALS)
        self._producer = ""
        """The connection's token once it is the one that sends sound."""
        self._viewing = False
        self._begun = asyncio.Event()
        self._believed = asyncio.Event()
        """Not set while the credential has ended and no other has come."""
        self._believed.set()
        self._audio = AudioChannels(context.audio, self._session, lambda: self._caller)
        self._pace = TokenBucket(_MESSAGES, _MESSAGES_AT_ONCE, self._alive_at)
        self._refused = 0
        self._deaf = False

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
            self._stop_viewing()
            self._audio.leave()
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
        if self._asked_after is not None:
            await self._begin_viewing(self._asked_after)
        while True:
            frame = await websocket_messages.read_frame(self._socket)
            self._alive_at = _clock()
            await self._hear(frame)

    async def _write(self) -> None:
        while True:
            await self._socket.send_text((await self._outbox.take()).decode())

    async def _empty(self) -> None:
        """Send the waiting messages, for at most `goodbye` seconds."""
        outbox = self._outbox
        try:
            async with asyncio.timeout(self._context.patience.goodbye):
                while len(outbox):
                    await self._socket.send_text(outbox.pop().decode())
        except TimeoutError:
            return

    async def _follow(self) -> None:
        log = self._context.utterances.log
        await self._begun.wait()
        while True:
            await self._believed.wait()
            caller = self._caller
            following = log.follow(caller, self._session, self._after or 0)
            async with aclosing(following) as batches:
                async for batch in batches:
                    if batch.over == "expired" and self._caller is caller:
                        self._believed.clear()
                    if batch.over == "expired" or not self._believed.is_set():
                        break
                    await self._tell(batch)
                else:
                    raise WebSocketClosing(CloseCode.OVER, "the session is over")

    async def _tell(self, batch: EventBatch) -> None:
        for event in batch.events:
            await self._outbox.put(event.line)
            self._after = event.seq
            if event.type == "transcript.final":
                self._said.append(event.shown["utterance_id"])
        for message in batch.volatile:
            body: dict[str, Any] = orjson.loads(message)
            named = body.get("utterance_id") or body.get("channel")
            if named not in self._said:
                self._outbox.offer(message, f"{body['type']}:{named}")
        self._audio.paused = batch.state == "paused"
        if self._producer and batch.producer != self._producer:
            await self._check_producer()

    async def _check_producer(self) -> None:
        """`WebSocketClosing` if another connection sends audio; the batch may be older than this connection's start."""
        found, _ = await self._context.utterances.log.after(self._caller.principal, self._session, self._after or 0, 1)
        if found.producer != self._producer:
            raise WebSocketClosing(CloseCode.TAKEN_OVER, "another connection sends sound now")

    async def _watch(self) -> None:
        patience = self._context.patience
        while True:
            await asyncio.sleep(patience.look)
            if _clock() - self._alive_at >= patience.idle:
                raise WebSocketClosing(CloseCode.IDLE, "nothing came for too long")

    async def _stand(self) -> None:
        """Check the credential when the bus reports a revocation, and every few seconds."""
        log = self._context.utterances.log
        while True:
            caller = self._caller
            with log.bus.following(*await log.topics(caller)) as subscription:
                while (stands := await log.stands(caller)) and self._caller is caller:
                    self._believed.set()
                    await subscription.listen(self._context.patience.believed)
            if not stands and self._caller is caller:
                await self._ended(caller)

    async def _ended(self, caller: Caller) -> None:
        """Stop the traffic; wait for a new ticket unless the holder was revoked. `WebSocketClosing`."""
        guard = self._context.pipeline.guard
        self._believed.clear()
        store = self._context.pipeline.store
        if await store.read(lambda tx: guard.is_withdrawn(tx, caller)):
            raise WebSocketClosing(
                CloseCode.UNBELIEVED, "the credential was revoked", websocket_messages.REVOKED_MESSAGE
            )
        await self._outbox.put(websocket_messages.EXPIRED_MESSAGE)
        try:
            async with asyncio.timeout(self._context.patience.renewal):
                await self._believed.wait()
        except TimeoutError:
            raise WebSocketClosing(CloseCode.UNBELIEVED, "the credential ended") from None

    # The messages of the client. A refusal is sent as an error message and leaves the socket open, unless noted.

    async def _change(self, change: Transition) -> Any:
        """Apply a change to the session; raises the change's refusals."""
        return await self._context.utterances.change(self._caller, self._session, change)

    async def _begin(self, after: int) -> None:
        """Send `ready`, and follow from this number on unless the connection follows already."""
        found, _ = await self._context.utterances.log.after(self._caller.principal, self._session, after, 1)
        if self._after is None:
            self._after = after
            self._begun.set()
        told = {
            "seq": found.seq,
            "replay_from": self._after + 1,
            "audio_ms": self._audio.audio_ms,
            "limits": SESSION_LIMITS,
        }
        await self._outbox.put(websocket_messages.message("ready", **told))

    async def _begin_viewing(self, after: int) -> None:
        """Follow as a viewer, unless it is this connection that sends sound; `WebSocketClosing` at too many."""
        if not self._producer and not self._viewing:
            self._context.connection_limits.view(self._session)
            self._viewing = True
        await self._begin(after)

    def _stop_viewing(self) -> None:
        if self._viewing:
            self._context.connection_limits.leave(self._session)
            self._viewing = False

    async def _hear(self, frame: str | bytes) -> None:
        """Handle a frame; `WebSocketClosing` for one that breaks the protocol."""
        size = len(frame) if isinstance(frame, bytes) else len(frame.encode())
        if size > MAX_FRAME_BYTES:
            said = websocket_messages.error_message("too_large", f"A frame has at most {MAX_FRAME_BYTES} bytes.")
            raise WebSocketClosing(CloseCode.TOO_LARGE, "too large", said)
        if not self._pace.take(1, self._alive_at):
            raise WebSocketClosing(CloseCode.TOO_FAST, "too many messages")
        about: dict[str, Any] = {}
        try:
            if isinstance(frame, bytes):
                await self._sound(*websocket_messages.read_audio_frame(frame))
                return
            message = websocket_messages.read_message(frame)
            about = {"of": message.type}
            if isinstance(message, TextMessage):
                about["utterance_id"] = message.utterance_id
            with span(f"stream_session {message.type}", SpanKind.SERVER, parent=NEW_TRACE):
                await self._do(message)
        except websocket_messages.ProtocolError as bad:
            said = websocket_messages.error_message("bad_message", str(bad))
            raise WebSocketClosing(CloseCode.BAD, "bad message", said) from None
        except Unauthorized:
            self._believed.clear()
            await self._refuse(Unauthorized("The credential ended.", error="token_expired"), about)
        except Refusal as refusal:
            await self._refuse(refusal, about)
        else:
            self._refused = 0

    async def _do(self, message: ClientMessage) -> None:
        if isinstance(message, AuthMessage):
            await self._renew(message)
            return
        if message.type == "ping":
            await self._outbox.put(websocket_messages.message("pong"))
            return
        if not self._believed.is_set():
            raise Unauthorized("The credential ended.", error="token_expired")
        await self._context.charge(self._caller)
        if isinstance(message, StartMessage):
            await self._start(message)
            return
        if self._after is None:
            await self._begin_viewing(0)
        match message:
            case TextMessage():
                await self._text(message)
            case MarkMessage():
                await self._mark(message)
            case _:
                await self._switch(message.type)

    async def _start(self, message: StartMessage) -> None:
        """Follow the session; with channels, make this connection the one that sends audio."""
        channels: list[Speaker] = [each.id for each in message.channels]
        if not channels:
            await self._begin_viewing(message.after)
            return
        token = secrets.token_hex(8)
        self._deaf = True
        session = await self._change(partial(session_transitions.take_over_audio, producer=token, channels=channels))
        self._producer = token
        self._context.utterances.log.bus.tell(self._session)
        await self._open(session, channels)
        self._deaf = False
        self._stop_viewing()
        await self._begin(message.after)

    async def _open(self, session: LiveSession, channels: Sequence[Speaker]) -> None:
        """Open the channels, with retries: a connection that was taken over needs a moment to close them."""
        for wait in (*_LET_GO, None):
            try:
                await self._audio.open(session, channels, self._alive_at)
            except RecognizerBusy as busy:
                if wait is None:
                    said = websocket_messages.error_message("busy", f"Nobody is free to hear: {busy}.", retry_after=5)
                    raise WebSocketClosing(CloseCode.FULL, "nobody is free to hear", said) from None
                await asyncio.sleep(wait)
            else:
                return

    async def _text(self, message: TextMessage) -> None:
        """As `POST …/utterances`; cards come as events, `maybe` cards in the acknowledgement."""
        said = Utterance(id=self._session, **message.model_dump(exclude={"type"}))
        heard: dict[str, Any] = await self._context.utterances.hear(self._caller, said)
        told = {name: value for name, value in heard.items() if name != "cues"}
        await self._outbox.put(websocket_messages.message("ack", of="text", utterance_id=said.utterance_id, **told))

    async def _mark(self, message: MarkMessage) -> None:
        await self._change(partial(session_transitions.add_mark, ref=message.ref))
        await self._outbox.put(websocket_messages.message("ack", of="mark", ref=message.ref))

    async def _switch(self, kind: str) -> None:
        """Pause, resume, stop or flush. Audio that was sent before is recognised first, except for resume."""
        if kind != "resume":
            await self._audio.settle()
        if kind in _CHANGES:
            await self._change(_CHANGES[kind])
        if kind in {"pause", "resume"}:
            self._audio.paused = kind == "pause"
        await self._outbox.put(websocket_messages.message("ack", of=kind))

    async def _sound(self, number: int, pcm: bytes) -> None:
        """Take audio of a channel; ignored while the credential has ended or a new `start` is being handled."""
        if self._deaf or not self._believed.is_set():
            return
        try:
            await self._audio.take(number, pcm, self._alive_at)
        except AudioTooFast:
            said = websocket_messages.error_message("too_fast", "Sound came faster than it is spoken.", retry_after=1)
            raise WebSocketClosing(CloseCode.TOO_FAST, "sound too fast", said) from None

    async def _renew(self, message: AuthMessage) -> None:
        """A ticket of the same owner replaces the credential, whether it has ended or not."""
        try:
            caller = await self._context.tickets.take(message.ticket, self._session, self._origin)
        except Refusal as refusal:
            said = await self._context.said(refusal, of="auth")
            raise WebSocketClosing(CloseCode.UNBELIEVED, "ticket refused", said) from None
        if caller.principal != self._caller.principal:
            raise WebSocketClosing(CloseCode.FORBIDDEN, "somebody else's ticket")
        self._caller = caller
        self._believed.set()
        await self._outbox.put(websocket_messages.message("ack", of="auth"))

    async def _refuse(self, refusal: Refusal, about: dict[str, Any]) -> None:
        said = await self._context.said(refusal, **about)
        self._refused += 1
        if self._refused >= _REFUSED_IN_A_ROW:
            raise WebSocketClosing(CloseCode.TOO_FAST, "refused too often", said)
        await self._outbox.put(said)


def _clock() -> float:
    return asyncio.get_running_loop().time()
