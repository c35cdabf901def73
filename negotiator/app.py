"""The house as an ASGI application: Settings in, Starlette out."""

import asyncio
import contextlib
import gc
from collections.abc import AsyncGenerator
from functools import cache, partial
from typing import Any, Final

import orjson
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from negotiator import settings, telemetry, values
from negotiator.agents import registration
from negotiator.compose.application import Application, build_application
from negotiator.compose.ownership import sweep
from negotiator.discovery.documents import document_route
from negotiator.http.connections import (
    STATE_KEY,
    TransportBounds,
    WorkerConnections,
    raise_descriptor_limit,
)
from negotiator.http.endpoint import Endpoint, OperationRouter
from negotiator.http.middleware import ResponseMiddleware, security_headers
from negotiator.http.operation import Answer
from negotiator.http.pipeline import RefusalRenderer
from negotiator.mcp.endpoint import MCP_METRIC, MCP_PATH
from negotiator.metrics import RequestMetrics
from negotiator.settings import Settings

_SWEEP_EVERY: Final = 60
log = telemetry.logger(__name__)


def create_app(chosen: Settings | None = None) -> Starlette:
    """The application; settings come from the environment when none are given."""
    chosen = chosen or settings.load()
    telemetry.configure(chosen.log_format)
    house = build_application(chosen)
    connections = _connections(house)

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncGenerator[dict[str, Any]]:
        house.ground.meters.open()
        await house.store.start()
        _settle()
        tasks = [asyncio.create_task(work) for work in (_sweep_forever(house), connections.watch())]
        try:
            async with house.scrape.listening(chosen.metrics_listen):
                yield {STATE_KEY: connections}
        finally:
            for task in tasks:
                task.cancel()
            await house.close()

    application = Starlette(
        routes=_routes(house),
        middleware=_layers(house),
        exception_handlers={HTTPException: _on_http_exception(house.doorway.refusals)},
        lifespan=lifespan,
    )
    # Starlette would redirect to whatever Host says, for the sake of a slash.
    application.router.redirect_slashes = False
    return application


def _connections(house: Application) -> WorkerConnections:
    """What the server's protocol needs to know: how many connections there may be here, and for how long."""
    chosen, ground = house.settings, house.ground
    wanted = TransportBounds.of(chosen)
    bounds = wanted.within(raise_descriptor_limit())
    if bounds != wanted:
        log.warning(
            "fewer connections than set, since this process may open too few files",
            connections=bounds.connections,
            streams=bounds.streams,
        )
    return WorkerConnections(
        bounds,
        proxies=chosen.proxies,
        refusals=house.doorway.refusals,
        headers=security_headers(https=chosen.base_url.startswith("https:")),
        meters=ground.meters,
    )


@cache
def _settle() -> None:
    """What was loaded stays: the collector need not walk it in the middle of somebody's request.

    Once a process: what a second application would freeze with itself is the garbage of the first.
    """
    gc.collect()
    gc.freeze()


def _routes(house: Application) -> list[BaseRoute]:
    """What is no operation: documents, pages, metrics."""
    return [
        *map(document_route, house.documents),
        *(page for wing in house.wings for page in wing.pages),
        *(page for wing in house.wings for page in wing.shown(house.site)),
        *house.scrape.routes(),
    ]


def _layers(house: Application) -> list[Middleware]:
    """What is around those, outermost first: wrapping, then the operations and their doors."""
    operations = house.service.operations
    return [
        Middleware(
            ResponseMiddleware,
            https=house.settings.base_url.startswith("https:"),
            shared=house.shared,
            traffic=RequestMetrics(
                house.ground.meters, [*(each.name for each in operations), MCP_METRIC]
            ),
        ),
        Middleware(
            OperationRouter,
            endpoints=[Endpoint(operation, house.doorway) for operation in operations],
            doorway=house.doorway,
            doors={MCP_PATH: house.speech.door},
            sockets={path: app for wing in house.wings for path, app in wing.sockets.items()},
        ),
    ]


async def _sweep_forever(house: Application) -> None:
    """Sweep, then see to what asks the world and so can be no unit."""

    async def forget() -> None:
        seen = house.ground.credentials.seen.take()
        await house.store.write(partial(registration.mark_seen, when=seen))
        if await house.store.write(lambda tx: sweep(tx, values.now())):
            await house.store.scrub()

    chores = [forget, *(chore for wing in house.wings for chore in wing.chores)]
    while True:
        for chore in chores:
            try:
                await chore()
            except Exception as fault:
                log.error("sweep failed", exc_info=fault)
        await asyncio.sleep(_SWEEP_EVERY)


def _on_http_exception(refusals: RefusalRenderer) -> Any:
    async def handle(_request: Request, raised: HTTPException) -> Response:
        if raised.status_code == 405:
            allowed = (raised.headers or {}).get("Allow", "").split(", ")
            return _rendered(refusals.method_not_allowed(allowed))
        return _rendered(refusals.not_found())

    return handle


def _rendered(answer: Answer) -> Response:
    headers = {**answer.headers, "cache-control": "no-store"}
    return Response(orjson.dumps(answer.body), answer.status or 200, headers, answer.media_type)
