"""Handles a client's messages. A refusal is sent as an error message and leaves the socket open, unless noted."""

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from opentelemetry.trace import SpanKind

from negotiator.base.errors import Refusal, Unauthorized
from negotiator.runtime.tracing import NEW_TRACE, span
from negotiator.teleprompter import session_transitions, websocket_messages
from negotiator.teleprompter.audio_pipeline import AudioChannels, AudioTooFast, TokenBucket
from negotiator.teleprompter.cues.catalogue import Speaker
from negotiator.teleprompter.schemas import Utterance
from negotiator.teleprompter.session_queries import LiveSession
from negotiator.teleprompter.session_transitions import Transition
from negotiator.teleprompter.session_view import MAX_FRAME_BYTES
from negotiator.teleprompter.speech.recognizer import RecognizerBusy
from negotiator.teleprompter.websocket_context import ConnectionState
from negotiator.teleprompter.websocket_messages import (
    AuthMessage,
    ClientMessage,
    CloseCode,
    MarkMessage,
    StartMessage,
    TextMessage,
    WebSocketClosing,
)

_REFUSED_IN_A_ROW: Final = 20
_LET_GO: Final = (0.2, 0.5, 1.0, 2.0)
_CHANGES: Final[dict[str, Transition]] = {
    "pause": session_transitions.pause_session,
    "resume": session_transitions.resume_session,
    "stop": partial(session_transitions.end_session, reason="asked"),
}


@dataclass(slots=True)
class MessageHandler:
    """Handles the messages of one client in order."""

    connection: ConnectionState
    audio: AudioChannels
    pace: TokenBucket
    _refused: int = field(default=0, init=False)
    _deaf: bool = field(default=False, init=False)

    async def hear(self, frame: str | bytes) -> None:
        """Handle a frame; `WebSocketClosing` for one that breaks the protocol."""
        size = len(frame) if isinstance(frame, bytes) else len(frame.encode())
        if size > MAX_FRAME_BYTES:
            said = websocket_messages.error_message("too_large", f"A frame has at most {MAX_FRAME_BYTES} bytes.")
            raise WebSocketClosing(CloseCode.TOO_LARGE, "too large", said)
        if not self.pace.take(1, self.connection.alive_at):
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
            self.connection.believed.clear()
            await self._refuse(Unauthorized("The credential ended.", error="token_expired"), about)
        except Refusal as refusal:
            await self._refuse(refusal, about)
        else:
            self._refused = 0

    async def _do(self, message: ClientMessage) -> None:
        connection = self.connection
        if isinstance(message, AuthMessage):
            await self._renew(message)
            return
        if message.type == "ping":
            await connection.say(websocket_messages.PONG_MESSAGE)
            return
        if not connection.believed.is_set():
            raise Unauthorized("The credential ended.", error="token_expired")
        await connection.context.charge(connection.caller)
        if isinstance(message, StartMessage):
            await self._start(message)
            return
        if connection.after is None:
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
        connection = self.connection
        channels: list[Speaker] = [each.id for each in message.channels]
        if not channels:
            await self._follow(message.after)
            return
        token = secrets.token_hex(8)
        self._deaf = True
        session = await connection.change(
            partial(session_transitions.take_over_audio, producer=token, channels=channels)
        )
        connection.producer = token
        connection.context.utterances.log.bus.tell(connection.session)
        await self._open(session, channels)
        self._deaf = False
        connection.stop_viewing()
        await connection.begin(message.after, self.audio.audio_ms)

    async def _open(self, session: LiveSession, channels: Sequence[Speaker]) -> None:
        """Open the channels, with retries: a connection that was taken over needs a moment to close them."""
        for wait in (*_LET_GO, None):
            try:
                await self.audio.open(session, channels, self.connection.alive_at)
            except RecognizerBusy as busy:
                if wait is None:
                    said = websocket_messages.error_message("busy", f"Nobody is free to hear: {busy}.", retry_after=5)
                    raise WebSocketClosing(CloseCode.FULL, "nobody is free to hear", said) from None
                await asyncio.sleep(wait)
            else:
                return

    async def _follow(self, after: int) -> None:
        if not self.connection.producer:
            self.connection.view()
        await self.connection.begin(after, self.audio.audio_ms)

    async def _text(self, message: TextMessage) -> None:
        """As `POST …/utterances`; cards come as events, `maybe` cards in the acknowledgement."""
        connection = self.connection
        said = Utterance(id=connection.session, **message.model_dump(exclude={"type"}))
        heard: dict[str, Any] = await connection.context.utterances.hear(connection.caller, said)
        told = {name: value for name, value in heard.items() if name != "cues"}
        await connection.say(websocket_messages.ack_message("text", utterance_id=said.utterance_id, **told))

    async def _mark(self, message: MarkMessage) -> None:
        connection = self.connection
        await connection.change(partial(session_transitions.add_mark, ref=message.ref))
        await connection.say(websocket_messages.ack_message("mark", ref=message.ref))

    async def _switch(self, kind: str) -> None:
        """Pause, resume, stop or flush. Audio that was sent before is recognised first, except for resume."""
        if kind != "resume":
            await self.audio.settle()
        if kind in _CHANGES:
            await self.connection.change(_CHANGES[kind])
        if kind in {"pause", "resume"}:
            self.audio.paused = kind == "pause"
        await self.connection.say(websocket_messages.ack_message(kind))

    async def _sound(self, number: int, pcm: bytes) -> None:
        """Take audio of a channel; ignored while the credential has ended or a new `start` is being handled."""
        if self._deaf or not self.connection.believed.is_set():
            return
        try:
            await self.audio.take(number, pcm, self.connection.alive_at)
        except AudioTooFast:
            said = websocket_messages.error_message("too_fast", "Sound came faster than it is spoken.", retry_after=1)
            raise WebSocketClosing(CloseCode.TOO_FAST, "sound too fast", said) from None

    async def _renew(self, message: AuthMessage) -> None:
        """A ticket of the same owner replaces the credential, whether it has ended or not."""
        connection = self.connection
        try:
            caller = await connection.context.tickets.take(message.ticket, connection.session, connection.origin)
        except Refusal as refusal:
            said = await connection.context.said(refusal, of="auth")
            raise WebSocketClosing(CloseCode.UNBELIEVED, "ticket refused", said) from None
        if caller.principal != connection.owner:
            raise WebSocketClosing(CloseCode.FORBIDDEN, "somebody else's ticket")
        connection.caller = caller
        connection.believed.set()
        await connection.say(websocket_messages.ack_message("auth"))

    async def _refuse(self, refusal: Refusal, about: dict[str, Any]) -> None:
        said = await self.connection.context.said(refusal, **about)
        self._refused += 1
        if self._refused >= _REFUSED_IN_A_ROW:
            raise WebSocketClosing(CloseCode.TOO_FAST, "refused too often", said)
        await self.connection.say(said)
