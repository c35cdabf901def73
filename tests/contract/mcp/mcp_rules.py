"""The rules of the MCP endpoint, by id."""

from typing import Final

MCP: Final = {
    "assistant:1:server-card": "/.well-known/mcp/server-card.json answers GET",
    "contract:1.4:card": "the server card and the MCP endpoint never disagree",
    "contract:7:tools": "the tools are the operations marked for it, by verb and noun",
    "contract:7:same": "scopes, limits and refusals are those of HTTP",
    "contract:7:refusal-bodies": "a refusal by HTTP has a JSON-RPC error as body, in words a model can act on",
    "contract:7:listed": "a token that cannot be widened is shown the tools that it may call",
    "contract:7:redeem": "a delegation code is redeemed over MCP",
    "contract:7:affordable": "all tools together cost at most 7,000 tokens, and each says when to use it",
    "contract:7:resource": "the endpoint is a protected resource with metadata of its own",
}
