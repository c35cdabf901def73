"""The page of a tool as Markdown, `/about/data` on the sources of the facts, and the sitemap: an index, the
fixed pages, and files of ten thousand tools each.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy import bindparam, func, or_
from sqlmodel import col, select
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.base import values
from negotiator.base.errors import NotFound
from negotiator.directory.tables import ToolRow
from negotiator.directory.taxonomy import TAXONOMY
from negotiator.directory.tool_record import ToolKind, ToolView
from negotiator.discovery.crawlers import SITEMAP_PATH, SITEMAP_TYPE, sitemap_index, url_set
from negotiator.discovery.documents import document_response, negotiated_response
from negotiator.discovery.page_frame import PAGE_HEADERS, PageFrame
from negotiator.discovery.site import SiteDescription
from negotiator.store.statement import Query
from negotiator.store.store import Store

TOOLS_PAGE_PATH: Final = "/tools"
TOOL_PAGE_PATH: Final = "/tools/{slug}"
KIND_NAMES: Final[dict[ToolKind, str]] = {
    "app": "App",
    "api": "API",
    "mcp_server": "MCP server",
    "agent": "Agent",
    "skill": "Skill",
    "library": "Library",
    "model": "Model",
    "dataset": "Dataset",
}
CATALOGUE_FRAME: Final = PageFrame("negotiator.directory")


def tool_markdown(site: SiteDescription, tool: dict[str, Any]) -> str:
    """The page of a tool, given as its record in JSON, for programs."""
    view = ToolView.model_validate(tool)
    return CATALOGUE_FRAME.render(site, "tool.md", tool=view, **tool_page_values(view))


def tool_page_values(view: ToolView) -> dict[str, Any]:
    """Values for the page of a tool besides its record: names of slugs, known facts as rows, names of unknown facts."""
    category, facts = TAXONOMY[view.category], _facts(view)
    return {
        "kind": KIND_NAMES[view.kind],
        "category": category,
        "facts": [(name, value) for name, value in facts if value],
        "unknown": [name.lower() for name, value in facts if not value],
        "addresses": _links(view),
        "parts": [category.subcategories[part] for part in view.subcategories],
    }


def _facts(view: ToolView) -> list[tuple[str, str]]:
    open_source = {True: "yes", False: "no", None: ""}[view.open_source]
    publisher = view.publisher.name or view.publisher.domain or "" if view.publisher else ""
    if view.publisher and view.publisher.verified:
        publisher += " (verified)"
    return [
        ("Publisher", publisher),
        ("How to sign in", _word(view.auth.type)),
        ("Pricing", _word(view.pricing.model)),
        ("Open source", open_source),
        ("Licence", view.licence or ""),
        ("Version", view.version or ""),
        ("Interfaces", ", ".join(dict.fromkeys(each.type for each in view.interfaces))),
        ("Packages", ", ".join(f"{each.registry}: {each.identifier}" for each in view.packages)),
        ("REST base", view.use.rest_base.value if view.use.rest_base else ""),
        ("Install", view.use.install.value if view.use.install else ""),
    ]


def _links(view: ToolView) -> list[tuple[str, str]]:
    found = [("Home page", view.homepage_url), ("Documentation", view.docs_url)]
    if view.repository:
        found.append(("Source", view.repository.url))
    return [(title, url) for title, url in found if url]


def _word(value: str) -> str:
    return "" if value == "unknown" else value.replace("_", " ")


SOURCES_PATH: Final = "/about/data"
_SOURCES: Final = Path(__file__).parent / "content" / "sources.toml"


def sources_route(site: SiteDescription) -> Route:
    """The route of the sources page, rendered once."""
    unknown = dict.fromkeys(("url", "licence", "revision", "as_of"), "")
    sources = [{**unknown, **entry} for entry in tomllib.loads(_SOURCES.read_text("utf-8")).values()]
    html, markdown = (
        CATALOGUE_FRAME.render(site, f"sources.{form}", sources=sources).encode() for form in ("html", "md")
    )

    async def show(request: Request) -> Response:
        return negotiated_response(request, html, markdown, PAGE_HEADERS)

    return Route(SOURCES_PATH, show, methods=["GET"])


PAGES_SITEMAP: Final = "/sitemap/pages.xml"
TOOLS_SITEMAP: Final = "/sitemap/tools/{part}"
TOOLS_PER_SITEMAP: Final = 10_000
_SHOWN: Final = or_(col(ToolRow.status) == "active", col(ToolRow.status) == "deprecated")


_COUNT = Query(select(func.count()).select_from(ToolRow).where(_SHOWN), lambda row: int(row[0]))
_PART = Query(
    select(ToolRow.slug, ToolRow.updated_at)
    .where(_SHOWN)
    .order_by(col(ToolRow.id))
    .limit(TOOLS_PER_SITEMAP)
    .offset(bindparam("skipped")),
    lambda row: (str(row[0]), values.timestamp(row[1])),
)


@dataclass(frozen=True, slots=True)
class Sitemaps:
    """The sitemap files; those of tools are read per request."""

    store: Store
    site: SiteDescription

    def routes(self) -> list[Route]:
        return [
            Route(SITEMAP_PATH, self.index, methods=["GET"]),
            Route(PAGES_SITEMAP, self.pages, methods=["GET"]),
            Route(TOOLS_SITEMAP, self.tools, methods=["GET"]),
        ]

    async def index(self, request: Request) -> Response:
        """The index of all sitemap files."""
        count = await self.store.scan(lambda tx: tx.one(_COUNT)) or 0
        parts = [TOOLS_SITEMAP.format(part=part + 1) for part in range(-(-count // TOOLS_PER_SITEMAP))]
        listed = [(f"{self.site.base}{path}", None) for path in (PAGES_SITEMAP, *parts)]
        return document_response(request, SITEMAP_TYPE, sitemap_index(listed).encode(), {})

    async def pages(self, request: Request) -> Response:
        """The pages that are not tools."""
        paths = ("/", "/docs", TOOLS_PAGE_PATH, SOURCES_PATH)
        listed = [(f"{self.site.base}{path}", None) for path in paths]
        return document_response(request, SITEMAP_TYPE, url_set(listed).encode(), {})

    async def tools(self, request: Request) -> Response:
        """One file of tools, in order of creation; 404 beyond the last."""
        part: str = request.path_params["part"]
        if not (part.isascii() and part.isdigit() and int(part[:9]) > 0 and part[0] != "0"):
            return _missing()
        skipped = (int(part[:9]) - 1) * TOOLS_PER_SITEMAP
        found = await self.store.scan(lambda tx: tx.all(_PART, skipped=skipped))
        if not found:
            return _missing()
        listed = [(f"{self.site.base}{TOOLS_PAGE_PATH}/{slug}", at) for slug, at in found]
        return document_response(request, SITEMAP_TYPE, url_set(listed).encode(), {})


def _missing() -> Response:
    return Response("", NotFound.status, {"cache-control": "no-store"})
