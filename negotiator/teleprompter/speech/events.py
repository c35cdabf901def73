"""The events of a recognition. Times are milliseconds of audio received on the channel, never the time of day.

Each `utterance_id` has a SpeechStart, any number of partials (each replaces the one before, `rev` rises) and exactly
one final, after which the id is not used again. SpeechEnd comes when the voice stops, before or after the final. Finals
come in the order in which their utterances began.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TranscriptWord:
    """One word and when it was said; `confidence` in 0..1, if the engine reports one."""

    text: str
    start_ms: int
    end_ms: int
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class SpeechStart:
    """The speaker began to speak."""

    utterance_id: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class SpeechEnd:
    """The speaker stopped at `at_ms`; `forced` when the utterance was cut at its greatest length or at a gap."""

    utterance_id: str
    at_ms: int
    forced: bool = False


@dataclass(frozen=True, slots=True)
class PartialTranscript:
    """The text of the utterance so far; every word may still change."""

    utterance_id: str
    rev: int
    text: str
    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class FinalTranscript:
    """The final text of an utterance; empty when the engine recognised no words."""

    utterance_id: str
    rev: int
    text: str
    start_ms: int
    end_ms: int
    words: tuple[TranscriptWord, ...] = ()
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


RecognitionEvent = (
    SpeechStart | SpeechEnd | PartialTranscript | FinalTranscript | RecognitionLag | AudioGap | RecognitionProblem
)
