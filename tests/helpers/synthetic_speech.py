"""Speech for tests: a synthetic voice, feeding a channel as fast as it hears, and the promises that events keep."""

import asyncio
import subprocess
from collections.abc import Sequence
from functools import cache
from typing import Final

from rapidfuzz.distance import Levenshtein

from negotiator.teleprompter.speech.events import (
    AudioGap,
    FinalTranscript,
    PartialTranscript,
    RecognitionEvent,
    SpeechEnd,
    SpeechStart,
)
from negotiator.teleprompter.speech.recognizer import BYTES_PER_MS, SpeechRecognition
from tests.helpers.neighbours import require

PIECE: Final = 100 * BYTES_PER_MS


@cache
def synthesise(text: str, voice: str = "rms") -> bytes:
    """The sentence as 16 kHz s16le, through a pipe and never a file."""
    command = [require("flite"), "-voice", voice, "-t", text, "-o", "/dev/stdout"]
    wav = subprocess.run(command, capture_output=True, check=True).stdout
    pcm = wav[wav.index(b"data") + 8 :]
    return pcm[: len(pcm) - len(pcm) % 2]


def silence(ms: int) -> bytes:
    """Nothing, for so long."""
    return bytes(ms * BYTES_PER_MS)


def sentences(*texts: str, pause_ms: int = 1000) -> bytes:
    """Each sentence with a pause after it."""
    return b"".join(synthesise(text) + silence(pause_ms) for text in texts)


async def feed(recognition: SpeechRecognition, pcm: bytes, *, within_ms: int = 1000) -> None:
    """Push it all in pieces of 100 ms, as fast as it is heard."""
    for start in range(0, len(pcm), PIECE):
        await recognition.push(pcm[start : start + PIECE])
        await recognition.caught_up(within_ms)


async def collected(recognition: SpeechRecognition) -> list[RecognitionEvent]:
    """All events to the end."""
    return [event async for event in recognition.events()]


async def heard(recognition: SpeechRecognition, pcm: bytes) -> list[RecognitionEvent]:
    """Feed it, finish, and give what was told meanwhile."""
    reading = asyncio.create_task(collected(recognition))
    await feed(recognition, pcm)
    await recognition.finish()
    return await reading


def finals(events: Sequence[RecognitionEvent]) -> list[FinalTranscript]:
    """Only those."""
    return [event for event in events if isinstance(event, FinalTranscript)]


def check_event_order(events: Sequence[RecognitionEvent], audio_ms: int) -> None:
    """What `events` promises about order, ids, revisions and times; every opened id is closed."""
    begun: dict[str, int] = {}
    revs: dict[str, int] = {}
    closed: list[str] = []
    ended: set[str] = set()
    for event in events:
        match event:
            case SpeechStart(name, at):
                assert name not in begun
                assert 0 <= at <= audio_ms
                begun[name], revs[name] = at, 0
            case PartialTranscript(name, rev, text, start, end):
                assert name in begun
                assert name not in closed
                assert rev > revs[name]
                assert text
                assert begun[name] == start <= end <= audio_ms + 32
                revs[name] = rev
            case FinalTranscript(name, rev, text, start, end, words, confidence):
                assert name in begun
                assert name not in closed
                assert rev > revs[name]
                assert begun[name] == start <= end <= audio_ms + 32
                assert confidence is None or 0 <= confidence <= 1
                for word in words:
                    assert start <= word.start_ms <= word.end_ms <= end
                closed.append(name)
            case SpeechEnd(name, at):
                assert name in begun
                assert name not in ended
                assert begun[name] <= at <= audio_ms + 32
                ended.add(name)
            case AudioGap(start, end):
                assert 0 <= start < end <= audio_ms
            case _:
                pass
    assert closed == list(begun)
    assert ended == set(begun)


def word_errors(said: Sequence[str], got: Sequence[str]) -> float:
    """Word error rate over all of them."""
    pairs = [(one.split(), other.split()) for one, other in zip(said, got, strict=True)]
    wrong = sum(Levenshtein.distance(one, other) for one, other in pairs)
    return wrong / sum(len(one) for one, _ in pairs)
