"""Servers that are measured beside ours; each runs in an environment of its own and imports nothing of the package."""
