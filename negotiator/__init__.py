"""Negotiator: a negotiation assistant server that any agent can walk up to.

The folders are the contract's own words; `wiring` is the only place where their objects meet. Imports go
down only, by the floors written in `pyproject.toml` and run by import-linter.
"""

__version__ = "0.1.0"
