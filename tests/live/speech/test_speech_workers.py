"""Worker processes die, hang on to nothing, write nothing, and end with the server."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from typing import Final

import psutil
import pytest
import pytest_asyncio

from negotiator.base.errors import Unavailable
from negotiator.runtime.circuit_breaker import COOL_DOWN_SECONDS
from negotiator.teleprompter.speech.events import AudioGap, PartialTranscript, RecognitionEvent, RecognitionProblem
from negotiator.teleprompter.speech.recognizer import BYTES_PER_MS, engine_kinds
from negotiator.teleprompter.speech.whisper_engine import base_folder
from negotiator.teleprompter.speech.worker import HARD_TO_HEAR, LocalRecognizer
from tests.conftest import MODELS
from tests.helpers.human_speech import spoken
from tests.helpers.synthetic_speech import (
    caught_up,
    check_event_order,
    collected,
    feed,
    finals,
    heard,
    sentences,
    silence,
    synthesise,
)
from tests.live.speech.conftest import stand_in

ROOT: Final = Path(__file__).parents[3]
SAID: Final = ("your price is too high for us", "we need ten percent less")


def local(engine: str, folder: Path | None = None, *, streams: int = 4) -> LocalRecognizer:
    return LocalRecognizer(engine, folder, hangover_ms=500, workers=1, streams=streams)


@pytest_asyncio.fixture(params=["pocketsphinx", "whisper"])
async def embedded(request: pytest.FixtureRequest) -> AsyncGenerator[LocalRecognizer]:
    """Each embedded engine, with one worker that no other test uses."""
    base_folder(MODELS)
    made = local(request.param, MODELS)
    yield made
    await made.close()


@pytest.fixture
def standin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers load the stand-in for pocketsphinx, in no time."""
    stand_in(monkeypatch)


@pytest_asyncio.fixture
async def recognizer(standin: None) -> AsyncGenerator[LocalRecognizer]:
    """One whose workers load it."""
    del standin
    made = local("pocketsphinx")
    yield made
    await made.close()


def problems(events: list[RecognitionEvent]) -> list[RecognitionProblem]:
    return [event for event in events if isinstance(event, RecognitionProblem)]


@pytest.mark.asyncio
async def test_a_killed_worker_is_replaced_and_not_a_word_is_lost(embedded: LocalRecognizer) -> None:
    pcm = sentences(*SAID)
    recognition = await embedded.open("en")
    reading = asyncio.create_task(collected(recognition))
    middle = 1_500 * BYTES_PER_MS
    await feed(recognition, pcm[:middle], within_ms=0)
    (first,) = embedded.pids
    os.kill(first, signal.SIGKILL)
    await feed(recognition, pcm[middle:])
    await recognition.finish()
    events = await reading
    check_event_order(events, len(pcm) // 32)
    assert [problem.code for problem in problems(events)] == ["engine_restarted"]
    assert [spoken(final.text) for final in finals(events)] == list(SAID)
    assert embedded.pids != [first]
    at = events.index(problems(events)[0])
    before, after = (
        [event for event in part if isinstance(event, PartialTranscript)] for part in (events[:at], events[at:])
    )
    assert all(each.end_ms >= before[-1].end_ms for each in after if before), "nothing that was read is taken back"


@pytest.mark.asyncio
async def test_every_channel_of_a_dead_worker_goes_on(recognizer: LocalRecognizer) -> None:
    channels = [await recognizer.open("en") for _ in range(3)]
    pcm = sentences(*SAID)

    async def call(number: int) -> list[RecognitionEvent]:
        reading = asyncio.create_task(collected(channels[number]))
        await feed(channels[number], pcm[:64_000])
        if number == 1:
            os.kill(recognizer.pids[0], signal.SIGKILL)
        await feed(channels[number], pcm[64_000:])
        await channels[number].finish()
        return await reading

    for events in await asyncio.gather(*(call(number) for number in range(3))):
        check_event_order(events, len(pcm) // 32)
        assert [problem.fatal for problem in problems(events)] == [False]
        assert len(finals(events)) == 2


@pytest.mark.asyncio
async def test_an_engine_that_keeps_dying_is_given_up(recognizer: LocalRecognizer) -> None:
    recognition = await recognizer.open("en")
    reading = asyncio.create_task(collected(recognition))
    for _ in range(4):
        await recognition.push(silence(100))
        await caught_up(recognition)
        os.kill(recognizer.pids[0], signal.SIGKILL)
        await noticed(recognizer)
    events = await reading
    assert [problem.code for problem in problems(events)] == ["engine_restarted"] * 3 + ["engine_failed"]
    assert problems(events)[-1].fatal


async def noticed(recognizer: LocalRecognizer) -> None:
    before = recognizer.pids
    while recognizer.pids == before:
        await asyncio.sleep(0.005)


@pytest.mark.asyncio
async def test_a_worker_that_talks_nonsense_is_replaced(recognizer: LocalRecognizer) -> None:
    recognition = await recognizer.open("en")
    reading = asyncio.create_task(collected(recognition))
    (worker,) = recognizer.workers
    first = worker.pid
    channel = next(iter(worker.attached.values()))

    def on(_told: object) -> None:
        raise ValueError("nonsense")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(channel, "on", on)
        await recognition.push(silence(200))
        await noticed(recognizer)
    await recognition.finish()
    assert [problem.code for problem in problems(await reading)] == ["engine_restarted"]
    assert first not in recognizer.pids


@pytest.mark.asyncio
async def test_a_long_utterance_that_is_cut_by_a_death_names_what_is_missing(recognizer: LocalRecognizer) -> None:
    recognition = await recognizer.open("en")
    reading = asyncio.create_task(collected(recognition))
    long = synthesise("we have been told by our board that the price which you quoted last week is far too high") * 2
    await feed(recognition, long[: 8_000 * BYTES_PER_MS], within_ms=0)
    os.kill(recognizer.pids[0], signal.SIGKILL)
    await recognition.finish()
    events = await reading
    check_event_order(events, 8_000)
    (gap,) = [event for event in events if isinstance(event, AudioGap)]
    assert gap.reason == "restart"
    assert gap.to_ms == 3_000


@pytest.mark.asyncio
async def test_a_model_that_cannot_be_loaded_is_said_at_once(tmp_path: Path) -> None:
    recognizer = local("whisper-folder", tmp_path)
    with pytest.raises(Unavailable) as refused:
        await recognizer.open("en")
    assert "model.bin" in refused.value.detail
    assert str(tmp_path) not in refused.value.description
    assert recognizer.pids == []
    for _ in range(2):
        with pytest.raises(Unavailable) as refused:
            await recognizer.open("en")
    assert refused.value.retry_after == COOL_DOWN_SECONDS
    assert recognizer.fault == "its workers cannot be started"
    await recognizer.close()


@pytest.mark.asyncio
async def test_a_language_that_the_engine_lacks_is_refused() -> None:
    with pytest.raises(Unavailable, match="en"):
        await local("pocketsphinx").open("de")


@pytest.mark.asyncio
async def test_no_file_with_audio_appears_and_none_is_open(
    embedded: LocalRecognizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delenv("CI", raising=False)  # build machines get a more discreet runtime than people do
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # compiled modules are no sound
    for name in ("TMPDIR", "TEMP", "TMP", "HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    sound = synthesise(SAID[0])[: 1_500 * BYTES_PER_MS]
    recognition = await embedded.open("en")
    child = psutil.Process(embedded.pids[0])
    written_before = child.io_counters().write_bytes
    reading = asyncio.create_task(collected(recognition))
    await feed(recognition, sound)
    open_files = [opened.path for opened in child.open_files() if opened.mode != "r"]
    written = child.io_counters().write_bytes - written_before
    child_limit = child.rlimit(psutil.RLIMIT_CORE)
    await recognition.finish()
    assert finals(await reading)
    assert open_files == []
    # A file read for the first time costs a page for its access time; the sound is 12 pages.
    assert written < len(sound) // 2
    assert child_limit == (0, 0), "nor could a dump of its memory"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.asyncio
async def test_a_worker_knows_none_of_the_server_s_secrets(
    recognizer: LocalRecognizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEGOTIATOR_SECRET", "pepper")
    await recognizer.open("en")
    assert "NEGOTIATOR_SECRET" not in psutil.Process(recognizer.pids[0]).environ()


@pytest.mark.asyncio
@pytest.mark.usefixtures("standin")
async def test_who_is_heard_badly_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = replace(engine_kinds()["pocketsphinx"], doubtful=0.8)  # the stand-in is sure by 0.75, whatever it hears
    monkeypatch.setitem(engine_kinds(), "pocketsphinx", kind)
    recognizer = local("pocketsphinx")
    events = await heard(await recognizer.open("en"), (synthesise(SAID[1]) + silence(700)) * 6)
    assert problems(events) == [HARD_TO_HEAR]
    assert len(finals(events[: events.index(HARD_TO_HEAR)])) == 5
    await recognizer.close()


@pytest.mark.asyncio
async def test_workers_that_nobody_needs_end_and_come_back(recognizer: LocalRecognizer) -> None:
    recognizer.idle_seconds = 0
    first = await recognizer.open("en")
    second = await recognizer.open("en")
    child = psutil.Process(recognizer.pids[0])
    await first.close()
    await asyncio.sleep(0.01)
    assert child.is_running()
    await second.close()
    await asyncio.to_thread(child.wait, 10)
    assert recognizer.pids == []
    recognizer.idle_seconds = 60
    assert finals(await heard(await recognizer.open("en"), sentences(SAID[0])))


SERVER: Final = """
import asyncio
from negotiator.teleprompter.speech.worker import LocalRecognizer

async def main():
    recognizer = LocalRecognizer("pocketsphinx", None, hangover_ms=500, workers=1, streams=1)
    await recognizer.open("en")
    print(recognizer.pids[0], flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.usefixtures("standin")
def test_a_worker_ends_when_the_server_is_killed() -> None:
    command = [sys.executable, "-c", SERVER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True) as server:
        assert server.stdout is not None
        child = psutil.Process(int(server.stdout.readline()))
        server.kill()
    child.wait(timeout=10)
