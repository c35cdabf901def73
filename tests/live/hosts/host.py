"""One MCP host by name, in the environment that has its package: `python host.py NAME URL TOKEN`.

Prints one JSON object: `tools`, the descriptions of what the host lists, by name; `allowed`, the result of a call that
the token allows; `refused`, what the host's caller sees of a call that it does not; `model`, what its model sees of
the same call; `again`, the result of the first call once more. An exception is shown by its type and message.
"""
# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false, reportOptionalMemberAccess=false
# pyright: reportCallIssue=false
# The packages are in environments of their own (`mcp-1.lock`, `mcp-2.lock`).

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

os.environ["MCP_USE_ANONYMIZED_TELEMETRY"] = "false"

ALLOWED: Final[tuple[str, dict[str, Any]]] = ("list_negotiations", {"limit": 2})
BEYOND: Final[tuple[str, dict[str, Any]]] = ("remember", {"text": "Acme gives way on Fridays."})
SCHEMA: Final[dict[str, Any]] = {"type": "object", "properties": {"text": {"type": "string"}}}
_PATIENCE: Final = 20


Call = Callable[[str, dict[str, Any]], Awaitable[Any]]


@dataclass
class Session:
    """A connected host: the tools it lists with their descriptions, a call by its caller, and one by its model."""

    tools: dict[str, str]
    call: Call
    model: Call | None = None


@asynccontextmanager
async def langchain(url: str, token: str) -> AsyncGenerator[Session]:
    """`langchain-mcp-adapters`: each tool call opens a session of its own."""
    from langchain_mcp_adapters.client import MultiServerMCPClient
    from langchain_mcp_adapters.tools import convert_mcp_tool_to_langchain_tool
    from mcp.types import Tool

    connection: Any = {"transport": "streamable_http", "url": url, "headers": {"Authorization": f"Bearer {token}"}}
    tools = await MultiServerMCPClient({"negotiator": connection}).get_tools()

    async def call(name: str, arguments: dict[str, Any]) -> Any:
        unlisted = Tool(name=name, description=name, inputSchema=SCHEMA)
        found = next((tool for tool in tools if tool.name == name), None)
        found = found or convert_mcp_tool_to_langchain_tool(None, unlisted, connection=connection)
        return await found.ainvoke(arguments)

    yield Session({tool.name: tool.description for tool in tools}, call)


@asynccontextmanager
async def mcp_use(url: str, token: str) -> AsyncGenerator[Session]:
    """`mcp-use`: one session for all calls."""
    from mcp_use import MCPClient

    client = MCPClient.from_dict({"mcpServers": {"negotiator": {"url": url, "auth": token}}})
    session = await client.create_session("negotiator")

    async def call(name: str, arguments: dict[str, Any]) -> Any:
        return text_of(await session.call_tool(name, arguments))

    tools = await session.list_tools()
    try:
        yield Session({tool.name: tool.description or "" for tool in tools}, call)
    finally:
        await client.close_all_sessions()


@asynccontextmanager
async def openai_agents(url: str, token: str) -> AsyncGenerator[Session]:
    """`openai-agents`: a function tool gives its model a text for every failure."""
    from agents import set_tracing_disabled
    from agents.mcp import MCPServerStreamableHttp, MCPUtil
    from agents.tool_context import ToolContext
    from mcp.types import Tool

    set_tracing_disabled(True)
    headers = {"Authorization": f"Bearer {token}"}
    async with MCPServerStreamableHttp(params={"url": url, "headers": headers}) as server:
        tools = {tool.name: tool for tool in await server.list_tools()}

        async def call(name: str, arguments: dict[str, Any]) -> Any:
            return text_of(await server.call_tool(name, arguments))

        async def model(name: str, arguments: dict[str, Any]) -> Any:
            tool = tools.get(name) or Tool(name=name, input_schema=SCHEMA)
            function = MCPUtil.to_function_tool(tool, server, convert_schemas_to_strict=False)
            text = json.dumps(arguments)
            context = ToolContext(None, tool_name=name, tool_call_id="1", tool_arguments=text)
            return await function.on_invoke_tool(context, text)

        yield Session({name: tool.description or "" for name, tool in tools.items()}, call, model)


@asynccontextmanager
async def pydantic_ai(url: str, token: str) -> AsyncGenerator[Session]:
    """`pydantic-ai-slim`: a failure is a `ModelRetry`, whose message the model reads."""
    from fastmcp import Client
    from fastmcp.client.transports import StreamableHttpTransport
    from pydantic_ai.mcp import MCPToolset

    async with MCPToolset(Client(StreamableHttpTransport(url), auth=token)) as toolset:
        tools = await toolset.list_tools()
        yield Session({t.name: t.description or "" for t in tools}, toolset.direct_call_tool)


@asynccontextmanager
async def fastmcp(url: str, token: str) -> AsyncGenerator[Session]:
    """`fastmcp`: a failure is an exception, whose message its caller reads."""
    from fastmcp import Client

    async with Client(url, auth=token) as client:

        async def call(name: str, arguments: dict[str, Any]) -> Any:
            return text_of(await client.call_tool(name, arguments))

        tools = await client.list_tools()
        yield Session({tool.name: tool.description or "" for tool in tools}, call)


def text_of(result: Any) -> str:
    """The texts of a tool result."""
    return "\n".join(part.text for part in result.content)


def shown(fault: BaseException) -> str:
    """What an exception says, with those that it groups."""
    said = f"{type(fault).__name__}: {fault}"
    return "\n".join([said, *map(shown, getattr(fault, "exceptions", ()))])


async def seen(call: Awaitable[Any]) -> str:
    """What a call comes to: its result, or its exception."""
    try:
        return str(await asyncio.wait_for(call, _PATIENCE))
    except Exception as fault:
        return shown(fault)


async def main(name: str, url: str, token: str) -> dict[str, Any]:
    """Connect, list, call."""
    hosts = {
        "langchain-mcp-adapters": langchain,
        "mcp-use": mcp_use,
        "openai-agents": openai_agents,
        "pydantic-ai-slim": pydantic_ai,
        "fastmcp": fastmcp,
    }
    async with hosts[name](url, token) as session:
        return {
            "tools": session.tools,
            "allowed": await seen(session.call(*ALLOWED)),
            "refused": await seen(session.call(*BEYOND)),
            "model": await seen((session.model or session.call)(*BEYOND)),
            "again": await seen(session.call(*ALLOWED)),
        }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(main(*sys.argv[1:]))) + "\n")
