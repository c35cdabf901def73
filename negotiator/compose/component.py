"""One part of the house, as the rest of it sees it."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from negotiator.discovery.health_routes import HealthCheck
from negotiator.discovery.site import SiteDescription
from negotiator.http.operation import Operation


class OperationSlice(Protocol):
    """Anything that offers operations."""

    def operations(self) -> list[Operation]:
        """What it offers."""
        ...


def _nothing(_site: SiteDescription) -> Sequence[BaseRoute]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """What a part offers over HTTP, what it says of itself in health, what it looks after every minute, and what it
    lets go of when the process ends.

    `sockets` are the ways in by WebSocket, by the path of the operation they stand for. `shown` makes its public
    pages once the whole site is known; they are at `addresses`, for any origin to read.
    """

    operations: tuple[Operation, ...] = ()
    pages: tuple[BaseRoute, ...] = ()
    checks: Mapping[str, HealthCheck] = field(default_factory=dict[str, HealthCheck])
    shown: Callable[[SiteDescription], Sequence[BaseRoute]] = _nothing
    addresses: tuple[str, ...] = ()
    sockets: Mapping[str, ASGIApp] = field(default_factory=dict[str, ASGIApp])
    chores: tuple[Callable[[], Awaitable[None]], ...] = ()
    closes: tuple[Callable[[], Awaitable[None]], ...] = ()


def offered_operations(slices: Iterable[OperationSlice]) -> tuple[Operation, ...]:
    """The operations of these slices, in their order."""
    return tuple(operation for slice_ in slices for operation in slice_.operations())
