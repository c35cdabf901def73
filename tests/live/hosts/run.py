"""`make hosts`: runs each host with an anonymous agent's token, and what the guides tell users to paste.

Exits 1 unless all is as expected.

The hosts need other versions of the MCP SDK than the server, and not all the same one. Each lock file makes an
environment of its own: `mcp-1.lock` those that need `mcp` 1.x, `mcp-2.lock` those that take `mcp` 2.x. A lock is made
from the `.in` file beside it: `uv pip compile mcp-1.in --python-version 3.11 --universal --generate-hashes
--no-emit-index-url --no-header -o mcp-1.lock`.
"""

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx2

from tests.helpers.live_server import Server
from tests.live.hosts.guides import ENVIRONMENTS, run_guides

HERE: Final = Path(__file__).parent
EMPTY: Final = "'next_cursor': None"
REASON: Final = "This operation needs the scope memories:write. Ask the user for a delegation code"
_PATIENCE: Final = 120


@dataclass(frozen=True, slots=True)
class Host:
    """A host, the environment it is in, and what it shows of the 403 to its caller and to its model."""

    name: str
    environment: str
    refused: str = REASON
    model: str = REASON


HOSTS: Final = (
    Host("fastmcp", "mcp-2"),
    Host("pydantic-ai-slim", "mcp-2"),
    # By default the model reads one sentence for every exception (`default_tool_error_function`).
    Host("openai-agents", "mcp-2", model="An error occurred while running the tool."),
    # `mcp` 1.30 calls `raise_for_status()` before it reads a body. Its exception has the response's headers.
    Host("langchain-mcp-adapters", "mcp-1", "403 Forbidden", "403 Forbidden"),
    # The same exception ends the session; the host opens another one for the next call.
    Host("mcp-use", "mcp-1", "connection loss", "connection loss"),
)


def played(host: Host, base: str, token: str) -> dict[str, Any]:
    """What this host saw."""
    python = ENVIRONMENTS / host.environment / "bin" / "python"
    done = subprocess.run(
        [python, HERE / "host.py", host.name, f"{base}/mcp", token],
        capture_output=True,
        text=True,
        timeout=_PATIENCE,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{host.name}: {done.stderr[-2000:]}")
    seen: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return seen


def surprises(host: Host, seen: dict[str, Any]) -> list[str]:
    """What is not as expected."""
    tools: dict[str, str] = seen["tools"]
    redeeming = tools.get("redeem_delegation_code", "")
    allowed = seen["allowed"].replace('"', "'").replace("null", "None").replace(":", ": ")
    checks = {
        "lists a tool beyond its scopes": not tools.keys() & {"remember", "submit_tool"},
        "does not list what it may call": tools.keys() >= {"open_negotiation", "search_tools"},
        "is not told what is missing": "memories:write (for add_tactic, remember" in redeeming,
        "cannot call what it may": EMPTY in allowed.replace("  ", " "),
        f"shows its caller {seen['refused']!r}": host.refused in seen["refused"],
        f"shows its model {seen['model']!r}": host.model in seen["model"],
        "cannot go on": seen["again"].split("id")[0] == seen["allowed"].split("id")[0],
    }
    return [f"{host.name}: {wrong}" for wrong, right in checks.items() if not right]


def main() -> int:
    """Run all hosts against a server of its own."""
    with tempfile.TemporaryDirectory() as name:
        server = Server(Path(name), workers=1)
        server.start()
        try:
            body = {"agent_name": "hosts", "identity_type": "anonymous"}
            answer = httpx2.post(f"{server.base}/api/agent/register", json=body)
            token: str = answer.json()["access_token"]
            wrong: list[str] = []
            for host in HOSTS:
                seen = played(host, server.base, token)
                sys.stdout.write(f"{host.name}: {len(seen['tools'])} tools; {seen['refused']}\n")
                wrong += surprises(host, seen)
            wrong += run_guides(server, Path(name))
        finally:
            server.stop()
    for line in wrong:
        sys.stdout.write(f"{line}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
