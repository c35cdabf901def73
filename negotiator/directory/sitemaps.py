"""The sitemap of a server with a catalogue: an index, the fixed pages, and files of ten thousand tools each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import bindparam, func, or_
from sqlmodel import col, select
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base import values
from negotiator.base.errors import NotFound
from negotiator.directory import catalogue_pages
from negotiator.directory.tables import ToolRow
from negotiator.discovery.crawlers import SITEMAP_PATH, SITEMAP_TYPE, sitemap_index, url_set
from negotiator.discovery.documents import document_response
from negotiator.discovery.site import SiteDescription
from negotiator.store.statement import Query
from negotiator.store.store import Reads

PAGES_SITEMAP: Final = "/sitemap/pages.xml"
TOOLS_SITEMAP: Final = "/sitemap/tools/{part}"
TOOLS_PER_SITEMAP: Final = 10_000
_SHOWN: Final = or_(col(ToolRow.status) == "active", col(ToolRow.status) == "deprecated")


def _entry(row: Sequence[Any]) -> tuple[str, str]:
    return str(row[0]), values.timestamp(row[1])


_COUNT = Query(select(func.count()).select_from(ToolRow).where(_SHOWN), lambda row: int(row[0]))
_PART = Query(
    select(ToolRow.slug, ToolRow.updated_at)
    .where(_SHOWN)
    .order_by(col(ToolRow.id))
    .limit(TOOLS_PER_SITEMAP)
    .offset(bindparam("skipped")),
    _entry,
)


@dataclass(frozen=True, slots=True)
class Sitemaps:
    """The sitemap files; those of tools are read per request."""

    lagging: Reads
    site: SiteDescription

    def routes(self) -> list[Route]:
        return [
            Route(SITEMAP_PATH, self.index, methods=["GET"]),
            Route(PAGES_SITEMAP, self.pages, methods=["GET"]),
            Route(TOOLS_SITEMAP, self.tools, methods=["GET"]),
        ]

    async def index(self, request: Request) -> Response:
        """The index of all sitemap files."""
        count = await self.lagging.scan(lambda tx: tx.one(_COUNT)) or 0
        parts = [TOOLS_SITEMAP.format(part=part + 1) for part in range(-(-count // TOOLS_PER_SITEMAP))]
        listed = [(f"{self.site.base}{path}", None) for path in (PAGES_SITEMAP, *parts)]
        return document_response(request, SITEMAP_TYPE, sitemap_index(listed).encode(), {})

    async def pages(self, request: Request) -> Response:
        """The pages that are not tools."""
        paths = ("/", "/docs", catalogue_pages.TOOLS_PAGE_PATH, catalogue_pages.SOURCES_PATH)
        listed = [(f"{self.site.base}{path}", None) for path in paths]
        return document_response(request, SITEMAP_TYPE, url_set(listed).encode(), {})

    async def tools(self, request: Request) -> Response:
        """One file of tools, in order of creation; 404 beyond the last."""
        part: str = request.path_params["part"]
        if not (part.isascii() and part.isdigit() and int(part[:9]) > 0 and part[0] != "0"):
            return _missing()
        skipped = (int(part[:9]) - 1) * TOOLS_PER_SITEMAP
        found = await self.lagging.scan(lambda tx: tx.all(_PART, skipped=skipped))
        if not found:
            return _missing()
        listed = [(f"{self.site.base}{catalogue_pages.TOOLS_PAGE_PATH}/{slug}", at) for slug, at in found]
        return document_response(request, SITEMAP_TYPE, url_set(listed).encode(), {})


def _missing() -> Response:
    return Response("", NotFound.status, {"cache-control": "no-store"})
