"""One channel's backlog and telling, and the rules on falling behind."""

import asyncio
from typing import Final

from negotiator.teleprompter.speech.events import Gap, Lag, Problem
from negotiator.teleprompter.speech.recognizer import Busy
from negotiator.teleprompter.speech.streams.backlog import AGAIN_MS, PER_MS, UNHEARD_MS, Backlog
from negotiator.teleprompter.speech.streams.telling import Telling

SKIP_MS: Final = 2_000
LAG_MS: Final = 4_000
_STEP_MS: Final = 1_000
"""How much worse it must get before it is said again."""


class Channel:
    """What a recognition keeps of its channel; the recognition decides who hears it."""

    def __init__(self, *, interim: bool = True, again_ms: int = AGAIN_MS) -> None:
        self.backlog = Backlog(again_ms=again_ms)
        self.telling = Telling()
        self._interim = interim
        self._told = 0
        self._settled_ms = 0
        self.elsewhere_ms = 0
        """Audio that went to whoever hears it and was not answered for, as far as is known."""
        self._moved = asyncio.Event()

    @property
    def interim(self) -> bool:
        """Whether partials are wanted now."""
        return self._interim and self.backlog.behind_ms <= SKIP_MS

    def put(self, pcm: bytes) -> None:
        """Take audio in; `Busy` when it cannot be, ValueError for half a sample."""
        if len(pcm) % 2:
            raise ValueError("16-bit audio comes in an even number of bytes")
        if self.telling.ended:
            raise Busy("this channel is over")
        if len(pcm) > UNHEARD_MS * PER_MS * 2:
            raise Busy("a piece is longer than all that may wait")
        if self.telling.full:
            raise Busy("nobody reads the events")
        if dropped := self.backlog.put(pcm):
            self.telling.say(Gap(dropped[0] // PER_MS, dropped[1] // PER_MS, "overrun"))
        self._tell_lag()

    def heard(self, position: int) -> None:
        """Everything before this sample was heard."""
        self.backlog.heard(position)
        self._tell_lag()
        self._moved.set()

    def settled(self, at_ms: int) -> None:
        """Everything before this is in a Final."""
        self._settled_ms = max(self._settled_ms, at_ms)
        self.backlog.settled(at_ms * PER_MS)

    def again(self, notice: Problem) -> None:
        """Whoever heard is gone: say so, and have the last seconds heard again, naming what cannot be."""
        self.telling.say(notice)
        self.telling.resume()
        since = self.telling.open_since
        begins = self.backlog.rewind() // PER_MS
        if since is not None and (lost := max(since, self._settled_ms)) < begins:
            self.telling.say(Gap(lost, begins, "restart"))

    def end(self) -> None:
        """Close what is open; the events end."""
        self.backlog.clear()
        self.telling.end()
        self._moved.set()

    def drop(self) -> None:
        """End without a word."""
        self.backlog.clear()
        self.telling.drop()
        self._moved.set()

    async def caught_up(self, within_ms: int = 0) -> None:
        """Wait until at most this much is unheard, and there is room for another second."""
        while self._waits(within_ms) and not self.telling.ended:
            self._moved.clear()
            await self._moved.wait()

    def holds(self, samples: int) -> None:
        """Whoever hears holds this much of it now, beside the backlog."""
        self.backlog.elsewhere = samples
        self._moved.set()

    def _waits(self, within_ms: int) -> bool:
        behind = self.backlog.behind_ms
        return behind > within_ms or behind > max(0, self.backlog.room_ms - _STEP_MS)

    def _tell_lag(self) -> None:
        behind = self.backlog.behind_ms + self.elsewhere_ms
        worse = behind > LAG_MS and behind >= self._told + _STEP_MS
        if worse or (self._told and behind < SKIP_MS):
            self._told = behind if worse else 0
            self.telling.say(Lag(self._told))
