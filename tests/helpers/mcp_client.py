"""A client of the MCP endpoint that sends single messages, and the official client over the same application."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import httpx2
import pytest_asyncio
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.inbound import encode_header_value

from negotiator.base.scopes import ASSISTANT, DIRECTORY
from negotiator.tokens import clients
from negotiator.tokens.clients import NewClient
from tests.conftest import Change, Register, bearer
from tests.helpers.form_browser import BASE

NEWEST: Final = "2026-07-28"
OLDER: Final = ("2025-11-25", "2025-06-18")
NAMED_HEADER: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
META: Final = "io.modelcontextprotocol/"
PRICED: Final[dict[str, Any]] = {
    "title": "Laptops",
    "role": "buyer",
    "currency": "EUR",
    "issues": [{"name": "price", "type": "money", "range": {"min": "800", "max": "1200"}}],
    "walk_away": {"package": {"price": "1100"}},
}


@dataclass
class McpClient:
    """One client at the endpoint; what it says is what is sent."""

    client: httpx2.AsyncClient
    headers: dict[str, str] = field(default_factory=dict[str, str])
    version: str = NEWEST

    async def send(self, content: Any, **headers: str) -> httpx2.Response:
        """POST whatever it is."""
        sent = {"content-type": "application/json", **self.headers, **headers}
        if isinstance(content, bytes):
            return await self.client.post("/mcp", content=content, headers=sent)
        return await self.client.post("/mcp", json=content, headers=sent)

    def message(self, method: str, params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        """A request of this revision, and the headers that go with it."""
        headers = {"mcp-protocol-version": self.version}
        if self.version == NEWEST:
            meta: dict[str, Any] = {f"{META}protocolVersion": NEWEST, f"{META}clientCapabilities": {}}
            params = {**params, "_meta": {**meta, **params.get("_meta", {})}}
            headers["mcp-method"] = method
            if method in NAMED_HEADER:
                headers["mcp-name"] = encode_header_value(str(params.get(NAMED_HEADER[method])))
        return {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}, headers

    async def ask(self, method: str, **params: Any) -> httpx2.Response:
        """A well-formed request."""
        message, headers = self.message(method, params)
        return await self.send(message, **headers)

    async def call(self, tool: str, /, **arguments: Any) -> httpx2.Response:
        """Call a tool."""
        return await self.ask("tools/call", name=tool, arguments=arguments)

    async def done(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must succeed; its structured content."""
        answer = await self.call(tool, **arguments)
        result = answer.json()["result"]
        assert result["isError"] is False, result
        content: dict[str, Any] = result["structuredContent"]
        return content


@pytest_asyncio.fixture
async def mcp_client(client: httpx2.AsyncClient, register: Register) -> McpClient:
    """The line of an anonymous agent."""
    return McpClient(client, bearer(await register()))


@pytest_asyncio.fixture
async def full_mcp_client(client: httpx2.AsyncClient, change: Change) -> McpClient:
    """The line of a program that has every scope."""
    new = NewClient("full", clients.USERLESS_GRANTS, (*ASSISTANT, *DIRECTORY))
    client_id, secret = await change(lambda tx: clients.add(tx, new))
    form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": secret}
    answer = await client.post("/oauth/token", data=form)
    assert answer.status_code == 200, answer.text
    return McpClient(client, bearer(answer.json()))


@asynccontextmanager
async def official(mcp_client: McpClient, version: str, base: str = BASE) -> AsyncGenerator[Client]:
    """The SDK's client with this line's credential, at this revision."""
    mcp_client.client.headers.update(mcp_client.headers)
    transport = streamable_http_client(f"{base}/mcp", http_client=mcp_client.client)
    mode: Any = version if version == NEWEST else "legacy"
    async with Client(transport, mode=mode) as connected:
        yield connected


def told(answer: httpx2.Response) -> dict[str, Any]:
    """The refusal in a tool result."""
    assert answer.status_code == 200
    result = answer.json()["result"]
    assert result["isError"] is True
    assert "structuredContent" not in result
    body: dict[str, Any] = json.loads(result["content"][0]["text"])
    return body


def error(answer: Any, status: int, code: int) -> dict[str, Any]:
    """The JSON-RPC error of an answer with this status."""
    assert (answer.status_code, answer.json().get("error", {}).get("code")) == (status, code)
    found: dict[str, Any] = answer.json()["error"]
    return found
