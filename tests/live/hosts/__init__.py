"""Agent frameworks that others wrote, as MCP hosts of the server: `make hosts`, or `run.py` by hand."""
