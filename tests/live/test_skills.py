"""Every command of every skill runs as it stands, one shell a skill."""

import shutil
import subprocess
import sys
from typing import Any

import httpx2
import pytest

from tests.contract.requirements import covers
from tests.live.conftest import Server
from tests.live.test_guide import snippets


def taught(server: Server) -> list[dict[str, Any]]:
    """The skills of the running service."""
    index = httpx2.get(f"{server.base}/.well-known/agent-skills/index.json").json()
    found: list[dict[str, Any]] = index["skills"]
    return found


@pytest.mark.skipif(shutil.which("curl") is None, reason="skills speak curl")
@covers("contract:1.4:skills")
def test_every_command_of_every_skill_works(server: Server) -> None:
    found = taught(server)
    assert len(found) >= 2
    for skill in found:
        shell = [each.shell for each in snippets(httpx2.get(skill["url"]).text)]
        assert shell, skill["name"]
        python = f'python3() {{ "{sys.executable}" "$@"; }}\n'
        done = subprocess.run(
            ["bash", "-euo", "pipefail"],
            input=python + "\n".join(shell),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{skill['name']}:\n{done.stdout}\n{done.stderr}"
