"""Fails every test whose write units sign, verify, hash passwords or run Authlib: they may only run statements."""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, Final

import pytest
from authlib.oauth2.rfc6749.authenticate_client import ClientAuthentication

from negotiator.keys.keyring import Keyring, SigningKey
from negotiator.store.statement import Transaction
from negotiator.store.waiting import UnitQueue
from negotiator.users import user_queries

_SLOW: Final = (
    (SigningKey, "sign"),
    (Keyring, "verify"),
    (user_queries, "hash_password"),
    (ClientAuthentication, "authenticate"),
)
Unit = Callable[[Transaction], Any]


@pytest.fixture(autouse=True)
def units_only_run_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slow work inside a unit raises, so that the request fails."""
    # On PostgreSQL units take turns within a thread, each in a context of its own.
    inside = ContextVar("inside", default=False)
    enqueue: Callable[[UnitQueue, Unit], Awaitable[Any]] = UnitQueue.run

    def watched(queue: UnitQueue, unit: Unit) -> Awaitable[Any]:
        def run(tx: Transaction) -> Any:
            token = inside.set(True)
            try:
                return unit(tx)
            finally:
                inside.reset(token)

        return enqueue(queue, run)

    def refuse_inside(owner: Any, name: str) -> None:
        slow = getattr(owner, name)

        def call(*arguments: Any, **named: Any) -> Any:
            assert not inside.get(), f"{name} inside a write unit"
            return slow(*arguments, **named)

        monkeypatch.setattr(owner, name, call)

    monkeypatch.setattr(UnitQueue, "run", watched)
    for owner, name in _SLOW:
        refuse_inside(owner, name)
