"""Builds the ASGI application from settings."""

import asyncio
import contextlib
import gc
from collections.abc import AsyncGenerator
from functools import cache, partial
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from negotiator.compose.application import Application, build_application
from negotiator.compose.housekeeping import run_each_minute
from negotiator.config.data_folder import share_data_folder
from negotiator.config.settings import Settings
from negotiator.config.settings import load as load_settings
from negotiator.console.page_router import RefusalPages
from negotiator.discovery.documents import document_route
from negotiator.http.admission import AdmissionQueue, Priorities, RefusedAnswers
from negotiator.http.connections import STATE_KEY, TransportBounds, WorkerConnections, raise_descriptor_limit
from negotiator.http.endpoint import Endpoint, OperationRouter
from negotiator.http.middleware import (
    SHARED_HEADERS,
    PageCompression,
    RequestTraces,
    ResponseMiddleware,
    security_headers,
)
from negotiator.http.operation import Answer
from negotiator.http.pipeline import RefusalRenderer
from negotiator.mcp.endpoint import MCP_METRIC, MCP_PATH
from negotiator.runtime import telemetry
from negotiator.runtime.metrics import RequestMetrics

log = telemetry.logger(__name__)


def create_app(settings: Settings | None = None) -> Starlette:
    """The application; settings come from the environment when none are given."""
    settings = settings or load_settings()
    telemetry.configure(settings.log_format)
    application = build_application(settings)
    connections = _connections(application)

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncGenerator[dict[str, Any]]:
        with share_data_folder(settings.data_dir):
            async with _started(application, connections) as state:
                yield state

    starlette = Starlette(
        routes=_routes(application),
        middleware=_layers(application),
        exception_handlers={HTTPException: _on_http_exception(application.pipeline.refusals)},
        lifespan=lifespan,
    )
    # Starlette's redirect of a missing slash would trust the Host header.
    starlette.router.redirect_slashes = False
    return starlette


@contextlib.asynccontextmanager
async def _started(application: Application, connections: WorkerConnections) -> AsyncGenerator[dict[str, Any]]:
    """The state of a process while its store is open and its tasks run."""
    application.services.meters.open()
    if application.services.traces:
        application.services.traces.start()
    await application.store.start()
    await application.keyring.start()
    _freeze_loaded_objects()
    tasks = [
        asyncio.create_task(work)
        for work in (
            run_each_minute(application.periodic_tasks),
            application.services.mails.run(),
            application.keyring.watch(),
            connections.watch(),
            application.services.meters.sample_regularly(),
        )
    ]
    try:
        async with application.metrics.listening(application.settings.metrics_listen):
            yield {STATE_KEY: connections}
    finally:
        for task in tasks:
            task.cancel()
        await application.close()


def _connections(application: Application) -> WorkerConnections:
    """The bounds on connections that the server's protocols enforce."""
    settings, services = application.settings, application.services
    configured = TransportBounds.of(settings)
    bounds = configured.within(raise_descriptor_limit())
    if bounds != configured:
        log.warning(
            "fewer connections than configured: the limit of open files is too low",
            connections=bounds.connections,
            streams=bounds.streams,
        )
    headers = security_headers(https=settings.base_url.startswith("https:"))
    page = services.page_router.unavailable("Too many requests are waiting; try again soon.")
    # A refusal has the headers by which pages of other origins may read it.
    answers = RefusedAnswers([*headers, *SHARED_HEADERS], (page.raw_headers, bytes(page.body)))
    admission = AdmissionQueue(
        Priorities(application.service.operations), answers, services.overload, services.store.expected_wait
    )
    return WorkerConnections(
        bounds,
        admission=admission,
        proxies=settings.proxies,
        refusals=application.pipeline.refusals,
        headers=headers,
        meters=services.meters,
    )


@cache
def _freeze_loaded_objects() -> None:
    """Exempt everything loaded so far from garbage collection, so that no request waits while it is walked.

    Runs once a process: a second run would also freeze the garbage of the first application. Nothing is collected
    before: loading leaves a thousand dead objects, and to find them takes a sixth of the start.
    """
    gc.freeze()


def _routes(application: Application) -> list[BaseRoute]:
    """The routes that are not operations: documents, pages, metrics."""
    return [
        *application.home,
        *map(document_route, application.documents),
        *(page for component in application.components for page in component.pages),
        *(page for component in application.components for page in component.public_pages(application.site)),
        *application.metrics.routes(),
        *application.probe.routes(),
        application.console,
    ]


def _layers(application: Application) -> list[Middleware]:
    """The middleware, outermost first; operations are answered before Starlette's own routing."""
    services, operations = application.services, application.service.operations
    traced = [] if services.traces is None else [Middleware(RequestTraces)]
    traffic = RequestMetrics(services.meters, [*(operation.name for operation in operations), MCP_METRIC])
    return [
        *traced,
        Middleware(PageCompression),
        Middleware(
            ResponseMiddleware,
            https=application.settings.base_url.startswith("https:"),
            shared=application.shared,
            for_browsers=partial(RefusalPages, router=services.page_router),
            traffic=traffic,
        ),
        Middleware(
            OperationRouter,
            endpoints=[Endpoint(operation, application.pipeline) for operation in operations],
            pipeline=application.pipeline,
            mounts={MCP_PATH: application.mcp},
            sockets={
                **application.probe.sockets(),
                **{path: app for component in application.components for path, app in component.sockets.items()},
            },
        ),
    ]


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
