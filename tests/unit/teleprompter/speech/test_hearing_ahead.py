"""A worker hears ahead while no audio waits: pauses first, speakers who go on for a bounded share of its time."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from negotiator.teleprompter.speech import worker_process
from negotiator.teleprompter.speech.events import Transcription
from negotiator.teleprompter.speech.recognizer import Decoder, EngineKind
from negotiator.teleprompter.speech.worker_process import (
    FrameKind,
    PipeFrame,
    PipeFrameReader,
    WorkerProcess,
    encode_frame,
)
from tests.helpers.speech_frames import Told, frames

HEARING_SECONDS = 0.2


@dataclass(slots=True)
class Slow:
    """An engine and its decoder: each hearing moves the clock on."""

    now: float = 100.0
    broken: bool = False

    def decoder(self, language: str) -> Decoder:
        del language
        return self

    def give_back(self, decoder: Decoder) -> None:
        """It holds nothing."""

    def prepare(self) -> None:
        """It has all."""

    def begin(self) -> None:
        """It remembers nothing."""

    def feed(self, pcm: bytes) -> None:
        """It does not listen."""

    def partial(self) -> Transcription:
        if self.broken:
            raise RuntimeError("out of order")
        self.now += HEARING_SECONDS
        return Transcription(f"at {self.now:.1f}")

    def end(self) -> Transcription:
        return self.partial()


@dataclass(slots=True)
class Child:
    """A worker with channels, fed with letters, as in `frames`."""

    engine: Slow
    told: list[PipeFrame] = field(default_factory=list[PipeFrame])
    at: dict[int, int] = field(default_factory=dict[int, int])
    process: WorkerProcess = field(init=False)

    def __post_init__(self) -> None:
        reader = PipeFrameReader()
        self.process = WorkerProcess(lambda data: self.told.extend(reader.feed(data)))
        load = {"engine": "whisper", "model": "", "hangover_ms": 500}
        self._send(FrameKind.LOAD, 0, json.dumps(load).encode())

    def say(self, stream: int, pattern: str) -> None:
        if stream not in self.at:
            self._send(FrameKind.OPEN, stream, b"en")
        pcm = frames(pattern)
        self._send(FrameKind.AUDIO, stream, b"\1" + pcm)
        self.at[stream] += len(pcm) // 2

    def _send(self, kind: FrameKind, stream: int, payload: bytes) -> None:
        frame = encode_frame(kind, stream, position=self.at.setdefault(stream, 0), payload=payload)
        for one in PipeFrameReader().feed(frame):
            self.process.on(one)

    @property
    def partials(self) -> list[int]:
        """The streams that had a partial, in order."""
        return [frame.stream for frame in self.told if frame.kind is FrameKind.REPORT and frame.json()[0] == "partial"]


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch) -> Child:
    engine = Slow()

    def load(_kind: EngineKind) -> Any:
        def loaded(_model: Path | None) -> Slow:
            return engine

        return loaded

    monkeypatch.setattr(worker_process, "engine_loader", load)
    monkeypatch.setattr(worker_process, "detector_factory", lambda: Told)
    monkeypatch.setattr(worker_process.time, "monotonic", lambda: engine.now)
    return Child(engine)


def test_a_pause_goes_before_a_speaker_who_goes_on(child: Child) -> None:
    child.say(1, "v" * 60)
    child.say(2, "v" * 10 + "." * 6)
    assert child.process.idle()
    assert child.partials == [2]
    assert child.process.idle()
    assert child.partials == [2, 1]


def test_speakers_who_go_on_are_heard_for_a_share_of_the_time(child: Child) -> None:
    child.say(1, "v" * 60)
    child.say(2, "v" * 40)
    assert child.process.idle()
    assert child.partials == [1], "who waits longest"
    assert not child.process.idle(), "two speak: four times as long it rests"
    child.engine.now += 3 * HEARING_SECONDS
    assert not child.process.idle()
    child.engine.now += 2 * HEARING_SECONDS
    assert child.process.idle()
    assert child.partials == [1, 2]


def test_a_pause_is_heard_while_it_rests(child: Child) -> None:
    child.say(1, "v" * 60)
    assert child.process.idle()
    child.say(1, "." * 6)
    assert child.process.idle()
    assert child.partials == [1, 1]


def test_a_fault_ends_that_channel_alone(child: Child) -> None:
    child.say(1, "v" * 10 + "." * 6)
    child.say(2, "v" * 60)
    child.engine.broken = True
    assert child.process.idle()
    child.engine.broken = False
    assert [frame.stream for frame in child.told if frame.kind is FrameKind.FAULT] == [1]
    assert child.process.idle()
    assert child.partials == [2]


def test_without_speech_there_is_nothing_to_do(child: Child) -> None:
    child.say(1, "." * 50)
    assert not child.process.idle()
