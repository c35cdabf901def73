"""A channel's pieces of any size, cut into frames on the audio clock and then into utterances."""

from negotiator.teleprompter.speech.endpointing.detector import FRAME, FRAME_BYTES
from negotiator.teleprompter.speech.endpointing.endpointer import Cut, Endpointer
from negotiator.teleprompter.speech.recognizer import RATE

_PER_MS = RATE // 1000


class Cutter:
    """Feeds an endpointer; a jump of the clock ends what was open, since nobody can hear across a hole."""

    def __init__(self, endpointer: Endpointer) -> None:
        self._endpointer = endpointer
        self._rest = bytearray()
        self._next = 0

    def hear(self, position: int, pcm: bytes) -> list[Cut]:
        """What audio that begins `position` samples into the channel adds."""
        cuts: list[Cut] = []
        if position != self._next:
            cuts += self._cut()
            self._next = position
        self._rest += pcm
        self._next += len(pcm) // 2
        at = self._next - len(self._rest) // 2
        whole = len(self._rest) - len(self._rest) % FRAME_BYTES
        for start in range(0, whole, FRAME_BYTES):
            frame = bytes(self._rest[start : start + FRAME_BYTES])
            cuts += self._endpointer.frame(frame, at // _PER_MS)
            at += FRAME
        del self._rest[:whole]
        return cuts

    def finish(self) -> list[Cut]:
        """The audio is over: an incomplete frame is filled with silence, an open utterance ends."""
        cuts: list[Cut] = []
        if self._rest:
            missing = FRAME_BYTES - len(self._rest)
            at = self._next - len(self._rest) // 2
            cuts += self._endpointer.frame(bytes(self._rest) + bytes(missing), at // _PER_MS)
        return cuts + self._cut()

    def _cut(self) -> list[Cut]:
        self._rest.clear()
        return self._endpointer.cut(self._next // _PER_MS)
