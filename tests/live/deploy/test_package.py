"""A release holds all that runs: its wheel is installed where no checkout is, and used."""

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from dataclasses import dataclass
from email import message_from_bytes
from pathlib import Path
from typing import Final

import pytest

from deploy.package import build, server_lock
from negotiator import __version__
from tests.conftest import MODELS
from tests.helpers.first_advice import ask_for_advice
from tests.house.source_tree import PACKAGE, ROOT, tracked

_PROJECT_FILES: Final = {"pyproject.toml", "README.md", "LICENSE"}


@dataclass(frozen=True, slots=True)
class Release:
    """What `make dist` makes."""

    sdist: Path
    wheel: Path
    lock: Path


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """Sdist, wheel and lock of this tree."""
    return Release(*build(tmp_path_factory.mktemp("release")))


@pytest.fixture(scope="module")
def installed(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of commands of a virtual environment with the wheel; a .pth file adds the packages of the lock."""
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check")
    options = ("install", "--quiet", "--no-deps", "--no-index", "--root-user-action=ignore")
    subprocess.run([*pip, *options, release.wheel], check=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = sysconfig.get_path("purelib")
    (folder / "lib" / version / "site-packages" / "lock.pth").write_text(f"{packages}\n")
    return folder / "bin"


def test_the_wheel_holds_every_file_of_the_package_and_no_other(release: Release) -> None:
    with zipfile.ZipFile(release.wheel) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    package = _package_files()
    assert names == package


def test_the_sdist_holds_what_builds_the_wheel(release: Release) -> None:
    with tarfile.open(release.sdist) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    package = _package_files()
    assert names >= package | _PROJECT_FILES | {"PKG-INFO"}
    assert not {name for name in names if name.startswith(("tests", "docs", "keys", "var"))}


def test_the_same_commit_gives_the_same_bytes(release: Release, tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        again = Release(*build(tmp_path))
    finally:
        os.umask(before)
    assert again.wheel.read_bytes() == release.wheel.read_bytes()
    assert again.sdist.read_bytes() == release.sdist.read_bytes()


def test_the_metadata_say_licence_version_pythons_and_the_readme(release: Release) -> None:
    with zipfile.ZipFile(release.wheel) as wheel:
        folder = f"negotiator-{__version__}.dist-info"
        metadata = message_from_bytes(wheel.read(f"{folder}/METADATA"))
        assert wheel.read(f"{folder}/licenses/LICENSE") == (ROOT / "LICENSE").read_bytes()
    assert metadata["Version"] == __version__
    assert metadata["License-Expression"] == "Apache-2.0"
    assert {*metadata["Requires-Python"].split(",")} == {">=3.11", "<3.14"}
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata.get_payload(decode=True) == (ROOT / "README.md").read_bytes()


def test_the_lock_of_a_server_is_a_part_of_the_whole_one_without_tools_of_development() -> None:
    whole, lock = (ROOT / "requirements.lock").read_text(), server_lock()
    for entry in re.split(r"^(?=\w)", lock, flags=re.MULTILINE):
        assert entry in whole
    names = set(re.findall(r"^([\w.-]+)==", lock, re.MULTILINE))
    assert names >= {"uvicorn", "click", "onnxruntime", "ctranslate2", "silero-vad", "h11", "pyrage"}
    assert not names & {"pytest", "playwright", "ruff", "setuptools", "torch", "django"}


def test_a_lock_can_be_had_for_one_package() -> None:
    assert re.findall(r"^([\w.-]+)==", server_lock(["setuptools"]), re.MULTILINE) == ["setuptools"]


def test_the_installed_command_gives_its_first_advice_from_any_folder(installed: Path, tmp_path: Path) -> None:
    settings = {
        "NEGOTIATOR_DATA_DIR": str(tmp_path / "data"),
        "NEGOTIATOR_KEYS_DIR": str(tmp_path / "keys"),
        "NEGOTIATOR_MODELS_DIR": str(MODELS),
    }
    environment = {"PATH": os.defpath, "HOME": str(tmp_path), **settings}
    command = str(installed / "negotiator")
    where = (str(installed / "python"), "-c", "import negotiator; print(negotiator.__file__)")
    module = subprocess.run(where, cwd="/", env=environment, check=True, capture_output=True, text=True)
    assert module.stdout.startswith(str(installed.parent)), "the wheel, not the checkout"
    answer = ask_for_advice(command, environment)
    assert answer.advice["position"]["my_walk_away"] == "14000.00"
    assert answer.page.startswith("<!doctype html>"), "templates are inside"


def _package_files() -> set[str]:
    return {str(path.relative_to(ROOT)) for path in tracked() if path.is_relative_to(PACKAGE)}
