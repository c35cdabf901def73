"""One component of the application, as the composition root sees it."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from negotiator.console.admin.admin_router import TriedService
from negotiator.discovery.health_routes import HealthCheck
from negotiator.discovery.site import SiteDescription
from negotiator.http.operation import Operation


class OperationSlice(Protocol):
    """Anything that offers operations."""

    def operations(self) -> list[Operation]: ...


def _no_pages(_site: SiteDescription) -> Sequence[BaseRoute]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """What a component offers over HTTP, its health checks, its periodic tasks and what it closes at the end.

    `sockets` are the WebSocket endpoints, by the path of the operation they belong to. `public_pages` makes the public
    pages once the whole site is known; `page_paths` are their paths, which any origin may read. `periodic_tasks` run
    every minute. `page_operations` have no address: only pages call them, for the signed-in user. `tried_services` are
    those that an administrator may try.
    """

    operations: tuple[Operation, ...] = ()
    page_operations: tuple[Operation, ...] = ()
    pages: tuple[BaseRoute, ...] = ()
    checks: Mapping[str, HealthCheck] = field(default_factory=dict[str, HealthCheck])
    public_pages: Callable[[SiteDescription], Sequence[BaseRoute]] = _no_pages
    page_paths: tuple[str, ...] = ()
    sockets: Mapping[str, ASGIApp] = field(default_factory=dict[str, ASGIApp])
    periodic_tasks: tuple[Callable[[], Awaitable[None]], ...] = ()
    closes: tuple[Callable[[], Awaitable[None]], ...] = ()
    tried_services: tuple[TriedService, ...] = ()


def offered_operations(slices: Iterable[OperationSlice]) -> tuple[Operation, ...]:
    return tuple(operation for slice_ in slices for operation in slice_.operations())
