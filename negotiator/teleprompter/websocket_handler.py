"""Handles a client's messages. A refusal is sent as an error message and leaves the socket open, unless noted."""

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from opentelemetry.trace import SpanKind

from negotiator.base.caller import Caller
from negotiator.base.errors import Refusal, Unauthorized
from negotiator.runtime.tracing import NEW_TRACE, span
from negotiator.teleprompter import session_transitions, websocket_messages
from negotiator.teleprompter.audio_pipeline import AudioChannels, AudioTooFast, TokenBucket
from negotiator.teleprompter.cues.catalogue import Speaker
from negotiator.teleprompter.schemas import Utterance
from negotiator.teleprompter.session_queries import LiveSession
from negotiator.teleprompter.session_transitions import Transition
from negotiator.teleprompter.session_view import MAX_FRAME_BYTES, SESSION_LIMITS
from negotiator.teleprompter.speech.recognizer import RecognizerBusy
from negotiator.teleprompter.websocket_context import Outbox, SharedContext
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


@dataclass(slots=True)
class Connection:
    """One socket's place at a session; it handles the client's messages in order.

    `after` is the number up to which it was told (None before it follows at all), `producer` its token once it is the
    one that sends sound, `alive_at` when something last came from it. `believed` is not set while its credential has
    ended and no other has come.
    """

    context: SharedContext
    session: str
    origin: str
    caller: Caller
    alive_at: float
    outbox: Outbox = field(default_factory=Outbox)
    after: int | None = None
    producer: str = ""
    viewing: bool = False
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    believed: asyncio.Event = field(default_factory=asyncio.Event)
    audio: AudioChannels = field(init=False)
    _pace: TokenBucket = field(init=False)
    _refused: int = field(default=0, init=False)
    _deaf: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.audio = AudioChannels(self.context.audio, self.session, lambda: self.caller)
        self._pace = TokenBucket(_MESSAGES, _MESSAGES_AT_ONCE, self.alive_at)
        self.believed.set()

    async def change(self, change: Transition) -> Any:
        """Apply a change to the session; raises the change's refusals."""
        return await self.context.utterances.change(self.caller, self.session, change)

    async def begin(self, after: int) -> None:
        """Send `ready`, and follow from this number on unless the connection follows already."""
        found, _ = await self.context.utterances.log.after(self.caller.principal, self.session, after, 1)
        if self.after is None:
            self.after = after
            self.begun.set()
        told = {
            "seq": found.seq,
            "replay_from": self.after + 1,
            "audio_ms": self.audio.audio_ms,
            "limits": SESSION_LIMITS,
        }
        await self.outbox.put(websocket_messages.message("ready", **told))

    def view(self) -> None:
        """Count as a viewer; `WebSocketClosing` when there are too many."""
        if not self.viewing:
            self.context.connection_limits.view(self.session)
            self.viewing = True

    def stop_viewing(self) -> None:
        """Stop counting as a viewer."""
        if self.viewing:
            self.context.connection_limits.leave(self.session)
            self.viewing = False

    async def hear(self, frame: str | bytes) -> None:
        """Handle a frame; `WebSocketClosing` for one that breaks the protocol."""
        size = len(frame) if isinstance(frame, bytes) else len(frame.encode())
        if size > MAX_FRAME_BYTES:
            said = websocket_messages.error_message("too_large", f"A frame has at most {MAX_FRAME_BYTES} bytes.")
            raise WebSocketClosing(CloseCode.TOO_LARGE, "too large", said)
        if not self._pace.take(1, self.alive_at):
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
            self.believed.clear()
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
            await self.outbox.put(websocket_messages.message("pong"))
            return
        if not self.believed.is_set():
            raise Unauthorized("The credential ended.", error="token_expired")
        await self.context.charge(self.caller)
        if isinstance(message, StartMessage):
            await self._start(message)
            return
        if self.after is None:
            await self._follow(0)
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
            await self._follow(message.after)
            return
        token = secrets.token_hex(8)
        self._deaf = True
        session = await self.change(partial(session_transitions.take_over_audio, producer=token, channels=channels))
        self.producer = token
        self.context.utterances.log.bus.tell(self.session)
        await self._open(session, channels)
        self._deaf = False
        self.stop_viewing()
        await self.begin(message.after)

    async def _open(self, session: LiveSession, channels: Sequence[Speaker]) -> None:
        """Open the channels, with retries: a connection that was taken over needs a moment to close them."""
        for wait in (*_LET_GO, None):
            try:
                await self.audio.open(session, channels, self.alive_at)
            except RecognizerBusy as busy:
                if wait is None:
                    said = websocket_messages.error_message("busy", f"Nobody is free to hear: {busy}.", retry_after=5)
                    raise WebSocketClosing(CloseCode.FULL, "nobody is free to hear", said) from None
                await asyncio.sleep(wait)
            else:
                return

    async def _follow(self, after: int) -> None:
        if not self.producer:
            self.view()
        await self.begin(after)

    async def _text(self, message: TextMessage) -> None:
        """As `POST …/utterances`; cards come as events, `maybe` cards in the acknowledgement."""
        said = Utterance(id=self.session, **message.model_dump(exclude={"type"}))
        heard: dict[str, Any] = await self.context.utterances.hear(self.caller, said)
        told = {name: value for name, value in heard.items() if name != "cues"}
        await self.outbox.put(websocket_messages.message("ack", of="text", utterance_id=said.utterance_id, **told))

    async def _mark(self, message: MarkMessage) -> None:
        await self.change(partial(session_transitions.add_mark, ref=message.ref))
        await self.outbox.put(websocket_messages.message("ack", of="mark", ref=message.ref))

    async def _switch(self, kind: str) -> None:
        """Pause, resume, stop or flush. Audio that was sent before is recognised first, except for resume."""
        if kind != "resume":
            await self.audio.settle()
        if kind in _CHANGES:
            await self.change(_CHANGES[kind])
        if kind in {"pause", "resume"}:
            self.audio.paused = kind == "pause"
        await self.outbox.put(websocket_messages.message("ack", of=kind))

    async def _sound(self, number: int, pcm: bytes) -> None:
        """Take audio of a channel; ignored while the credential has ended or a new `start` is being handled."""
        if self._deaf or not self.believed.is_set():
            return
        try:
            await self.audio.take(number, pcm, self.alive_at)
        except AudioTooFast:
            said = websocket_messages.error_message("too_fast", "Sound came faster than it is spoken.", retry_after=1)
            raise WebSocketClosing(CloseCode.TOO_FAST, "sound too fast", said) from None

    async def _renew(self, message: AuthMessage) -> None:
        """A ticket of the same owner replaces the credential, whether it has ended or not."""
        try:
            caller = await self.context.tickets.take(message.ticket, self.session, self.origin)
        except Refusal as refusal:
            said = await self.context.said(refusal, of="auth")
            raise WebSocketClosing(CloseCode.UNBELIEVED, "ticket refused", said) from None
        if caller.principal != self.caller.principal:
            raise WebSocketClosing(CloseCode.FORBIDDEN, "somebody else's ticket")
        self.caller = caller
        self.believed.set()
        await self.outbox.put(websocket_messages.message("ack", of="auth"))

    async def _refuse(self, refusal: Refusal, about: dict[str, Any]) -> None:
        said = await self.context.said(refusal, **about)
        self._refused += 1
        if self._refused >= _REFUSED_IN_A_ROW:
            raise WebSocketClosing(CloseCode.TOO_FAST, "refused too often", said)
        await self.outbox.put(said)
