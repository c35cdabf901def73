"""Deferred pages are built by the first request that no other route takes, and then answer like routes of their own."""

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from negotiator.console.page_router import DeferredPages
from negotiator.discovery.documents import static_document


def page(path: str, text: str, method: str = "GET") -> Route:
    async def answer(request: Request) -> Response:
        return PlainTextResponse(f"{text} {request.path_params.get('id', '')}".strip())

    return Route(path, answer, methods=[method])


class Site:
    """One early page, the home document, and deferred pages that note when they are built."""

    def __init__(self) -> None:
        self.builds = 0
        pages = DeferredPages(self._build)
        home = static_document("/", "text/plain", b"document")
        early = page("/early/codes", "codes", "POST")
        self.app = Starlette(routes=[pages.for_browsers(home), early, pages])

    def _build(self) -> list[Route]:
        self.builds += 1
        return [page("/", "home"), page("/tools/{id}", "tool"), page("/early/{id}", "early")]

    async def ask(self, path: str, method: str = "GET", cookie: str = "") -> httpx2.Response:
        headers = {"cookie": cookie} if cookie else {}
        transport = httpx2.ASGITransport(app=self.app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://site") as client:
            return await client.request(method, path, headers=headers)


@pytest.mark.asyncio
async def test_a_request_that_another_route_takes_builds_nothing() -> None:
    site = Site()
    assert (await site.ask("/early/codes", "POST")).text == "codes"
    assert (await site.ask("/")).text == "document"
    assert site.builds == 0


@pytest.mark.asyncio
async def test_the_first_request_for_a_page_builds_all_of_them_once() -> None:
    site = Site()
    assert (await site.ask("/tools/7")).text == "tool 7"
    assert (await site.ask("/tools/8")).text == "tool 8"
    assert site.builds == 1


@pytest.mark.asyncio
async def test_a_browser_with_a_cookie_gets_the_page_in_place_of_the_document() -> None:
    site = Site()
    assert (await site.ask("/", cookie="session=1")).text == "home"
    assert (await site.ask("/")).text == "document"


@pytest.mark.asyncio
async def test_a_page_beside_a_form_of_another_route_is_found() -> None:
    site = Site()
    assert (await site.ask("/early/codes")).text == "early codes"


@pytest.mark.asyncio
async def test_wrong_methods_and_unknown_paths_are_refused_before_and_after_the_build() -> None:
    site = Site()
    for _ in range(2):
        refused = await site.ask("/tools/7", "DELETE")
        assert refused.status_code == 405
        assert {*refused.headers["allow"].split(", ")} == {"GET", "HEAD"}
        assert (await site.ask("/nowhere")).status_code == 404
    assert site.builds == 1
