"""One part of the house, as the rest of it sees it."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from starlette.routing import BaseRoute

from negotiator.edge.operation import Operation


class Slice(Protocol):
    """Anything that offers operations."""

    def operations(self) -> list[Operation]:
        """What it offers."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Wing:
    """What a part offers over HTTP, what it looks after every minute, what it lets go of when the process ends."""

    operations: tuple[Operation, ...] = ()
    pages: tuple[BaseRoute, ...] = ()
    chores: tuple[Callable[[], Awaitable[None]], ...] = ()
    closes: tuple[Callable[[], Awaitable[None]], ...] = ()


def offered(slices: Iterable[Slice]) -> tuple[Operation, ...]:
    """The operations of these slices, in their order."""
    return tuple(operation for slice_ in slices for operation in slice_.operations())
