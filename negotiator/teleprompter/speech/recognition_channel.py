"""The audio and events of one recognition channel: its backlog, its event queue, and the rules for falling behind.

The backlog holds the audio that is not yet recognised, and the last seconds that were, in case they have to be
recognised again. It is bounded by duration: at most 8 s are not recognised, at most 10 s are held. Positions are in
samples.
"""

from typing import Final

from negotiator.teleprompter.speech.events import AudioGap, RecognitionLag, RecognitionProblem, UtteranceEventQueue
from negotiator.teleprompter.speech.recognizer import SAMPLE_RATE, RecognizerBusy

MAX_UNHEARD_MS: Final = 8_000
MAX_HELD_MS: Final = 10_000
REPLAY_MS: Final = 5_000
"""How much recognised audio is kept, in case it has to be recognised again."""
SAMPLES_PER_MS: Final = SAMPLE_RATE // 1000


class AudioBacklog:
    """One buffer of three parts: [recognised and still held | taken and not yet recognised | not taken]."""

    def __init__(self, *, again_ms: int = REPLAY_MS) -> None:
        self._again = again_ms * SAMPLES_PER_MS
        self._audio = bytearray()
        self._start = 0
        self._next = 0
        self.heard_until = 0
        """The position before which all audio was recognised."""
        self.elsewhere = 0
        """Samples of this channel that the recogniser buffers, not counting the backlog."""

    @property
    def received(self) -> int:
        """Samples received; this is the channel's clock."""
        return self._start + len(self._audio) // 2

    @property
    def untaken(self) -> int:
        """Samples that can be taken."""
        return self.received - self._next

    @property
    def in_flight(self) -> int:
        """Samples taken and not yet recognised."""
        return self._next - self.heard_until

    @property
    def behind_ms(self) -> int:
        """Milliseconds received and not yet recognised."""
        return (self.received - self.heard_until) // SAMPLES_PER_MS

    @property
    def held_ms(self) -> int:
        """Milliseconds held in memory."""
        return len(self._audio) // 2 // SAMPLES_PER_MS

    @property
    def room_ms(self) -> int:
        """The most milliseconds that may wait for recognition now."""
        return max(0, min(MAX_UNHEARD_MS, MAX_HELD_MS - self.elsewhere // SAMPLES_PER_MS))

    def put(self, pcm: bytes) -> tuple[int, int] | None:
        """Add audio. Return the range, in samples, of the oldest audio that had to be dropped for it, if any."""
        self._audio += pcm
        most = max(0, self.room_ms * SAMPLES_PER_MS - self.in_flight)
        dropped = None
        if self.untaken > most:
            dropped = self._next, self.received - most
            # The audio held from before the gap is not continuous with the audio after it.
            self._drop_until(dropped[1])
            self._next = self.heard_until = dropped[1]
        self._trim()
        return dropped

    def take(self, most: int) -> tuple[int, bytes]:
        """Take the oldest audio that was not taken, `most` samples or fewer; return its position and the audio."""
        at, first = self._next, (self._next - self._start) * 2
        pcm = bytes(self._audio[first : first + most * 2])
        self._next += len(pcm) // 2
        return at, pcm

    def heard(self, position: int) -> None:
        """Record that all audio before this position was recognised; ignored for audio that was dropped since."""
        self.heard_until = max(self.heard_until, min(position, self._next))
        self._trim()

    def settled(self, position: int) -> None:
        """Drop the audio before this position: it is in a final and need not be recognised again."""
        self._drop_until(min(position, self.heard_until))

    def rewind(self) -> int:
        """Let all held audio be taken again, as far as it may wait; return the position of its first sample."""
        self._drop_until(self.received - self.room_ms * SAMPLES_PER_MS)
        self._next = self.heard_until = self._start
        return self._start

    def clear(self) -> None:
        """Drop all audio."""
        self._start = self._next = self.heard_until = self.received
        self._audio.clear()

    def _trim(self) -> None:
        room = MAX_HELD_MS * SAMPLES_PER_MS - self.elsewhere - (self.received - self.heard_until)
        self._drop_until(self.heard_until - max(0, min(self._again, room)))

    def _drop_until(self, position: int) -> None:
        if position > self._start:
            del self._audio[: (position - self._start) * 2]
            self._start = position


SKIP_MS: Final = 2_000
LAG_MS: Final = 4_000
_STEP_MS: Final = 1_000
"""By how much the lag must grow before it is reported again."""


class RecognitionChannel:
    """The audio and the events of one channel, whichever engine recognises it."""

    def __init__(self, *, again_ms: int = REPLAY_MS) -> None:
        self.backlog = AudioBacklog(again_ms=again_ms)
        self.telling = UtteranceEventQueue()
        self._told = 0
        self._settled_ms = 0

    @property
    def interim(self) -> bool:
        """Whether partials are wanted now: recognition is not behind."""
        return self.backlog.behind_ms <= SKIP_MS

    def put(self, pcm: bytes) -> None:
        """Add audio; `RecognizerBusy` when there is no capacity for it, ValueError for half a sample."""
        if len(pcm) % 2:
            raise ValueError("16-bit audio comes in an even number of bytes")
        if self.telling.ended:
            raise RecognizerBusy("this channel is over")
        if len(pcm) > MAX_UNHEARD_MS * SAMPLES_PER_MS * 2:
            raise RecognizerBusy("a piece is longer than all that may wait")
        if self.telling.full:
            raise RecognizerBusy("nobody reads the events")
        if dropped := self.backlog.put(pcm):
            self.telling.say(AudioGap(dropped[0] // SAMPLES_PER_MS, dropped[1] // SAMPLES_PER_MS, "overrun"))
        self._tell_lag()

    def heard(self, position: int) -> None:
        """Record that all audio before this position (in samples) was recognised."""
        self.backlog.heard(position)
        self._tell_lag()

    def settled(self, at_ms: int) -> None:
        """Record that all audio before this time is in a final."""
        self._settled_ms = max(self._settled_ms, at_ms)
        self.backlog.settled(at_ms * SAMPLES_PER_MS)

    def again(self, notice: RecognitionProblem) -> None:
        """After a loss of the engine: report it, rewind the backlog, and report a gap for the audio that is lost."""
        self.telling.say(notice)
        self.telling.resume()
        since = self.telling.open_since
        begins = self.backlog.rewind() // SAMPLES_PER_MS
        if since is not None and (lost := max(since, self._settled_ms)) < begins:
            self.telling.say(AudioGap(lost, begins, "restart"))

    def end(self) -> None:
        self.backlog.clear()
        self.telling.end()

    def drop(self) -> None:
        """Drop all audio and end the events at once."""
        self.backlog.clear()
        self.telling.drop()

    def _tell_lag(self) -> None:
        behind = self.backlog.behind_ms
        worse = behind > LAG_MS and behind >= self._told + _STEP_MS
        if worse or (self._told and behind < SKIP_MS):
            self._told = behind if worse else 0
            self.telling.say(RecognitionLag(self._told))
