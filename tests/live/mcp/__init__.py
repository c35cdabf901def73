"""MCP clients that others wrote, signing their user in: tokens asked for, widened, renewed, and bound to a key."""
