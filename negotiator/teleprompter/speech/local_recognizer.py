"""A recogniser whose engine runs in worker processes on this machine.

The processes of one server process are started when needed, shared by channels, replaced when they die, and ended when
idle.
"""

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from negotiator.base.errors import Unavailable
from negotiator.runtime.circuit_breaker import CircuitBreaker
from negotiator.teleprompter.speech import endpointer
from negotiator.teleprompter.speech.engine import engine_kinds
from negotiator.teleprompter.speech.recognizer import EngineCapabilities, RecognizerBusy, SpeechRecognition
from negotiator.teleprompter.speech.worker import LOAD_SECONDS, SpeechWorker, WorkerRecognition

_IDLE_SECONDS: Final = 300.0
_START_FAILURES: Final = 2


class LocalRecognizer:
    """Recognises at most `streams` channels in at most `workers` processes, which start with the first channel."""

    idle_seconds = _IDLE_SECONDS
    """Seconds that processes outlive the last channel, short since each holds 90 MB and more."""

    def __init__(self, engine: str, model: Path | None, *, hangover_ms: int, workers: int, streams: int) -> None:
        self._load = {"engine": engine, "model": str(model.absolute()) if model else "", "hangover_ms": hangover_ms}
        self._kind = engine_kinds()[engine]
        self.caps = _honest(self._kind.caps)
        self._size = workers
        self._most = streams
        self.workers: list[SpeechWorker] = []
        self._open: set[WorkerRecognition] = set()
        self._starting = asyncio.Lock()
        self._breaker = CircuitBreaker(
            "speech workers cannot be started",
            "The speech engine cannot be used now.",
            seconds=2 * LOAD_SECONDS,
            at_once=1,
            faults=(Unavailable,),
            failures=_START_FAILURES,
        )
        self._repairs: set[asyncio.Task[None]] = set()
        self._idle: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def fault(self) -> str:
        """As `Recognizer.fault`."""
        return "its workers cannot be started" if self._breaker.is_open else ""

    @property
    def pids(self) -> list[int]:
        """The ids of the processes."""
        return [worker.pid for worker in self.workers]

    async def open(self, language: str) -> SpeechRecognition:
        """As `Recognizer.open`; a language that the engine lacks is `Unavailable` too."""
        language = language.partition("-")[0].lower()
        if self.caps.languages and language not in self.caps.languages:
            known = ", ".join(self.caps.languages)
            raise Unavailable(f"The speech engine here hears only: {known}.")
        if self._closed:
            raise Unavailable("The speech engine is closing.")
        if len(self._open) >= self._most:
            raise RecognizerBusy("every speech stream is taken")
        recognition = WorkerRecognition(language, doubtful=self._kind.doubtful, over=self._over)
        self._open.add(recognition)  # before the first await, so that `streams` holds
        try:
            recognition.attach(await self._worker())
        except BaseException:
            self._over(recognition)
            raise
        return recognition

    async def close(self) -> None:
        """End every channel, then every process."""
        self._closed = True
        for recognition in list(self._open):
            await recognition.close()
        if self._idle is not None:
            self._idle.cancel()
        for repair in self._repairs:
            repair.cancel()
        await asyncio.gather(*self._repairs, return_exceptions=True)
        async with self._starting:
            await asyncio.gather(*(worker.close() for worker in self.workers))
            self.workers.clear()

    async def _worker(self) -> SpeechWorker:
        """The worker with the fewest channels; a new one while `size` allows it and no worker is idle."""
        async with self._starting:
            least = min(self.workers, key=lambda worker: len(worker.attached), default=None)
            if least is None or (least.attached and len(self.workers) < self._size):
                async with self._breaker.call():
                    least = await SpeechWorker.start(self._load, self._gone)
                self.workers.append(least)
            return least

    def _over(self, recognition: WorkerRecognition) -> None:
        self._open.discard(recognition)
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(self.idle_seconds, self._rest)

    def _rest(self) -> None:
        if not self._open:
            workers, self.workers = self.workers, []
            for worker in workers:
                self._aside(worker.close())

    def _aside(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._repairs.add(task)
        task.add_done_callback(self._repairs.discard)

    def _gone(self, worker: SpeechWorker) -> None:
        self.workers.remove(worker)
        waiting = [recognition for recognition in list(worker.attached.values()) if recognition.worker_lost()]
        if waiting and not self._closed:
            self._aside(self._repair(waiting))

    async def _repair(self, waiting: list[WorkerRecognition]) -> None:
        for recognition in waiting:
            try:
                worker = await self._worker()
            except Unavailable:
                recognition.fail("engine_failed", "The speech engine cannot be started again.")
            else:
                if recognition in self._open:  # it may have been closed in the meantime
                    recognition.attach(worker)


def _honest(caps: EngineCapabilities) -> EngineCapabilities:
    """The capabilities, with a note on any reduced quality on this machine."""
    if endpointer.silero_model_path() is not None:
        return caps
    note = f"{caps.quality_note} Ends of speech are found by loudness, since the published silero-vad is not installed."
    return replace(caps, quality_note=note)
