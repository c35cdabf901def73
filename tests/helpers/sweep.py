"""All chores of the housekeeping at once, in a test's own transaction."""

from typing import Final

from negotiator.compose.ownership import chores
from negotiator.store.statement import Transaction

_ALL: Final = 1_000_000


def sweep(tx: Transaction, now: int) -> bool:
    """Do what time has brought by the moment `now` (milliseconds); True when the files have to be scrubbed."""
    done = [(chore, chore.run(tx, now, _ALL)) for chore in chores()]
    return any(chore.scrub and handled for chore, handled in done)
