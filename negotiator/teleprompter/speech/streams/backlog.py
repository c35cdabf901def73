"""Audio of one channel on its clock: the last heard seconds, in case they must be heard again, and the unheard.

Bounded by audio, not by pieces: 8 s unheard at most, 10 s held at most. Positions are samples.
"""

from typing import Final

from negotiator.teleprompter.speech.recognizer import RATE

UNHEARD_MS: Final = 8_000
HELD_MS: Final = 10_000
AGAIN_MS: Final = 5_000
"""How much of what was heard is kept for a second hearing."""
PER_MS: Final = RATE // 1000


class Backlog:
    """[kept for a second hearing | taken and not yet heard | not taken], one buffer."""

    def __init__(self, *, again_ms: int = AGAIN_MS) -> None:
        self._again = again_ms * PER_MS
        self._audio = bytearray()
        self._start = 0
        self._next = 0
        self._heard = 0
        self.elsewhere = 0
        """Samples of this channel that the one who hears holds beside what is here."""

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
        return (self.received - self._heard) // PER_MS

    @property
    def held_ms(self) -> int:
        """All the audio that is here."""
        return len(self._audio) // 2 // PER_MS

    @property
    def room_ms(self) -> int:
        """The most that may wait here now."""
        return max(0, min(UNHEARD_MS, HELD_MS - self.elsewhere // PER_MS))

    def put(self, pcm: bytes) -> tuple[int, int] | None:
        """Take more in; from and to, in samples, of what had to be dropped for it: the oldest that nobody took."""
        self._audio += pcm
        most = max(0, self.room_ms * PER_MS - self.in_flight)
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
        """Everything before this was heard; an answer about what has been dropped since changes nothing."""
        self._heard = max(self._heard, min(position, self._next))
        self._trim()

    def settled(self, position: int) -> None:
        """Everything before this is in a Final and need never be heard again."""
        self._drop_until(min(position, self._heard))

    def rewind(self) -> int:
        """Everything that is here, and may wait here, is to be taken again; the position it begins at."""
        self._drop_until(self.received - self.room_ms * PER_MS)
        self._next = self._heard = self._start
        return self._start

    def clear(self) -> None:
        """Hold nothing."""
        self._start = self._next = self._heard = self.received
        self._audio.clear()

    def _trim(self) -> None:
        room = HELD_MS * PER_MS - self.elsewhere - (self.received - self._heard)
        self._drop_until(self._heard - max(0, min(self._again, room)))

    def _drop_until(self, position: int) -> None:
        if position > self._start:
            del self._audio[: (position - self._start) * 2]
            self._start = position
