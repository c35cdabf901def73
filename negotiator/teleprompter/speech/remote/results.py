"""The messages of a Deepgram-style service, understood: pure, one understanding for each channel.

A Results message covers audio from `start` for `duration` seconds of this connection. `is_final` settles its words,
`speech_final` or an UtteranceEnd says that the speaker paused. An utterance here is all segments up to that pause.
"""

from typing import Any

from negotiator.teleprompter.speech.engines.engine import Heard
from negotiator.teleprompter.speech.events import Word
from negotiator.teleprompter.speech.streams.telling import Telling


class Results:
    """Times count from the beginning of a connection and are shifted by where in the channel that was."""

    def __init__(self, telling: Telling) -> None:
        self._telling = telling
        self._offset = 0
        self._name: str | None = None
        self._words: list[Word] = []
        self._texts: list[str] = []
        self._until = 0
        self.answered_ms = 0
        """How far into the channel the service has answered for."""
        self.settled_ms = 0
        """How far it will not change its mind, so that the audio can be forgotten."""

    def connected(self, at_ms: int) -> None:
        """A connection begins here; words that were settled on the one before stay."""
        self._offset = at_ms

    def on(self, message: dict[str, Any], *, interim: bool) -> None:
        """One message; KeyError, TypeError or ValueError when it is not what it should be."""
        match message.get("type"):
            case "Results":
                self._result(message, interim=interim)
            case "UtteranceEnd":
                self._paused()
            case _:
                pass  # Metadata, SpeechStarted (which also comes for noise) and whatever is new

    def _result(self, message: dict[str, Any], *, interim: bool) -> None:
        begin = self._at(message["start"])
        until = self._at(message["start"] + message["duration"])
        best: dict[str, Any] = message["channel"]["alternatives"][0]
        words = [self._word(word) for word in best.get("words", ())]
        text = str(best["transcript"]).strip()
        self.answered_ms = max(self.answered_ms, until)
        if text and self._name is None:
            self._name = self._telling.began(words[0].start_ms if words else begin)
        if self._name is not None and text:
            self._until = words[-1].end_ms if words else until
            if message["is_final"]:
                self._texts.append(text)
                self._words += words
            elif interim:
                whole = " ".join([*self._texts, text])
                self._telling.partial(self._name, whole, self._until)
        if message["is_final"]:
            self.settled_ms = max(self.settled_ms, until)
            if message.get("speech_final"):
                self._paused()

    def _paused(self) -> None:
        if self._name is None:
            return
        known = [word.confidence for word in self._words if word.confidence is not None]
        confidence = round(sum(known) / len(known), 3) if known else None
        heard = Heard(" ".join(self._texts), tuple(self._words), confidence)
        self._telling.voice_ended(self._name, self._until, forced=False)
        self._telling.final(self._name, heard, self._until)
        self._name = None
        self._texts, self._words = [], []

    def over(self) -> None:
        """The service has said all it will: what it settled is final."""
        if self._texts:
            self._paused()

    def _at(self, seconds: float) -> int:
        return self._offset + round(seconds * 1000)

    def _word(self, row: dict[str, Any]) -> Word:
        text = str(row.get("punctuated_word") or row["word"])
        confidence = row.get("confidence")
        return Word(text, self._at(row["start"]), self._at(row["end"]), confidence)
