"""A store whose units and statements have spans. Statements are shown without their values."""

import re
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, TypeVar

from negotiator.runtime import tracing
from negotiator.store.statement import Query, Row, Statement, Transaction
from negotiator.store.store import Store, Unit
from negotiator.store.waiting import Priority, StoreLoad

T = TypeVar("T")

_NAMED: Final = re.compile(r"\b(?:from|into|update)\s+\"?(\w+)", re.IGNORECASE)


class TracedTransaction:
    """A transaction whose statements are spans inside `span`; it may run on another thread than the request."""

    __slots__ = ("_inner", "_span")

    def __init__(self, inner: Transaction, span: tracing.Span) -> None:
        self._inner, self._span = inner, span

    def run(self, statement: Statement, /, **values: Any) -> int:
        return self._traced(statement, lambda: self._inner.run(statement, **values))

    def one(self, query: Query[Row], /, **values: Any) -> Row | None:
        return self._traced(query, lambda: self._inner.one(query, **values))

    def all(self, query: Query[Row], /, **values: Any) -> list[Row]:
        return self._traced(query, lambda: self._inner.all(query, **values))

    def announce(self, subject: str) -> None:
        self._inner.announce(subject)

    def _traced(self, statement: Statement, execute: Callable[[], T]) -> T:
        span = self._span.child("statement", "client")
        error = ""
        try:
            return execute()
        except Exception as raised:
            error = tracing.error_name(raised)
            raise
        finally:
            if text := statement.text:  # none if it never reached the database
                span.rename(_summary(text))
                span.note({"db.query.text": text})
            span.end(error)


@lru_cache(maxsize=2048)
def _summary(text: str) -> str:
    """The verb of a statement and its first table."""
    verb, _, _ = text.lstrip().partition(" ")
    found = _NAMED.search(text)
    return f"{verb.upper()} {found[1]}" if found else verb.upper()


class TracedStore:
    """Passes everything to the store; work that is being recorded gets a span for each unit."""

    def __init__(self, store: Store, system: str) -> None:
        self._store = store
        self._system = {"db.system.name": system}
        self.faults, self.write_faults = store.faults, store.write_faults

    @property
    def load(self) -> StoreLoad:
        return self._store.load

    async def start(self) -> None:
        await self._store.start()

    async def read(self, unit: Unit[T]) -> T:
        with tracing.step("read", "client", self._system) as span:
            return await self._store.read(_traced(unit, span))

    async def scan(self, unit: Unit[T]) -> T:
        with tracing.step("scan", "client", self._system) as span:
            return await self._store.scan(_traced(unit, span))

    async def write(self, unit: Unit[T]) -> T:
        with tracing.step("write", "client", self._system) as span:
            return await self._store.write(_traced(unit, span))

    async def write_unserialized(self, unit: Unit[T]) -> T:
        with tracing.step("write", "client", self._system) as span:
            return await self._store.write_unserialized(_traced(unit, span))

    def listen(self, listener: Callable[[Sequence[str]], None]) -> None:
        self._store.listen(listener)

    async def clock(self) -> int:
        return await self._store.clock()

    def expected_wait(self, priority: Priority) -> float:
        return self._store.expected_wait(priority)

    async def scrub(self) -> None:
        with tracing.step("scrub", "client", self._system):
            await self._store.scrub()

    async def close(self) -> None:
        await self._store.close()


def _traced(unit: Unit[T], span: tracing.Span | None) -> Unit[T]:
    """The unit with spans for its statements, and its wait for the transaction noted in the span around it."""
    if span is None:
        return unit
    asked = time.monotonic()
    attempts = 0

    def run(tx: Transaction) -> T:
        nonlocal attempts
        attempts += 1
        if attempts == 1:
            span.note({"negotiator.wait_seconds": round(time.monotonic() - asked, 6)})
        else:
            span.note({"negotiator.attempts": attempts})
        return unit(TracedTransaction(tx, span))

    return run
