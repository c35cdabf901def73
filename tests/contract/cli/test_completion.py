"""Shells complete commands."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from negotiator import __version__
from negotiator.cli.main import app
from tests.contract.requirements import covers
from tests.helpers.command_line import CommandLine

USERS_A = {"add", "admin"}
IN_BASH = r"""
source <(negotiator --show-completion)
COMP_WORDS=(negotiator users a)
COMP_CWORD=2
_negotiator_completion negotiator
echo "${COMPREPLY[@]}"
"""


@covers("5.2:completion")
def test_bash_completes_by_the_script_that_is_shown() -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", IN_BASH], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) == USERS_A, done


@covers("5.2:completion")
def test_zsh_is_told_the_commands_with_their_help() -> None:
    asked = {"_NEGOTIATOR_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "negotiator users a"}
    told = CliRunner().invoke(app, [], env=asked, prog_name="negotiator").stdout
    assert told.startswith("_arguments '*: :((")
    assert all(f'"{name}":"' in told for name in USERS_A)
    assert '"list"' not in told


@pytest.mark.parametrize("words", [("--version",), ("--version", "-v"), ("-v", "--version")])
@covers("5.2:version")
def test_the_version_is_printed(words: tuple[str, ...]) -> None:
    said = CommandLine({}).run(*words)
    assert (said.exit_code, said.out.splitlines()[0]) == (0, f"Negotiator {__version__}")
    assert ("Code: " in said.out) is ("-v" in words)
