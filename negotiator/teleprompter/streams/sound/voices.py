"""The channels of one socket that sends sound."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from negotiator.caller import Caller
from negotiator.errors import Refusal
from negotiator.teleprompter.cues.cue import Speaker
from negotiator.teleprompter.listening import Listening
from negotiator.teleprompter.sessions.moving import Change
from negotiator.teleprompter.sessions.rows import Session
from negotiator.teleprompter.speech.recognizer import Busy, Recognition, Recognizer, StreamConfig
from negotiator.teleprompter.streams import changes, protocol
from negotiator.teleprompter.streams.protocol import BYTES_PER_MS
from negotiator.teleprompter.streams.sound.clocks import Clocks
from negotiator.teleprompter.streams.sound.hearing import Hearing
from negotiator.teleprompter.streams.sound.pace import Pace

FASTEST: Final = 1.5
BURST_MS: Final = 10_000
SETTLED_WITHIN: Final = 5.0
"""Seconds that what was sent is still heard after somebody stopped sending."""
_LEVEL_EVERY_MS: Final = 1000
_KEPT_EVERY_MS: Final = 2000
_COMPLAINS_EVERY_MS: Final = 5000
_SILENT: Final = -96.0


class TooFast(Exception):
    """Sound came faster than anybody speaks, for longer than a burst."""


@dataclass(slots=True)
class Voice:
    """One channel: its audio clock, its pace, and who hears it now."""

    channel: Speaker
    received: int
    pace: Pace
    recognition: Recognition | None = None
    reading: asyncio.Task[None] | None = None
    level_at: int = 0
    complained_at: int = -_COMPLAINS_EVERY_MS

    @property
    def ms(self) -> int:
        """The audio clock."""
        return self.received // BYTES_PER_MS


@dataclass(slots=True)
class Stage:
    """What the sound of all sockets of a process goes through; `after` are those still heard after their socket."""

    listening: Listening
    recognizer: Recognizer
    clocks: Clocks = field(default_factory=Clocks)
    after: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    async def close(self) -> None:
        """Hear out who just left, then let go of the recogniser."""
        if self.after:
            await asyncio.wait(self.after, timeout=SETTLED_WITHIN)
        await self.recognizer.close()


class Voices:
    """The channels, numbered as `start` named them; `who` is the caller as he is known now."""

    def __init__(self, stage: Stage, session: str, who: Callable[[], Caller]) -> None:
        self._stage = stage
        self._session = session
        self._who = who
        self._language = "en"
        self._seq = 0
        self._kept_ms = 0
        self._voices: list[Voice] = []
        self.paused = False

    @property
    def audio_ms(self) -> dict[str, int]:
        """How much of each channel was received."""
        return {voice.channel: voice.ms for voice in self._voices}

    async def open(self, session: Session, channels: Sequence[Speaker], now: float) -> None:
        """Have these channels heard; `Busy`, `Unavailable`, and then nothing is left open."""
        clocks, stage = self._stage.clocks, self._stage
        self._language, self._seq = session.given["language"], session.seq
        self._kept_ms = session.heard_ms
        opened: list[Voice] = []
        try:
            for channel in channels:
                at = clocks.resume(session.id, channel, session.heard_ms) * BYTES_PER_MS
                pace = Pace(FASTEST * 1000, BURST_MS, now)
                recognition = await stage.recognizer.open(StreamConfig(self._language))
                opened.append(Voice(channel, at, pace, recognition))
        except BaseException:
            for voice in opened:
                await _drop(voice)
            raise
        self.leave()
        self._voices = opened
        for voice in opened:
            self._attach(voice)

    async def take(self, number: int, pcm: bytes, now: float) -> None:
        """Sound of a channel. `Bad` for a channel that was not named, `TooFast`."""
        if number >= len(self._voices):
            raise protocol.Bad(f"there is no channel {number}")
        voice = self._voices[number]
        if not voice.pace.take(len(pcm) / BYTES_PER_MS, now):
            raise TooFast
        voice.received += len(pcm)
        self._stage.clocks.note(self._session, voice.channel, voice.ms)
        if not self.paused:
            self._show_level(voice, pcm)
            await self._push(voice, pcm)
        if voice.ms - self._kept_ms >= _KEPT_EVERY_MS:
            await self._keep()

    async def settle(self) -> None:
        """Have all that was sent heard to its end, as far as that takes no longer than it may."""
        heard = [pair for voice in self._voices if (pair := await _finish(voice))]
        if heard:
            await asyncio.wait([reading for _, reading in heard], timeout=SETTLED_WITHIN)
        for recognition, reading in heard:
            if not reading.done():
                reading.cancel()
                await recognition.close()

    def leave(self) -> None:
        """Nothing more is sent; what was is heard out beside whatever comes next."""
        if self._voices:
            left = Voices(self._stage, self._session, self._who)
            left._voices, left._kept_ms = self._voices, self._kept_ms
            self._voices = []
            task = asyncio.create_task(left._hear_out())
            self._stage.after.add(task)
            task.add_done_callback(self._stage.after.discard)

    async def _hear_out(self) -> None:
        await self._keep()
        await self.settle()

    async def _push(self, voice: Voice, pcm: bytes) -> None:
        try:
            if voice.recognition is None:
                config = StreamConfig(self._language)
                voice.recognition = await self._stage.recognizer.open(config)
                self._attach(voice, skipped=len(pcm))
            await voice.recognition.push(pcm)
        except Busy as busy:
            if voice.ms - voice.complained_at >= _COMPLAINS_EVERY_MS:
                voice.complained_at = voice.ms
                detail = {"channel": voice.channel, "at_ms": voice.ms, "reason": str(busy)}
                await self._change(partial(changes.noticed, code="not_heard", detail=detail))

    def _attach(self, voice: Voice, *, skipped: int = 0) -> None:
        """Have somebody read what is heard of it from now on; `skipped` bytes were counted already."""
        if voice.recognition is None:
            return
        base = (voice.received - skipped) // BYTES_PER_MS
        hearing = Hearing(
            self._stage.listening,
            self._session,
            self._who,
            voice.channel,
            # A final raises the session's number, so that no two recognitions with a final share a name.
            f"{voice.channel}-{self._seq}.{base}",
            base,
        )
        voice.reading = asyncio.create_task(hearing.follow(voice.recognition))

    def _show_level(self, voice: Voice, pcm: bytes) -> None:
        if voice.ms - voice.level_at >= _LEVEL_EVERY_MS:
            voice.level_at = voice.ms
            told = protocol.level(voice.channel, loudness(pcm))
            self._stage.listening.log.bus.tell(self._session, told)

    async def _keep(self) -> None:
        """Remember in the session how far the sound came."""
        self._kept_ms = max((voice.ms for voice in self._voices), default=0)
        await self._change(partial(changes.received, until_ms=self._kept_ms))

    async def _change(self, change: Change) -> None:
        try:
            await self._stage.listening.change(self._who(), self._session, change)
        except Refusal:
            return


def loudness(pcm: bytes) -> float:
    """The level of some samples, dB below full scale."""
    # A process that hears no sound need not load it.
    import numpy as np

    samples = np.frombuffer(pcm, dtype="<i2").astype(np.float64)
    power = float(np.mean(samples * samples)) / 32768.0**2
    return round(max(_SILENT, 10 * float(np.log10(power))), 1) if power else _SILENT


async def _finish(voice: Voice) -> tuple[Recognition, asyncio.Task[None]] | None:
    """Let go of the recognition, which hears its channel to the end; it and its reader, if there is one."""
    recognition, reading = voice.recognition, voice.reading
    voice.recognition = voice.reading = None
    if recognition is None or reading is None:
        return None
    await recognition.finish()
    return recognition, reading


async def _drop(voice: Voice) -> None:
    if voice.recognition is not None:
        await voice.recognition.close()
