"""Hearing by whole utterances: endpointing cuts, `transcribe` answers over the network, finals come in order.

While one utterance is being transcribed the next is gathered, and no third: what comes then waits in the backlog, where
it is counted as lag. The two and the backlog together never hold more than ten seconds.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from negotiator.teleprompter.speech.endpointing.cutter import Cutter
from negotiator.teleprompter.speech.endpointing.endpointer import Begin, Cut, End, Sound
from negotiator.teleprompter.speech.engines.engine import Heard
from negotiator.teleprompter.speech.events import Problem
from negotiator.teleprompter.speech.streams.backlog import HELD_MS, PER_MS
from negotiator.teleprompter.speech.streams.driven import Deaf, Driven

_PIECE: Final = 500 * PER_MS
_FAILURES: Final = 3
"""Utterances in a row that could not be transcribed, after which nobody pretends to listen."""

Transcribe = Callable[[bytes], Awaitable[Heard]]
"""16 kHz s16le of one utterance in, what was said out; raises `Deaf` when that failed."""


class Segmented:
    """What hears one channel; `hear` is run by `Driven`."""

    def __init__(self, cutter: Cutter, transcribe: Transcribe) -> None:
        self._cutter = cutter
        self._transcribe = transcribe
        self._name = ""
        self._utterance = bytearray()
        self._asked: asyncio.Task[None] | None = None
        self._asked_samples = 0
        self._failures = 0

    async def hear(self, driven: Driven) -> None:
        """Until the channel is finished."""
        backlog = driven.channel.backlog
        try:
            while await driven.more() and backlog.untaken:
                if self._held() + _PIECE > HELD_MS * PER_MS:
                    await self._answered()
                at, pcm = backlog.take(_PIECE)
                # The network that finds voices lets go of the interpreter while it computes.
                cuts = await asyncio.to_thread(self._cutter.hear, at, pcm)
                await self._follow(cuts, driven)
                driven.channel.heard(at + len(pcm) // 2)
            await self._follow(self._cutter.finish(), driven)
            await self._answered()
        finally:
            if self._asked is not None:
                self._asked.cancel()
                await asyncio.gather(self._asked, return_exceptions=True)

    async def _follow(self, cuts: list[Cut], driven: Driven) -> None:
        for cut in cuts:
            match cut:
                case Begin(at_ms):
                    self._name = driven.channel.telling.began(at_ms)
                case Sound(pcm):
                    self._utterance += pcm
                case End(at_ms, forced):
                    driven.channel.telling.voice_ended(self._name, at_ms, forced=forced)
                    await self._answered()
                    self._ask(driven, at_ms)
        driven.channel.holds(self._held())

    def _ask(self, driven: Driven, until: int) -> None:
        pcm, name = bytes(self._utterance), self._name
        self._utterance.clear()
        self._asked_samples = len(pcm) // 2
        self._asked = asyncio.create_task(self._tell(driven, name, pcm=pcm, until=until))

    async def _tell(self, driven: Driven, name: str, *, pcm: bytes, until: int) -> None:
        heard = Heard("")
        try:
            heard = await self._transcribe(pcm)
            self._failures = 0
        except Deaf as deaf:
            self._failures += 1
            if self._failures >= _FAILURES:
                raise
            driven.channel.telling.say(Problem("utterance_lost", str(deaf)))
        finally:
            self._asked_samples = 0
            driven.channel.holds(self._held())
        driven.channel.telling.final(name, heard, until)

    async def _answered(self) -> None:
        """Wait for the utterance that was asked for."""
        if self._asked is not None:
            await self._asked
            self._asked = None

    def _held(self) -> int:
        return len(self._utterance) // 2 + self._asked_samples
