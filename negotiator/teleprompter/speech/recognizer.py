"""The interfaces of speech recognition, the engines that settings can name, and the frames to and from a worker.

The server has one recogniser for the process and one recognition for each channel. An engine and its decoders run in a
worker, which is single-threaded and has no event loop: their calls block.
"""

import hashlib
import json
import re
import struct
import tomllib
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from negotiator.teleprompter.speech.events import RecognitionEvent, Transcription

SAMPLE_RATE: Final = 16_000
"""Samples a second that every recogniser takes: mono, signed 16 bit, little endian."""
BYTES_PER_MS: Final = SAMPLE_RATE * 2 // 1000


class RecognizerBusy(Exception):
    """All streams are in use, a piece is longer than the whole backlog, or the client does not read the events."""


@dataclass(frozen=True, slots=True)
class EngineCapabilities:
    """The capabilities of an engine, with a note on its quality for the user who relies on it.

    `interim` when it reports partial texts. `languages` are BCP 47 primary tags, empty when unknown. `third_party` is
    the host that receives the audio, empty when it stays on this machine.
    """

    id: str
    interim: bool
    languages: tuple[str, ...]
    quality_note: str
    third_party: str = ""


class SpeechRecognition(Protocol):
    """The recognition of one channel, from its first sample to its last."""

    async def push(self, pcm16k: bytes) -> None:
        """Take audio and return at once; raises `RecognizerBusy`, and takes nothing, when the backlog cannot hold it.

        Beyond 2 s of unrecognised audio partials are skipped, beyond 4 s a lag is reported, beyond 8 s the oldest audio
        is dropped and a gap reported.
        """
        ...

    async def finish(self) -> None:
        """End the audio: the rest is recognised, an open utterance gets its final, then the events end."""
        ...

    async def close(self) -> None:
        """Drop everything now and end the events."""
        ...

    def events(self) -> AsyncIterator[RecognitionEvent]:
        """The events in order, for one reader. Of unread partials only the newest is kept."""
        ...


class Recognizer(Protocol):
    """The engine that the operator chose; one for the process."""

    @property
    def caps(self) -> EngineCapabilities: ...

    @property
    def fault(self) -> str:
        """Why channels are refused or hear nothing now, for the health check; empty when all is well."""
        ...

    async def open(self, language: str) -> SpeechRecognition:
        """A new channel in a language, as a BCP 47 tag.

        `RecognizerBusy` when all are in use, `Unavailable` (503) when the engine cannot be used.
        """
        ...

    async def close(self) -> None:
        """End every channel and release processes and connections."""
        ...


class Decoder(Protocol):
    """Recognises one channel, utterance by utterance."""

    def begin(self) -> None:
        """Begin an utterance; nothing of earlier ones may influence it."""
        ...

    def feed(self, pcm: bytes) -> None:
        """Add audio to the utterance, 16 kHz s16le."""
        ...

    def partial(self) -> Transcription:
        """The text so far; where utterances are recognised whole, what `end` would give now, for as much work."""
        ...

    def end(self) -> Transcription:
        """End the utterance and return its text."""
        ...


class SpeechEngine(Protocol):
    def decoder(self, language: str) -> Decoder:
        """A decoder for a channel in this language, without any state of other channels."""
        ...

    def give_back(self, decoder: Decoder) -> None:
        """Take back the decoder of a channel that has ended."""
        ...

    def prepare(self) -> None:
        """Load in advance what the next channel needs; called while no audio waits."""
        ...


LoadEngine = Callable[[Path | None], SpeechEngine]
"""The function of an engine's module that loads it, from the operator's model; raises OSError or ValueError."""


_MARK: Final = re.compile(r"[\[(*♪][^\])*♪]{0,80}[\])*♪]")
_CREDIT: Final = re.compile(
    r"(?:thanks?(?: you)?(?: so much)? for watching|subtitles? by .*|subscribe to .*|you)[.!]*", re.I
)


def without_inventions(text: str) -> str:
    """The text without marks such as `[BLANK_AUDIO]` or `(music)`; empty when the whole text is a known invention."""
    kept = " ".join(_MARK.sub(" ", text).split())
    return "" if _CREDIT.fullmatch(kept) or not any(map(str.isalnum, kept)) else kept


@dataclass(frozen=True, slots=True)
class EngineKind:
    """An engine: its capabilities, the packages it needs, and the module and its function that load it.

    `whole` when it recognises utterances whole instead of hearing along, `longest_ms` is their greatest length, and
    `doubtful` the confidence below which a final is likely wrong, where that was measured.
    """

    caps: EngineCapabilities
    packages: tuple[str, ...]
    module: str
    loader: str
    longest_ms: int
    whole: bool
    doubtful: float | None = None


MAX_WHOLE_UTTERANCE_MS: Final = 6_000
"""Greatest length of an utterance for services that recognise it whole and so hold it in memory meanwhile."""


@cache
def engine_kinds() -> dict[str, EngineKind]:
    content = tomllib.loads(files(__package__ or __name__).joinpath("engines.toml").read_text("utf-8"))
    return {name: _kind(name, row) for name, row in content.items()}


def _kind(name: str, row: dict[str, Any]) -> EngineKind:
    languages, note = tuple(row.pop("languages")), row.pop("quality_note")
    caps = EngineCapabilities(name, interim=True, languages=languages, quality_note=note)
    return EngineKind(caps, tuple(row.pop("packages")), **row)


def engine_loader(kind: EngineKind) -> LoadEngine:
    """The function that loads the engine; only now is its module imported."""
    return getattr(import_module(f"{__package__}.{kind.module}"), kind.loader)


_PACKAGE: Final = "silero_vad"
SILERO_SHA256: Final = "1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3"


def silero_model_path() -> Path | None:
    """The network's file in the installed wheel; None without onnxruntime, the wheel, or the published file in it.

    Only the file is used: importing the wheel's package would need torch.
    """
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None or find_spec("onnxruntime") is None:
        return None
    path = Path(spec.origin).parent / "data" / "silero_vad.onnx"
    return path if path.exists() and hashlib.sha256(path.read_bytes()).hexdigest() == SILERO_SHA256 else None


HEADER: Final = struct.Struct("!IBIQ")
"""Length of the payload, kind, stream, position in samples."""


class FrameKind(IntEnum):
    """The kinds of frames; the first five go to the worker, the others come from it."""

    LOAD = 1  # JSON: engine, model, hangover_ms
    OPEN = 2  # the language's primary tag
    AUDIO = 3  # a byte for whether partials are wanted, then PCM that begins at the position
    FINISH = 4
    CLOSE = 5
    READY = 16
    REPORT = 17  # JSON: a report of `ChannelListener`
    HEARD = 18  # all audio before the position was recognised
    OVER = 19  # a finished stream was recognised to its end
    FAULT = 20  # text; stream 0 is the worker itself


class PipeFrame(NamedTuple):
    kind: FrameKind
    stream: int
    position: int
    payload: bytes

    def json(self) -> Any:
        return json.loads(self.payload)


def encode_frame(kind: FrameKind, stream: int = 0, *, position: int = 0, payload: bytes = b"") -> bytes:
    return HEADER.pack(len(payload), kind, stream, position) + payload


class PipeFrameReader:
    """Joins bytes into whole frames."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> Iterator[PipeFrame]:
        """The frames that these bytes complete; ValueError for an unknown kind."""
        self._rest += data
        while len(self._rest) >= HEADER.size:
            length, kind, stream, position = HEADER.unpack_from(self._rest)
            end = HEADER.size + length
            if len(self._rest) < end:
                return
            payload = bytes(self._rest[HEADER.size : end])
            del self._rest[:end]
            yield PipeFrame(FrameKind(kind), stream, position, payload)
