"""The worker process: `python -m negotiator.teleprompter.speech.workers.child`, frames on standard input and output.

It ends when its input ends, which is when the server closes it or dies. It opens no file but its model, and keeps no
audio beyond the open utterance of an engine that wants it whole.
"""

import json
import os
import resource
import select
import signal
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Final

from negotiator.teleprompter.speech.endpointing.cutter import Cutter
from negotiator.teleprompter.speech.endpointing.detector import Detector, detectors
from negotiator.teleprompter.speech.endpointing.endpointer import Endpointer
from negotiator.teleprompter.speech.engines.engine import Decoder, Engine
from negotiator.teleprompter.speech.kinds import KINDS, module
from negotiator.teleprompter.speech.streams.listener import Listener, Report
from negotiator.teleprompter.speech.workers.frames import Frame, Frames, Tell, frame

_READ: Final = 65_536
_NICE: Final = 5
"""Who is heard late is told so; who waits for the server is not."""


class Child:
    """An engine and the channels that are attached to it."""

    def __init__(self, output: Callable[[bytes], None]) -> None:
        self._output = output
        self._engine: Engine | None = None
        self._detector: Callable[[], Detector] | None = None
        self._hangover_ms = self._longest_ms = 0
        self._streams: dict[int, tuple[Listener, Decoder]] = {}

    def on(self, told: Frame) -> None:
        """Do what a frame says; a fault of the engine ends the one stream it struck."""
        try:
            match told.kind:
                case Tell.LOAD:
                    self._load(told)
                case Tell.OPEN:
                    self._open(told)
                case Tell.AUDIO:
                    self._audio(told)
                case Tell.FINISH:
                    self._finish(told.stream)
                case _:
                    self._close(told.stream)
        except Exception as fault:  # an engine raises what it likes, and others are being heard
            self._streams.pop(told.stream, None)  # its decoder is not used again
            said = f"{type(fault).__name__}: {fault}"[:500].encode()
            self._output(frame(Tell.FAULT, told.stream, payload=said))

    def idle(self) -> None:
        """Nothing waits to be heard."""
        if self._engine is not None:
            self._engine.prepare()

    def _load(self, told: Frame) -> None:
        wanted = told.json()
        kind = KINDS[wanted["engine"]]
        model = Path(wanted["model"]) if wanted["model"] else None
        self._hangover_ms, self._longest_ms = wanted["hangover_ms"], kind.longest_ms
        self._detector = detectors()
        self._engine = import_module(module(kind)).load(model)
        self._output(frame(Tell.READY))

    def _open(self, told: Frame) -> None:
        if self._engine is None or self._detector is None:
            raise RuntimeError("no engine is loaded")
        endpointer = Endpointer(
            self._detector(), hangover_ms=self._hangover_ms, longest_ms=self._longest_ms
        )
        decoder = self._engine.decoder(told.payload.decode())
        stream = told.stream

        def tell(report: Report) -> None:
            self._output(frame(Tell.REPORT, stream, payload=json.dumps(report).encode()))

        self._streams[stream] = Listener(Cutter(endpointer), decoder, tell), decoder

    def _audio(self, told: Frame) -> None:
        if (found := self._streams.get(told.stream)) is None:
            return  # closed while this was on its way
        pcm = told.payload[1:]
        found[0].hear(told.position, pcm, interim=bool(told.payload[0]))
        self._output(frame(Tell.HEARD, told.stream, position=told.position + len(pcm) // 2))

    def _finish(self, stream: int) -> None:
        if found := self._streams.get(stream):
            found[0].finish()
        self._close(stream)
        self._output(frame(Tell.OVER, stream))

    def _close(self, stream: int) -> None:
        found = self._streams.pop(stream, None)
        if found is not None and self._engine is not None:
            self._engine.give_back(found[1])


def main() -> None:
    """Serve until the input ends."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a dump would hold what was just said
    os.nice(_NICE)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server decides when, by closing the input
    output = os.dup(1)
    os.dup2(2, 1)  # whatever an engine prints must not fall between frames

    def write(data: bytes) -> None:
        while data:
            data = data[os.write(output, data) :]

    child, frames = Child(write), Frames()
    while True:
        if not select.select([0], [], [], 0)[0]:
            child.idle()
        data = os.read(0, _READ)
        if not data:
            return
        for told in frames.feed(data):
            child.on(told)


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        os._exit(0)  # the server is gone; there is nobody to tell
