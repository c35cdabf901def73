"""The TypeScript SDK's OAuth client against a running server: bearer tokens, and tokens bound to its key."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.live_user import arrive, converse
from tests.helpers.mcp_client import NEWEST
from tests.helpers.mcp_tool_calls import CALLS
from tests.live.mcp.conftest import ShortTokenServer
from tests.live.mcp.python_client import CALLBACK

pytestmark = pytest.mark.asyncio
WRITING = "memories:write"
CALLED = ("open_negotiation", "list_tactics", "remember")


@pytest.mark.parametrize(("kind", "type_"), [("bearer", "Bearer"), ("dpop", "DPoP")])
async def test_the_typescript_client_signs_in_steps_up_and_renews(
    short_token_server: ShortTokenServer, modules: Path, kind: str, type_: str
) -> None:
    """With DPoP each request carries a proof of its own, the step up and the renewal too."""
    node = shutil.which("node")
    assert node is not None, "node is missing beside npm"
    calls = json.dumps([(name, CALLS[name]({})) for name in CALLED])
    person = await arrive(short_token_server, f"{kind}@live.example")
    person.refusing = (WRITING,)
    running = await asyncio.create_subprocess_exec(
        *(node, "sign-in.mjs", f"{short_token_server.base}/mcp", CALLBACK, kind, calls),
        cwd=modules,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(60):
        await converse(person, running)
        person.refusing = ()
        await converse(person, running)
        rest, said = await running.communicate()
    assert running.returncode == 0, said.decode()
    told: dict[str, Any] = json.loads(rest)
    first, last = (set(scopes.split()) for scopes in told.pop("scopes"))
    assert WRITING not in first
    assert last == first | {WRITING}
    assert told == {
        "revision": NEWEST,
        "tools": len(CALLS),
        "answered": [*CALLED, "list_negotiations"],
        "visits": 2,
        "asked_again": 0,
        "renewed": 1,
        "types": [type_],
    }
