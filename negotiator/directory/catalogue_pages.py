"""`/tools` and `/tools/{slug}`: the catalogue to look through, and one tool of it.

`/about/data`: where the catalogue's facts come from, under which licences, and what nobody checked.
"""

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
    following: CatalogueIndex
    door: Pipeline
    site: SiteDescription

    def routes(self) -> list[Route]:
        """Both pages."""
        return [
            Route(TOOLS_PAGE_PATH, self.browse, methods=["GET"]),
            Route(TOOL_PAGE_PATH, self.show, methods=["GET"]),
        ]

    async def browse(self, request: Request) -> Response:
        """Categories, a search, and a page of what it found; a search is charged like any call of its address."""
        address = self.door.guard.address(request.scope, read_headers(request.scope))
        taken = await self.door.limits.charge(
            anonymous_caller(address), baseline=DIRECTORY_BASELINE_BUDGET
        )
        try:
            if not taken.taken:
                raise too_many_requests(taken)
            given = parse_query(request.scope["query_string"])
            listed = {name: (given[name],) for name in ("category", "kind") if name in given}
            asked: ListTools = validate(ListTools, {**given, **listed, "limit": _PAGE})
            html = await self._list(asked, given)
        except Refusal as refusal:
            return self._refused(refusal)
        return document_response(request, HTML, html.encode(), _HEADERS)

    async def show(self, request: Request) -> Response:
        """One tool; whoever comes by its id or a former slug is sent to where it is now."""
        key: str = request.path_params["slug"]
        try:
            if "\0" in key:
                raise NotFound("There is nothing at this path.")
            tool = await self.store.read(lambda tx: catalogue_queries.require(tx, key))
        except Refusal as refusal:
            return self._refused(refusal)
        if key != tool.slug:
            return RedirectResponse(f"{self.site.root}{TOOLS_PAGE_PATH}/{tool.slug}", 301)
        told = tool_page_values(tool.view)
        html, markdown = (
            CATALOGUE_FRAME.render(self.site, f"tool.{form}", tool=tool.view, **told)
            for form in ("html", "md")
        )
        return negotiated_response(request, html.encode(), markdown.encode(), _HEADERS)

    async def _list(self, asked: ListTools, given: dict[str, str]) -> str:
        from negotiator.directory.search.search import search_page

        index, _ = await self.following.current()
        found = search_page(index, listing_answers.search_request(asked, self.cursors))
        documents = await self.following.documents([hit.id for hit in found.hits])
        cursor = listing_answers.next_cursor(asked, found, self.cursors)
        following = urlencode({**given, "cursor": cursor}) if cursor else ""
        mended = found.frozen.corrected if found.frozen else ()
        return CATALOGUE_FRAME.render(
            self.site,
            "tools.html",
            tools=[orjson.loads(document) for document in documents],
            total=found.total,
            asked=asked,
            category=TAXONOMY[asked.category[0]] if asked.category else None,
            corrected=mended,
            following=following,
            categories=listing_answers.categories_with_counts(index)["items"],
            kinds=KIND_NAMES,
        )

    def _refused(self, refusal: Refusal) -> Response:
        title = {404: "There is no such tool", 410: "This tool was removed"}.get(
            refusal.status, "That cannot be shown"
        )
        gone = isinstance(refusal, (NotFound, Gone))
        html = CATALOGUE_FRAME.render(
            self.site, "refused.html", title=title, reason="" if gone else refusal.description
        )
        headers = {**_HEADERS, "cache-control": "no-store", **refusal.headers, "content-type": HTML}
        return Response(html, refusal.status, headers)


def tool_page_values(view: ToolView) -> dict[str, Any]:
    """What a tool's page shows beside the record: names for slugs, facts as rows, unknown left unknown."""
    category, facts = TAXONOMY[view.category], _facts(view)
    return {
        "kind": KIND_NAMES[view.kind],
        "category": category,
        "facts": [(name, value) for name, value in facts if value],
        "unknown": [name.lower() for name, value in facts if not value],
        "outward": _links(view),
        "parts": [category.subcategories[part] for part in view.subcategories],
    }


def _facts(view: ToolView) -> list[tuple[str, str]]:
    open_source = {True: "yes", False: "no", None: ""}[view.open_source]
    publisher = view.publisher.name or view.publisher.domain or "" if view.publisher else ""
    if view.publisher and view.publisher.verified:
        publisher += " (proven)"
    return [
        ("Publisher", publisher),
        ("How to sign in", _word(view.auth.type)),
        ("Pricing", _word(view.pricing.model)),
        ("Open source", open_source),
        ("Licence", view.licence or ""),
        ("Version", view.version or ""),
        ("Interfaces", ", ".join(dict.fromkeys(each.type for each in view.interfaces))),
        ("Packages", ", ".join(f"{each.registry}: {each.identifier}" for each in view.packages)),
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
    """One source: `as_of` is the date of the revision that was read, where it has one."""

    name: str
    url: str
    licence: str
    revision: str
    as_of: str


def data_sources() -> list[DataSource]:
    """The sources in the order of the file that the evidence names them by."""
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
    """The page, made once."""
    html, markdown = (
        CATALOGUE_FRAME.render(site, f"sources.{form}", sources=data_sources()).encode()
        for form in ("html", "md")
    )

    async def show(request: Request) -> Response:
        return negotiated_response(request, html, markdown, PAGE_HEADERS)

    return Route(SOURCES_PATH, show, methods=["GET"])
