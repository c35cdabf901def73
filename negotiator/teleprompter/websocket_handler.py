"""What the messages of a client do. Each refusal is told; the socket stays open unless the protocol says otherwise."""

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from negotiator.errors import Refusal, Unauthorized
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
    """One client's messages, one after the other."""

    seat: ConnectionState
    voices: AudioChannels
    pace: TokenBucket
    _refused: int = field(default=0, init=False)
    _deaf: bool = field(default=False, init=False)

    async def hear(self, frame: str | bytes) -> None:
        """Do what a frame asks for; `Closing` for one that is none of the protocol's."""
        size = len(frame) if isinstance(frame, bytes) else len(frame.encode())
        if size > MAX_FRAME_BYTES:
            said = websocket_messages.error_message(
                "too_large", f"A frame has at most {MAX_FRAME_BYTES} bytes."
            )
            raise WebSocketClosing(CloseCode.TOO_LARGE, "too large", said)
        if not self.pace.take(1, self.seat.alive_at):
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
            await self._do(message)
        except websocket_messages.ProtocolError as bad:
            said = websocket_messages.error_message("bad_message", str(bad))
            raise WebSocketClosing(CloseCode.BAD, "bad message", said) from None
        except Unauthorized:
            self.seat.believed.clear()
            await self._refuse(Unauthorized("The credential ended.", error="token_expired"), about)
        except Refusal as refusal:
            await self._refuse(refusal, about)
        else:
            self._refused = 0

    async def _do(self, message: ClientMessage) -> None:
        seat = self.seat
        if isinstance(message, AuthMessage):
            await self._renew(message)
            return
        if message.type == "ping":
            await seat.say(websocket_messages.PONG_MESSAGE)
            return
        if not seat.believed.is_set():
            raise Unauthorized("The credential ended.", error="token_expired")
        await seat.floor.charge(seat.caller)
        if isinstance(message, StartMessage):
            await self._start(message)
            return
        if seat.after is None:
            await self._follow(0)
        match message:
            case TextMessage():
                await self._text(message)
            case MarkMessage():
                await self._mark(message)
            case _:
                await self._switch(message.type)

    async def _start(self, message: StartMessage) -> None:
        """Follow; with channels, have them heard from this connection and no other."""
        seat = self.seat
        channels: list[Speaker] = [each.id for each in message.channels]
        if not channels:
            await self._follow(message.after)
            return
        token = secrets.token_hex(8)
        self._deaf = True
        session = await seat.change(
            partial(session_transitions.take_over_audio, producer=token, channels=channels)
        )
        seat.producer = token
        seat.floor.listening.log.bus.tell(seat.session)
        await self._open(session, channels)
        self._deaf = False
        seat.stop_viewing()
        await seat.begin(message.after, self.voices.audio_ms)

    async def _open(self, session: LiveSession, channels: Sequence[Speaker]) -> None:
        """Have the channels heard; who was taken over needs a moment to let go of them."""
        for wait in (*_LET_GO, None):
            try:
                await self.voices.open(session, channels, self.seat.alive_at)
            except RecognizerBusy as busy:
                if wait is None:
                    said = websocket_messages.error_message(
                        "busy", f"Nobody is free to hear: {busy}.", retry_after=5
                    )
                    raise WebSocketClosing(CloseCode.FULL, "nobody is free to hear", said) from None
                await asyncio.sleep(wait)
            else:
                return

    async def _follow(self, after: int) -> None:
        if not self.seat.producer:
            self.seat.view()
        await self.seat.begin(after, self.voices.audio_ms)

    async def _text(self, message: TextMessage) -> None:
        """Like `POST …/utterances`; cards come by the log, what stays quiet comes here."""
        seat = self.seat
        said = Utterance(id=seat.session, **message.model_dump(exclude={"type"}))
        heard: dict[str, Any] = await seat.floor.listening.hear(seat.caller, said)
        told = {name: value for name, value in heard.items() if name != "cues"}
        await seat.say(
            websocket_messages.ack_message("text", utterance_id=said.utterance_id, **told)
        )

    async def _mark(self, message: MarkMessage) -> None:
        seat = self.seat
        await seat.change(partial(session_transitions.add_mark, ref=message.ref))
        await seat.say(websocket_messages.ack_message("mark", ref=message.ref))

    async def _switch(self, kind: str) -> None:
        """Before nothing is heard any more, what was sent is heard to its end."""
        if kind != "resume":
            await self.voices.settle()
        if kind in _CHANGES:
            await self.seat.change(_CHANGES[kind])
        if kind in {"pause", "resume"}:
            self.voices.paused = kind == "pause"
        await self.seat.say(websocket_messages.ack_message(kind))

    async def _sound(self, number: int, pcm: bytes) -> None:
        """Sound of a channel; nothing while who sends it is not believed, or was told that it is not heard."""
        if self._deaf or not self.seat.believed.is_set():
            return
        try:
            await self.voices.take(number, pcm, self.seat.alive_at)
        except AudioTooFast:
            said = websocket_messages.error_message(
                "too_fast", "Sound came faster than it is spoken.", retry_after=1
            )
            raise WebSocketClosing(CloseCode.TOO_FAST, "sound too fast", said) from None

    async def _renew(self, message: AuthMessage) -> None:
        """A fresh ticket of the same owner takes the place of the credential, ended or not."""
        seat = self.seat
        try:
            caller = await seat.floor.tickets.take(message.ticket, seat.session, seat.origin)
        except Refusal as refusal:
            said = await seat.floor.said(refusal, of="auth")
            raise WebSocketClosing(CloseCode.UNBELIEVED, "ticket refused", said) from None
        if caller.principal != seat.owner:
            raise WebSocketClosing(CloseCode.FORBIDDEN, "somebody else's ticket")
        seat.caller = caller
        seat.believed.set()
        await seat.say(websocket_messages.ack_message("auth"))

    async def _refuse(self, refusal: Refusal, about: dict[str, Any]) -> None:
        said = await self.seat.floor.said(refusal, **about)
        self._refused += 1
        if self._refused >= _REFUSED_IN_A_ROW:
            raise WebSocketClosing(CloseCode.TOO_FAST, "refused too often", said)
        await self.seat.say(said)
