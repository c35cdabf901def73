"""The rules of the MCP endpoint, by id."""

from typing import Final

MCP: Final = {
    "assistant:1:server-card": "/.well-known/mcp/server-card.json answers GET",
    "contract:1.4:card": "the server card and the MCP endpoint never disagree",
    "contract:7:tools": "the tools are the operations marked for it, by verb and noun",
    "contract:7:same": "scopes, limits and refusals are those of HTTP",
    "contract:7:resource": "the endpoint is a protected resource with metadata of its own",
}
