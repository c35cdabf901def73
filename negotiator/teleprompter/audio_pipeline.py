"""The audio of the sockets on its way to the recogniser, and the events that come back.

The position of a channel continues over lost connections.
"""

import asyncio
import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from opentelemetry.trace import SpanKind

from negotiator.base.caller import Caller
from negotiator.base.errors import Refusal, Unavailable
from negotiator.runtime import telemetry
from negotiator.runtime.tracing import NEW_TRACE, span
from negotiator.teleprompter import session_transitions, websocket_messages
from negotiator.teleprompter.cues.catalogue import Speaker
from negotiator.teleprompter.queries import LiveSession
from negotiator.teleprompter.schemas import Utterance
from negotiator.teleprompter.session_transitions import Transition
from negotiator.teleprompter.session_view import MAX_UTTERANCE_CHARACTERS
from negotiator.teleprompter.speech import events
from negotiator.teleprompter.speech.events import RecognitionEvent
from negotiator.teleprompter.speech.recognizer import BYTES_PER_MS, Recognizer, RecognizerBusy, SpeechRecognition
from negotiator.teleprompter.utterances import UtteranceService

_PATIENCE: Final = (0.2, 1.0, 3.0)
"""Seconds between attempts to store a final while the store is unavailable."""
log = telemetry.logger(__name__)


@dataclass(slots=True)
class AudioReader:
    """Reads one recognition. `name` is the prefix of its utterance ids, `base_ms` the channel time at its start."""

    listening: UtteranceService
    session: str
    who: Callable[[], Caller]
    channel: Speaker
    name: str
    base_ms: int
    _last: dict[str, str] = field(default_factory=dict[str, str])

    async def follow(self, recognition: SpeechRecognition) -> None:
        async for event in recognition.events():
            try:
                await self._take(event)
            except Refusal as refusal:
                # It is over, paused or gone; whoever did that knows, and what is heard now is not wanted.
                log.info("heard in vain", session=self.session, error=refusal.error)
            except Exception as fault:
                log.error("hearing failed", session=self.session, exc_info=fault)

    async def _take(self, event: RecognitionEvent) -> None:
        match event:
            case events.PartialTranscript():
                if self._last.get(event.utterance_id) != event.text and event.text.strip():
                    self._last[event.utterance_id] = event.text
                    await self._hear(event, final=False)
            case events.FinalTranscript():
                shown = self._last.pop(event.utterance_id, "")
                if event.text.strip():
                    with span("utterance", SpanKind.SERVER, parent=NEW_TRACE):
                        await self._finally(event)
                elif shown:
                    self._tell(websocket_messages.message("transcript.partial", text="", **self._about(event)))
            case events.RecognitionLag():
                self._tell(websocket_messages.message("lag", channel=self.channel, behind_ms=event.behind_ms))
                await self._notice("lag", behind_ms=event.behind_ms)
            case events.AudioGap():
                await self._notice(
                    "gap", from_ms=self.base_ms + event.from_ms, to_ms=self.base_ms + event.to_ms, reason=event.reason
                )
            case events.RecognitionProblem():
                await self._notice(event.code, description=event.description, fatal=event.fatal)

    async def _finally(self, event: events.FinalTranscript) -> None:
        for wait in _PATIENCE:
            try:
                await self._hear(event, final=True, confidence=event.confidence)
            except Unavailable:
                await asyncio.sleep(wait)
            else:
                return
        await self._hear(event, final=True, confidence=event.confidence)

    async def _hear(
        self, event: events.PartialTranscript | events.FinalTranscript, *, final: bool, confidence: float | None = None
    ) -> None:
        said = Utterance(
            id=self.session, text=event.text[-MAX_UTTERANCE_CHARACTERS:], final=final, **self._about(event)
        )
        await self.listening.hear(self.who(), said, confidence=confidence)

    async def _notice(self, code: str, **detail: Any) -> None:
        told = partial(session_transitions.add_recognizer_notice, code=code, detail={"channel": self.channel, **detail})
        await self.listening.change(self.who(), self.session, told)

    def _tell(self, message: bytes) -> None:
        self.listening.log.bus.tell(self.session, message)

    def _about(self, event: events.PartialTranscript | events.FinalTranscript) -> dict[str, Any]:
        return {
            "utterance_id": f"{self.name}.{event.utterance_id.removeprefix('u')}",
            "speaker": self.channel,
            "start_ms": self.base_ms + event.start_ms,
            "end_ms": self.base_ms + event.end_ms,
        }


@dataclass(slots=True)
class TokenBucket:
    """A token bucket: `rate` tokens a second, at most `burst`; `at` is the time of the last take, in seconds."""

    rate: float
    burst: float
    at: float
    _left: float = -1.0

    def take(self, amount: float, now: float) -> bool:
        """Take `amount` tokens; False, and no change, when there are fewer."""
        left = self.burst if self._left < 0 else self._left
        left = min(self.burst, left + max(0.0, now - self.at) * self.rate)
        self.at = max(self.at, now)
        fits = amount <= left
        self._left = left - amount if fits else left
        return fits


_REMEMBERED: Final = 4096


@dataclass(slots=True)
class AudioClock:
    """Milliseconds of audio that this process received, by session and channel."""

    _seen: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])

    def resume(self, session: str, channel: str, kept_ms: int) -> int:
        """Milliseconds at which a channel resumes: the stored position, or more if this process has received more."""
        seen = self._seen.get(session, {})
        return seen.get(channel, 0) if max(seen.values(), default=0) >= kept_ms > 0 else kept_ms

    def note(self, session: str, channel: str, ms: int) -> None:
        if session not in self._seen and len(self._seen) >= _REMEMBERED:
            del self._seen[next(iter(self._seen))]
        self._seen.setdefault(session, {})[channel] = ms


MAX_AUDIO_SPEED: Final = 1.5
BURST_MS: Final = 10_000
SETTLE_SECONDS: Final = 5.0
"""Seconds for recognising the remaining audio after its sender has stopped."""
_LEVEL_EVERY_MS: Final = 1000
_KEPT_EVERY_MS: Final = 2000
_COMPLAINS_EVERY_MS: Final = 5000
_SILENT: Final = -96.0


class AudioTooFast(Exception):
    """Audio came faster than real time for longer than the burst allows."""


@dataclass(slots=True)
class AudioChannel:
    """One channel: the bytes received, its rate limit, and its recognition."""

    channel: Speaker
    received: int
    pace: TokenBucket
    recognition: SpeechRecognition | None = None
    reading: asyncio.Task[None] | None = None
    level_at: int = 0
    complained_at: int = -_COMPLAINS_EVERY_MS

    @property
    def ms(self) -> int:
        return self.received // BYTES_PER_MS


@dataclass(slots=True)
class AudioPipeline:
    """What all sockets of a process share for audio. `after` holds the recognitions that outlive their socket."""

    listening: UtteranceService
    recognizer: Recognizer
    clocks: AudioClock = field(default_factory=AudioClock)
    after: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    async def close(self) -> None:
        if self.after:
            await asyncio.wait(self.after, timeout=SETTLE_SECONDS)
        await self.recognizer.close()


class AudioChannels:
    """The channels of one connection, numbered as in `start`; `who` returns the current caller."""

    def __init__(self, stage: AudioPipeline, session: str, who: Callable[[], Caller]) -> None:
        self._stage = stage
        self._session = session
        self._who = who
        self._language = "en"
        self._seq = 0
        self._kept_ms = 0
        self._voices: list[AudioChannel] = []
        self.paused = False

    @property
    def audio_ms(self) -> dict[str, int]:
        return {voice.channel: voice.ms for voice in self._voices}

    async def open(self, session: LiveSession, channels: Sequence[Speaker], now: float) -> None:
        """Open a recognition for each channel; none stays open on `RecognizerBusy` or `Unavailable`."""
        clocks, stage = self._stage.clocks, self._stage
        self._language, self._seq = session.given["language"], session.seq
        self._kept_ms = session.heard_ms
        opened: list[AudioChannel] = []
        try:
            for channel in channels:
                at = clocks.resume(session.id, channel, session.heard_ms) * BYTES_PER_MS
                pace = TokenBucket(MAX_AUDIO_SPEED * 1000, BURST_MS, now)
                recognition = await stage.recognizer.open(self._language)
                opened.append(AudioChannel(channel, at, pace, recognition))
        except BaseException:
            for voice in opened:
                await _drop(voice)
            raise
        self.leave()
        self._voices = opened
        for voice in opened:
            self._attach(voice)

    async def take(self, number: int, pcm: bytes, now: float) -> None:
        """Take audio of a channel; raises `ProtocolError` for an unknown channel, and `AudioTooFast`."""
        if number >= len(self._voices):
            raise websocket_messages.ProtocolError(f"there is no channel {number}")
        voice = self._voices[number]
        if not voice.pace.take(len(pcm) / BYTES_PER_MS, now):
            raise AudioTooFast
        voice.received += len(pcm)
        self._stage.clocks.note(self._session, voice.channel, voice.ms)
        if not self.paused:
            self._show_level(voice, pcm)
            await self._push(voice, pcm)
        if voice.ms - self._kept_ms >= _KEPT_EVERY_MS:
            await self._keep()

    async def settle(self) -> None:
        """Recognise the remaining audio, for at most `SETTLE_SECONDS`."""
        heard = [pair for voice in self._voices if (pair := await _finish(voice))]
        if heard:
            await asyncio.wait([reading for _, reading in heard], timeout=SETTLE_SECONDS)
        for recognition, reading in heard:
            if not reading.done():
                reading.cancel()
                await recognition.close()

    def leave(self) -> None:
        """Recognise the remaining audio in a background task, since the connection has ended."""
        if self._voices:
            left = AudioChannels(self._stage, self._session, self._who)
            left._voices, left._kept_ms = self._voices, self._kept_ms
            self._voices = []
            task = asyncio.create_task(left._hear_out())
            self._stage.after.add(task)
            task.add_done_callback(self._stage.after.discard)

    async def _hear_out(self) -> None:
        await self._keep()
        await self.settle()

    async def _push(self, voice: AudioChannel, pcm: bytes) -> None:
        try:
            if voice.recognition is None:
                voice.recognition = await self._stage.recognizer.open(self._language)
                self._attach(voice, skipped=len(pcm))
            await voice.recognition.push(pcm)
        except RecognizerBusy as busy:
            if voice.ms - voice.complained_at >= _COMPLAINS_EVERY_MS:
                voice.complained_at = voice.ms
                detail = {"channel": voice.channel, "at_ms": voice.ms, "reason": str(busy)}
                await self._change(partial(session_transitions.add_recognizer_notice, code="not_heard", detail=detail))

    def _attach(self, voice: AudioChannel, *, skipped: int = 0) -> None:
        """Start a task that reads the recognition's events; the clock already includes `skipped` bytes."""
        if voice.recognition is None:
            return
        base = (voice.received - skipped) // BYTES_PER_MS
        hearing = AudioReader(
            self._stage.listening,
            self._session,
            self._who,
            voice.channel,
            # Each final raises the session's number, so recognitions with finals have different names.
            f"{voice.channel}-{self._seq}.{base}",
            base,
        )
        voice.reading = asyncio.create_task(hearing.follow(voice.recognition))

    def _show_level(self, voice: AudioChannel, pcm: bytes) -> None:
        if voice.ms - voice.level_at >= _LEVEL_EVERY_MS:
            voice.level_at = voice.ms
            told = websocket_messages.message("level", channel=voice.channel, dbfs=level_db(pcm))
            self._stage.listening.log.bus.tell(self._session, told)

    async def _keep(self) -> None:
        self._kept_ms = max((voice.ms for voice in self._voices), default=0)
        await self._change(partial(session_transitions.record_audio_position, until_ms=self._kept_ms))

    async def _change(self, change: Transition) -> None:
        try:
            await self._stage.listening.change(self._who(), self._session, change)
        except Refusal:
            return


def level_db(pcm: bytes) -> float:
    """The level of samples in dB relative to full scale."""
    power = sum(sample * sample for (sample,) in struct.iter_unpack("<h", pcm)) / (len(pcm) // 2) / 32768.0**2
    return round(max(_SILENT, 10 * math.log10(power)), 1) if power else _SILENT


async def _finish(voice: AudioChannel) -> tuple[SpeechRecognition, asyncio.Task[None]] | None:
    """Finish the recognition of a channel; return it and its reading task, if there are any."""
    recognition, reading = voice.recognition, voice.reading
    voice.recognition = voice.reading = None
    if recognition is None or reading is None:
        return None
    await recognition.finish()
    return recognition, reading


async def _drop(voice: AudioChannel) -> None:
    if voice.recognition is not None:
        await voice.recognition.close()
