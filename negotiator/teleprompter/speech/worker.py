"""A recogniser whose engine runs in worker processes on this machine, as the server sees them.

The processes of one server process are started when needed, shared by channels, replaced when they die, and ended when
idle. A recognition outlives its worker, since another one can take over. `ConfidenceMonitor` detects that an engine is
unsure of most finals, so that the user can be told. Measured with pocketsphinx: the median confidence of a final is 0.8
for a clear voice, 0.24 at a signal-to-noise ratio of 20 dB (47 % of words wrong) and 0.11 at 10 dB (97 %). With Whisper
base on people's recordings the least median of five finals is 0.62 without noise, 0.54 at 20 dB (5 % wrong), 0.41 at
0 dB (44 %), and the greatest at −5 dB (86 %) is 0.49.
"""

import asyncio
import contextlib
import json
import os
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any, Final

from negotiator.base.errors import Unavailable
from negotiator.config.settings_files import ENV_PREFIX
from negotiator.runtime.circuit_breaker import CircuitBreaker
from negotiator.runtime.telemetry import logger
from negotiator.teleprompter.speech.events import RecognitionEvent, RecognitionProblem, Transcription
from negotiator.teleprompter.speech.recognition_channel import SAMPLES_PER_MS, RecognitionChannel
from negotiator.teleprompter.speech.recognizer import (
    EngineCapabilities,
    FrameKind,
    PipeFrame,
    PipeFrameReader,
    RecognizerBusy,
    SpeechRecognition,
    encode_frame,
    engine_kinds,
    silero_model_path,
)

_MODULE: Final = "negotiator.teleprompter.speech.worker_process"
LOAD_SECONDS: Final = 120.0
_END_SECONDS: Final = 2.0
_READ: Final = 65_536
log = logger(__name__)


class SpeechWorker:
    """One process and the channels attached to it; `gone` is called once if the process ends unexpectedly."""

    def __init__(self, process: asyncio.subprocess.Process, gone: Callable[["SpeechWorker"], None]) -> None:
        self._process = process
        self._gone = gone
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._closing = False
        self._numbers = 0
        self.attached: dict[int, WorkerRecognition] = {}
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, load: dict[str, Any], gone: Callable[["SpeechWorker"], None]) -> "SpeechWorker":
        """A process with its engine loaded; `Unavailable` when that fails."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            _MODULE,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=_environment(),
            start_new_session=True,
        )
        worker = cls(process, gone)
        worker.send(encode_frame(FrameKind.LOAD, payload=json.dumps(load).encode()))
        try:
            async with asyncio.timeout(LOAD_SECONDS):
                await asyncio.shield(worker._ready)
        except BaseException as fault:
            await worker.close()
            if isinstance(fault, TimeoutError | OSError | EOFError):
                raise Unavailable("The speech engine cannot be used now.", detail=str(fault)) from fault
            raise
        return worker

    @property
    def pid(self) -> int:
        return self._process.pid

    def attach(self, channel: "WorkerRecognition", language: str) -> int:
        """Attach a channel; returns its stream number."""
        self._numbers += 1
        self.attached[self._numbers] = channel
        self.send(encode_frame(FrameKind.OPEN, self._numbers, payload=language.encode()))
        return self._numbers

    def send(self, data: bytes) -> None:
        """Write frames to the process; the caller limits how much is in flight."""
        if self._process.stdin is not None and not self._process.stdin.is_closing():
            self._process.stdin.write(data)

    def kill(self) -> None:
        """Kill a process that hangs; it then counts as one that died."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    async def close(self) -> None:
        """Close the input, so that the process ends by itself; kill it if it does not."""
        self._closing = True
        self.attached.clear()
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            async with asyncio.timeout(_END_SECONDS):
                await self._process.wait()
        except TimeoutError:
            self.kill()
            await self._process.wait()
        await self._reading

    async def _read(self) -> None:
        try:
            await self._follow()
        except Exception as fault:  # after any error, the channels of this worker continue in another one
            log.warning("a speech worker is not understood", pid=self.pid, detail=repr(fault))
            self.kill()
        code = await self._process.wait()
        if not self._ready.done():
            self._ready.set_exception(EOFError(f"the worker ended with code {code}"))
        elif not self._closing:
            log.warning("a speech worker died", pid=self.pid, code=code)
            self._gone(self)

    async def _follow(self) -> None:
        frames = PipeFrameReader()
        output = self._process.stdout
        while output is not None and (data := await output.read(_READ)):
            for told in frames.feed(data):
                self._on(told)

    def _on(self, told: PipeFrame) -> None:
        if told.kind is FrameKind.READY and not self._ready.done():
            self._ready.set_result(None)
        elif told.kind is FrameKind.FAULT and not told.stream and not self._ready.done():
            self._ready.set_exception(OSError(told.payload.decode(errors="replace")))
        elif channel := self.attached.get(told.stream):
            if told.kind in {FrameKind.OVER, FrameKind.FAULT}:
                del self.attached[told.stream]
            channel.on(told)


def _environment() -> dict[str, str]:
    """The server's environment without its settings and secrets, with one thread for each numeric library."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ENV_PREFIX)}
    return kept | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


_FINALS: Final = 5
HARD_TO_HEAR: Final = RecognitionProblem(
    "hard_to_hear",
    "The engine does not recognise most words well, because of noise or an unfamiliar voice. Do not rely on the text.",
)


class ConfidenceMonitor:
    """Monitors one channel. A final with a confidence below `threshold` is likely wrong; None where that was not
    measured.
    """

    def __init__(self, threshold: float | None) -> None:
        self._threshold = threshold
        self._last: deque[float] = deque(maxlen=_FINALS)
        self._told = False

    def heard(self, confidence: float | None) -> RecognitionProblem | None:
        """The problem to report after one more final: reported once, and again only after an improvement."""
        if self._threshold is None or confidence is None:
            return None
        self._last.append(confidence)
        if len(self._last) < _FINALS:
            return None
        before, self._told = self._told, median(self._last) < self._threshold
        return HARD_TO_HEAR if self._told and not before else None


_WINDOW: Final = 400 * SAMPLES_PER_MS
"""The most samples in flight to a worker: enough to keep it busy, few enough that little has to be sent again."""
_PIECE: Final = 100 * SAMPLES_PER_MS
_HANGS_SECONDS: Final = 30.0
_RESTARTS: Final = 3
_WITHIN_SECONDS: Final = 60.0


class WorkerRecognition:
    """One channel; `over` is called once, when the channel needs no worker any more."""

    def __init__(self, language: str, *, doubtful: float | None, over: Callable[["WorkerRecognition"], None]) -> None:
        self.channel = RecognitionChannel()
        self._language = language
        self._doubt = ConfidenceMonitor(doubtful)
        self._over = over
        self._worker: SpeechWorker | None = None
        self._number = 0
        self._names: dict[int, str] = {}
        self._finishing = False
        self._asked_to_finish = False
        self._again_until = 0
        self._moved = 0.0
        self._restarts: list[float] = []

    def attach(self, worker: SpeechWorker) -> None:
        """Continue in this worker, beginning with the audio that is not yet recognised."""
        self._worker = worker
        self._names = {}
        self._asked_to_finish = False
        self._number = worker.attach(self, self._language)
        self._moved = asyncio.get_running_loop().time()
        self._pump()

    def worker_lost(self) -> bool:
        """Handle the end of the worker; return whether another one should take over."""
        self._worker = None
        now = asyncio.get_running_loop().time()
        self._restarts = [at for at in self._restarts if now - at < _WITHIN_SECONDS] + [now]
        if len(self._restarts) > _RESTARTS:
            self.fail("engine_failed", "The speech engine keeps failing; nothing more is heard.")
            return False
        self._again_until = self.channel.backlog.heard_until
        description = "The speech engine was restarted; the last seconds are heard again."
        self.channel.again(RecognitionProblem("engine_restarted", description))
        return True

    def fail(self, code: str, description: str) -> None:
        """Report that recognition has failed, and end."""
        self.channel.telling.say(RecognitionProblem(code, description, fatal=True))
        self._end()

    async def push(self, pcm16k: bytes) -> None:
        """As `SpeechRecognition.push`."""
        self.channel.put(pcm16k)
        self._pump()
        self._watch()

    async def finish(self) -> None:
        self._finishing = True
        self._pump()

    async def close(self) -> None:
        if not self.channel.telling.ended:
            self.channel.drop()
            self._leave()

    def events(self) -> AsyncIterator[RecognitionEvent]:
        return self.channel.telling.events()

    def on(self, told: PipeFrame) -> None:
        match told.kind:
            case FrameKind.HEARD:
                self._moved = asyncio.get_running_loop().time()
                self.channel.heard(told.position)
                self._pump()
            case FrameKind.REPORT:
                self._report(*told.json())
            case FrameKind.OVER:
                self._end()
            case _:
                log.warning("a speech engine failed", detail=told.payload.decode(errors="replace"))
                self.fail("engine_failed", "The speech engine failed; nothing more is heard.")

    def _pump(self) -> None:
        backlog, worker = self.channel.backlog, self._worker
        if worker is None or self.channel.telling.ended:
            return
        while backlog.untaken and backlog.in_flight < _WINDOW:
            at, pcm = backlog.take(_PIECE)
            # Partials of audio that is recognised again would replace longer ones that the client has.
            interim = bytes([self.channel.interim and at >= self._again_until])
            worker.send(encode_frame(FrameKind.AUDIO, self._number, position=at, payload=interim + pcm))
        if self._finishing and not self._asked_to_finish and not backlog.untaken:
            self._asked_to_finish = True
            worker.send(encode_frame(FrameKind.FINISH, self._number))

    def _watch(self) -> None:
        hangs = asyncio.get_running_loop().time() - self._moved > _HANGS_SECONDS
        if self._worker is not None and self.channel.backlog.in_flight >= _WINDOW and hangs:
            self._worker.kill()

    def _report(self, kind: str, number: int, *rest: Any) -> None:
        telling = self.channel.telling
        if kind == "start":
            self._names[number] = telling.began(rest[0])
            return
        name = self._names[number]
        if kind == "partial":
            telling.partial(name, *rest)
            return
        text, until, confidence = rest
        telling.final(name, Transcription(text, confidence), until)
        del self._names[number]
        self.channel.settled(until)
        if notice := self._doubt.heard(confidence):
            telling.say(notice)

    def _end(self) -> None:
        self.channel.end()
        self._leave()

    def _leave(self) -> None:
        if self._worker is not None:
            if self._worker.attached.pop(self._number, None):
                self._worker.send(encode_frame(FrameKind.CLOSE, self._number))
            self._worker = None
        self._over(self)


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
        return "its workers cannot be started" if self._breaker.is_open else ""

    @property
    def pids(self) -> list[int]:
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
    if silero_model_path() is not None:
        return caps
    note = f"{caps.quality_note} Ends of speech are found by loudness, since the published silero-vad is not installed."
    return replace(caps, quality_note=note)
