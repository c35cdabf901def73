"""Recordings of people with what they say, and noise to mix in.

They come from Debian's `pocketsphinx-testdata` (LibriVox: Sense and Sensibility; playing cards; two commands) and from
the wheel `moonshine-voice` (A Tale of Two Cities, Worstward Ho), which are read as files. The recordings without a
published text, and those of single digits, which Whisper writes in figures, are left out.
"""

import re
import wave
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import numpy as np

from negotiator.teleprompter.speech.recognizer import SAMPLE_RATE
from tests.helpers.neighbours import require

_TESTDATA: Final = Path("/usr/share/pocketsphinx/test/data")
_LIBRIVOX: Final = "librivox/sense_and_sensibility_01_austen_64kb-{}.wav"
TEXTS: Final = {
    _LIBRIVOX.format("0870"): (
        "and mister john dashwood had then leisure to consider how much there might be prudently in"
        " his power to do for them"
    ),
    _LIBRIVOX.format("0880"): "he was not an ill disposed young man",
    _LIBRIVOX.format("0890"): ("unless to be rather cold hearted and rather selfish is to be ill disposed"),
    _LIBRIVOX.format("0920"): (
        "had he married a more amiable woman he might have been made still more respectable than he was"
    ),
    _LIBRIVOX.format("0930"): "he might even have been made amiable himself",
    "cards/001.wav": "ten of clubs",
    "cards/002.wav": "four queen of clubs",
    "cards/003.wav": "seven of clubs",
    "cards/004.wav": "five five",
    "cards/005.wav": "eight of spades four of clubs seven of hearts",
    "goforward.raw": "go forward ten meters",
    "something.raw": "go somewhere and do something",
    "beckett.wav": "ever tried ever failed no matter try again fail again fail better",
    "two_cities.wav": (
        "it was the best of times it was the worst of times it was the age of wisdom it was the age"
        " of foolishness it was the epoch of belief it was the epoch of incredulity it was the"
        " season of light it was the season of darkness it was the spring of hope it was the winter"
        " of despair we had everything before us we had nothing before us we were all going direct"
        " to heaven we were all going direct the other way in short the period was so far like the"
        " present period that some of its noisiest authorities insisted on its being received for"
        " good or for evil in the superlative degree of comparison only"
    ),
}
"""What is said in each recording, in lower case, numbers in words."""


@dataclass(frozen=True, slots=True)
class Recording:
    """16 kHz s16le, and its text as in `TEXTS`."""

    name: str
    pcm: bytes
    text: str


@cache
def recording(name: str) -> Recording:
    path = _TESTDATA / name if "/" in name or name.endswith(".raw") else _assets() / name
    if not path.is_file():
        require("pocketsphinx-testdata")
    if path.suffix == ".raw":
        return Recording(name, path.read_bytes(), TEXTS[name])
    with wave.open(str(path)) as file:
        rate, pcm = file.getframerate(), file.readframes(file.getnframes())
    return Recording(name, _resampled(pcm, rate), TEXTS[name])


def _assets() -> Path:
    spec = find_spec("moonshine_voice")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "assets"


def _resampled(pcm: bytes, rate: int) -> bytes:
    """At 16 kHz: the spectrum above 8 kHz is cut off."""
    if rate == SAMPLE_RATE:
        return pcm
    samples = np.frombuffer(pcm, "<i2")
    count = len(samples) * SAMPLE_RATE // rate
    spectrum = np.fft.rfft(samples)[: count // 2 + 1]
    lower = np.fft.irfft(spectrum, count) * SAMPLE_RATE / rate
    return lower.clip(-32_768, 32_767).astype("<i2").tobytes()


def noisy(pcm: bytes, decibels: float | None) -> bytes:
    """With pink noise (half the power with each octave), like a room's, this far below the voice; None: as it is."""
    if decibels is None:
        return pcm
    samples = np.frombuffer(pcm, "<i2").astype(np.float64)
    voice = samples[np.abs(samples) > 200]
    white = np.fft.rfft(np.random.default_rng(1).normal(size=len(samples)))
    pink = np.fft.irfft(white / np.sqrt(np.arange(len(white)) + 1), len(samples))
    level = np.sqrt((voice**2).mean() / (pink**2).mean()) / 10 ** (decibels / 20)
    return (samples + pink * level).clip(-32_768, 32_767).astype("<i2").tobytes()


# fmt: off
_ONES: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
# fmt: on
_ABBREVIATED: Final[dict[str, str]] = {"mr": "mister", "mrs": "missus", "dr": "doctor"}


def spoken(text: str) -> str:
    """A text as it is said: lower case, no punctuation, numbers below a million in words."""
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text.lower())
    text = re.sub(r"\$(\d+)", r"\1 dollars", text).replace("%", " percent")
    text = re.sub(r"\d+", lambda found: f" {_number(int(found[0]))} ", text)
    words: list[str] = re.findall(r"[\w']+", text.replace("’", "'"))
    return " ".join(_ABBREVIATED.get(word, word) for word in words)


def _number(value: int) -> str:
    if value < 20:
        return _ONES[value]
    if value < 100:
        ten, one = divmod(value, 10)
        return _TENS[ten - 2] + (f" {_ONES[one]}" if one else "")
    for size, name in ((1000, "thousand"), (100, "hundred")):
        if value >= size:
            many, rest = divmod(value, size)
            return f"{_number(many)} {name}" + (f" {_number(rest)}" if rest else "")
    return str(value)
