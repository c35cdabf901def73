"""Passwords are tried within budgets that nobody can use up for others, as slow whether or not the account exists."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from starlette.requests import Request

from negotiator import audit, values
from negotiator.caller import anonymous_caller
from negotiator.console import browser_sessions
from negotiator.console.page_router import PageRouter
from negotiator.errors import TooManyRequests, ValidationFailed
from negotiator.users import user_queries
from negotiator.users.tables import User

SIGN_INS_BY_ADDRESS: Final = "signins"
PASSWORDS_BY_ACCOUNT: Final = "passwords"
_DELAY: Final = 3.0
"""Seconds that a try from an unknown browser waits while the account is guessed at from many addresses."""
_MOST_WAITING: Final = 512
"""Tries that may wait at once in one process; more are not delayed, so that a crowd of guessers locks nobody out."""
_MOST_WAITING_FROM_ADDRESS: Final = 4


@dataclass(frozen=True, slots=True)
class PasswordChecker:
    """Tries passwords. Each budget is charged before the try, so that no number of tries at once exceeds it.

    A known device has a budget of its own. Any other browser draws on its address's budget and on the account's at
    that address. What all addresses together try at an account only delays the next try from an unknown browser.
    """

    room: PageRouter
    waiting: Counter[str] = field(default_factory=Counter[str])

    async def check(self, request: Request, account: str, password: str) -> User | None:
        """The open account of this e-mail, if this is its password; 429 when this browser tried too much."""
        email, address = _normal(account), self.room.address(request)
        user = await self.room.store.read(lambda tx: user_queries.by_email(tx, email))
        if device := browser_sessions.find_device(
            self.room.browser_sessions.cookies, request, user
        ):
            await self._charge(PASSWORDS_BY_ACCOUNT, f"device:{device}")
        else:
            await self._admit_unknown(values.digest(email), address)
        hashed = user.password_hash if user and user.disabled_at is None else ""
        # argon2 takes its 15 ms and 19 MiB in a thread, never on the loop.
        if await asyncio.to_thread(user_queries.verify_password, hashed, password):
            return user
        subject = user.id if user else ""
        await self.room.store.write(
            lambda tx: audit.record(tx, "user.sign_in_refused", subject, actor=address)
        )
        return None

    async def _admit_unknown(self, account: str, address: str) -> None:
        """Charge a browser that is not known. An account that does not exist is charged and delayed alike."""
        await self._charge(SIGN_INS_BY_ADDRESS, address)
        await self._charge(PASSWORDS_BY_ACCOUNT, f"{account}:{address}")
        everywhere = await self.room.limits.charge(anonymous_caller(account), PASSWORDS_BY_ACCOUNT)
        if not everywhere.taken:
            await self._delay(address)

    async def _delay(self, address: str) -> None:
        """Wait without a thread; 429 for an address that has several tries waiting."""
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
        reading = await self.room.limits.charge(anonymous_caller(key), name)
        if not reading.taken:
            raise _too_many(reading.retry_after)


def _too_many(seconds: int) -> TooManyRequests:
    return TooManyRequests(
        "Too many passwords were tried from here. Wait a while before the next one.",
        retry_after=seconds,
    )


def _normal(account: str) -> str:
    try:
        return user_queries.normalise_email(account)
    except ValidationFailed:
        return account
