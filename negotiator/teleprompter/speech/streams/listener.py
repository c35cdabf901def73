"""One channel inside a worker: endpointing cuts utterances, a decoder hears them, plain reports go out.

The same class serves engines that hear along and engines that want an utterance whole: the latter have no partials.
"""

from collections.abc import Callable
from typing import Any

from negotiator.teleprompter.speech.endpointing.cutter import Cutter
from negotiator.teleprompter.speech.endpointing.endpointer import Begin, Cut, End, Sound
from negotiator.teleprompter.speech.engines.engine import Decoder, Heard

Report = list[Any]
"""`["start", n, at]`, `["partial", n, text, until]`, `["end", n, at, forced]`, `["final", n, text, start, end, words,
confidence]`: n counts this listener's utterances, times are milliseconds on the channel's clock."""


class Listener:
    """Tells `tell` what it hears; one for each attachment of a channel to a worker."""

    def __init__(self, cutter: Cutter, decoder: Decoder, tell: Callable[[Report], None]) -> None:
        self._cutter = cutter
        self._decoder = decoder
        self._tell = tell
        self._number = 0
        self._began = self._until = 0
        self._partial = ""

    def hear(self, position: int, pcm: bytes, *, interim: bool) -> None:
        """Audio that begins `position` samples into the channel; partials only when wanted."""
        speaking = self._follow(self._cutter.hear(position, pcm))
        if not (speaking and interim):
            return
        text = self._decoder.partial()
        if text and text != self._partial:
            self._partial = text
            self._tell(["partial", self._number, text, self._until])

    def finish(self) -> None:
        """No more audio: an open utterance is heard to its end."""
        self._follow(self._cutter.finish())

    def _follow(self, cuts: list[Cut]) -> bool:
        """Whether an utterance is open after them and more of it was heard."""
        fed = False
        for cut in cuts:
            match cut:
                case Begin(at_ms):
                    self._number += 1
                    self._began = self._until = at_ms
                    self._partial = ""
                    self._tell(["start", self._number, at_ms])
                    self._decoder.begin()
                case Sound(pcm):
                    self._decoder.feed(pcm)
                    self._until += len(pcm) // 32
                    fed = True
                case End(at_ms, forced):
                    self._tell(["end", self._number, at_ms, forced])
                    self._finally(self._decoder.end(), max(at_ms, self._began))
                    fed = False
        return fed

    def _finally(self, heard: Heard, until: int) -> None:
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
