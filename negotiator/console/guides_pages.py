"""`/docs/guides`: the guides for people, found by their words; each is a page that needs no sign-in."""

from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.console.browser_sessions import AnySession
from negotiator.console.guides_content import (
    EXAMPLE_BASE,
    GUIDES_PATH,
    all_guides,
    find_guide,
    search_guides,
)
from negotiator.console.page_router import PageRouter
from negotiator.errors import NotFound

LONGEST_QUERY: Final = 200


@dataclass(frozen=True, slots=True)
class GuidesPages:
    """The list of guides with its search, and the page of each guide."""

    router: PageRouter

    def routes(self) -> list[Route]:
        return [
            self.router.open_page(GUIDES_PATH, self.show_all),
            self.router.open_page(f"{GUIDES_PATH}/{{name}}", self.show),
        ]

    async def show_all(self, request: Request, session: AnySession) -> Response:
        query = request.query_params.get("q", "").strip()[:LONGEST_QUERY]
        return self.router.render(
            "guides.html", session, query=query, guides=search_guides(query), here="guides"
        )

    async def show(self, request: Request, session: AnySession) -> Response:
        guide = find_guide(request.path_params["name"])
        if guide is None:
            raise NotFound("There is no such guide. All guides are at /docs/guides.")
        return self.router.render(
            "guide.html",
            session,
            guide=guide,
            html=guide.html.replace(EXAMPLE_BASE, self.router.pages.base),
            guides=all_guides(),
            here="guides",
        )
