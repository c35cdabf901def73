"""Chooses the recogniser by the settings and the installed packages; the first channel loads it."""

from importlib.util import find_spec
from typing import Final

from negotiator.errors import Unavailable
from negotiator.settings import Settings
from negotiator.teleprompter.speech.engine import ENGINE_KINDS
from negotiator.teleprompter.speech.local_recognizer import LocalRecognizer
from negotiator.teleprompter.speech.recognizer import (
    EngineCapabilities,
    Recognizer,
    SpeechRecognition,
    StreamConfig,
)

EMBEDDED_ENGINE: Final = "pocketsphinx"
_REMOTE: Final = frozenset({"openai", "deepgram"})


class TextOnlyRecognizer:
    """The recogniser of a server without an engine: sessions accept text only."""

    def __init__(self, why: str) -> None:
        self._why = f"No audio is heard here, text only: {why}."
        self._caps = EngineCapabilities(
            "text",
            "text",
            interim=False,
            word_times=False,
            languages=(),
            offline=True,
            quality_note=self._why,
        )

    @property
    def caps(self) -> EngineCapabilities:
        """Capabilities of kind `text`."""
        return self._caps

    async def open(self, config: StreamConfig) -> SpeechRecognition:
        """Raises `Unavailable` (503)."""
        raise Unavailable(self._why)

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""


def make_recognizer(settings: Settings) -> Recognizer:
    """The engine that the settings name; by default the embedded one, never a remote one."""
    if (engine := settings.speech_engine) == "none":
        return TextOnlyRecognizer("the operator turned audio off")
    if engine in _REMOTE:
        return _remote(settings)
    name = EMBEDDED_ENGINE if engine == "auto" else engine
    if find_spec(ENGINE_KINDS[name].package) is None:
        return TextOnlyRecognizer(f"{name} is not installed")
    return LocalRecognizer(
        name,
        settings.speech_model_path,
        hangover_ms=settings.speech_pause_ms,
        workers=settings.speech_workers,
        streams=settings.speech_streams,
    )


def _remote(settings: Settings) -> Recognizer:
    # Imported here so that only servers that use a service load its client.
    from negotiator.teleprompter.speech.deepgram import DeepgramRecognizer
    from negotiator.teleprompter.speech.transcription_api import TranscriptionApiRecognizer

    adapter = (
        DeepgramRecognizer if settings.speech_engine == "deepgram" else TranscriptionApiRecognizer
    )
    return adapter(
        settings.speech_url,
        key=settings.speech_key,
        model=settings.speech_model,
        hangover_ms=settings.speech_pause_ms,
        streams=settings.speech_streams,
    )
