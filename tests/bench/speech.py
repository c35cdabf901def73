"""How well, how soon and for how much CPU the embedded recogniser hears: `python -m tests.bench.speech`.

Thirty sentences of negotiations by synthetic voices (Debian's flite), clean and with white noise, fed as fast as they
are heard. Delay is audio after the last loud sample until the final, which does not depend on the machine; the time
to compute that last piece is told beside it, and does.
"""

import asyncio
import statistics
import time
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import psutil

from negotiator.teleprompter.speech.events import FinalTranscript as FinalEvent
from negotiator.teleprompter.speech.local_recognizer import LocalRecognizer
from negotiator.teleprompter.speech.recognizer import BYTES_PER_MS, StreamConfig
from tests.helpers.synthetic_speech import PIECE, silence, synthesise, word_errors

SAID: Final = """
your price is too high for us
we need a discount of ten percent
our budget for this year is already spent
another company has made us a better offer
i have to talk to my manager before i can sign
can you give us better payment terms
send me the contract and we will look at it next week
this is our final offer take it or leave it
we are happy with the supplier we have now
what happens if we are not satisfied
i need to think about it
the board has to approve this first
your competitor is twenty percent cheaper
we cannot pay more than five thousand dollars
if you lower the price we can sign today
we would like a longer warranty
how long does the delivery take
we had a bad experience with your company last year
call me again in six months
why should we pay more for the same thing
the quality is not what we expected
let us split the difference
we want to start with a small order
there is no money left in the budget
can you include the training for free
i am not the person who decides this
we need references from other customers
the interest rate is too high
we could agree if you pay within thirty days
that is not how we usually do business
""".strip().splitlines()
_PAUSE_MS: Final = 1_200


@dataclass
class Run:
    """One voice under one condition."""

    texts: list[str] = field(default_factory=list[str])
    delays: list[int] = field(default_factory=list[int])
    computing: list[float] = field(default_factory=list[float])
    confidences: list[float] = field(default_factory=list[float])
    cpu: float = 0.0
    audio: float = 0.0


def noisy(pcm: bytes, decibels: float | None) -> bytes:
    """With white noise this far below the voice."""
    if decibels is None:
        return pcm
    samples = np.frombuffer(pcm, "<i2").astype(np.float64)
    voice = samples[np.abs(samples) > 200]
    level = np.sqrt((voice**2).mean()) / 10 ** (decibels / 20)
    noise = np.random.default_rng(1).normal(0, level, len(samples))
    return (samples + noise).clip(-32_768, 32_767).astype("<i2").tobytes()


async def measure(voice: str, decibels: float | None) -> Run:
    """Every sentence on one channel."""
    recognizer = LocalRecognizer("pocketsphinx", None, hangover_ms=500, workers=1, streams=1)
    recognition = await recognizer.open(StreamConfig())
    worker = psutil.Process(recognizer.pool.pids[0])
    run, finals, before = Run(), asyncio.Queue[FinalEvent](), sum(worker.cpu_times()[:2])

    async def read() -> None:
        async for event in recognition.events():
            if isinstance(event, FinalEvent):
                finals.put_nowait(event)

    reading = asyncio.create_task(read())
    for sentence in SAID:
        speech = synthesise(sentence, voice)
        ends = len(speech.rstrip(b"\x00")) // BYTES_PER_MS
        pcm = noisy(speech + silence(_PAUSE_MS), decibels)
        delay, heard = 0, list[FinalEvent]()
        for at in range(0, len(pcm), PIECE):
            pushed = time.perf_counter()
            await recognition.push(pcm[at : at + PIECE])
            await recognition.caught_up()
            await asyncio.sleep(0)
            while not finals.empty():
                heard.append(finals.get_nowait())
                run.computing.append(time.perf_counter() - pushed)
                delay = (at + PIECE) // BYTES_PER_MS - ends
        run.texts.append(" ".join(final.text for final in heard))
        run.confidences += [final.confidence for final in heard if final.confidence is not None]
        run.delays += [delay] if heard else []
        run.audio += len(pcm) / 32_000
    run.cpu = sum(worker.cpu_times()[:2]) - before
    await recognition.close()
    await reading
    await recognizer.close()
    return run


def main() -> None:
    """One line for each condition."""
    for voice, decibels in (("rms", None), ("slt", None), ("rms", 20.0), ("rms", 10.0)):
        run = asyncio.run(measure(voice, decibels))
        exact = sum(text == said for text, said in zip(run.texts, SAID, strict=True))
        print(
            f"{voice} {f'{decibels:.0f} dB' if decibels else 'clean'}:"
            f" WER {word_errors(SAID, run.texts):.3f}, {exact}/{len(SAID)} exact,"
            f" CPU {run.cpu / run.audio:.3f} per audio second,"
            f" end of speech to final p50 {statistics.median(run.delays)} ms, max {max(run.delays)} ms"
            f" + computing p50 {statistics.median(run.computing) * 1000:.0f} ms,"
            f" confidence p50 {statistics.median(run.confidences):.2f}"
        )


if __name__ == "__main__":
    main()
