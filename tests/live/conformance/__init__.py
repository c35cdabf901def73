"""The official conformance suite of MCP and the Inspector, against the real server: `make conformance`."""
