"""Pages that anyone may read: public and cacheable without a sign-in, with the user's own buttons after one.

Browsers and caches keep a page of nobody in particular for a minute; that of a signed-in user is never stored. Both are
the same template with the look of the console.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base.errors import NotFound, Refusal
from negotiator.console.browser_sessions import SignedInSession
from negotiator.console.page_calls import Members, PageCalls
from negotiator.console.page_router import PageRouter
from negotiator.discovery.documents import HTML, document_response
from negotiator.discovery.page_frame import site_links
from negotiator.discovery.site import SiteDescription

Reader = SignedInSession | None
OpenHandler = Callable[[Request, Reader], Awaitable[Response]]
VARIES: Final = "Accept, Cookie"
_CACHED: Final = {"cache-control": "public, max-age=60", "vary": VARIES}


@dataclass(frozen=True, slots=True)
class OpenPages:
    """Makes routes for such pages, runs their operations and renders them."""

    router: PageRouter
    calls: PageCalls
    site: SiteDescription

    def route(self, path: str, show: OpenHandler) -> Route:
        """A page for every reader; `show` gets None for one who is not signed in."""

        async def personal(request: Request, session: Any) -> Response:
            return await show(request, session if isinstance(session, SignedInSession) else None)

        page = self.router.open_page(path, personal)

        async def answer(request: Request) -> Response:
            if "cookie" in request.headers and await self.router.browser_sessions.find(request):
                return await page.endpoint(request)
            try:
                if any("\0" in str(value) for value in request.path_params.values()):
                    raise NotFound("There is nothing at this path.")
                return await show(request, None)
            except Refusal as refusal:
                return self.refused(refusal)

        return Route(path, answer, methods=["GET"])

    async def run(self, request: Request, reader: Reader, name: str, members: Members | None = None) -> Members:
        """What an operation answers to this reader."""
        if reader is not None:
            return await self.calls.run(reader, name, members)
        return await self.calls.run_publicly(self.router.address(request), name, members)

    def render(
        self, request: Request, reader: Reader, template: str, *, headers: dict[str, str] | None = None, **context: Any
    ) -> Response:
        """The page: cacheable with an ETag for a reader who is not signed in."""
        rendered = self.router.render(template, reader, headers=headers, site_links=site_links(self.site), **context)
        if reader is not None:
            return rendered
        policy = rendered.headers["content-security-policy"]
        told = {**_CACHED, **(headers or {}), "content-security-policy": policy}
        return document_response(request, HTML, bytes(rendered.body), told)

    def refused(self, refusal: Refusal, heading: str = "", reader: Reader = None) -> Response:
        """The page of a refusal; `heading` stands for the usual one."""
        return self.router.refused(refusal, reader, heading=heading, site_links=site_links(self.site))
