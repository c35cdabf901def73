"""The tools of this folder, installed from their lock files on first use."""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
MODULES: Final = HERE / "node_modules"
PYTHON: Final = HERE.parents[2] / "build" / "openapi" / "bin" / "python"
_SECONDS: Final = 600


class NotInstalled(Exception):
    """A tool could not be installed; the message says why."""


def node_tool(name: str) -> list[str]:
    """The command of an npm package's tool."""
    npm = shutil.which("npm")
    if npm is None:
        raise NotInstalled("npm is missing: install Node.js 20 or newer")
    flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--silent", "--prefix", str(HERE)]
    _install(HERE / "package-lock.json", MODULES / ".installed", [[npm, "ci", *flags]])
    return ["node", str(MODULES / ".bin" / name)]


def python() -> Path:
    """The interpreter of an environment with the generator of Python clients.

    It has an environment of its own, since it needs an older typer than the server.
    """
    lock, environment = HERE / "requirements.lock", PYTHON.parents[1]
    install = [PYTHON, "-m", "pip", "--disable-pip-version-check", "install", "-q", "--no-deps"]
    commands = [[sys.executable, "-m", "venv", "--clear", environment], [*install, "--require-hashes", "-r", lock]]
    _install(lock, environment / ".installed", commands)
    return PYTHON


def _install(lock: Path, mark: Path, commands: Iterable[Sequence[str | Path]]) -> None:
    """Run the commands unless the mark is newer than the lock; one process at a time."""
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if mark.exists() and mark.stat().st_mtime >= lock.stat().st_mtime:
            return
        for command in commands:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
            if done.returncode:
                raise NotInstalled(f"{command[0]}: {(done.stdout + done.stderr)[-2000:]}")
        mark.touch()


def environment() -> dict[str, str]:
    """The machine's environment, with the tools' own reports to their makers switched off."""
    return {
        **os.environ,
        "REDOCLY_TELEMETRY": "off",
        "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true",
        "PATH": f"{PYTHON.parent}{os.pathsep}{os.environ.get('PATH', '')}",
    }
