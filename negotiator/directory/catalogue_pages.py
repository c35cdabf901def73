"""The page of a tool as Markdown, and `/about/data` on the sources of the facts."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.directory.taxonomy import TAXONOMY
from negotiator.directory.tool_record import ToolKind, ToolView
from negotiator.discovery.documents import negotiated_response
from negotiator.discovery.page_frame import PAGE_HEADERS, PageFrame
from negotiator.discovery.site import SiteDescription

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
        CATALOGUE_FRAME.render(site, f"sources.{form}", sources=data_sources()).encode() for form in ("html", "md")
    )

    async def show(request: Request) -> Response:
        return negotiated_response(request, html, markdown, PAGE_HEADERS)

    return Route(SOURCES_PATH, show, methods=["GET"])
