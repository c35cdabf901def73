"""The messages of the socket, `negotiator.teleprompter.v1`: what a client may send, what it is told, why it is closed.

A client sends JSON texts and, for sound, binary frames: one byte with the number of the channel, then s16le samples.
What the log of a session has numbered goes out as it is there; everything below is about this socket alone, has no
number and is never repeated (reference A6). Pure.
"""

from enum import IntEnum
from typing import Any, Final, Literal

import orjson
from pydantic import Field

from negotiator.edge.input import believe
from negotiator.edge.operation import Strict
from negotiator.scalars import Truth
from negotiator.strict import read_object
from negotiator.teleprompter.cues.cue import Speaker
from negotiator.teleprompter.sessions.schemas import Said, UtteranceId

SUBPROTOCOL: Final = "negotiator.teleprompter.v1"
TICKET: Final = "ticket."
RATE: Final = 16_000
BYTES_PER_MS: Final = RATE * 2 // 1000
_DEPTH: Final = 4


class Code(IntEnum):
    """Why a socket is closed (RFC 6455 §7.4). With 4400, 4401 and 4403 it is no use to try again as before."""

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


class Bad(Exception):
    """A message that is none of the protocol's; the text says why."""


class Channel(Strict):
    """One voice: `me` or `them`. Its number in binary frames is its place in `start`, from 0."""

    id: Speaker
    encoding: Literal["pcm_s16le"] = "pcm_s16le"
    rate: Literal[16000] = 16_000


class Start(Strict):
    """The first message: follow from a number on; with channels, be the one who sends sound."""

    type: Literal["start"]
    channels: tuple[Channel, ...] = Field((), max_length=2)
    after: int = Field(0, ge=0, le=2**31 - 1)


class Text(Strict):
    """What was said, as in `POST …/utterances`."""

    type: Literal["text"]
    utterance_id: UtteranceId
    speaker: Speaker = "them"
    text: Said
    final: Truth = True
    start_ms: int | None = Field(None, ge=0, le=2**40)
    end_ms: int | None = Field(None, ge=0, le=2**40)


class Flush(Strict):
    """Hear what was sent to its end now."""

    type: Literal["flush"]


class Mark(Strict):
    """Remember this moment under a name of yours."""

    type: Literal["mark"]
    ref: UtteranceId


class Pause(Strict):
    """Stop listening."""

    type: Literal["pause"]


class Resume(Strict):
    """Listen again."""

    type: Literal["resume"]


class Ping(Strict):
    """Still here."""

    type: Literal["ping"]


class Stop(Strict):
    """End the session."""

    type: Literal["stop"]


class Auth(Strict):
    """Who this is, for clients that could not say it before, and for when a credential ends."""

    type: Literal["auth"]
    ticket: str = Field(max_length=200)


Message = Start | Text | Flush | Mark | Pause | Resume | Ping | Stop | Auth
_KINDS: Final[dict[str, type[Message]]] = {
    "start": Start,
    "text": Text,
    "flush": Flush,
    "mark": Mark,
    "pause": Pause,
    "resume": Resume,
    "ping": Ping,
    "stop": Stop,
    "auth": Auth,
}


def read(text: str) -> Message:
    """The message that a text frame is. `Bad` for another form, `ValidationFailed` for a value that is refused."""
    try:
        members = read_object(text.encode(), _DEPTH)
    except ValueError as fault:
        raise Bad(f"not a JSON object: {fault}") from None
    named = members.get("type")
    kind = _KINDS.get(named) if isinstance(named, str) else None
    if kind is None:
        raise Bad("`type` names no message of this protocol")
    if unknown := sorted(members.keys() - kind.model_fields.keys()):
        raise Bad(f"`{named}` has no member `{unknown[0][:40]}`")
    needed = {name for name, field in kind.model_fields.items() if field.is_required()}
    if missing := sorted(needed - members.keys()):
        raise Bad(f"`{named}` needs `{missing[0]}`")
    message: Message = believe(kind, members)
    if isinstance(message, Start) and len({each.id for each in message.channels}) < len(
        message.channels
    ):
        raise Bad("a channel is named twice")
    return message


def read_sound(frame: bytes) -> tuple[int, bytes]:
    """The number of the channel and the samples of a binary frame; `Bad` for half a sample or none."""
    if len(frame) < 3 or len(frame) % 2 == 0:
        raise Bad("a sound frame is one byte of channel number and whole 16-bit samples")
    return frame[0], frame[1:]


def ready(*, seq: int, replay_from: int, audio_ms: dict[str, int], limits: Any) -> bytes:
    """The session is followed from `replay_from` on; its last event is `seq`; so much of each channel was received."""
    told = {"seq": seq, "replay_from": replay_from, "audio_ms": audio_ms, "limits": limits}
    return orjson.dumps({"type": "ready", **told})


def ack(of: str, **about: Any) -> bytes:
    """A message was taken in."""
    return orjson.dumps({"type": "ack", "of": of, **about})


def error(code: str, description: str, **about: Any) -> bytes:
    """Something was refused: `code` is the word that the API uses for it."""
    return orjson.dumps({"type": "error", "code": code, "description": description, **about})


def partial(text: str, **about: Any) -> bytes:
    """What an utterance sounds like so far."""
    return orjson.dumps({"type": "transcript.partial", **about, "text": text})


def level(channel: str, dbfs: float) -> bytes:
    """How loud a channel is."""
    return orjson.dumps({"type": "level", "channel": channel, "dbfs": dbfs})


def lag(channel: str, behind_ms: int) -> bytes:
    """How far hearing is behind a channel."""
    return orjson.dumps({"type": "lag", "channel": channel, "behind_ms": behind_ms})


PONG: Final = b'{"type":"pong"}'
REVOKED: Final = error("invalid_token", "The holder of the credential was revoked.")
EXPIRED: Final = error(
    "token_expired", "The credential ended; send auth with a fresh ticket within 30 seconds."
)
