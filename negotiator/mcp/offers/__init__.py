"""What the MCP server offers, as plain data read from the description of the service: tools, resources, prompts.

`identity` is who it says it is. Nothing here knows the SDK; `server` and `speaker` above put it on the wire.
"""
