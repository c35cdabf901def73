"""Speech for tests: a synthetic voice, feeding a channel as fast as it hears, and the promises that events keep."""

import asyncio
import subprocess
from collections.abc import Sequence
from functools import cache
from typing import Final

from rapidfuzz.distance import Levenshtein

from negotiator.teleprompter.speech.events import AudioGap, FinalTranscript, PartialTranscript, RecognitionEvent
from negotiator.teleprompter.speech.recognizer import BYTES_PER_MS, SpeechRecognition
from negotiator.teleprompter.speech.transcription_api import TranscribedRecognition
from negotiator.teleprompter.speech.worker import WorkerRecognition
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
    return bytes(ms * BYTES_PER_MS)


def sentences(*texts: str, pause_ms: int = 1000) -> bytes:
    """Each sentence with a pause after it."""
    return b"".join(synthesise(text) + silence(pause_ms) for text in texts)


async def feed(recognition: SpeechRecognition, pcm: bytes, *, within_ms: int = 1000) -> None:
    """Push it all in pieces of 100 ms, as fast as it is heard."""
    for start in range(0, len(pcm), PIECE):
        await recognition.push(pcm[start : start + PIECE])
        await caught_up(recognition, within_ms)


async def caught_up(recognition: SpeechRecognition, within_ms: int = 0) -> None:
    """Wait until at most this much is not recognised, and another second may wait, or the recognition has ended."""
    assert isinstance(recognition, WorkerRecognition | TranscribedRecognition)
    channel = recognition.channel
    while not channel.telling.ended:
        if channel.backlog.behind_ms <= min(within_ms, max(0, channel.backlog.room_ms - 1000)):
            return
        await asyncio.sleep(0.001)


async def collected(recognition: SpeechRecognition) -> list[RecognitionEvent]:
    return [event async for event in recognition.events()]


async def heard(recognition: SpeechRecognition, pcm: bytes) -> list[RecognitionEvent]:
    """Feed it, finish, and give what was told meanwhile."""
    reading = asyncio.create_task(collected(recognition))
    await feed(recognition, pcm)
    await recognition.finish()
    return await reading


def finals(events: Sequence[RecognitionEvent]) -> list[FinalTranscript]:
    return [event for event in events if isinstance(event, FinalTranscript)]


def check_event_order(events: Sequence[RecognitionEvent], audio_ms: int) -> None:
    """What `events` promises about order, ids and times; every utterance is closed, in the order of beginning."""
    began: dict[str, int] = {}
    closed: list[str] = []
    for event in events:
        match event:
            case PartialTranscript() | FinalTranscript():
                assert event.utterance_id not in closed
                began.setdefault(event.utterance_id, event.start_ms)
                assert 0 <= began[event.utterance_id] == event.start_ms <= event.end_ms <= audio_ms + 32
            case AudioGap(start, end):
                assert 0 <= start < end <= audio_ms
            case _:
                pass
        if isinstance(event, PartialTranscript):
            assert event.text
        if isinstance(event, FinalTranscript):
            assert event.confidence is None or 0 <= event.confidence <= 1
            closed.append(event.utterance_id)
    assert closed == [f"u{number}" for number in range(1, len(closed) + 1)]
    assert began.keys() == set(closed)


def word_errors(said: Sequence[str], got: Sequence[str]) -> float:
    """Word error rate over all of them."""
    pairs = [(one.split(), other.split()) for one, other in zip(said, got, strict=True)]
    wrong = sum(Levenshtein.distance(one, other) for one, other in pairs)
    return wrong / sum(len(one) for one, _ in pairs)
