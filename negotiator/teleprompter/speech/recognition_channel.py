"""Audio of one channel on its clock: the last heard seconds, in case they must be heard again, and the unheard.

Bounded by audio, not by pieces: 8 s unheard at most, 10 s held at most. Positions are samples.

One channel's backlog and telling, and the rules on falling behind.
"""

import asyncio
from typing import Final

from negotiator.teleprompter.speech.events import AudioGap, RecognitionLag, RecognitionProblem
from negotiator.teleprompter.speech.recognizer import SAMPLE_RATE, RecognizerBusy
from negotiator.teleprompter.speech.utterance_events import UtteranceEventQueue

MAX_UNHEARD_MS: Final = 8_000
MAX_HELD_MS: Final = 10_000
REPLAY_MS: Final = 5_000
"""How much recognised audio is kept, in case it has to be recognised again."""
SAMPLES_PER_MS: Final = SAMPLE_RATE // 1000


class AudioBacklog:
    """[kept for a second hearing | taken and not yet heard | not taken], one buffer."""

    def __init__(self, *, again_ms: int = REPLAY_MS) -> None:
        self._again = again_ms * SAMPLES_PER_MS
        self._audio = bytearray()
        self._start = 0
        self._next = 0
        self._heard = 0
        self.elsewhere = 0
        """Samples of this channel that the recogniser buffers, not counting the backlog."""

    @property
    def received(self) -> int:
        """Samples received, which is the channel's clock."""
        return self._start + len(self._audio) // 2

    @property
    def taken(self) -> int:
        """Everything before this was taken."""
        return self._next

    @property
    def untaken(self) -> int:
        """Samples that can be taken."""
        return self.received - self._next

    @property
    def in_flight(self) -> int:
        """Samples taken and not yet heard."""
        return self._next - self._heard

    @property
    def heard_until(self) -> int:
        """Everything before this was heard."""
        return self._heard

    @property
    def behind_ms(self) -> int:
        """Audio received and not heard."""
        return (self.received - self._heard) // SAMPLES_PER_MS

    @property
    def held_ms(self) -> int:
        """All the audio that is here."""
        return len(self._audio) // 2 // SAMPLES_PER_MS

    @property
    def room_ms(self) -> int:
        """The most that may wait here now."""
        return max(0, min(MAX_UNHEARD_MS, MAX_HELD_MS - self.elsewhere // SAMPLES_PER_MS))

    def put(self, pcm: bytes) -> tuple[int, int] | None:
        """Take more in; from and to, in samples, of what had to be dropped for it: the oldest that nobody took."""
        self._audio += pcm
        most = max(0, self.room_ms * SAMPLES_PER_MS - self.in_flight)
        dropped = None
        if self.untaken > most:
            dropped = self._next, self.received - most
            # What was kept from before the hole does not join what comes after it.
            self._drop_until(dropped[1])
            self._next = self._heard = dropped[1]
        self._trim()
        return dropped

    def take(self, most: int) -> tuple[int, bytes]:
        """Position and audio of the oldest unheard samples, `most` of them or fewer."""
        at, first = self._next, (self._next - self._start) * 2
        pcm = bytes(self._audio[first : first + most * 2])
        self._next += len(pcm) // 2
        return at, pcm

    def heard(self, position: int) -> None:
        """Everything before this sample was recognised; ignored for audio that was dropped since."""
        self._heard = max(self._heard, min(position, self._next))
        self._trim()

    def settled(self, position: int) -> None:
        """Everything before this sample is in a final and need not be recognised again."""
        self._drop_until(min(position, self._heard))

    def rewind(self) -> int:
        """Everything that is here, and may wait here, is to be taken again; the position it begins at."""
        self._drop_until(self.received - self.room_ms * SAMPLES_PER_MS)
        self._next = self._heard = self._start
        return self._start

    def clear(self) -> None:
        """Hold nothing."""
        self._start = self._next = self._heard = self.received
        self._audio.clear()

    def _trim(self) -> None:
        room = MAX_HELD_MS * SAMPLES_PER_MS - self.elsewhere - (self.received - self._heard)
        self._drop_until(self._heard - max(0, min(self._again, room)))

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

    def __init__(self, *, interim: bool = True, again_ms: int = REPLAY_MS) -> None:
        self.backlog = AudioBacklog(again_ms=again_ms)
        self.telling = UtteranceEventQueue()
        self._interim = interim
        self._told = 0
        self._settled_ms = 0
        self.elsewhere_ms = 0
        """Milliseconds of audio that the engine has and has not answered, as far as known."""
        self._moved = asyncio.Event()

    @property
    def interim(self) -> bool:
        """Whether partials are wanted now."""
        return self._interim and self.backlog.behind_ms <= SKIP_MS

    def put(self, pcm: bytes) -> None:
        """Take audio; `RecognizerBusy` when it does not fit, ValueError for half a sample."""
        if len(pcm) % 2:
            raise ValueError("16-bit audio comes in an even number of bytes")
        if self.telling.ended:
            raise RecognizerBusy("this channel is over")
        if len(pcm) > MAX_UNHEARD_MS * SAMPLES_PER_MS * 2:
            raise RecognizerBusy("a piece is longer than all that may wait")
        if self.telling.full:
            raise RecognizerBusy("nobody reads the events")
        if dropped := self.backlog.put(pcm):
            self.telling.say(
                AudioGap(dropped[0] // SAMPLES_PER_MS, dropped[1] // SAMPLES_PER_MS, "overrun")
            )
        self._tell_lag()

    def heard(self, position: int) -> None:
        """Everything before this sample was heard."""
        self.backlog.heard(position)
        self._tell_lag()
        self._moved.set()

    def settled(self, at_ms: int) -> None:
        """Everything before this is in a Final."""
        self._settled_ms = max(self._settled_ms, at_ms)
        self.backlog.settled(at_ms * SAMPLES_PER_MS)

    def again(self, notice: RecognitionProblem) -> None:
        """The engine was lost: report it, have the last seconds recognised again, and report a gap for what is lost."""
        self.telling.say(notice)
        self.telling.resume()
        since = self.telling.open_since
        begins = self.backlog.rewind() // SAMPLES_PER_MS
        if since is not None and (lost := max(since, self._settled_ms)) < begins:
            self.telling.say(AudioGap(lost, begins, "restart"))

    def end(self) -> None:
        """Close an open utterance and end the events."""
        self.backlog.clear()
        self.telling.end()
        self._moved.set()

    def drop(self) -> None:
        """End the events at once."""
        self.backlog.clear()
        self.telling.drop()
        self._moved.set()

    async def caught_up(self, within_ms: int = 0) -> None:
        """Wait until at most this much is unheard, and there is room for another second."""
        while self._waits(within_ms) and not self.telling.ended:
            self._moved.clear()
            await self._moved.wait()

    def holds(self, samples: int) -> None:
        """Set the samples that the recogniser buffers, not counting the backlog."""
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
            self.telling.say(RecognitionLag(self._told))
