"""The command tree: what is imported for the help, and that every command is where the tree says."""

import subprocess
import sys

import pytest

from negotiator.cli.main import COMMANDS, load

_MODULES = 400
"""The whole service has 1,400; those of Python, typer and rich are 300."""


def test_the_help_imports_no_command() -> None:
    code = (
        "import sys; from negotiator.cli import main\n"
        "try: main()\nexcept SystemExit: print(len(sys.modules), 'sqlalchemy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True)
    count, has_database = done.stdout.split()[-2:]
    assert int(count) < _MODULES
    assert has_database == "False"


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_of_the_tree_is_there(name: str) -> None:
    assert load(name).name == name
