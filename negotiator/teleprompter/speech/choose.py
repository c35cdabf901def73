"""Which recogniser the settings and what is installed lead to; none is loaded before somebody speaks."""

from importlib.util import find_spec
from typing import Final

from negotiator.errors import Unavailable
from negotiator.settings import Settings
from negotiator.teleprompter.speech.kinds import KINDS
from negotiator.teleprompter.speech.recognizer import Caps, Recognition, Recognizer, StreamConfig
from negotiator.teleprompter.speech.workers.local import Local

EMBEDDED: Final = "pocketsphinx"
_REMOTE: Final = frozenset({"openai", "deepgram"})


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
    """The engine the operator named; by default the embedded one, and never one that hears elsewhere."""
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
