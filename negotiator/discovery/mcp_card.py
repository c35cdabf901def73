"""The MCP server card: one document for readers of the v1 schema (SEP-2127) and of its drafts (SEP-1649)."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

WELL_KNOWN_CARD_PATH: Final = "/.well-known/mcp/server-card.json"
CARD_PATH: Final = "/mcp/server-card"
CARD_TYPE: Final = "application/mcp-server-card+json"
CARD_SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
CARD_CACHE_HEADERS: Final = {"cache-control": "public, max-age=3600"}


class McpServerDescription(Protocol):
    """The description of a running MCP server, which the card repeats."""

    @property
    def server_info(self) -> Mapping[str, Any]:
        """`serverInfo` as `initialize` gives it."""
        ...

    @property
    def versions(self) -> Sequence[str]:
        """The protocol revisions that it serves, newest first."""
        ...

    @property
    def capabilities(self) -> Mapping[str, Any]: ...


def server_card(base: str, spoken: McpServerDescription, *, locked: bool) -> dict[str, Any]:
    """The card of the server at `{base}/mcp`; `locked`: every tool needs a token."""
    info, endpoint = spoken.server_info, f"{base}/mcp"
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
                "supportedProtocolVersions": list(spoken.versions),
                "headers": [authorization],
            }
        ],
        "protocolVersion": spoken.versions[0],
        "serverInfo": dict(info),
        "endpoint": endpoint,
        "transport": {"type": "streamable-http", "endpoint": endpoint},
        "capabilities": dict(spoken.capabilities),
        "authentication": {"required": locked, "schemes": ["bearer"]},
        "documentationUrl": f"{base}/auth.md",
    }
