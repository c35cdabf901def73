"""How likely a frame holds a voice."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Protocol

FRAME: Final = 512
"""Samples in a frame: 32 ms."""
FRAME_BYTES: Final = FRAME * 2
FRAME_MS: Final = 32
_PACKAGE: Final = "silero_vad"


class Detector(Protocol):
    """Holds what it remembers of one channel."""

    def voice(self, frame: bytes) -> float:
        """Probability in 0..1 that these 512 samples (s16le) hold a voice; frames come in order."""
        ...

    def reset(self) -> None:
        """Forget what came before; the next frame follows on nothing."""
        ...


def installed() -> Path | None:
    """The network's file in the installed wheel, when it and what runs it are there.

    The wheel is used as a box for this file: importing its package would want torch.
    """
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None or find_spec("onnxruntime") is None:
        return None
    path = Path(spec.origin).parent / "data" / "silero_vad.onnx"
    return path if path.exists() else None


def detectors() -> Callable[[], Detector]:
    """A maker of detectors, one for each channel, that share one loaded network."""
    if (path := installed()) is None:
        from negotiator.teleprompter.speech.endpointing.energy import Energy

        return Energy
    from negotiator.inference import session
    from negotiator.teleprompter.speech.endpointing.silero import Silero

    loaded = session(path)
    return lambda: Silero(loaded)
