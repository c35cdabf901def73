"""The messages of `negotiator.teleprompter.v1`, the close codes, and the connection they travel on.

A client sends JSON texts and, for audio, binary frames: one byte with the channel number, then s16le samples. Numbered
events of the session go out as they are stored. The messages below concern one socket, have no number and are never
repeated.
"""

from enum import IntEnum
from typing import Any, Final, Literal, get_args

import orjson
from pydantic import Field
from starlette.websockets import WebSocket, WebSocketDisconnect

from negotiator.base import values
from negotiator.base.schema import Strict
from negotiator.base.strict_json import read_object
from negotiator.http.input import validate
from negotiator.teleprompter.cues.catalogue import Speaker
from negotiator.teleprompter.schemas import UtteranceBody, UtteranceId

SUBPROTOCOL: Final = "negotiator.teleprompter.v1"
TICKET_PREFIX: Final = "ticket."
_DEPTH: Final = 4


class CloseCode(IntEnum):
    """Why a socket is closed (RFC 6455 §7.4). After 4400, 4401 and 4403 the same attempt fails again."""

    OVER = 1000
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


class TextMessage(UtteranceBody):
    """An utterance, as in `POST …/utterances`."""

    type: Literal["text"]


class MarkMessage(Strict):
    """Mark this moment with a reference of the client."""

    type: Literal["mark"]
    ref: UtteranceId


class PlainMessage(Strict):
    """Recognise the audio that was sent now, stop listening, listen again, tell that the client is there, or end."""

    type: Literal["flush", "pause", "resume", "ping", "stop"]


class AuthMessage(Strict):
    """Authenticates a client without a header, and renews an ended credential."""

    type: Literal["auth"]
    ticket: str = Field(max_length=200)


ClientMessage = StartMessage | TextMessage | MarkMessage | PlainMessage | AuthMessage
_KINDS: Final[dict[str, type[ClientMessage]]] = {
    name: kind for kind in get_args(ClientMessage) for name in get_args(kind.model_fields["type"].annotation)
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
    read: ClientMessage = validate(kind, members)
    if isinstance(read, StartMessage) and len({each.id for each in read.channels}) < len(read.channels):
        raise ProtocolError("a channel is named twice")
    return read


def read_audio_frame(frame: bytes) -> tuple[int, bytes]:
    """The channel number and the samples of a binary frame; `ProtocolError` for half a sample or none."""
    if len(frame) < 3 or len(frame) % 2 == 0:
        raise ProtocolError("a sound frame is one byte of channel number and whole 16-bit samples")
    return frame[0], frame[1:]


def message(kind: str, **members: Any) -> bytes:
    return orjson.dumps({"type": kind, **members})


def error_message(code: str, description: str, **about: Any) -> bytes:
    """A refusal; `code` is the API's error word."""
    return message("error", code=code, description=description, **about)


REVOKED_MESSAGE: Final = error_message("invalid_token", "The holder of the credential was revoked.")
EXPIRED_MESSAGE: Final = error_message(
    "token_expired", "The credential ended; send auth with a fresh ticket within 30 seconds."
)


class WebSocketClosing(Exception):
    """Close the socket with this code, after sending the message `said` if there is one."""

    def __init__(self, code: CloseCode, reason: str, said: bytes = b"") -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.said = said


async def read_frame(socket: WebSocket) -> str | bytes:
    """The next frame; `WebSocketDisconnect` after the last."""
    frame = await socket.receive()
    if frame["type"] != "websocket.receive":
        raise WebSocketDisconnect(frame.get("code", 1006))
    text = frame.get("text")
    return text if text is not None else frame.get("bytes") or b""
