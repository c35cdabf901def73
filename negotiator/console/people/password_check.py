"""Checks passwords within rate limits, in the same time whether or not the account exists."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from starlette.requests import Request

from negotiator.base import values
from negotiator.base.caller import anonymous_caller
from negotiator.base.errors import TooManyRequests, ValidationFailed
from negotiator.console import browser_sessions
from negotiator.console.page_router import PageRouter
from negotiator.runtime import thread_pools
from negotiator.store import audit
from negotiator.users import user_queries
from negotiator.users.tables import User

SIGN_INS_BY_ADDRESS: Final = "signins"
PASSWORDS_BY_ACCOUNT: Final = "passwords"
_DELAY: Final = 3.0
"""Seconds that an attempt from an unknown browser waits while many addresses try the account's password."""
_MOST_WAITING: Final = 512
"""Attempts that may wait at once in one process; more are not delayed, so that an attack locks no user out."""
_MOST_WAITING_FROM_ADDRESS: Final = 4


@dataclass(frozen=True, slots=True)
class PasswordChecker:
    """Checks passwords. Every budget is charged before the check, so parallel attempts cannot exceed it.

    A known device has a budget of its own. Any other browser uses its address's budget and the account's budget at that
    address. Attempts at an account from all addresses together only delay the next attempt from an unknown browser.
    """

    router: PageRouter
    waiting: Counter[str] = field(default_factory=Counter[str])

    async def check(self, request: Request, account: str, password: str) -> User | None:
        """The enabled account with this e-mail, if this is its password; 429 when this browser tried too often."""
        email, address = _normal(account), self.router.address(request)
        user = await self.router.store.read(lambda tx: user_queries.by_email(tx, email))
        if device := browser_sessions.find_device(self.router.browser_sessions.cookies, request, user):
            await self._charge(PASSWORDS_BY_ACCOUNT, f"device:{device}")
        else:
            await self._admit_unknown(values.digest(email), address)
        hashed = user.password_hash if user and user.disabled_at is None else ""
        # argon2 needs 15 ms and 19 MiB, in a thread and not on the event loop.
        if await thread_pools.PASSWORDS.run(user_queries.verify_password, hashed, password):
            return user
        subject = user.id if user else ""
        await self.router.store.write(lambda tx: audit.record(tx, "user.sign_in_refused", subject, actor=address))
        return None

    async def charge_address(self, request: Request) -> None:
        """Charge one attempt to sign in without a password to the address; 429 when it tried too often."""
        reading = await self.router.limits.charge(anonymous_caller(self.router.address(request)), SIGN_INS_BY_ADDRESS)
        if not reading.taken:
            raise TooManyRequests(
                "Too many attempts to sign in came from here. Wait before you try again.",
                retry_after=reading.retry_after,
            )

    async def _admit_unknown(self, account: str, address: str) -> None:
        """Charge an unknown browser. An account that does not exist is charged and delayed alike."""
        await self._charge(SIGN_INS_BY_ADDRESS, address)
        await self._charge(PASSWORDS_BY_ACCOUNT, f"{account}:{address}")
        everywhere = await self.router.limits.charge(anonymous_caller(account), PASSWORDS_BY_ACCOUNT)
        if not everywhere.taken:
            await self._delay(address)

    async def _delay(self, address: str) -> None:
        """Wait without a thread; 429 for an address with several waiting attempts."""
        if self.waiting[address] >= _MOST_WAITING_FROM_ADDRESS:
            raise _too_many(round(_DELAY) or 1)
        if self.waiting.total() >= _MOST_WAITING:
            return
        self.waiting[address] += 1
        try:
            await asyncio.sleep(_DELAY)
        finally:
            self.waiting[address] -= 1
            if not self.waiting[address]:
                del self.waiting[address]

    async def _charge(self, name: str, key: str) -> None:
        reading = await self.router.limits.charge(anonymous_caller(key), name)
        if not reading.taken:
            raise _too_many(reading.retry_after)


def _too_many(seconds: int) -> TooManyRequests:
    return TooManyRequests("Too many passwords were tried from here. Wait before you try again.", retry_after=seconds)


def _normal(account: str) -> str:
    try:
        return user_queries.normalise_email(account)
    except ValidationFailed:
        return account
