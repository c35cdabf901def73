"""Every command of every skill runs as it stands, one shell a skill."""

import shutil
import subprocess
import sys
from typing import Any

import httpx2
import pytest

from negotiator.directory import catalogue_queries
from negotiator.directory.tool_record import FieldEvidence, ToolRecord
from tests.contract.requirements import covers
from tests.helpers.guide_snippets import snippets
from tests.helpers.live_server import Server

LISTED = ToolRecord.model_validate(
    {
        "name": "Quiver",
        "summary": "Vector database for text and pictures",
        "kind": "mcp_server",
        "category": "databases-storage",
        "homepage_url": "https://quiver.example/",
        "evidence": (FieldEvidence(source="the tests"),),
    }
)


def taught(server: Server) -> list[dict[str, Any]]:
    """The skills of the running service."""
    index = httpx2.get(f"{server.base}/.well-known/agent-skills/index.json").json()
    found: list[dict[str, Any]] = index["skills"]
    return found


@pytest.mark.asyncio
@pytest.mark.skipif(shutil.which("curl") is None, reason="skills speak curl")
@covers("4.3:skills")
async def test_every_command_of_every_skill_works(server: Server) -> None:
    await server.change(lambda tx: catalogue_queries.put(tx, LISTED, actor="tests"))
    found = taught(server)
    assert {skill["name"] for skill in found} == {
        *("get-a-token", "run-a-negotiation", "rehearse", "search-the-tools-directory")
    }
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
