"""Negotiator: a negotiation assistant server that agents can use without prior arrangement.

Each folder is a part of the domain; `compose` is the only place where their objects are put together. Imports follow
the layers in `pyproject.toml`, which import-linter checks.
"""

__version__ = "0.1.0"
