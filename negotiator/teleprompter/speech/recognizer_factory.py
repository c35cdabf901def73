"""Chooses the recogniser by the settings and the installed packages; the first channel loads it."""

from importlib.util import find_spec
from typing import Final

from negotiator.base.errors import Unavailable
from negotiator.config.settings import Settings
from negotiator.teleprompter.speech.recognizer import EngineCapabilities, Recognizer, SpeechRecognition, engine_kinds
from negotiator.teleprompter.speech.worker import LocalRecognizer

EMBEDDED_ENGINES: Final = ("whisper", "pocketsphinx")
"""The engines of `auto`: the first that is installed with its weights."""
_PAUSE_MS: Final = 500  # of silence end an utterance
_STREAMS_EACH: Final = 8  # audio channels are recognised at once for each worker


class TextOnlyRecognizer:
    """The recogniser of a server without an engine: sessions accept text only."""

    fault = ""

    def __init__(self, why: str) -> None:
        note = f"No audio is heard here, text only: {why}."
        self.caps = EngineCapabilities("text", interim=False, languages=(), quality_note=note)

    async def open(self, language: str) -> SpeechRecognition:
        """Raises `Unavailable` (503)."""
        raise Unavailable(self.caps.quality_note)

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""


def make_recognizer(settings: Settings) -> Recognizer:
    """The engine that the settings name; by default the best embedded one, never a remote one."""
    if (engine := settings.speech_engine) == "none":
        return TextOnlyRecognizer("the operator turned audio off")
    if engine == "openai":
        # Imported here so that only servers that use a service load its client.
        from negotiator.teleprompter.speech.transcription_api import TranscriptionApiRecognizer

        return TranscriptionApiRecognizer(
            settings.speech_url,
            key=settings.speech_key,
            model=settings.speech_model,
            hangover_ms=_PAUSE_MS,
            streams=settings.speech_workers * _STREAMS_EACH,
        )
    if engine == "auto":
        name = next((each for each in EMBEDDED_ENGINES if not _missing(each)), EMBEDDED_ENGINES[0])
    else:
        name = "whisper-folder" if engine == "whisper" and settings.speech_model_path else engine
    if missing := _missing(name):
        return TextOnlyRecognizer(f"{missing} is not installed")
    return LocalRecognizer(
        name,
        settings.models_folder if name == "whisper" else settings.speech_model_path,
        hangover_ms=_PAUSE_MS,
        workers=settings.speech_workers,
        streams=settings.speech_workers * _STREAMS_EACH,
    )


def recognizer_state(settings: Settings, recognizer: Recognizer) -> str:
    """The health check of speech: `ok` with the engine, or `lesser` when `auto` found only a lesser one, and why.

    `failing` while the engine or the service cannot be used.
    """
    caps = recognizer.caps
    if recognizer.fault:
        return f"failing: {caps.id}, {recognizer.fault}"
    if settings.speech_engine == "auto" and (missing := _missing(EMBEDDED_ENGINES[0])):
        return f"lesser: {caps.id}, as {missing} is not installed"
    return f"ok: {caps.id}"


def _missing(engine: str) -> str:
    """The first package that an engine needs and that is not installed; empty when it has all."""
    packages = engine_kinds()[engine].packages
    return next((package for package in packages if find_spec(package) is None), "")
