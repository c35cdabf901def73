"""Chooses the embedder from the settings and the installed packages."""

from importlib.util import find_spec
from pathlib import Path
from typing import Final

from negotiator.memory.embedding.embedder import Embedder, HashingEmbedder
from negotiator.memory.embedding.minilm_embedder import MINILM_PACKAGE, MiniLmEmbedder, find_minilm_files

_RUNTIME: Final = ("onnxruntime", "tokenizers", "onnx", "safetensors")


def choose_embedder(url: str, *, key: str, model: str, models: Path) -> Embedder:
    """The configured endpoint, else the MiniLM model, else the hashing embedder with the reason."""
    if url:
        from negotiator.memory.embedding.remote_embedder import RemoteEmbedder  # it loads the HTTP client

        return RemoteEmbedder(url, key=key, model=model)
    if (files := find_minilm_files()) is None:
        return HashingEmbedder(f"{MINILM_PACKAGE} is not installed")
    if missing := [name for name in _RUNTIME if find_spec(name) is None]:
        return HashingEmbedder(f"{', '.join(missing)} not installed")
    return MiniLmEmbedder(files, models)
