"""The MCP server card: one document for readers of the v1 schema (SEP-2127) and of its drafts (SEP-1649)."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

WELL_KNOWN_CARD_PATH: Final = "/.well-known/mcp/server-card.json"
CARD_PATH: Final = "/mcp/server-card"
CARD_TYPE: Final = "application/mcp-server-card+json"
CARD_SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
CARD_CACHE_HEADERS: Final = {"cache-control": "public, max-age=3600"}


def server_card(
    base: str, info: Mapping[str, Any], versions: Sequence[str], capabilities: Mapping[str, Any], *, locked: bool
) -> dict[str, Any]:
    """The card of the server at `{base}/mcp`.

    `info` is `serverInfo` as `initialize` gives it, `versions` are the protocol revisions that the server speaks,
    newest first; `locked`: every tool needs a token.
    """
    endpoint = f"{base}/mcp"
    authorization = {
        "name": "Authorization",
        "description": f"Bearer token; how to get one: {base}/auth.md",
        "isRequired": locked,
        "isSecret": True,
    }
    return {
        "$schema": CARD_SCHEMA,
        "name": info["name"],
        "title": info["title"],
        "description": info["description"],
        "version": info["version"],
        "websiteUrl": base,
        "remotes": [
            {
                "type": "streamable-http",
                "url": endpoint,
                "supportedProtocolVersions": list(versions),
                "headers": [authorization],
            }
        ],
        "protocolVersion": versions[0],
        "serverInfo": dict(info),
        "endpoint": endpoint,
        "transport": {"type": "streamable-http", "endpoint": endpoint},
        "capabilities": dict(capabilities),
        "authentication": {"required": locked, "schemes": ["bearer"]},
        "documentationUrl": f"{base}/auth.md",
    }
