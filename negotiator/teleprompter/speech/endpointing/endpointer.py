"""Cuts utterances out of a channel: a pure state machine over frames and their probability of voice.

Two voiced frames open an utterance, which begins a little before them, so that no first consonant is lost; a pause of
the hangover closes it, and so does its greatest length (live measurements: 0.5 s finds every end 0.51 s after it,
p50).
"""

from collections import deque
from dataclasses import dataclass
from typing import Final

from negotiator.teleprompter.speech.endpointing.detector import FRAME_MS, Detector

HANGOVER_MS: Final = 500
LONGEST_MS: Final = 15_000
_OPENS: Final = 0.5
_KEEPS: Final = 0.35
"""Below this a frame inside an utterance is silent: less than what opens one, so that soft endings are kept."""
_OPENING_FRAMES: Final = 2
_LEAD_FRAMES: Final = 10
"""Frames kept from before the voice: 320 ms."""
_LONG: Final = 2 / 3
_LONG_PAUSE_MS: Final = 200
"""Past two thirds of its greatest length an utterance ends at a breath rather than in the middle of a word."""
_TAIL_MS: Final = 64
"""How much longer than its last voiced frame an utterance is said to be."""


@dataclass(frozen=True, slots=True)
class Begin:
    """An utterance begins at `at_ms`."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class Sound:
    """Audio of the open utterance, in order and without holes."""

    pcm: bytes


@dataclass(frozen=True, slots=True)
class End:
    """The open utterance ended at `at_ms`; `forced` at its greatest length or by the caller."""

    at_ms: int
    forced: bool


Cut = Begin | Sound | End


class Endpointer:
    """One channel; `hangover_ms` of silence end an utterance, `longest_ms` end it in any case."""

    def __init__(
        self, detector: Detector, *, hangover_ms: int = HANGOVER_MS, longest_ms: int = LONGEST_MS
    ) -> None:
        self._detector = detector
        self._hangover_ms = hangover_ms
        self._longest_ms = longest_ms
        self._lead: deque[bytes] = deque(maxlen=_LEAD_FRAMES)
        self._voiced = 0
        self._began: int | None = None
        self._last_voice = 0

    @property
    def speaking(self) -> bool:
        """Whether an utterance is open."""
        return self._began is not None

    def frame(self, pcm: bytes, at_ms: int) -> list[Cut]:
        """What 512 samples that begin at `at_ms` add."""
        voice = self._detector.voice(pcm)
        if self._began is None:
            return self._waiting(pcm, at_ms, voice)
        now = at_ms + FRAME_MS
        if voice >= _KEEPS:
            self._last_voice = now
        cuts: list[Cut] = [Sound(pcm)]
        long = now - self._began >= self._longest_ms * _LONG
        if now - self._last_voice >= (
            min(_LONG_PAUSE_MS, self._hangover_ms) if long else self._hangover_ms
        ):
            cuts.append(self._ended(min(self._last_voice + _TAIL_MS, now), forced=False))
        elif now - self._began >= self._longest_ms:
            cuts.append(self._ended(now, forced=True))
            # Whoever goes on speaking goes on in the next utterance at once.
            self._voiced = _OPENING_FRAMES if voice >= _KEEPS else 0
        return cuts

    def cut(self, at_ms: int) -> list[Cut]:
        """End an open utterance now and forget everything: the audio stops here, or a hole follows."""
        ended: list[Cut] = [] if self._began is None else [self._ended(at_ms, forced=True)]
        self._lead.clear()
        self._voiced = 0
        self._detector.reset()
        return ended

    def _waiting(self, pcm: bytes, at_ms: int, voice: float) -> list[Cut]:
        self._voiced = self._voiced + 1 if voice >= _OPENS else 0
        self._lead.append(pcm)
        if self._voiced < _OPENING_FRAMES:
            return []
        self._began = at_ms + FRAME_MS - FRAME_MS * len(self._lead)
        self._last_voice = at_ms + FRAME_MS
        cuts: list[Cut] = [Begin(self._began), Sound(b"".join(self._lead))]
        self._lead.clear()
        return cuts

    def _ended(self, at_ms: int, *, forced: bool) -> End:
        self._began = None
        self._voiced = 0
        self._lead.clear()
        return End(at_ms, forced)
