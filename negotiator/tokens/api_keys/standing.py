"""What a client that holds API keys may do at this moment; asked of whoever keeps such clients."""

from collections.abc import Callable
from dataclasses import dataclass

from negotiator.caller import Rate
from negotiator.store.statement import Transaction


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a client is believed, what it may ask for, how often."""

    level: int
    scopes: frozenset[str]
    rate: Rate


FindStanding = Callable[[Transaction, str], Standing | None]
"""The standing of a client id; None when there is no such client, or no more."""
