"""A condition on writes, checked in the transaction of each unit: nothing is written once it does not hold."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

from negotiator.store.statement import Transaction

T = TypeVar("T")
Check = Callable[[Transaction], None]


@dataclass(slots=True)
class _Required:
    check: Check
    active: bool = True


_required: ContextVar[_Required | None] = ContextVar("required", default=None)


@contextmanager
def require(check: Check) -> Generator[None]:
    """Inside this block every `Store.write` runs `check` first, in the unit's own transaction.

    What `check` raises refuses the unit. An inner block replaces the outer one. A task that was created inside and
    outlives the block writes without the condition.
    """
    required = _Required(check)
    token = _required.set(required)
    try:
        yield
    finally:
        required.active = False
        _required.reset(token)


def current() -> Check | None:
    """The check that a write of this context has to pass."""
    required = _required.get()
    return required.check if required is not None and required.active else None


def conditional(unit: Callable[[Transaction], T], check: Check) -> Callable[[Transaction], T]:
    """The unit, run only if the check passes in the same transaction."""

    def run(tx: Transaction) -> T:
        check(tx)
        return unit(tx)

    return run
