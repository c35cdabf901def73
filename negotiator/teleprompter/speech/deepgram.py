"""The messages of a Deepgram-style service, understood: pure, one understanding for each channel.

A Results message covers audio from `start` for `duration` seconds of this connection. `is_final` settles its words,
`speech_final` or an UtteranceEnd says that the speaker paused. An utterance here is all segments up to that pause.

A Deepgram-style service: audio goes up a WebSocket as it comes, results come down while somebody speaks.

A text KeepAlive goes every four seconds without audio (it closes after ten). When the connection drops, another is
made and the last unsettled seconds go up it again; times are shifted by where it began, since the service counts from
zero.
"""

import asyncio
import json
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from negotiator.errors import Unavailable
from negotiator.telemetry import logger
from negotiator.teleprompter.speech.engine import Transcription
from negotiator.teleprompter.speech.events import RecognitionProblem, TranscriptWord
from negotiator.teleprompter.speech.recognition_channel import SAMPLES_PER_MS, RecognitionChannel
from negotiator.teleprompter.speech.recognizer import (
    SAMPLE_RATE,
    EngineCapabilities,
    RecognizerBusy,
    SpeechRecognition,
    StreamConfig,
)
from negotiator.teleprompter.speech.remote_recognition import RecognitionFailed, RemoteRecognition
from negotiator.teleprompter.speech.utterance_events import UtteranceEventQueue


class DeepgramResults:
    """Times count from the beginning of a connection and are shifted by where in the channel that was."""

    def __init__(self, telling: UtteranceEventQueue) -> None:
        self._telling = telling
        self._offset = 0
        self._name: str | None = None
        self._words: list[TranscriptWord] = []
        self._texts: list[str] = []
        self._until = 0
        self.answered_ms = 0
        """How far into the channel the service has answered for."""
        self.settled_ms = 0
        """How far it will not change its mind, so that the audio can be forgotten."""

    def connected(self, at_ms: int) -> None:
        """A connection begins here; words that were settled on the one before stay."""
        self._offset = at_ms

    def on(self, message: dict[str, Any], *, interim: bool) -> None:
        """One message; KeyError, TypeError or ValueError when it is not what it should be."""
        match message.get("type"):
            case "Results":
                self._result(message, interim=interim)
            case "UtteranceEnd":
                self._paused()
            case _:
                pass  # Metadata, SpeechStarted (which also comes for noise) and whatever is new

    def _result(self, message: dict[str, Any], *, interim: bool) -> None:
        begin = self._at(message["start"])
        until = self._at(message["start"] + message["duration"])
        best: dict[str, Any] = message["channel"]["alternatives"][0]
        words = [self._word(word) for word in best.get("words", ())]
        text = str(best["transcript"]).strip()
        self.answered_ms = max(self.answered_ms, until)
        if text and self._name is None:
            self._name = self._telling.began(words[0].start_ms if words else begin)
        if self._name is not None and text:
            self._until = words[-1].end_ms if words else until
            if message["is_final"]:
                self._texts.append(text)
                self._words += words
            elif interim:
                whole = " ".join([*self._texts, text])
                self._telling.partial(self._name, whole, self._until)
        if message["is_final"]:
            self.settled_ms = max(self.settled_ms, until)
            if message.get("speech_final"):
                self._paused()

    def _paused(self) -> None:
        if self._name is None:
            return
        known = [word.confidence for word in self._words if word.confidence is not None]
        confidence = round(sum(known) / len(known), 3) if known else None
        heard = Transcription(" ".join(self._texts), tuple(self._words), confidence)
        self._telling.voice_ended(self._name, self._until, forced=False)
        self._telling.final(self._name, heard, self._until)
        self._name = None
        self._texts, self._words = [], []

    def over(self) -> None:
        """The service has said all it will: what it settled is final."""
        if self._texts:
            self._paused()

    def _at(self, seconds: float) -> int:
        return self._offset + round(seconds * 1000)

    def _word(self, row: dict[str, Any]) -> TranscriptWord:
        text = str(row.get("punctuated_word") or row["word"])
        confidence = row.get("confidence")
        return TranscriptWord(text, self._at(row["start"]), self._at(row["end"]), confidence)


_PIECE: Final = 100 * SAMPLES_PER_MS
_QUIET_SECONDS: Final = 4.0
_CONNECT_SECONDS: Final = 10.0
_LAST_SECONDS: Final = 10.0
_DROPS: Final = 3
_PAUSE_SECONDS: Final = 0.25
_USUAL_MS: Final = 1_000
"""What such a service keeps to itself between two answers, which is no lag."""
_ALIVE: Final = '{"type": "KeepAlive"}'
_CLOSE: Final = '{"type": "CloseStream"}'
_GONE: Final = "The speech service cannot be reached; nothing more is heard."
_FAULTS: Final = (OSError, TimeoutError, InvalidHandshake, ConnectionClosed)
log = logger(__name__)


class DeepgramRecognizer:
    """Hears by `url`, for example `wss://host/v1/listen`, with one connection for each channel."""

    def __init__(self, url: str, *, key: str, model: str, hangover_ms: int, streams: int) -> None:
        host = urlsplit(url).hostname or url
        self._caps = EngineCapabilities(
            "deepgram",
            "streaming",
            interim=True,
            word_times=True,
            languages=(),
            offline=False,
            quality_note=f"All audio of the call goes to {host} ({model}) as it is spoken: quality is that model's.",
            third_party=host,
        )
        self._url = url
        self._key = key
        self._wishes = {
            "model": model,
            "encoding": "linear16",
            "sample_rate": SAMPLE_RATE,
            "channels": 1,
            "punctuate": "true",
            "endpointing": hangover_ms,
            "utterance_end_ms": max(1000, hangover_ms),
        }
        self._most = streams
        self._open: set[RemoteRecognition] = set()

    @property
    def caps(self) -> EngineCapabilities:
        """What it is."""
        return self._caps

    async def open(self, config: StreamConfig) -> SpeechRecognition:
        """A new channel, connected; `Unavailable` when the service does not take it."""
        if len(self._open) >= self._most:
            raise RecognizerBusy("every speech stream is taken")
        line = _Line(self._address(config), self._key)
        try:
            await line.connect()
        except _FAULTS as fault:
            raise Unavailable(
                "The speech service cannot be used now.", detail=str(fault)
            ) from fault
        driven = RemoteRecognition(
            RecognitionChannel(interim=config.interim), line.hear, self._open.discard
        )
        self._open.add(driven)
        return driven

    async def close(self) -> None:
        """End every channel."""
        for driven in list(self._open):
            await driven.close()

    def _address(self, config: StreamConfig) -> str:
        wishes = self._wishes | {
            "language": config.language,
            "interim_results": "true",  # without them it tells of no utterance's end
        }
        return f"{self._url}?{urlencode(wishes)}"


class _Line:
    """One channel's way to the service, over as many connections as it takes."""

    def __init__(self, address: str, key: str) -> None:
        self._address = address
        self._headers = {"Authorization": f"Token {key}"} if key else {}
        self._socket: ClientConnection | None = None
        self._drops = 0

    async def connect(self) -> ClientConnection:
        """A connection; raises one of `_FAULTS`."""
        self._socket = await connect(
            self._address,
            additional_headers=self._headers,
            open_timeout=_CONNECT_SECONDS,
            close_timeout=1,
            compression=None,
            proxy=None,
        )
        return self._socket

    async def hear(self, driven: RemoteRecognition) -> None:
        """Until the channel is finished; `Deaf` after too many drops in a row."""
        results = DeepgramResults(driven.channel.telling)
        while not await self._tried(driven, results):
            self._drops += 1
            if self._drops > _DROPS:
                raise RecognitionFailed(_GONE)
            notice = (
                "The connection to the speech service dropped; the last seconds are sent again."
            )
            driven.channel.again(RecognitionProblem("engine_restarted", notice))
            await asyncio.sleep(_PAUSE_SECONDS * 2 ** (self._drops - 1))

    async def _tried(self, driven: RemoteRecognition, results: DeepgramResults) -> bool:
        """One connection from its first to its last message; whether it ended because the channel did."""
        try:
            socket = self._socket or await self.connect()
        except _FAULTS as fault:
            log.warning("a speech service is away", detail=str(fault))
            return False
        self._socket = None
        try:
            results.connected(driven.channel.backlog.taken // SAMPLES_PER_MS)
            return await self._talk(driven, results, socket=socket)
        except _FAULTS as fault:
            log.warning("a speech service dropped a connection", detail=str(fault))
            return False
        finally:
            await socket.close()

    async def _talk(
        self, driven: RemoteRecognition, results: DeepgramResults, *, socket: ClientConnection
    ) -> bool:
        """Both directions at once."""
        sending = asyncio.create_task(self._send(driven, socket))
        receiving = asyncio.create_task(self._receive(driven, results, socket=socket))
        try:
            await asyncio.wait({sending, receiving}, return_when=asyncio.FIRST_COMPLETED)
            if not sending.done():
                receiving.result()
                return False
            sending.result()
            await asyncio.wait({receiving}, timeout=_LAST_SECONDS)
            results.over()
            return True
        finally:
            sending.cancel()
            receiving.cancel()
            await asyncio.gather(sending, receiving, return_exceptions=True)

    async def _send(self, driven: RemoteRecognition, socket: ClientConnection) -> None:
        channel = driven.channel
        while True:
            if not await driven.more(_QUIET_SECONDS):
                await socket.send(_ALIVE)
                continue
            at, pcm = channel.backlog.take(_PIECE)
            if not pcm:
                await socket.send(_CLOSE)
                return
            await socket.send(pcm)
            channel.heard(at + len(pcm) // 2)

    async def _receive(
        self, driven: RemoteRecognition, results: DeepgramResults, *, socket: ClientConnection
    ) -> None:
        channel = driven.channel
        async for message in socket:
            try:
                results.on(json.loads(message), interim=channel.interim)
            except (ValueError, KeyError, IndexError, TypeError, AttributeError) as fault:
                raise RecognitionFailed(
                    "The speech service answers what is not understood."
                ) from fault
            self._drops = 0
            channel.elsewhere_ms = max(
                0, channel.backlog.taken // SAMPLES_PER_MS - results.answered_ms - _USUAL_MS
            )
            channel.settled(results.settled_ms)
