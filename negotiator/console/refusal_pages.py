"""Shows refusals as pages to browsers: a request for `text/html` gets a page where a program gets JSON."""

from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from negotiator.base.errors import Refusal
from negotiator.console.page_router import HEADINGS, OTHER_HEADING, PageRouter

_JSON: Final = "application/json"
_FIRST_REFUSAL: Final = 400
_NOT_FOUND: Final = 404
_PASSED_ON: Final = ("retry-after", "allow", "www-authenticate")


class RefusalPages:
    """ASGI middleware for requests of browsers; `router` renders the page, with the navigation of a signed-in user."""

    def __init__(self, app: ASGIApp, *, router: PageRouter) -> None:
        self._app = app
        self._router = router

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        held = _HeldRefusal(send)
        await self._app(scope, receive, held.send)
        if held.start is not None:
            page = await self._page(Request(scope, receive), held)
            await page(scope, receive, send)

    async def _page(self, request: Request, held: "_HeldRefusal") -> Response:
        path, status = request.url.path, held.status
        if status == _NOT_FOUND and request.method == "GET" and path != "/" and path.endswith("/"):
            return self._router.pages.see(path.rstrip("/") or "/")
        refused = held.body()
        try:
            session = await self._router.browser_sessions.find(request)
        except Refusal:  # the database is away
            session = None
        return self._router.render(
            "error.html",
            session,
            status,
            headers=held.passed_on(),
            heading=HEADINGS.get(status, OTHER_HEADING),
            reason=refused.get("error_description", ""),
            faults=[fault.get("description", "") for fault in refused.get("errors", ())],
            request=refused.get("request_id", ""),
        )


@dataclass(slots=True)
class _HeldRefusal:
    """Passes on everything but refusals in JSON, which it keeps."""

    pass_on: Send
    start: Message | None = None
    chunks: list[bytes] = field(default_factory=list[bytes])

    @property
    def status(self) -> int:
        return self.start["status"] if self.start else 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_refusal(message):
            self.start = message
        elif self.start is None:
            await self.pass_on(message)
        elif message["type"] == "http.response.body":
            self.chunks.append(message.get("body", b""))

    def body(self) -> dict[str, Any]:
        return orjson.loads(b"".join(self.chunks) or b"{}")

    def passed_on(self) -> dict[str, str]:
        """The headers of the refusal that a page keeps."""
        headers = Headers(raw=self.start["headers"] if self.start else [])
        return {name: headers[name] for name in _PASSED_ON if name in headers}


def _is_refusal(start: Message) -> bool:
    kind = Headers(raw=start["headers"]).get("content-type", "")
    return start["status"] >= _FIRST_REFUSAL and kind.startswith(_JSON)
