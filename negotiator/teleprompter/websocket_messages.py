"""The messages of `negotiator.teleprompter.v1`, the close codes, and the connection they travel on.

A client sends JSON texts and, for audio, binary frames: one byte with the channel number, then s16le samples. Numbered
events of the session go out as they are stored. The messages below concern one socket, have no number and are never
repeated.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, Literal

import orjson
from pydantic import Field
from starlette.types import Receive, Send

from negotiator.base import values
from negotiator.base.schema import Strict
from negotiator.base.strict_json import read_object
from negotiator.base.values import Truth
from negotiator.http.input import validate
from negotiator.teleprompter.cues.catalogue import Speaker
from negotiator.teleprompter.schemas import UtteranceId, UtteranceText

SUBPROTOCOL: Final = "negotiator.teleprompter.v1"
TICKET_PREFIX: Final = "ticket."
_DEPTH: Final = 4


class CloseCode(IntEnum):
    """Why a socket is closed (RFC 6455 §7.4). After 4400, 4401 and 4403 the same attempt fails again."""

    OVER = 1000
    GOING = 1001
    FAULT = 1011
    FULL = 1013
    BAD = 4400
    UNBELIEVED = 4401
    FORBIDDEN = 4403
    IDLE = 4408
    TAKEN_OVER = 4409
    TOO_LARGE = 4413
    TOO_FAST = 4429


class ProtocolError(Exception):
    """A message that breaks the protocol; the text says why."""


class ChannelRequest(Strict):
    """One speaker: `me` or `them`. Its number in binary frames is its index in `start`."""

    id: Speaker
    encoding: Literal["pcm_s16le"] = "pcm_s16le"
    rate: Literal[16000] = 16_000


class StartMessage(Strict):
    """The first message: follow from a number on; with channels, become the connection that sends audio."""

    type: Literal["start"]
    channels: tuple[ChannelRequest, ...] = Field((), max_length=2)
    after: int = Field(0, ge=0, le=values.NEWEST)


class TextMessage(Strict):
    """An utterance, as in `POST …/utterances`."""

    type: Literal["text"]
    utterance_id: UtteranceId
    speaker: Speaker = "them"
    text: UtteranceText
    final: Truth = True
    start_ms: int | None = Field(None, ge=0, le=2**40)
    end_ms: int | None = Field(None, ge=0, le=2**40)


class FlushMessage(Strict):
    """Recognise the audio that was sent, now."""

    type: Literal["flush"]


class MarkMessage(Strict):
    """Mark this moment with a reference of the client."""

    type: Literal["mark"]
    ref: UtteranceId


class PauseMessage(Strict):
    """Stop listening."""

    type: Literal["pause"]


class ResumeMessage(Strict):
    """Listen again."""

    type: Literal["resume"]


class PingMessage(Strict):
    """Still here."""

    type: Literal["ping"]


class StopMessage(Strict):
    """End the session."""

    type: Literal["stop"]


class AuthMessage(Strict):
    """Authenticates a client without a header, and renews an ended credential."""

    type: Literal["auth"]
    ticket: str = Field(max_length=200)


ClientMessage = (
    StartMessage
    | TextMessage
    | FlushMessage
    | MarkMessage
    | PauseMessage
    | ResumeMessage
    | PingMessage
    | StopMessage
    | AuthMessage
)
_KINDS: Final[dict[str, type[ClientMessage]]] = {
    "start": StartMessage,
    "text": TextMessage,
    "flush": FlushMessage,
    "mark": MarkMessage,
    "pause": PauseMessage,
    "resume": ResumeMessage,
    "ping": PingMessage,
    "stop": StopMessage,
    "auth": AuthMessage,
}


def read_message(text: str) -> ClientMessage:
    """The message that a text frame is. `Bad` for another form, `ValidationFailed` for a value that is refused."""
    try:
        members = read_object(text.encode(), _DEPTH)
    except ValueError as fault:
        raise ProtocolError(f"not a JSON object: {fault}") from None
    named = members.get("type")
    kind = _KINDS.get(named) if isinstance(named, str) else None
    if kind is None:
        raise ProtocolError("`type` names no message of this protocol")
    if unknown := sorted(members.keys() - kind.model_fields.keys()):
        raise ProtocolError(f"`{named}` has no member `{unknown[0][:40]}`")
    needed = {name for name, field in kind.model_fields.items() if field.is_required()}
    if missing := sorted(needed - members.keys()):
        raise ProtocolError(f"`{named}` needs `{missing[0]}`")
    message: ClientMessage = validate(kind, members)
    if isinstance(message, StartMessage) and len({each.id for each in message.channels}) < len(message.channels):
        raise ProtocolError("a channel is named twice")
    return message


def read_audio_frame(frame: bytes) -> tuple[int, bytes]:
    """The channel number and the samples of a binary frame; `ProtocolError` for half a sample or none."""
    if len(frame) < 3 or len(frame) % 2 == 0:
        raise ProtocolError("a sound frame is one byte of channel number and whole 16-bit samples")
    return frame[0], frame[1:]


def ready_message(*, seq: int, replay_from: int, audio_ms: dict[str, int], limits: Any) -> bytes:
    """Following starts at `replay_from`; `seq` is the last event, `audio_ms` the audio received of each channel."""
    told = {"seq": seq, "replay_from": replay_from, "audio_ms": audio_ms, "limits": limits}
    return orjson.dumps({"type": "ready", **told})


def ack_message(of: str, **about: Any) -> bytes:
    """The acknowledgement of a message."""
    return orjson.dumps({"type": "ack", "of": of, **about})


def error_message(code: str, description: str, **about: Any) -> bytes:
    """A refusal; `code` is the API's error word."""
    return orjson.dumps({"type": "error", "code": code, "description": description, **about})


def partial_message(text: str, **about: Any) -> bytes:
    """The text of an unfinished utterance."""
    return orjson.dumps({"type": "transcript.partial", **about, "text": text})


def level_message(channel: str, dbfs: float) -> bytes:
    """The level of a channel in dB relative to full scale."""
    return orjson.dumps({"type": "level", "channel": channel, "dbfs": dbfs})


def lag_message(channel: str, behind_ms: int) -> bytes:
    """How far recognition is behind the audio of a channel."""
    return orjson.dumps({"type": "lag", "channel": channel, "behind_ms": behind_ms})


PONG_MESSAGE: Final = b'{"type":"pong"}'
REVOKED_MESSAGE: Final = error_message("invalid_token", "The holder of the credential was revoked.")
EXPIRED_MESSAGE: Final = error_message(
    "token_expired", "The credential ended; send auth with a fresh ticket within 30 seconds."
)


class SocketDisconnected(Exception):
    """The client has disconnected, or the server is shutting down."""


class WebSocketClosing(Exception):
    """Close the socket with this code, after sending the message `said` if there is one."""

    def __init__(self, code: CloseCode, reason: str, said: bytes = b"") -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.said = said


@dataclass(frozen=True, slots=True)
class AsgiWebSocket:
    """The two callables of a connection."""

    receive: Receive
    send: Send

    async def accept(self, subprotocol: str | None) -> None:
        """Upgrade."""
        await self.send({"type": "websocket.accept", "subprotocol": subprotocol})

    async def read(self) -> str | bytes:
        """The next frame; `SocketDisconnected` after the last."""
        message = await self.receive()
        if message["type"] != "websocket.receive":
            raise SocketDisconnected
        text = message.get("text")
        return text if text is not None else message.get("bytes") or b""

    async def write(self, message: bytes) -> None:
        """Send one text frame; waits while the connection is full."""
        try:
            await self.send({"type": "websocket.send", "text": message.decode()})
        except OSError as gone:
            raise SocketDisconnected from gone

    async def close(self, code: CloseCode, reason: str) -> None:
        """Send a close frame; `SocketDisconnected` if the connection is gone."""
        try:
            await self.send({"type": "websocket.close", "code": int(code), "reason": reason})
        except OSError as gone:
            raise SocketDisconnected from gone
