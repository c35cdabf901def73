"""How well, how soon and for how much CPU and memory the embedded recognisers hear people.

    python -m tests.bench.speech [--engines whisper whisper-tiny pocketsphinx]

Recordings of people (`tests/helpers/human_speech.py`), clean and in pink noise, fed to one worker as fast as they are
heard. Delay is audio after the last loud sample until the final, which does not depend on the
machine; the time to compute that last piece is told beside it, and does.
"""

import argparse
import asyncio
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
import psutil

from negotiator.teleprompter.speech.events import FinalTranscript
from negotiator.teleprompter.speech.recognizer import BYTES_PER_MS
from negotiator.teleprompter.speech.worker import LocalRecognizer
from tests.conftest import MODELS
from tests.helpers.human_speech import TEXTS, noisy, recording, spoken
from tests.helpers.synthetic_speech import PIECE, caught_up, silence, word_errors

ENGINES: Final = ("whisper", "whisper-tiny", "pocketsphinx")
NOISE: Final = (None, 20.0, 10.0)
_PAUSE_MS: Final = 1_200
_LOUD: Final = 500


@dataclass
class Run:
    """One engine under one condition; CPU and audio in seconds, memory in MB."""

    said: list[str] = field(default_factory=list[str])
    got: list[str] = field(default_factory=list[str])
    delays: list[int] = field(default_factory=list[int])
    computing: list[float] = field(default_factory=list[float])
    confidences: list[float] = field(default_factory=list[float])
    cpu: float = 0.0
    audio: float = 0.0
    memory: float = 0.0


async def measure(engine: str, models: Path, decibels: float | None) -> Run:
    """Every recording on a channel of its own, one after the other."""
    recognizer = LocalRecognizer(engine, models, hangover_ms=500, workers=1, streams=1)
    run = Run()
    warm = await recognizer.open("en")
    worker = psutil.Process(recognizer.pids[0])
    await warm.close()
    before = sum(worker.cpu_times()[:2])
    for name in TEXTS:
        await _hear(run, recognizer, name, decibels)
    run.cpu = sum(worker.cpu_times()[:2]) - before
    run.memory = worker.memory_info().rss / 1e6
    await recognizer.close()
    return run


async def _hear(run: Run, recognizer: LocalRecognizer, name: str, decibels: float | None) -> None:
    one = recording(name)
    loud = np.abs(np.frombuffer(one.pcm, "<i2").astype(np.int32)) > _LOUD
    ends = int(np.nonzero(loud)[0][-1]) * 2 // BYTES_PER_MS
    pcm = noisy(one.pcm + silence(_PAUSE_MS), decibels)
    recognition = await recognizer.open("en")
    heard = list[FinalTranscript]()

    async def read() -> None:
        async for event in recognition.events():
            if isinstance(event, FinalTranscript):
                heard.append(event)

    reading = asyncio.create_task(read())
    delay, count = 0, 0
    for at in range(0, len(pcm), PIECE):
        pushed = time.perf_counter()
        await recognition.push(pcm[at : at + PIECE])
        await caught_up(recognition)
        await asyncio.sleep(0)
        if len(heard) > count:
            count = len(heard)
            run.computing.append(time.perf_counter() - pushed)
            delay = (at + PIECE) // BYTES_PER_MS - ends
    await recognition.finish()
    await reading
    run.said.append(one.text)
    run.got.append(spoken(" ".join(final.text for final in heard)))
    run.confidences += [final.confidence for final in heard if final.confidence is not None]
    run.delays += [delay] if delay > 0 else []
    run.audio += len(pcm) / 1000 / BYTES_PER_MS


def main() -> None:
    """One row for each engine and condition."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engines", nargs="*", default=ENGINES)
    chosen = parser.parse_args()
    print("| Engine | Noise | Words wrong | CPU / s | Delay p50 / max | Computing p50 | Sure | MB |")
    print("| :--- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for engine in chosen.engines:
        for decibels in NOISE:
            run = asyncio.run(measure(engine, MODELS, decibels))
            print(
                f"| {engine} | {f'{decibels:.0f} dB' if decibels else 'none'}"
                f" | {word_errors(run.said, run.got):.1%} | {run.cpu / run.audio:.3f} s"
                f" | {statistics.median(run.delays)} / {max(run.delays)} ms"
                f" | {statistics.median(run.computing) * 1000:.0f} ms"
                f" | {statistics.median(run.confidences):.2f} | {run.memory:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
