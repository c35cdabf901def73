"""Pages whose modules are imported by the first request for one of them."""

from collections.abc import Callable, Sequence
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send

from negotiator.discovery.documents import PublicDocument, serve_document
from negotiator.runtime.thread_pools import BuiltOnce

_ROUTE: Final = "deferred_route"
"""The member of the scope with the route that takes a request."""


class DeferredPages(BaseRoute):
    """The routes that `build` makes, for requests that no other route takes; it has to be the last one.

    The first such request builds them on a thread and is then routed anew.
    """

    def __init__(self, build: Callable[[], Sequence[Route]]) -> None:
        self._routes = BuiltOnce(build)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] != "http":
            return Match.NONE, {}
        routes = self._routes.built
        if routes is None:
            return Match.FULL, {}
        found: tuple[Match, Scope] = Match.NONE, {}
        for route in routes:
            match, child = route.matches(scope)
            if match is Match.FULL or (match is Match.PARTIAL and found[0] is Match.NONE):
                found = match, {**child, _ROUTE: route}
            if match is Match.FULL:
                break
        return found

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        route: Route | None = scope.get(_ROUTE)
        if route is not None:
            await route.handle(scope, receive, send)
            return
        await self._routes.get()
        await scope["router"](scope, receive, send)

    def for_browsers(self, document: PublicDocument) -> Route:
        """The path of a document: its page for requests with a cookie, which only browsers send, else the document."""

        async def answer(request: Request) -> Response:
            if "cookie" in request.headers:
                for page in await self._routes.get():
                    if page.path == document.path:
                        return await page.endpoint(request)
            return serve_document(document, request)

        return Route(document.path, answer, methods=["GET"])
