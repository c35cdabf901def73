"""The operator's choices about who hears audio; part of `settings`, which reads them with all others."""

from pathlib import Path
from typing import Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings

_REMOTE: Final = {"openai": ("https", "http"), "deepgram": ("wss", "ws")}
_WITH_A_MODEL: Final = frozenset({"sherpa-onnx", "vosk", "faster-whisper"})


class SpeechSettings(BaseSettings):
    """What `teleprompter/speech` needs to know."""

    speech_engine: Literal[
        "auto",
        "none",
        "pocketsphinx",
        "sherpa-onnx",
        "vosk",
        "faster-whisper",
        "openai",
        "deepgram",
    ] = Field(
        "auto",
        description="Who hears audio; auto: pocketsphinx if installed. openai and deepgram send it to speech_url.",
    )
    speech_model_path: Path | None = Field(
        None, description="Model folder for sherpa-onnx, vosk or faster-whisper."
    )
    speech_url: str = Field(
        "",
        description="Where audio goes: https://host/v1 for openai, wss://host/v1/listen for deepgram.",
    )
    speech_key: str = Field("", description="Key for it, if it needs one.", repr=False)
    speech_model: str = Field("", description="The model it is asked for.")
    speech_workers: int = Field(
        2, ge=1, le=64, description="Processes that hear, per server process; made when needed."
    )
    speech_streams: int = Field(
        8, ge=1, le=1000, description="Channels heard at once, per server process."
    )
    speech_pause_ms: int = Field(
        500, ge=200, le=2000, description="Silence that ends an utterance, milliseconds."
    )

    @model_validator(mode="after")
    def _can_hear(self) -> Self:
        engine, path = self.speech_engine, self.speech_model_path
        if schemes := _REMOTE.get(engine):
            parts = urlsplit(self.speech_url)
            plain = parts.scheme in schemes and parts.hostname and not parts.username
            if not plain or parts.query or parts.fragment:
                raise ValueError(f"speech_url: must be a plain {schemes[0]} URL for {engine}")
            if not self.speech_model:
                raise ValueError(f"speech_model: must be set for {engine}")
        elif self.speech_url:
            raise ValueError("speech_engine: must be openai or deepgram when speech_url is set")
        if engine in _WITH_A_MODEL and not (path and path.is_dir()):
            raise ValueError(f"speech_model_path: must be a model's folder for {engine}")
        return self
