"""The server card, held against its schema, its older readers and the running endpoint."""

import re
from typing import Any, Final

import httpx2
import pytest

from tests.conftest import Register, bearer
from tests.contract.requirements import covers
from tests.helpers.form_browser import BASE
from tests.helpers.mcp_client import McpClient

WELL_KNOWN: Final = "/.well-known/mcp/server-card.json"
BESIDE: Final = "/mcp/server-card"
HANDSHAKES: Final = ("2025-11-25", "2025-06-18")
EXTENSIONS: Final = {
    "io.modelcontextprotocol/skills",
    "io.modelcontextprotocol/oauth-client-credentials",
    "io.modelcontextprotocol/enterprise-managed-authorization",
}


async def card(client: httpx2.AsyncClient) -> dict[str, Any]:
    """The card."""
    document: dict[str, Any] = (await client.get(WELL_KNOWN)).json()
    return document


@pytest.mark.asyncio
@covers("4.3:server-card")
async def test_one_card_answers_at_both_places(client: httpx2.AsyncClient) -> None:
    found = [await client.get(path, headers={"origin": "https://scanner.example"}) for path in (WELL_KNOWN, BESIDE)]
    assert [answer.status_code for answer in found] == [200, 200]
    types = [answer.headers["content-type"] for answer in found]
    assert types == ["application/json", "application/mcp-server-card+json"]
    assert found[0].content == found[1].content
    for answer in found:
        assert answer.headers["access-control-allow-origin"] == "*"
        assert answer.headers["cache-control"] == "public, max-age=3600"
        known = {"if-none-match": answer.headers["etag"]}
        assert (await client.get(str(answer.url), headers=known)).status_code == 304
        assert (await client.head(str(answer.url))).status_code == 200


@pytest.mark.asyncio
@covers("4.3:card")
async def test_the_card_has_what_its_schema_requires(client: httpx2.AsyncClient) -> None:
    """SEP-2127, schema v1: names, lengths and the one `$schema`."""
    found = await card(client)
    schema = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
    assert found["$schema"] == schema
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", found["name"])
    assert 3 <= len(found["name"]) <= 200
    assert 1 <= len(found["description"]) <= 100
    assert 1 <= len(found["title"]) <= 100
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", found["version"])
    assert found["websiteUrl"] == BASE
    for remote in found["remotes"]:
        assert remote["type"] == "streamable-http"
        assert remote["url"] == f"{BASE}/mcp"
        for header in remote["headers"]:
            assert header.keys() == {"name", "description", "isRequired", "isSecret"}
            assert "Bearer ey" not in header["description"]


@pytest.mark.asyncio
@covers("4.3:card")
async def test_readers_of_the_drafts_find_their_members(client: httpx2.AsyncClient) -> None:
    found = await card(client)
    assert found["serverInfo"]["name"] == found["name"]
    assert found["serverInfo"]["version"] == found["version"]
    assert found["transport"] == {"type": "streamable-http", "endpoint": f"{BASE}/mcp"}
    assert found["endpoint"] == found["remotes"][0]["url"]
    assert found["protocolVersion"] == found["remotes"][0]["supportedProtocolVersions"][0]
    assert found["capabilities"]["tools"] == {"listChanged": False}
    assert found["authentication"]["schemes"] == ["bearer"]


@pytest.mark.asyncio
@covers("4.3:card")
async def test_the_card_and_the_endpoint_never_disagree(client: httpx2.AsyncClient, register: Register) -> None:
    found, line = await card(client), McpClient(client, bearer(await register()))
    versions = found["remotes"][0]["supportedProtocolVersions"]
    told = (await line.ask("server/discover")).json()["result"]
    assert set(told["supportedVersions"]) <= set(versions)
    assert told["capabilities"] == found["capabilities"]
    assert set(told["capabilities"]["extensions"]) >= EXTENSIONS
    assert told["_meta"]["io.modelcontextprotocol/serverInfo"] == found["serverInfo"]
    assert set(versions) == {*told["supportedVersions"], *HANDSHAKES}
    for version in HANDSHAKES:
        hello: dict[str, Any] = {
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "x", "version": "1"},
        }
        request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
        greeted = (await line.send(request)).json()["result"]
        assert greeted["protocolVersion"] == version
        # Extensions are declared from 2026-07-28 on.
        assert greeted["capabilities"].items() <= found["capabilities"].items()
        assert found["capabilities"].keys() - greeted["capabilities"].keys() <= {"extensions"}
        assert greeted["serverInfo"].items() <= found["serverInfo"].items()
        assert greeted["serverInfo"]["name"] == found["name"]
    uninvited = await McpClient(client).ask("tools/list")
    assert (uninvited.status_code == 401) is found["authentication"]["required"]
    assert found["remotes"][0]["headers"][0]["isRequired"] is found["authentication"]["required"]
