"""`GET /metrics` in Prometheus text: on the public port with a token, or on a private address without one."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Iterable
from dataclasses import dataclass
from typing import Final

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base import values
from negotiator.base.caller import anonymous_caller
from negotiator.base.errors import Refusal, Unauthorized
from negotiator.http.input import read_headers
from negotiator.http.limits import too_many_requests
from negotiator.http.operation import ServiceDescription
from negotiator.http.pipeline import Pipeline
from negotiator.runtime import thread_pools
from negotiator.runtime.metrics import PROMETHEUS_MEDIA_TYPE, MetricRegistry, prometheus_text

METRICS_PATH: Final = "/metrics"
_ISSUING: Final = ("register_agent", "claim_agent", "issue_token", "register_directory_agent", "rotate_api_key")
_REQUEST: Final = 8 * 1024
_PATIENCE: Final = 5


def issuing_operations(service: ServiceDescription) -> tuple[str, ...]:
    """The operations that issue a credential whenever they succeed."""
    return tuple(name for name in _ISSUING if service.find(name))


@dataclass(frozen=True, slots=True)
class MetricsEndpoint:
    """Serves the metrics of all workers."""

    meters: MetricRegistry
    issuing: Iterable[str]
    door: Pipeline
    token: str

    def routes(self) -> list[Route]:
        """The route on the public port; none when no token is configured."""
        return [Route(METRICS_PATH, self.show, methods=["GET"])] if self.token else []

    async def show(self, request: Request) -> Response:
        """The text for a caller with the token; a wrong token is charged to the client address."""
        headers = read_headers(request.scope)
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and values.equal_in_constant_time(given.strip(), self.token):
            return Response(await self.text(), headers={"content-type": PROMETHEUS_MEDIA_TYPE, **_FRESH})
        taken = await self.door.limits.charge(anonymous_caller(self.door.guard.address(request.scope, headers)))
        refusal = (
            Unauthorized("Send the metrics token as a bearer token.", sent=bool(given))
            if taken.taken
            else too_many_requests(taken)
        )
        return self._refused(refusal)

    async def text(self) -> bytes:
        """The current metrics; the files of the workers are read off the event loop."""
        self.meters.sample()
        snapshot = await thread_pools.FILES.run(self.meters.snapshot)
        return prometheus_text(snapshot, self.issuing).encode()

    @contextlib.asynccontextmanager
    async def listening(self, address: str) -> AsyncGenerator[None]:
        """Answer on `host:port` inside this block. Every worker listens there; any of them answers for all."""
        if not address:
            yield
            return
        host, _, port = address.rpartition(":")
        server = await asyncio.start_server(self._serve, host.strip("[]"), int(port), reuse_port=True, limit=_REQUEST)
        try:
            yield
        finally:
            server.close()

    def _refused(self, refusal: Refusal) -> Response:
        answer = self.door.refusals.answer(refusal)
        headers = {**answer.headers, **_FRESH}
        return Response(orjson.dumps(answer.body), answer.status or 401, headers, answer.media_type)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request, then close the connection."""
        with contextlib.suppress(
            *(OSError, ValueError, TimeoutError), *(asyncio.IncompleteReadError, asyncio.LimitOverrunError)
        ):
            async with asyncio.timeout(_PATIENCE):
                head = await reader.readuntil(b"\r\n\r\n")
                method, path, _ = head.partition(b"\r\n")[0].split(b" ", 2)
                known = path.partition(b"?")[0] == METRICS_PATH.encode() and method in {b"GET", b"HEAD"}
                body = await self.text() if known else b""
                writer.write(_head(known=known, length=len(body)))
                writer.write(b"" if method == b"HEAD" else body)
                await writer.drain()
        writer.close()


_FRESH: Final = {"cache-control": "no-store"}


def _head(*, known: bool, length: int) -> bytes:
    status, kind = ("200 OK", PROMETHEUS_MEDIA_TYPE) if known else ("404 Not Found", "text/plain")
    lines = (f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {length}")
    return "\r\n".join((*lines, "Cache-Control: no-store", "Connection: close", "", "")).encode()
