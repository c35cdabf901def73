"""`/tools` and `/tools/{slug}`: the catalogue to look through, and one tool of it."""

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

import orjson
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from negotiator.caller import nobody
from negotiator.cursors import Cursors
from negotiator.directory.accounts.routes import BASELINE
from negotiator.directory.catalogue import tools
from negotiator.directory.listing import categories, lists
from negotiator.directory.listing.following import Following
from negotiator.directory.listing.schemas import ListTools
from negotiator.directory.record.taxonomy import TAXONOMY
from negotiator.directory.record.tool import Kind, ToolView
from negotiator.discovery.documents import HTML, answer, either
from negotiator.discovery.pages.frame import HEADERS, Frame
from negotiator.discovery.site import Site
from negotiator.edge.endpoint import read_headers
from negotiator.edge.input import believe, parse_query
from negotiator.edge.steps import Doorway
from negotiator.errors import Gone, NotFound, Refusal
from negotiator.limits.budgets import refuse
from negotiator.store.store import Store

PATH: Final = "/tools"
TOOL: Final = "/tools/{slug}"
KINDS: Final[dict[Kind, str]] = {
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
_HEADERS: Final = {**HEADERS, "cache-control": "public, max-age=60"}
FRAME: Final = Frame("negotiator.directory.pages")


@dataclass(frozen=True, slots=True)
class Shelf:
    """The pages, over the same index and records as the API."""

    store: Store
    cursors: Cursors
    following: Following
    door: Doorway
    site: Site

    def routes(self) -> list[Route]:
        """Both pages."""
        return [
            Route(PATH, self.browse, methods=["GET"]),
            Route(TOOL, self.show, methods=["GET"]),
        ]

    async def browse(self, request: Request) -> Response:
        """Categories, a search, and a page of what it found; a search is charged like any call of its address."""
        address = self.door.guard.address(request.scope, read_headers(request.scope))
        taken = await self.door.limits.charge(nobody(address), baseline=BASELINE)
        try:
            if not taken.taken:
                raise refuse(taken)
            given = parse_query(request.scope["query_string"])
            listed = {name: (given[name],) for name in ("category", "kind") if name in given}
            asked: ListTools = believe(ListTools, {**given, **listed, "limit": _PAGE})
            html = await self._list(asked, given)
        except Refusal as refusal:
            return self._refused(refusal)
        return answer(request, HTML, html.encode(), _HEADERS)

    async def show(self, request: Request) -> Response:
        """One tool; whoever comes by its id or a former slug is sent to where it is now."""
        key: str = request.path_params["slug"]
        try:
            if "\0" in key:
                raise NotFound("There is nothing at this path.")
            tool = await self.store.read(lambda tx: tools.require(tx, key))
        except Refusal as refusal:
            return self._refused(refusal)
        if key != tool.slug:
            return RedirectResponse(f"{self.site.root}{PATH}/{tool.slug}", 301)
        told = described(tool.view)
        html, markdown = (
            FRAME.render(self.site, f"tool.{form}", tool=tool.view, **told)
            for form in ("html", "md")
        )
        return either(request, html.encode(), markdown.encode(), _HEADERS)

    async def _list(self, asked: ListTools, given: dict[str, str]) -> str:
        from negotiator.directory.search.asking import page

        index, _ = await self.following.current()
        found = page(index, lists.wanted(asked, self.cursors))
        documents = await self.following.documents([hit.id for hit in found.hits])
        cursor = lists.sealed(asked, found, self.cursors)
        following = urlencode({**given, "cursor": cursor}) if cursor else ""
        mended = found.frozen.corrected if found.frozen else ()
        return FRAME.render(
            self.site,
            "tools.html",
            tools=[orjson.loads(document) for document in documents],
            total=found.total,
            asked=asked,
            category=TAXONOMY[asked.category[0]] if asked.category else None,
            corrected=mended,
            following=following,
            categories=categories.counted(index)["items"],
            kinds=KINDS,
        )

    def _refused(self, refusal: Refusal) -> Response:
        title = {404: "There is no such tool", 410: "This tool was removed"}.get(
            refusal.status, "That cannot be shown"
        )
        gone = isinstance(refusal, (NotFound, Gone))
        html = FRAME.render(
            self.site, "refused.html", title=title, reason="" if gone else refusal.description
        )
        headers = {**_HEADERS, "cache-control": "no-store", **refusal.headers, "content-type": HTML}
        return Response(html, refusal.status, headers)


def described(view: ToolView) -> dict[str, Any]:
    """What a tool's page shows beside the record: names for slugs, facts as rows, unknown left unknown."""
    category, facts = TAXONOMY[view.category], _facts(view)
    return {
        "kind": KINDS[view.kind],
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
