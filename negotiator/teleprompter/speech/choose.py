"""Which recogniser the settings and what is installed lead to; none is loaded before somebody speaks."""

from importlib.util import find_spec
from typing import Final
from urllib.parse import urlsplit

from negotiator.errors import Unavailable
from negotiator.settings import PREFIX, Settings, SettingsError
from negotiator.teleprompter.speech.kinds import KINDS
from negotiator.teleprompter.speech.recognizer import Caps, Recognition, Recognizer, StreamConfig
from negotiator.teleprompter.speech.workers.local import Local

EMBEDDED: Final = "pocketsphinx"
_REMOTE: Final = {"openai": ("https", "http"), "deepgram": ("wss", "ws")}
_WITH_A_MODEL: Final = frozenset({"sherpa-onnx", "vosk", "faster-whisper"})


class TextOnly:
    """Hears nothing, and says why; sessions live on text alone."""

    def __init__(self, why: str) -> None:
        self._why = f"No audio is heard here, text only: {why}."
        self._caps = Caps(
            "text",
            "text",
            interim=False,
            word_times=False,
            languages=(),
            offline=True,
            quality_note=self._why,
        )

    @property
    def caps(self) -> Caps:
        """Of kind `text`."""
        return self._caps

    async def open(self, config: StreamConfig) -> Recognition:
        """Always refused with 503."""
        raise Unavailable(self._why)

    async def close(self) -> None:
        """It holds nothing."""


def make_recognizer(settings: Settings) -> Recognizer:
    """The engine the operator named; by default the embedded one, and never one that hears elsewhere.

    `SettingsError` when the settings do not go together.
    """
    _check(settings)
    if (engine := settings.speech_engine) == "none":
        return TextOnly("the operator turned audio off")
    if engine in _REMOTE:
        return _remote(settings)
    name = EMBEDDED if engine == "auto" else engine
    if find_spec(KINDS[name].package) is None:
        return TextOnly(f"{name} is not installed")
    return Local(
        name,
        settings.speech_model_path,
        hangover_ms=settings.speech_pause_ms,
        workers=settings.speech_workers,
        streams=settings.speech_streams,
    )


def _check(settings: Settings) -> None:
    engine, path = settings.speech_engine, settings.speech_model_path
    if schemes := _REMOTE.get(engine):
        parts = urlsplit(settings.speech_url)
        plain = parts.scheme in schemes and parts.hostname and not parts.username
        if not plain or parts.query or parts.fragment:
            raise _wrong("URL", f"must be a plain {schemes[0]} URL for {engine}")
        if not settings.speech_model:
            raise _wrong("MODEL", f"must be set for {engine}")
    elif settings.speech_url:
        raise _wrong("ENGINE", "must be openai or deepgram when SPEECH_URL is set")
    if engine in _WITH_A_MODEL and not (path and path.is_dir()):
        raise _wrong("MODEL_PATH", f"must be a model's folder for {engine}")


def _wrong(setting: str, why: str) -> SettingsError:
    return SettingsError(f"{PREFIX}SPEECH_{setting}: {why}")


def _remote(settings: Settings) -> Recognizer:
    # Their clients are loaded only by who wants them.
    from negotiator.teleprompter.speech.remote.deepgram import Deepgram
    from negotiator.teleprompter.speech.remote.transcriptions import Transcriptions

    adapter = Deepgram if settings.speech_engine == "deepgram" else Transcriptions
    return adapter(
        settings.speech_url,
        key=settings.speech_key,
        model=settings.speech_model,
        hangover_ms=settings.speech_pause_ms,
        streams=settings.speech_streams,
    )
