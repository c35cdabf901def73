"""The least that a tool call costs on the official SDK as it comes: one tool that answers its argument."""

from typing import Any

from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings

server: Any = MCPServer("echo")


@server.tool()
def echo(text: str) -> str:
    """Answer the text."""
    return text


app = server.streamable_http_app(
    stateless_http=True,
    json_response=True,
    transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
)
