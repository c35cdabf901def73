"""How much one submitter may ask for: so many waiting, so many a day (directory.md §3.2)."""

from typing import Final

from negotiator import values
from negotiator.caller import Caller
from negotiator.directory.submissions import kept
from negotiator.errors import Conflict, TooManyRequests
from negotiator.store.statement import Transaction

MOST_OPEN: Final = 5
DAILY: Final = 10
DAILY_PROVEN: Final = 50
_DAY: Final = 24 * 3600 * 1000
_PROVEN: Final = 2


def demand(tx: Transaction, caller: Caller) -> None:
    """Refuse one more submission: 409 at five waiting, 429 at ten a day; a proven agent has fifty a day."""
    demand_room(tx, caller)
    now, most = values.now(), DAILY_PROVEN if caller.level >= _PROVEN else DAILY
    made = kept.made_since(tx, caller.principal, now - _DAY)
    if len(made) >= most:
        raise TooManyRequests(
            f"You made {most} submissions within a day.",
            error="submission_quota",
            retry_after=(made[-most] + _DAY - now) // 1000 + 1,
        )


def demand_room(tx: Transaction, caller: Caller) -> None:
    """Refuse one more waiting submission of somebody unproven."""
    if caller.level < _PROVEN and kept.count_open(tx, caller.principal) >= MOST_OPEN:
        raise Conflict(
            f"You have {MOST_OPEN} submissions waiting; withdraw one, or prove who you are.",
            error="too_many_open",
        )
