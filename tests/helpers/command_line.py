"""The command line on a machine of its own: a folder, an environment, the exit and both streams."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import orjson
import pytest
from typer.testing import CliRunner

from negotiator.cli.main import app
from negotiator.config.settings import Settings
from negotiator.runtime import telemetry

PREFIX = "NEGOTIATOR_"
_NO_FILES: Final = {"NEGOTIATOR_CONFIG": os.devnull}


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a command ended and what it said."""

    exit_code: int
    out: str
    err: str

    @property
    def value(self) -> Any:
        """What it said with --json."""
        return orjson.loads(self.out)


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A machine with these variables; no settings file applies unless `NEGOTIATOR_CONFIG` is empty."""

    variables: dict[str, str]

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The machine of a server with these settings."""
        names = ("base_url", "database_url", "data_dir", "keys_dir", "secret")
        return cls({f"{PREFIX}{name.upper()}": str(getattr(settings, name)) for name in names})

    def run(self, *words: str, given: str | None = None) -> CommandResult:
        """Run a command; a second of start-up is saved by running it in this process."""
        with _environment(self.variables), pytest.MonkeyPatch.context() as patch:
            # The runner's streams are closed after the command; a log must not keep them.
            patch.setattr(telemetry, "configure", _keep_quiet)
            result = CliRunner().invoke(app, list(words), input=given)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return CommandResult(result.exit_code, result.stdout, result.stderr)

    def spawn(self, *words: str, folder: Path) -> CommandResult:
        """Run a command as a process of its own, in this folder."""
        plain = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
        root = Path(__file__).parents[2]
        done = subprocess.run(
            [sys.executable, "-m", "negotiator", *words],
            env={**plain, **_NO_FILES, **self.variables, "PYTHONPATH": str(root)},
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return CommandResult(done.returncode, done.stdout, done.stderr)


def _keep_quiet(_style: str) -> None:
    """In place of `telemetry.configure`."""


@contextmanager
def _environment(variables: dict[str, str]) -> Generator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(PREFIX)]:
            patch.delenv(name)
        for name, value in {**_NO_FILES, **variables}.items():
            patch.setenv(name, value)
        given = set(os.environ)
        yield
        for name in set(os.environ) - given:
            del os.environ[name]
