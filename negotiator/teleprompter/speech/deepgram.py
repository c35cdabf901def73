"""A client of Deepgram's streaming protocol: audio is sent over a WebSocket while results arrive.

A Results message covers the audio from `start` for `duration` seconds of its connection. `is_final` marks words that no
longer change; `speech_final` or an UtteranceEnd message marks a pause of the speaker. An utterance is all segments up
to that pause.

A KeepAlive message is sent after four seconds without audio, since the service closes the connection after ten. A
dropped connection is replaced, and the last audio without final words is sent again. Times are shifted, since each
connection counts from zero.
"""

import asyncio
import json
from typing import Any, Final
from urllib.parse import urlencode

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from negotiator.base.errors import Unavailable
from negotiator.runtime.telemetry import logger
from negotiator.runtime.tracing import outgoing_headers, step
from negotiator.teleprompter.speech.engine import Transcription
from negotiator.teleprompter.speech.events import RecognitionProblem, TranscriptWord
from negotiator.teleprompter.speech.recognition_channel import SAMPLES_PER_MS, RecognitionChannel
from negotiator.teleprompter.speech.recognizer import SAMPLE_RATE, EngineCapabilities, SpeechRecognition, StreamConfig
from negotiator.teleprompter.speech.remote_recognition import (
    RecognitionFailed,
    RemoteRecognition,
    RemoteRecognizer,
    host_of,
)
from negotiator.teleprompter.speech.utterance_events import UtteranceEventQueue


class DeepgramResults:
    """Turns messages into events. Message times count from the start of a connection and are shifted to the channel's
    clock.
    """

    def __init__(self, telling: UtteranceEventQueue) -> None:
        self._telling = telling
        self._offset = 0
        self._name: str | None = None
        self._words: list[TranscriptWord] = []
        self._texts: list[str] = []
        self._until = 0
        self.answered_ms = 0
        """Milliseconds of the channel that the answers cover."""
        self.settled_ms = 0
        """Milliseconds of the channel whose words are final, so that the audio can be dropped."""

    @property
    def utterance(self) -> str:
        """The id of the utterance that is open; empty for none."""
        return self._name or ""

    def connected(self, at_ms: int) -> None:
        """Begin a new connection at this time of the channel; final words of the previous one stay."""
        self._offset = at_ms

    def on(self, message: dict[str, Any], *, interim: bool) -> None:
        """Process one message; KeyError, TypeError or ValueError when it is malformed."""
        match message.get("type"):
            case "Results":
                self._result(message, interim=interim)
            case "UtteranceEnd":
                self._paused()
            case _:
                pass  # Metadata, SpeechStarted (which is also sent for noise) and unknown messages

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
        """Report the final words as an utterance, since the service sends nothing more."""
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
"""The usual time between two answers, which does not count as lag."""
_ALIVE: Final = '{"type": "KeepAlive"}'
_CLOSE: Final = '{"type": "CloseStream"}'
_SPAN: Final = "speech connection"
_GONE: Final = "The speech service cannot be reached; nothing more is heard."
_FAULTS: Final = (OSError, TimeoutError, InvalidHandshake, ConnectionClosed)
log = logger(__name__)


class DeepgramRecognizer(RemoteRecognizer):
    """Streams audio to `url`, for example `wss://host/v1/listen`, over one connection for each channel."""

    def __init__(self, url: str, *, key: str, model: str, hangover_ms: int, streams: int) -> None:
        host = host_of(url)
        caps = EngineCapabilities(
            "deepgram",
            "streaming",
            interim=True,
            word_times=True,
            languages=(),
            offline=False,
            quality_note=f"All audio of the call goes to {host} ({model}) as it is spoken: quality is that model's.",
            third_party=host,
        )
        super().__init__(caps, streams, seconds=_CONNECT_SECONDS, faults=_FAULTS)
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

    async def open(self, config: StreamConfig) -> SpeechRecognition:
        """A connected channel; `RecognizerBusy` when all streams are in use, `Unavailable` without a connection."""
        self._check_free()
        line = _Line(self._address(config), self._key)
        try:
            with step(_SPAN, "client"):
                async with self._breaker.call():
                    await line.connect()
        except _FAULTS as fault:
            raise Unavailable("The speech service cannot be used now.", detail=str(fault)) from fault
        return self._recognise(RecognitionChannel(interim=config.interim), line.hear)

    def _address(self, config: StreamConfig) -> str:
        wishes = self._wishes | {
            "language": config.language,
            "interim_results": "true",  # without them the service sends no UtteranceEnd
        }
        return f"{self._url}?{urlencode(wishes)}"


class _Line:
    """The connections of one channel to the service; a dropped one is replaced."""

    def __init__(self, address: str, key: str) -> None:
        self._address = address
        self._headers = {"Authorization": f"Token {key}"} if key else {}
        self._socket: ClientConnection | None = None
        self._drops = 0

    async def connect(self) -> ClientConnection:
        """A new connection; raises one of `_FAULTS`."""
        self._socket = await connect(
            self._address,
            additional_headers=self._headers | outgoing_headers(),
            open_timeout=_CONNECT_SECONDS,
            close_timeout=1,
            compression=None,
            proxy=None,
        )
        return self._socket

    async def hear(self, driven: RemoteRecognition) -> None:
        """Run until the channel is finished; `RecognitionFailed` after more than three drops in a row."""
        results = DeepgramResults(driven.channel.telling)
        while not await self._tried(driven, results):
            self._drops += 1
            if self._drops > _DROPS:
                raise RecognitionFailed(_GONE)
            notice = "The connection to the speech service dropped; the last seconds are sent again."
            driven.channel.again(RecognitionProblem("engine_restarted", notice))
            await asyncio.sleep(_PAUSE_SECONDS * 2 ** (self._drops - 1))

    async def _tried(self, driven: RemoteRecognition, results: DeepgramResults) -> bool:
        """Use one connection until it ends; True when it ended because the channel did."""
        try:
            socket = self._socket or await self._connect_again(driven, results.utterance)
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

    async def _connect_again(self, driven: RemoteRecognition, utterance: str) -> ClientConnection:
        """`connect`, with its span in that of the utterance that the drop interrupts."""
        with driven.call_span(_SPAN, utterance):
            return await self.connect()

    async def _talk(self, driven: RemoteRecognition, results: DeepgramResults, *, socket: ClientConnection) -> bool:
        """Send audio and receive results concurrently; True when the channel ended."""
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

    async def _receive(self, driven: RemoteRecognition, results: DeepgramResults, *, socket: ClientConnection) -> None:
        channel = driven.channel
        async for message in socket:
            try:
                results.on(json.loads(message), interim=channel.interim)
            except (ValueError, KeyError, IndexError, TypeError, AttributeError) as fault:
                raise RecognitionFailed("The speech service answers what is not understood.") from fault
            self._drops = 0
            channel.elsewhere_ms = max(0, channel.backlog.taken // SAMPLES_PER_MS - results.answered_ms - _USUAL_MS)
            channel.settled(results.settled_ms)
