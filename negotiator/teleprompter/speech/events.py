"""The events of a recognition. Times are milliseconds of audio received on the channel, never the time of day.

Each `utterance_id` has any number of partials, each of which replaces the one before, and exactly one final, after
which the id is not used again. Finals come in the order in which their utterances began. `UtteranceEventQueue` makes
them from the reports of an engine and keeps them for their reader.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Transcription:
    """The text of one utterance; `confidence` in 0..1, if the engine reports one."""

    text: str
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class PartialTranscript:
    """The text of the utterance so far; every word may still change."""

    utterance_id: str
    text: str
    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class FinalTranscript:
    """The final text of an utterance; empty when the engine recognised no words."""

    utterance_id: str
    text: str
    start_ms: int
    end_ms: int
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class RecognitionLag:
    """Recognition is `behind_ms` behind the audio received; 0 once it has caught up."""

    behind_ms: int


@dataclass(frozen=True, slots=True)
class AudioGap:
    """Audio from `from_ms` to `to_ms` was not recognised; the reason is `overrun` or `restart`."""

    from_ms: int
    to_ms: int
    reason: str


@dataclass(frozen=True, slots=True)
class RecognitionProblem:
    """A problem to show to the user, with a stable `code`; `fatal` when recognition has ended."""

    code: str
    description: str
    fatal: bool = False


RecognitionEvent = PartialTranscript | FinalTranscript | RecognitionLag | AudioGap | RecognitionProblem

MAX_WAITING_EVENTS: Final = 256
"""The most unread events: beyond it no more audio is accepted, since the reader seems to be gone."""


@dataclass(slots=True)
class _Open:
    began: int
    until: int
    text: str = ""


class UtteranceEventQueue:
    """Names utterances `u1`, `u2`, …; each id is opened once and closed once, in order, whatever the engine reports."""

    def __init__(self) -> None:
        self._waiting: deque[RecognitionEvent] = deque()
        self._news = asyncio.Event()
        self._open: dict[str, _Open] = {}
        self._count = 0
        self._again: str | None = None
        self.ended = False

    @property
    def full(self) -> bool:
        return len(self._waiting) >= MAX_WAITING_EVENTS

    @property
    def open_since(self) -> int | None:
        """Milliseconds at which the oldest open utterance began."""
        return min((entry.began for entry in self._open.values()), default=None)

    def say(self, event: RecognitionEvent) -> None:
        """Add an event; of unread partials and lags only the newest is kept."""
        if self.ended:
            return
        if isinstance(event, PartialTranscript | RecognitionLag):
            older = next((each for each in reversed(self._waiting) if _is_replaced(each, event)), None)
            if older is not None:
                self._waiting.remove(older)
        self._waiting.append(event)
        self._news.set()

    def began(self, at_ms: int) -> str:
        """Begin an utterance and return its id: after a restart, that of the open one, which is recognised again."""
        if self._again in self._open:
            name, self._again = self._again, None
            return name
        self._count += 1
        name = f"u{self._count}"
        self._open[name] = _Open(at_ms, at_ms)
        return name

    def partial(self, name: str, text: str, until_ms: int) -> None:
        if entry := self._open.get(name):
            entry.text, entry.until = text, max(entry.until, until_ms)
            self.say(PartialTranscript(name, text, entry.began, entry.until))

    def final(self, name: str, heard: Transcription, until_ms: int) -> None:
        """Report the final text; closes the id, and before it those of utterances that began earlier."""
        while self._open and name in self._open:
            oldest = next(iter(self._open))
            entry = self._open.pop(oldest)
            if oldest != name:
                self.say(FinalTranscript(oldest, entry.text, entry.began, entry.until))
                continue
            until = max(until_ms, entry.began)
            self.say(FinalTranscript(name, heard.text, entry.began, until, heard.confidence))

    def resume(self) -> None:
        """Prepare for a restarted engine: its first utterance is the one that is open now, if any."""
        self._again = next(reversed(self._open), None)

    def end(self) -> None:
        """Close the open utterances with the text they have, then end the events."""
        for name, entry in list(self._open.items()):
            self.final(name, Transcription(entry.text), entry.until)
        self.ended = True
        self._news.set()

    def drop(self) -> None:
        """End the events and drop the unread ones."""
        self._open.clear()
        self._waiting.clear()
        self.ended = True
        self._news.set()

    async def events(self) -> AsyncIterator[RecognitionEvent]:
        while True:
            while self._waiting:
                yield self._waiting.popleft()
            if self.ended:
                return
            self._news.clear()
            await self._news.wait()


def _is_replaced(older: RecognitionEvent, event: PartialTranscript | RecognitionLag) -> bool:
    """Whether only the newer one counts: a partial of the same utterance, or a lag."""
    if isinstance(older, PartialTranscript) and isinstance(event, PartialTranscript):
        return older.utterance_id == event.utterance_id
    return isinstance(older, RecognitionLag) and isinstance(event, RecognitionLag)
