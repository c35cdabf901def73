"""A password tried: limited by address and by account, as slow and as silent whether or not the account exists."""

import asyncio
from dataclasses import dataclass
from typing import Final

from negotiator import audit, values
from negotiator.caller import nobody
from negotiator.errors import TooManyRequests, ValidationFailed
from negotiator.limits.budgets import Limits
from negotiator.store.store import Store
from negotiator.users import people
from negotiator.users.tables import User

BY_ADDRESS: Final = "signins"
BY_ACCOUNT: Final = "passwords"


@dataclass(frozen=True, slots=True)
class Passwords:
    """Tries passwords. Both budgets are charged before the try, so that no number of them at once exceeds one."""

    store: Store
    limits: Limits

    async def check(self, account: str, password: str, *, address: str) -> User | None:
        """The open account of this e-mail, if this is its password; 429 when too much was tried."""
        await self._charge(BY_ADDRESS, address)
        email = _normal(account)
        # Also an account that does not exist runs out: an endless supply of tries would tell.
        await self._charge(BY_ACCOUNT, values.digest(email))
        user = await self.store.read(lambda tx: people.by_email(tx, email))
        hashed = user.password_hash if user and user.disabled_at is None else ""
        # argon2 takes its 15 ms and 19 MiB in a thread, never on the loop.
        if await asyncio.to_thread(people.verify_password, hashed, password):
            return user
        subject = user.id if user else ""
        await self.store.write(
            lambda tx: audit.record(tx, "user.sign_in_refused", subject, actor=address)
        )
        return None

    async def _charge(self, name: str, key: str) -> None:
        reading = await self.limits.charge(nobody(key), name)
        if not reading.taken:
            raise TooManyRequests(
                "Too many passwords were tried. Wait a while before the next one.",
                retry_after=reading.retry_after,
            )


def _normal(account: str) -> str:
    try:
        return people.normal_email(account)
    except ValidationFailed:
        return account
