"""A recogniser without ears: it says its sentences, one for each two seconds of audio."""

from collections.abc import Sequence
from itertools import cycle
from typing import Final

from negotiator.teleprompter.speech.engine import Transcription
from negotiator.teleprompter.speech.recognition_channel import RecognitionChannel
from negotiator.teleprompter.speech.recognizer import (
    EngineCapabilities,
    RecognizerBusy,
    SpeechRecognition,
    StreamConfig,
)
from negotiator.teleprompter.speech.remote_recognition import RemoteRecognition

_PIECE: Final = 1_600
_STEPS: Final = 20


class ScriptedRecognizer:
    """For tests of whoever uses a recogniser."""

    caps = EngineCapabilities(
        "scripted",
        "streaming",
        interim=True,
        word_times=False,
        languages=("en",),
        offline=True,
        quality_note="It says what it was told to say.",
    )
    fault = ""

    def __init__(self, sentences: Sequence[str] = ("your price is too high",), most: int = 8) -> None:
        self._sentences = sentences
        self._most = most
        self._open: set[RemoteRecognition] = set()

    async def open(self, config: StreamConfig) -> SpeechRecognition:
        """A channel on which the script begins anew."""
        if len(self._open) >= self._most:
            raise RecognizerBusy("every speech stream is taken")
        script = cycle(self._sentences)

        async def hear(driven: RemoteRecognition) -> None:
            backlog, telling = driven.channel.backlog, driven.channel.telling
            step, name, words = 0, "", [""]
            while await driven.more() and backlog.untaken:
                at, pcm = backlog.take(_PIECE)
                at_ms, until = at // 16, at // 16 + len(pcm) // 32
                if step == 0:
                    words = next(script).split()
                    name = telling.began(at_ms)
                step += 1
                if step == _STEPS:
                    telling.voice_ended(name, until, forced=False)
                    telling.final(name, Transcription(" ".join(words)), until)
                    step = 0
                elif driven.channel.interim and step <= len(words):
                    telling.partial(name, " ".join(words[:step]), until)
                driven.channel.heard(at + len(pcm) // 2)

        driven = RemoteRecognition(RecognitionChannel(interim=config.interim), hear, self._open.discard)
        self._open.add(driven)
        return driven

    async def close(self) -> None:
        """End every channel."""
        for driven in list(self._open):
            await driven.close()
