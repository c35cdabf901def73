"""Redeeming delegation codes: which failures are counted, by whom, and what an empty budget of them refuses.

A code is one of 20^12 (2^51.8), and an agent has five tries. Wrong codes are also charged to the client address, and
to all agents together only while the address has some left, so that one address cannot spend what everybody shares.
Neither budget is asked before the code is looked at: a code that is right is taken however many wrong ones others
sent, and a wrong one is answered 429 in place of 400, and leaves no entry in the audit trail.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from negotiator.agents.delegation import WRONG_CODE, Delegations
from negotiator.caller import Caller, nobody
from negotiator.errors import Refusal, TooManyRequests
from negotiator.limits.budgets import Limits
from negotiator.store.statement import Transaction
from negotiator.store.store import Store

ADDRESS_FAILURES: Final = "wrongcodes"
ALL_FAILURES: Final = "allwrongcodes"
_EVERYBODY: Final = "everybody"

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Claims:
    """Runs the unit that redeems a code, within the budgets of wrong codes."""

    store: Store
    delegations: Delegations
    limits: Limits

    async def redeem(
        self, caller: Caller, address: str, unit: Callable[[Transaction], Result]
    ) -> Result:
        """What the unit answers; counts the try before it is made, and a wrong code after."""
        await self.store.write(lambda tx: self.delegations.attempt(tx, caller))
        try:
            return await self.store.write(unit)
        except Refusal as refusal:
            if refusal.error == WRONG_CODE:
                await self._count(address)
            raise

    async def _count(self, address: str) -> None:
        for name, key in ((ADDRESS_FAILURES, address), (ALL_FAILURES, _EVERYBODY)):
            taken = await self.limits.charge(nobody(key), name)
            if not taken.taken:
                raise TooManyRequests(
                    "Too many wrong codes were tried.",
                    retry_after=taken.retry_after,
                    error="too_many_attempts",
                )
