"""The worker process: `python -m negotiator.teleprompter.speech.worker_process`, frames on standard input and output.

For each channel the endpointer cuts utterances, a decoder recognises them, and reports are written as frames. An engine
that recognises whole utterances only makes no partials. The process ends when its input ends, since the server has
closed it or died. It opens no file but its model, and keeps no audio beyond the open utterance.
"""

import json
import os
import resource
import select
import signal
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from negotiator.teleprompter.speech.endpointer import (
    Endpointer,
    EndpointEvent,
    UtteranceAudio,
    UtteranceCutter,
    UtteranceEnd,
    UtteranceStart,
    VoiceDetector,
    detector_factory,
)
from negotiator.teleprompter.speech.engine import (
    ENGINE_KINDS,
    Decoder,
    SpeechEngine,
    Transcription,
    engine_module,
)
from negotiator.teleprompter.speech.worker_frames import (
    FrameKind,
    PipeFrame,
    PipeFrameReader,
    encode_frame,
)

Report = list[Any]
"""`["start", n, at]`, `["partial", n, text, until]`, `["end", n, at, forced]`, `["final", n, text, start, end, words,
confidence]`: n counts this listener's utterances, times are milliseconds on the channel's clock."""


class ChannelListener:
    """Recognises one channel and passes reports to `tell`; one for each attachment of a channel to a worker."""

    def __init__(
        self, cutter: UtteranceCutter, decoder: Decoder, tell: Callable[[Report], None]
    ) -> None:
        self._cutter = cutter
        self._decoder = decoder
        self._tell = tell
        self._number = 0
        self._began = self._until = 0
        self._partial = ""

    def hear(self, position: int, pcm: bytes, *, interim: bool) -> None:
        """Recognise audio that begins `position` samples into the channel; report a partial only if `interim`."""
        speaking = self._follow(self._cutter.hear(position, pcm))
        if not (speaking and interim):
            return
        text = self._decoder.partial()
        if text and text != self._partial:
            self._partial = text
            self._tell(["partial", self._number, text, self._until])

    def finish(self) -> None:
        """End the audio: an open utterance is recognised to its end."""
        self._follow(self._cutter.finish())

    def _follow(self, cuts: list[EndpointEvent]) -> bool:
        """Process the cuts; return whether an utterance is open after them and got more audio."""
        fed = False
        for cut in cuts:
            match cut:
                case UtteranceStart(at_ms):
                    self._number += 1
                    self._began = self._until = at_ms
                    self._partial = ""
                    self._tell(["start", self._number, at_ms])
                    self._decoder.begin()
                case UtteranceAudio(pcm):
                    self._decoder.feed(pcm)
                    self._until += len(pcm) // 32
                    fed = True
                case UtteranceEnd(at_ms, forced):
                    self._tell(["end", self._number, at_ms, forced])
                    self._finally(self._decoder.end(), max(at_ms, self._began))
                    fed = False
        return fed

    def _finally(self, heard: Transcription, until: int) -> None:
        began = self._began
        words = [
            [
                word.text,
                min(began + word.start_ms, until),
                min(began + word.end_ms, until),
                word.confidence,
            ]
            for word in heard.words
        ]
        self._tell(["final", self._number, heard.text, began, until, words, heard.confidence])


_READ: Final = 65_536
_NICE: Final = 5
"""The niceness of the process, so that the server's own process goes first."""


class WorkerProcess:
    def __init__(self, output: Callable[[bytes], None]) -> None:
        self._output = output
        self._engine: SpeechEngine | None = None
        self._detector: Callable[[], VoiceDetector] | None = None
        self._hangover_ms = self._longest_ms = 0
        self._streams: dict[int, tuple[ChannelListener, Decoder]] = {}

    def on(self, told: PipeFrame) -> None:
        """Handle a frame; an error of the engine ends that stream only."""
        try:
            match told.kind:
                case FrameKind.LOAD:
                    self._load(told)
                case FrameKind.OPEN:
                    self._open(told)
                case FrameKind.AUDIO:
                    self._audio(told)
                case FrameKind.FINISH:
                    self._finish(told.stream)
                case _:
                    self._close(told.stream)
        except Exception as fault:  # engines raise any exception; the other streams continue
            self._streams.pop(told.stream, None)  # the decoder of a failed stream is not used again
            said = f"{type(fault).__name__}: {fault}"[:500].encode()
            self._output(encode_frame(FrameKind.FAULT, told.stream, payload=said))

    def idle(self) -> None:
        """Let the engine load in advance what it needs next, since no audio waits."""
        if self._engine is not None:
            self._engine.prepare()

    def _load(self, told: PipeFrame) -> None:
        wanted = told.json()
        kind = ENGINE_KINDS[wanted["engine"]]
        model = Path(wanted["model"]) if wanted["model"] else None
        self._hangover_ms, self._longest_ms = wanted["hangover_ms"], kind.longest_ms
        self._detector = detector_factory()
        self._engine = import_module(engine_module(kind)).load(model)
        self._output(encode_frame(FrameKind.READY))

    def _open(self, told: PipeFrame) -> None:
        if self._engine is None or self._detector is None:
            raise RuntimeError("no engine is loaded")
        endpointer = Endpointer(
            self._detector(), hangover_ms=self._hangover_ms, longest_ms=self._longest_ms
        )
        decoder = self._engine.decoder(told.payload.decode())
        stream = told.stream

        def tell(report: Report) -> None:
            self._output(
                encode_frame(FrameKind.REPORT, stream, payload=json.dumps(report).encode())
            )

        self._streams[stream] = ChannelListener(UtteranceCutter(endpointer), decoder, tell), decoder

    def _audio(self, told: PipeFrame) -> None:
        if (found := self._streams.get(told.stream)) is None:
            return  # closed while this frame was on its way
        pcm = told.payload[1:]
        found[0].hear(told.position, pcm, interim=bool(told.payload[0]))
        self._output(
            encode_frame(FrameKind.HEARD, told.stream, position=told.position + len(pcm) // 2)
        )

    def _finish(self, stream: int) -> None:
        if found := self._streams.get(stream):
            found[0].finish()
        self._close(stream)
        self._output(encode_frame(FrameKind.OVER, stream))

    def _close(self, stream: int) -> None:
        found = self._streams.pop(stream, None)
        if found is not None and self._engine is not None:
            self._engine.give_back(found[1])


def main() -> None:
    """Serve until the input ends."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core dump would contain speech
    os.nice(_NICE)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends the process by closing its input
    output = os.dup(1)
    os.dup2(2, 1)  # the output of an engine must not mix with frames

    def write(data: bytes) -> None:
        while data:
            data = data[os.write(output, data) :]

    child, frames = WorkerProcess(write), PipeFrameReader()
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
        os._exit(0)  # the server has ended
