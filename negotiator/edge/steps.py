"""The steps that no operation can forget, however its call came: guard, limit, input, run.

A way in (HTTP, MCP) implements `Arrival`: it knows where a credential, an input, a revision and a key stand in its own
messages. What is done with them, and in which order, is decided here alone.
"""

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import formatdate
from functools import partial
from typing import Any, Final, Protocol

from negotiator.caller import Caller, Retiring, nobody
from negotiator.edge.guard import Guard
from negotiator.edge.operation import Answer, Call, Operation
from negotiator.edge.refusals import Refusals
from negotiator.errors import InsufficientScope, InvalidRequest, Refusal
from negotiator.idempotency import Once
from negotiator.limits.budgets import Limits, Reading, refuse
from negotiator.store.conditions import require
from negotiator.store.store import Store

_KEY_LENGTH: Final = 255
_BELIEVED_FOR: Final = 1.0
"""Seconds."""


@dataclass(slots=True)
class Left:
    """What a call leaves for its answer's headers, whatever the answer is."""

    reading: Reading | None = None
    retiring: Retiring | None = None

    def headers(self) -> list[tuple[bytes, bytes]]:
        """The limit headers; for a credential that has a successor, RFC 9745's and RFC 8594's too."""
        told = self.reading.headers() if self.reading else []
        if self.retiring:
            until = formatdate(self.retiring.until / 1000, usegmt=True)
            told.append((b"deprecation", b"@%d" % (self.retiring.since // 1000)))
            told.append((b"sunset", until.encode()))
        return told


@dataclass(frozen=True, slots=True)
class Doorway:
    """What every way in shares."""

    guard: Guard
    limits: Limits
    refusals: Refusals
    store: Store

    async def charge(
        self,
        caller: Caller,
        name: str | None,
        left: Left,
        *,
        baseline: str = "baseline",
        public: bool = False,
    ) -> None:
        """Charge one budget, 429 when it was empty; of several, the headers tell of the one that binds first."""
        taken = await self._take(caller, name, left, baseline=baseline, public=public)
        if not taken.taken:
            raise refuse(taken)

    async def admit(self, operation: Operation, caller: Caller, left: Left) -> None:
        """Let the caller pass, or charge them for the refusal: 401 without a credential, 403 without a scope.

        A 403 is the answer even when the credential's budget is empty: it names the scope that is missing, which a
        429 could not, and costs no more.
        """
        try:
            self.guard.allow(operation, caller)
        except InsufficientScope:
            await self._take(caller, None, left)
            raise
        except Refusal:
            await self.charge(caller, None, left, baseline=operation.baseline)
            raise

    async def _take(
        self,
        caller: Caller,
        name: str | None,
        left: Left,
        *,
        baseline: str = "baseline",
        public: bool = False,
    ) -> Reading:
        taken = await self.limits.charge(caller, name, baseline=baseline, public=public)
        if not left.reading or not taken.taken or taken.remaining < left.reading.remaining:
            left.reading = taken
        return taken

    async def confirm(self, caller: Caller, since: float) -> None:
        """401 when the credential has ended, asked only if it was believed too long ago: while a slow body was read."""
        if time.monotonic() - since > _BELIEVED_FOR:
            await self.store.read(lambda tx: self.guard.check(tx, caller))

    async def refused(self, refusal: Refusal) -> Answer:
        """The refusal, once what it has to leave behind is kept; 503 while that cannot be."""
        if refusal.remember is None:
            return self.refusals.answer(refusal)
        try:
            await self.store.write(refusal.remember)
        except Refusal as unkept:
            return self.refusals.answer(unkept)
        except Exception as fault:
            return self.refusals.crash(fault)
        return self.refusals.answer(refusal)


@dataclass(frozen=True, slots=True)
class Given:
    """An input that is believed, and the bytes that a repetition of the call has to bring again."""

    input: Any
    body: bytes = b""


class Arrival(Protocol):
    """One call of an operation, as it came."""

    @property
    def headers(self) -> Mapping[str, str]:
        """What was said beside the input, by lower-case name."""
        ...

    @property
    def address(self) -> str:
        """The client address that limits of nobody are kept by."""
        ...

    async def identify(self, operation: Operation) -> Caller:
        """The sender of the call; 401 for a credential that does not stand."""
        ...

    async def read(self) -> Given:
        """The believed input."""
        ...

    def expected(self) -> int | None:
        """The revision that the call is meant for, if it named one."""
        ...

    def key(self) -> str | None:
        """The idempotency key, if one came."""
        ...


async def perform(operation: Operation, doorway: Doorway, arrival: Arrival, left: Left) -> Answer:
    """Guard, limit, input, run, in this order; a `Refusal` at any of them. What is left of budgets goes to `left`.

    A call is charged to its credential if that stands, else to the address it came from. Whatever the operation writes
    is written only while the credential stands.
    """
    baseline, public = operation.baseline, operation.access != "bearer"
    try:
        caller = await arrival.identify(operation)
    except Refusal:
        await doorway.charge(nobody(arrival.address), None, left, baseline=baseline)
        raise
    since = time.monotonic()
    left.retiring = caller.retiring
    await doorway.admit(operation, caller, left)
    if operation.budget is None:
        await doorway.charge(caller, None, left, baseline=baseline, public=public)
        given = await arrival.read()
    else:
        # The input names the budget; an input that cannot be read is charged to the baseline.
        try:
            given = await arrival.read()
        except Refusal:
            await doorway.charge(caller, None, left, baseline=baseline, public=public)
            raise
        named = operation.budget(given.input)
        for name in (named,) if isinstance(named, str) else named:
            await doorway.charge(caller, name, left, baseline=baseline)
    call = Call(
        caller,
        given.input,
        arrival.headers,
        arrival.address,
        arrival.expected(),
        _once(operation, caller, arrival.key(), given),
    )
    await doorway.confirm(caller, since)
    with require(partial(doorway.guard.check, caller=caller)):
        result = await operation.run(call)
    return result if isinstance(result, Answer) else Answer(result, operation.status)


def _once(operation: Operation, caller: Caller, key: str | None, given: Given) -> Once:
    if key is None or not operation.creates:
        return Once()
    if not 1 <= len(key) <= _KEY_LENGTH:
        raise InvalidRequest(f"Idempotency-Key has 1 to {_KEY_LENGTH} characters.")
    named = hashlib.sha256(f"{operation.name}\n".encode() + given.body).hexdigest()
    return Once(caller.principal, key, named)
