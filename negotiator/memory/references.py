"""What memories and wins may refer to: looked up in slices above this one, under the same owner."""

from collections.abc import Callable
from dataclasses import dataclass

from negotiator.store.statement import Transaction

Require = Callable[[Transaction, str, str], None]
"""Takes the owner and the id; `NotFound` for what does not exist and for what is somebody else's, alike."""


@dataclass(frozen=True, slots=True)
class References:
    """Checks ids in request bodies."""

    negotiation: Require
    tactic: Require
