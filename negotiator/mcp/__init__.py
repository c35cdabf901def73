"""The operations as MCP tools, resources and prompts: `/mcp`, Streamable HTTP without sessions or streams.

`endpoint` receives messages over HTTP; `server` handles the protocol with the official SDK, which is imported by the
first message. `tools`, `tool_schemas` and `tool_calls` turn operations into tools; `tool_access` decides which of them
a caller is shown; `resources` and `prompts` read operations as resources and prompts; `skills` serves the agent skills.
Every call runs through `http.pipeline`, with the same guard, limits and refusals as over HTTP. `discovery` publishes
the server card.
"""
