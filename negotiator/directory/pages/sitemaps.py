"""The sitemap where there is a catalogue: an index, the few pages, and the tools ten thousand at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import bindparam, func, or_
from sqlmodel import col, select
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator import values
from negotiator.directory.catalogue.tables import ToolRow
from negotiator.directory.pages import shelf, sources
from negotiator.discovery.agents.sitemap import MEDIA_TYPE, PATH, index, urlset
from negotiator.discovery.documents import answer
from negotiator.discovery.site import Site
from negotiator.errors import NotFound
from negotiator.store.statement import Query
from negotiator.store.store import Store

PAGES: Final = "/sitemap/pages.xml"
TOOLS: Final = "/sitemap/tools/{part}"
PER_PART: Final = 10_000
_SHOWN: Final = or_(col(ToolRow.status) == "active", col(ToolRow.status) == "deprecated")


def _entry(row: Sequence[Any]) -> tuple[str, str]:
    return str(row[0]), values.timestamp(row[1])


_COUNT = Query(
    select(func.count()).select_from(ToolRow).where(_SHOWN),
    lambda row: int(row[0]),
)
_PART = Query(
    select(ToolRow.slug, ToolRow.updated_at)
    .where(_SHOWN)
    .order_by(col(ToolRow.id))
    .limit(PER_PART)
    .offset(bindparam("skipped")),
    _entry,
)


@dataclass(frozen=True, slots=True)
class Sitemaps:
    """The three kinds of files; those about tools are read when they are asked for."""

    store: Store
    site: Site

    def routes(self) -> list[Route]:
        """The index, the pages, the parts."""
        return [
            Route(PATH, self.index, methods=["GET"]),
            Route(PAGES, self.pages, methods=["GET"]),
            Route(TOOLS, self.tools, methods=["GET"]),
        ]

    async def index(self, request: Request) -> Response:
        """Every sitemap there is."""
        count = await self.store.scan(lambda tx: tx.one(_COUNT)) or 0
        parts = [TOOLS.format(part=part + 1) for part in range(-(-count // PER_PART))]
        listed = [(f"{self.site.base}{path}", None) for path in (PAGES, *parts)]
        return answer(request, MEDIA_TYPE, index(listed).encode(), {})

    async def pages(self, request: Request) -> Response:
        """What is no tool."""
        paths = ("/", "/docs", shelf.PATH, sources.PATH)
        listed = [(f"{self.site.base}{path}", None) for path in paths]
        return answer(request, MEDIA_TYPE, urlset(listed).encode(), {})

    async def tools(self, request: Request) -> Response:
        """One part of the tools, in the order they came; 404 for a part that is not there."""
        part: str = request.path_params["part"]
        if not (part.isascii() and part.isdigit() and int(part[:9]) > 0 and part[0] != "0"):
            return _missing()
        skipped = (int(part[:9]) - 1) * PER_PART
        found = await self.store.scan(lambda tx: tx.all(_PART, skipped=skipped))
        if not found:
            return _missing()
        listed = [(f"{self.site.base}{shelf.PATH}/{slug}", at) for slug, at in found]
        return answer(request, MEDIA_TYPE, urlset(listed).encode(), {})


def _missing() -> Response:
    return Response("", NotFound.status, {"cache-control": "no-store"})
