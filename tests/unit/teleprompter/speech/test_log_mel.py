"""The spectrogram that Whisper gets: of the shape, scale and bands that it was trained with."""

import numpy as np
import pytest

from negotiator.teleprompter.speech.recognizer import SAMPLE_RATE
from negotiator.teleprompter.speech.whisper_engine import FRAMES_PER_SECOND, MEL_BANDS, log_mel


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
