"""The same operations, spoken as MCP: `/mcp`, streamable HTTP without sessions or streams.

`door` is the way in over HTTP, `speaker` the protocol by the official SDK (loaded when first needed), `tools` and
`calls` turn marked operations into tools, `access` decides which of them a caller is shown, `shelf` and `prompts` read
other operations as resources and prompts. Every call goes through the edge's steps, so it meets the same guard, limits
and refusals as over HTTP. Owns no table and no credential; knows no slice. Its neighbour `discovery` publishes the
server card.
"""
