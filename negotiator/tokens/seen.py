"""When the tokens that act for a user last came by: kept in memory, written down once in a while.

A write for every request would cost more than it tells. A crash loses what was not written yet, a minute or so.
"""

from negotiator import values
from negotiator.caller import Caller


class Seen:
    """What came by in this process since it was last asked."""

    def __init__(self) -> None:
        self._when: dict[str, int] = {}

    def note(self, caller: Caller | None) -> Caller | None:
        """Remember the caller, if there is one and it acts for a user; answers it as it came."""
        if caller is not None and caller.user_id is not None:
            self._when[caller.client_id] = values.now()
        return caller

    def take(self) -> dict[str, int]:
        """Everybody who came by and when (milliseconds); the next asker hears only of what comes later."""
        taken, self._when = self._when, {}
        return taken
