"""What signs a user in: the suite as a client of the code flow, `mcp-remote`, and the elder TypeScript client."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TextIO

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from negotiator.base.scopes import ASSISTANT
from negotiator.tokens import clients
from negotiator.tokens.clients import NewClient
from tests.helpers.live_server import Server, free_port
from tests.helpers.live_user import LiveUser, arrive, converse, sent_to

_PATIENCE: Final = 60


async def authorize(server: Server, *suite: str | Path, into: Path) -> str:
    """Let the suite's authorization scenarios run as a public client, and its user say yes; what it printed."""
    port = free_port()
    back = (f"http://127.0.0.1:{port}/callback",)
    new = NewClient("conformance", clients.CODE_FLOW_GRANTS, tuple(ASSISTANT), back, "none")
    client_id, _ = await server.change(lambda tx: clients.add(tx, new))
    running = await asyncio.create_subprocess_exec(
        *(*suite, "authorization", "--url", server.base, "--resource", f"{server.base}/mcp"),
        *("--client-id", client_id, "--port", str(port), "-o", into),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert running.stdout
    person = await arrive(server, "conformance@live.example")
    async with asyncio.timeout(_PATIENCE):
        await person.follow(await sent_to(running.stdout))
        said, _ = await running.communicate()
    return said.decode()


async def bridged(server: Server, *bridge: str | Path, home: Path) -> list[str]:
    """What goes wrong when `mcp-remote` has no token and sends its user to sign in."""
    person = await arrive(server, "remote@live.example")
    command, *rest = map(str, bridge)
    parameters = StdioServerParameters(
        command=command,
        args=[*rest, f"{server.base}/mcp", "--allow-http", "--transport", "http-only"],
        env={**os.environ, "HOME": str(home), "MCP_REMOTE_CONFIG_DIR": str(home), "PATH": ""},
    )
    async with asyncio.timeout(_PATIENCE), _overheard() as (said, errors), asyncio.TaskGroup() as beside:
        signing = beside.create_task(_sign(person, said))
        async with Client(stdio_client(parameters, errlog=errors), mode="legacy") as client:
            tools = (await client.list_tools()).tools
            result = await client.call_tool("remember", {"text": "They give way on Fridays."})
        signing.cancel()
    wrong = [] if len(tools) >= 10 else ["mcp-remote: tools are missing"]
    return wrong + ([f"mcp-remote: {result}"] if result.is_error else [])


async def elder(server: Server, *program: str | Path) -> list[str]:
    """What goes wrong with the first generation of the TypeScript SDK."""
    running = await asyncio.create_subprocess_exec(
        *(*program, f"{server.base}/mcp", "http://127.0.0.1:33418/callback"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    person = await arrive(server, "elder@live.example")
    async with asyncio.timeout(_PATIENCE):
        await converse(person, running)
        rest, said = await running.communicate()
    told = json.loads(rest or "{}")
    right = {"visits": 1, "renewed": True, "error": False}
    if told.pop("tools", 0) >= 10 and told == right:
        return []
    return [f"elder: {told} {said.decode()}"]


async def _sign(person: LiveUser, said: asyncio.StreamReader) -> None:
    await person.follow(await sent_to(said))
    # Nothing of what it says later is wanted, but a full pipe would stop it.
    await said.read()


@asynccontextmanager
async def _overheard() -> AsyncGenerator[tuple[asyncio.StreamReader, TextIO]]:
    """A file that a process writes to, and its text."""
    reading, writing = os.pipe()
    said = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    with os.fdopen(reading, "rb") as source, os.fdopen(writing, "w") as errors:
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(said), source)
        yield said, errors
        transport.close()
