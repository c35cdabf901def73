"""One part of the house, as the rest of it sees it."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from starlette.routing import BaseRoute

from negotiator.discovery.health import Check
from negotiator.edge.operation import Operation


class Slice(Protocol):
    """Anything that offers operations."""

    def operations(self) -> list[Operation]:
        """What it offers."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Wing:
    """What a part offers over HTTP, what it says of itself in health, what it looks after every minute, and what it
    lets go of when the process ends.
    """

    operations: tuple[Operation, ...] = ()
    pages: tuple[BaseRoute, ...] = ()
    checks: Mapping[str, Check] = field(default_factory=dict[str, Check])
    chores: tuple[Callable[[], Awaitable[None]], ...] = ()
    closes: tuple[Callable[[], Awaitable[None]], ...] = ()


def offered(slices: Iterable[Slice]) -> tuple[Operation, ...]:
    """The operations of these slices, in their order."""
    return tuple(operation for slice_ in slices for operation in slice_.operations())
