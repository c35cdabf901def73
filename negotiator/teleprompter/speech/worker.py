"""One worker process, as the server sees it."""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Callable
from typing import Any, Final, Protocol

from negotiator.base.errors import Unavailable
from negotiator.config.settings_files import ENV_PREFIX
from negotiator.runtime.telemetry import logger
from negotiator.teleprompter.speech.worker_frames import FrameKind, PipeFrame, PipeFrameReader, encode_frame

_MODULE: Final = "negotiator.teleprompter.speech.worker_process"
LOAD_SECONDS: Final = 120.0
_END_SECONDS: Final = 2.0
_READ: Final = 65_536
log = logger(__name__)


class AttachedChannel(Protocol):
    """A channel that a worker recognises."""

    def on(self, told: PipeFrame) -> None:
        """Handle a frame from the worker."""
        ...


class SpeechWorker:
    """One process and the channels attached to it; `gone` is called once if the process ends unexpectedly."""

    def __init__(self, process: asyncio.subprocess.Process, gone: Callable[["SpeechWorker"], None]) -> None:
        self._process = process
        self._gone = gone
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._closing = False
        self._numbers = 0
        self.attached: dict[int, AttachedChannel] = {}
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
        """The id of the process."""
        return self._process.pid

    def attach(self, channel: AttachedChannel, language: str) -> int:
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
