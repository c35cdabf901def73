"""The worker process: `python -m negotiator.teleprompter.speech.worker_process`, frames on standard input and output.

For each channel the endpointer cuts utterances, a decoder recognises them, and reports are written as frames. The
process ends when its input ends, since the server has closed it or died. It opens no file but its model, and keeps no
audio beyond the open utterance.

An engine that recognises utterances whole hears an open one ahead of its end, while no audio waits: at a short pause,
and that becomes the final if nothing more is said, and each second, for at most a third of the time of the process, and
less while several speak. So partials never delay a final by more than one of them takes.
"""

import json
import os
import resource
import select
import signal
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from negotiator.teleprompter.speech.endpointer import (
    EndpointEvent,
    UtteranceAudio,
    UtteranceCutter,
    UtteranceEnd,
    UtteranceStart,
    VoiceDetector,
    detector_factory,
)
from negotiator.teleprompter.speech.events import Transcription
from negotiator.teleprompter.speech.recognizer import (
    Decoder,
    FrameKind,
    PipeFrame,
    PipeFrameReader,
    SpeechEngine,
    encode_frame,
    engine_kinds,
    engine_loader,
)

Report = list[Any]
"""`["start", n, at]`, `["partial", n, text, until]`, `["final", n, text, until, confidence]`: n counts this listener's
utterances, times are milliseconds on the channel's clock."""

_PAUSE_MS: Final = 192
"""The silence after which an open utterance is heard ahead of its end: less than any pause that ends one."""
_AGAIN_MS: Final = 1_000
"""The audio after which an open utterance is heard again while its speaker goes on."""


class ChannelListener:
    """Recognises one channel and passes reports to `tell`; one for each attachment of a channel to a worker.

    With `whole` the decoder recognises utterances whole, and only `hear_ahead` makes partials.
    """

    def __init__(
        self, cutter: UtteranceCutter, decoder: Decoder, tell: Callable[[Report], None], *, whole: bool = False
    ) -> None:
        self._cutter = cutter
        self._decoder = decoder
        self._tell = tell
        self._whole = whole
        self._number = 0
        self._began = self._until = 0
        self._partial = ""
        self._ahead: Transcription | None = None
        self._ahead_until = 0
        self._interim = False

    def hear(self, position: int, pcm: bytes, *, interim: bool) -> None:
        """Recognise audio that begins `position` samples into the channel; report a partial only if `interim`."""
        speaking = self._follow(self._cutter.hear(position, pcm))
        self._interim = interim
        if speaking and interim and not self._whole:
            self._tell_partial(self._decoder.partial())

    @property
    def speaking(self) -> bool:
        return self._cutter.last_voice_ms is not None

    def waits_ms(self, *, paused: bool) -> int:
        """Milliseconds of audio since the open utterance was heard ahead, if it should be again; otherwise 0.

        With `paused` it should be as soon as its speaker pauses.
        """
        voiced = self._cutter.last_voice_ms
        if not (self._whole and self._interim) or voiced is None or self._ahead_covers(voiced):
            return 0
        new = self._until - self._ahead_until
        due = self._until - voiced >= _PAUSE_MS if paused else new >= _AGAIN_MS
        return new if due else 0

    def _ahead_covers(self, voiced_ms: int) -> bool:
        """Whether what was heard ahead has all of a voice that ends here, with its soft ending."""
        return self._ahead_until >= voiced_ms + _PAUSE_MS

    def hear_ahead(self) -> None:
        """Recognise the open utterance as if it ended here."""
        self._ahead, self._ahead_until = self._decoder.partial(), self._until
        self._tell_partial(self._ahead)

    def _tell_partial(self, heard: Transcription) -> None:
        if heard.text and heard.text != self._partial:
            self._partial = heard.text
            self._tell(["partial", self._number, heard.text, self._until])

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
                    self._began = self._until = self._ahead_until = at_ms
                    self._partial, self._ahead = "", None
                    self._tell(["start", self._number, at_ms])
                    self._decoder.begin()
                case UtteranceAudio(pcm):
                    self._decoder.feed(pcm)
                    self._until += len(pcm) // 32
                    fed = True
                case UtteranceEnd(at_ms, voiced_ms):
                    heard = (self._ahead if self._ahead_covers(voiced_ms) else None) or self._decoder.end()
                    self._tell(["final", self._number, heard.text, max(at_ms, self._began), heard.confidence])
                    fed = False
        return fed


_READ: Final = 65_536
_NICE: Final = 5
"""The niceness of the process, so that the server's own process goes first."""
_REST: Final = 2.0
"""After hearing ahead of a speaker who goes on, for how many times as long no such work is done, for each speaker."""


class WorkerProcess:
    def __init__(self, output: Callable[[bytes], None]) -> None:
        self._output = output
        self._engine: SpeechEngine | None = None
        self._detector: Callable[[], VoiceDetector] | None = None
        self._hangover_ms = self._longest_ms = 0
        self._whole = False
        self._rests_until = 0.0
        self._streams: dict[int, tuple[ChannelListener, Decoder]] = {}

    def on(self, told: PipeFrame) -> None:
        with self._faults_of(told.stream):
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

    def idle(self) -> bool:
        """Do one piece of work for later, since no audio waits; False when there is none."""
        if self._engine is None:
            return False
        self._engine.prepare()
        now = time.monotonic()
        if (stream := self._waiting(paused=True)) is not None:
            self._ahead(stream)
        elif now >= self._rests_until and (stream := self._waiting(paused=False)) is not None:
            self._ahead(stream)
            done = time.monotonic()
            speaking = sum(listener.speaking for listener, _ in self._streams.values())
            self._rests_until = done + _REST * speaking * (done - now)
        return stream is not None

    def _waiting(self, *, paused: bool) -> int | None:
        """The stream whose open utterance waits longest for being heard ahead."""
        waits = {stream: listener.waits_ms(paused=paused) for stream, (listener, _) in self._streams.items()}
        stream = max(waits, key=lambda each: waits[each], default=None)
        return stream if stream is not None and waits[stream] else None

    def _ahead(self, stream: int) -> None:
        with self._faults_of(stream):
            self._streams[stream][0].hear_ahead()

    @contextmanager
    def _faults_of(self, stream: int) -> Generator[None]:
        """Report an error of the engine, which ends that stream only."""
        try:
            yield
        except Exception as fault:  # engines raise any exception; the other streams continue
            self._streams.pop(stream, None)  # the decoder of a failed stream is not used again
            said = f"{type(fault).__name__}: {fault}"[:500].encode()
            self._output(encode_frame(FrameKind.FAULT, stream, payload=said))

    def _load(self, told: PipeFrame) -> None:
        wanted = told.json()
        kind = engine_kinds()[wanted["engine"]]
        model = Path(wanted["model"]) if wanted["model"] else None
        self._hangover_ms, self._longest_ms = wanted["hangover_ms"], kind.longest_ms
        self._detector = detector_factory()
        self._whole = kind.whole
        self._engine = engine_loader(kind)(model)
        self._output(encode_frame(FrameKind.READY))

    def _open(self, told: PipeFrame) -> None:
        if self._engine is None or self._detector is None:
            raise RuntimeError("no engine is loaded")
        cutter = UtteranceCutter(self._detector(), hangover_ms=self._hangover_ms, longest_ms=self._longest_ms)
        decoder = self._engine.decoder(told.payload.decode())
        stream = told.stream

        def tell(report: Report) -> None:
            self._output(encode_frame(FrameKind.REPORT, stream, payload=json.dumps(report).encode()))

        listener = ChannelListener(cutter, decoder, tell, whole=self._whole)
        self._streams[stream] = listener, decoder

    def _audio(self, told: PipeFrame) -> None:
        if (found := self._streams.get(told.stream)) is None:
            return  # closed while this frame was on its way
        pcm = told.payload[1:]
        found[0].hear(told.position, pcm, interim=bool(told.payload[0]))
        self._output(encode_frame(FrameKind.HEARD, told.stream, position=told.position + len(pcm) // 2))

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
        while not select.select([0], [], [], 0)[0] and child.idle():
            pass
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
