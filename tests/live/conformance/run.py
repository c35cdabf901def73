"""`make conformance`: runs the official suite and the Inspector's command line; exits 1 unless all is as expected.

Wants `npm ci` in this folder first: the suite needs a newer Node than the rest, which comes as an npm package.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx2
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from tests.helpers.live_server import Server, free_port
from tests.live.conformance import signing
from tests.live.conformance.bearer import bearing
from tests.live.conformance.expected import AUTHORIZATION, NOT_APPLICABLE, REVISIONS, UNTESTABLE

HERE: Final = Path(__file__).parent
MODULES: Final = HERE / "node_modules"
NODE: Final = MODULES / "node" / "bin" / "node"
SUITE: Final = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
BRIDGE: Final = MODULES / ".bin" / "mcp-remote"
INSPECTOR: Final = MODULES / ".bin" / "mcp-inspector"
_PASSED: Final = {"SUCCESS", "INFO", "SKIPPED", "WARNING"}


def named(checks: Path) -> str:
    """The scenario whose checks these are: the folder's name without its kind and its date."""
    return re.sub(r"^(?:authorization-)?server-|-\d{4}-\d\d-\d\dT.*", "", checks.parent.name)


def failed(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Scenario, check and message of everything that did not pass."""
    for found in sorted(folder.glob("*/checks.json")):
        scenario = named(found)
        for check in json.loads(found.read_text()):
            if check["status"] not in _PASSED:
                yield scenario, check["id"], check.get("errorMessage") or ""


def suite(url: str, revision: str, folder: Path) -> tuple[int, list[str]]:
    """How many scenarios ran, and what of them is not as expected."""
    command = [NODE, SUITE, "server", "--url", url, "--requirements", revision, "-o", folder]
    subprocess.run(command, capture_output=True, timeout=300, check=False)
    ran = {named(found) for found in folder.glob("*/checks.json")}
    wrong: list[str] = [] if ran else [f"{revision}: the suite did not run"]
    fell: set[str] = set()
    for scenario, check, message in failed(folder):
        fell.add(scenario)
        if scenario not in NOT_APPLICABLE and check not in UNTESTABLE.get(scenario, {}):
            wrong.append(f"{revision}: {scenario}: {check}: {message}")
    wrong += [
        f"{revision}: {scenario} passes: strike it from the list"
        for scenario in sorted(ran & NOT_APPLICABLE.keys() - fell)
    ]
    return len(ran), wrong


def inspected(url: str, token: str, home: Path, *method: str) -> subprocess.CompletedProcess[str]:
    """One call of the Inspector."""
    header = f"Authorization: Bearer {token}"
    command = [NODE, INSPECTOR, "--cli", url, "--transport", "http", "--header", header, *method]
    environment = {**os.environ, "HOME": str(home), "MCP_CATALOG_PATH": str(home / "mcp.json")}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)


def inspect(url: str, token: str, home: Path) -> list[str]:
    """What the Inspector finds wrong: with the schemas, or with a call."""
    listed = inspected(url, token, home, "--method", "tools/list", "--strict")
    wrong = [f"inspector: {line}" for line in listed.stderr.splitlines() if line.strip()]
    if listed.returncode or len(json.loads(listed.stdout)["tools"]) < 10:
        wrong.append(f"inspector: tools/list exits {listed.returncode}")
    call = ("--method", "tools/call", "--tool-name", "list_negotiations", "--tool-arg", "limit=2")
    called = inspected(url, token, home, *call)
    answer: dict[str, Any] = json.loads(called.stdout or "{}")
    if answer.get("structuredContent") != {"items": [], "next_cursor": None}:
        wrong.append(f"inspector: tools/call: {called.stdout}{called.stderr}")
    return wrong


def authorization(server: Server, folder: Path) -> list[str]:
    """What the suite finds wrong with the authorization server: its metadata, its code flow."""
    said = asyncio.run(signing.authorize(server, NODE, SUITE, into=folder))
    ran = {named(found) for found in folder.glob("*/checks.json")}
    sys.stdout.write(f"authorization: {len(ran)} scenarios\n")
    wrong = [f"authorization: {check}: {message}" for _, check, message in failed(folder)]
    missing = AUTHORIZATION - ran
    return wrong + ([f"authorization: {sorted(missing)} did not run: {said}"] if missing else [])


async def bridged(url: str, token: str, home: Path) -> list[str]:
    """What goes wrong between a client on standard input and the server, with `mcp-remote` between them."""
    options = ("--transport", "http-only", "--header", f"Authorization:Bearer {token}")
    bridge = StdioServerParameters(
        command=str(NODE),
        args=[str(BRIDGE.resolve()), url, "--allow-http", "--silent", *options],
        env={**os.environ, "HOME": str(home), "MCP_REMOTE_CONFIG_DIR": str(home)},
    )
    async with Client(bridge, mode="legacy") as client:
        if len((await client.list_tools()).tools) < 10:
            return ["mcp-remote: tools are missing"]
        result = await client.call_tool("list_negotiations", {"limit": 2})
    right = result.structured_content == {"items": [], "next_cursor": None}
    return [] if right else [f"mcp-remote: {result}"]


def main() -> int:
    """Run everything against a server of its own."""
    if not NODE.exists():
        sys.stderr.write("Run npm ci in tests/live/conformance first.\n")
        return 2
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        listening = free_port()
        origins = f"http://127.0.0.1:{listening},http://localhost:{listening}"
        server = Server(folder, workers=1, settings={"trusted_origins": origins})
        server.start()
        try:
            body = {"agent_name": "conformance", "identity_type": "anonymous"}
            token = httpx2.post(f"{server.base}/api/agent/register", json=body).json()["access_token"]
            wrong: list[str] = []
            with bearing(token, server.port, listening) as between:
                for revision in REVISIONS:
                    ran, found = suite(f"{between}/mcp", revision, folder / revision)
                    sys.stdout.write(f"{revision}: {ran} scenarios, {len(found)} surprises\n")
                    wrong += found
            home = folder / "home"
            home.mkdir()
            wrong += inspect(f"{server.base}/mcp", token, home)
            wrong += asyncio.run(bridged(f"{server.base}/mcp", token, home))
            bridge = (NODE, BRIDGE.resolve())
            wrong += asyncio.run(signing.bridged(server, *bridge, home=folder / "remote"))
            wrong += asyncio.run(signing.elder(server, NODE, HERE / "elder.mjs"))
            wrong += authorization(server, folder / "authorization")
        finally:
            server.stop()
    for line in wrong:
        sys.stdout.write(f"{line}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
