"""`/about/data`: where the catalogue's facts come from, under which licences, and what nobody checked."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.directory.pages.shelf import FRAME
from negotiator.discovery.documents import either
from negotiator.discovery.pages.frame import HEADERS
from negotiator.discovery.site import Site

PATH: Final = "/about/data"
_SOURCES: Final = Path(__file__).parents[1] / "content" / "sources.toml"


@dataclass(frozen=True, slots=True)
class Source:
    """One source: `as_of` is the date of the revision that was read, where it has one."""

    name: str
    url: str
    licence: str
    revision: str
    as_of: str


def sources() -> list[Source]:
    """The sources in the order of the file that the evidence names them by."""
    entries: dict[str, dict[str, Any]] = tomllib.loads(_SOURCES.read_text("utf-8"))
    return [
        Source(
            entry["name"],
            entry.get("url", ""),
            entry.get("licence", ""),
            entry.get("revision", ""),
            str(entry.get("as_of", "")),
        )
        for entry in entries.values()
    ]


def route(site: Site) -> Route:
    """The page, made once."""
    html, markdown = (
        FRAME.render(site, f"sources.{form}", sources=sources()).encode() for form in ("html", "md")
    )

    async def show(request: Request) -> Response:
        return either(request, html, markdown, HEADERS)

    return Route(PATH, show, methods=["GET"])
