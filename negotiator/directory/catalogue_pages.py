"""Pages of the catalogue: `/tools`, `/tools/{slug}`, and `/about/data` on the sources of the facts."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import orjson
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from negotiator.caller import anonymous_caller
from negotiator.directory import catalogue_queries, listing_answers
from negotiator.directory.accounts_routes import DIRECTORY_BASELINE_BUDGET
from negotiator.directory.catalogue_index import CatalogueIndex
from negotiator.directory.schemas_listing import ListTools
from negotiator.directory.taxonomy import TAXONOMY
from negotiator.directory.tool_record import ToolKind, ToolView
from negotiator.discovery.documents import HTML, document_response, negotiated_response
from negotiator.discovery.page_frame import PAGE_HEADERS, PageFrame
from negotiator.discovery.site import SiteDescription
from negotiator.errors import Gone, NotFound, Refusal
from negotiator.http.cursors import Cursors
from negotiator.http.endpoint import read_headers
from negotiator.http.input import parse_query, validate
from negotiator.http.limits import too_many_requests
from negotiator.http.pipeline import Pipeline
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
_PAGE: Final = 24
_HEADERS: Final = {**PAGE_HEADERS, "cache-control": "public, max-age=60"}
CATALOGUE_FRAME: Final = PageFrame("negotiator.directory")


@dataclass(frozen=True, slots=True)
class CataloguePages:
    """The pages, over the same index and records as the API."""

    store: Store
    cursors: Cursors
    catalogue_index: CatalogueIndex
    pipeline: Pipeline
    site: SiteDescription

    def routes(self) -> list[Route]:
        return [
            Route(TOOLS_PAGE_PATH, self.browse, methods=["GET"]),
            Route(TOOL_PAGE_PATH, self.show, methods=["GET"]),
        ]

    async def browse(self, request: Request) -> Response:
        """Categories, a search form and a page of results; rate-limited like a call of the API."""
        address = self.pipeline.guard.address(request.scope, read_headers(request.scope))
        taken = await self.pipeline.limits.charge(
            anonymous_caller(address), baseline=DIRECTORY_BASELINE_BUDGET
        )
        try:
            if not taken.taken:
                raise too_many_requests(taken)
            query = parse_query(request.scope["query_string"])
            listed = {name: (query[name],) for name in ("category", "kind") if name in query}
            filters: ListTools = validate(ListTools, {**query, **listed, "limit": _PAGE})
            html = await self._list(filters, query)
        except Refusal as refusal:
            return self._refused(refusal)
        return document_response(request, HTML, html.encode(), _HEADERS)

    async def show(self, request: Request) -> Response:
        """One tool; its id and former slugs redirect to its present slug."""
        key: str = request.path_params["slug"]
        try:
            if "\0" in key:
                raise NotFound("There is nothing at this path.")
            tool = await self.store.read(lambda tx: catalogue_queries.require(tx, key))
        except Refusal as refusal:
            return self._refused(refusal)
        if key != tool.slug:
            return RedirectResponse(f"{self.site.root}{TOOLS_PAGE_PATH}/{tool.slug}", 301)
        values = tool_page_values(tool.view)
        html, markdown = (
            CATALOGUE_FRAME.render(self.site, f"tool.{form}", tool=tool.view, **values)
            for form in ("html", "md")
        )
        return negotiated_response(request, html.encode(), markdown.encode(), _HEADERS)

    async def _list(self, filters: ListTools, query: dict[str, str]) -> str:
        from negotiator.directory.search.search import search_page

        index, _ = await self.catalogue_index.current()
        request = await listing_answers.search_request(filters, self.cursors, self.catalogue_index)
        found = search_page(index, request)
        documents = await self.catalogue_index.documents([hit.id for hit in found.hits])
        cursor = listing_answers.next_cursor(filters, found, self.cursors)
        next_query = urlencode({**query, "cursor": cursor}) if cursor else ""
        corrected = found.frozen.corrected if found.frozen else ()
        return CATALOGUE_FRAME.render(
            self.site,
            "tools.html",
            tools=[orjson.loads(document) for document in documents],
            total=found.total,
            filters=filters,
            category=TAXONOMY[filters.category[0]] if filters.category else None,
            corrected=corrected,
            next_query=next_query,
            categories=listing_answers.categories_with_counts(index)["items"],
            kinds=KIND_NAMES,
        )

    def _refused(self, refusal: Refusal) -> Response:
        title = {404: "There is no such tool", 410: "This tool was removed"}.get(
            refusal.status, "This page cannot be shown"
        )
        gone = isinstance(refusal, (NotFound, Gone))
        html = CATALOGUE_FRAME.render(
            self.site, "error.html", title=title, reason="" if gone else refusal.description
        )
        headers = {**_HEADERS, "cache-control": "no-store", **refusal.headers, "content-type": HTML}
        return Response(html, refusal.status, headers)


def tool_page_values(view: ToolView) -> dict[str, Any]:
    """Values for the page of a tool besides its record: names of slugs, known facts as rows, names of unknown facts."""
    category, facts = TAXONOMY[view.category], _facts(view)
    return {
        "kind": KIND_NAMES[view.kind],
        "category": category,
        "facts": [(name, value) for name, value in facts if value],
        "unknown": [name.lower() for name, value in facts if not value],
        "buttons": _links(view),
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


@dataclass(frozen=True, slots=True)
class DataSource:
    """A source; `as_of` is the date of the revision that was read, where it has one."""

    name: str
    url: str
    licence: str
    revision: str
    as_of: str


def data_sources() -> list[DataSource]:
    """The sources, in the order of the file; evidence refers to them by name."""
    entries: dict[str, dict[str, Any]] = tomllib.loads(_SOURCES.read_text("utf-8"))
    return [
        DataSource(
            entry["name"],
            entry.get("url", ""),
            entry.get("licence", ""),
            entry.get("revision", ""),
            str(entry.get("as_of", "")),
        )
        for entry in entries.values()
    ]


def sources_route(site: SiteDescription) -> Route:
    """The route of the sources page, rendered once."""
    html, markdown = (
        CATALOGUE_FRAME.render(site, f"sources.{form}", sources=data_sources()).encode()
        for form in ("html", "md")
    )

    async def show(request: Request) -> Response:
        return negotiated_response(request, html, markdown, PAGE_HEADERS)

    return Route(SOURCES_PATH, show, methods=["GET"])
