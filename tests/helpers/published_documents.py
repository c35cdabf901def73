"""Walks over everything a service publishes: its documents, their links, their addresses."""

import re
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urljoin, urlsplit
from xml.etree import ElementTree

import httpx2

from negotiator.compose import app
from negotiator.config.settings import Settings
from tests.helpers.form_browser import BASE

_ADDRESS: Final = re.compile(rf"{re.escape(BASE)}(/[^\s\"'<>`|)\\]*)?")
_LINK: Final = re.compile(r'<([^>]*)>((?:\s*;\s*\w+="[^"]*")*)')
_HREF: Final = re.compile(r'(?:href|src)="([^"#]*)')


@dataclass(frozen=True, slots=True)
class Link:
    """One link of a `Link` header (RFC 8288): its target as a path, its relation, the type it states."""

    target: str
    relation: str
    media_type: str | None


def documents(settings: Settings) -> list[str]:
    """The paths of all documents of these settings."""
    return [document.path for document in app.build_application(settings).documents]


async def read(client: httpx2.AsyncClient, path: str) -> dict[str, Any]:
    """A JSON document."""
    answer = await client.get(path)
    assert answer.status_code == 200, path
    document: dict[str, Any] = answer.json()
    return document


def addresses(text: str) -> set[str]:
    """Every path of ours that a text names in full, templates and shell variables left out."""
    found = {match[1] or "/" for match in _ADDRESS.finditer(text)}
    return {path.rstrip(".,:;") for path in found if not re.search(r"[{}$<…]", path)}


def hrefs(page: str, at: str) -> set[str]:
    """Every path of ours that a page of HTML links to or loads."""
    targets = (urlsplit(urljoin(f"{BASE}{at}", href)) for href in _HREF.findall(page))
    return {str(each.path) for each in targets if f"{each.scheme}://{each.netloc}" == BASE}


def links(answer: httpx2.Response) -> list[Link]:
    """The links in the answer's header."""
    found: list[Link] = []
    for target, parameters in _LINK.findall(answer.headers.get("link", "")):
        named = dict(re.findall(r'(\w+)="([^"]*)"', parameters))
        path: str = urlsplit(str(target)).path
        found.append(Link(path, named["rel"], named.get("type")))
    return found


def media_type(text: str) -> tuple[str, frozenset[str]]:
    """A media type without regard to spaces and the order of its parameters; a charset says nothing of the kind."""
    name, *parameters = (part.strip() for part in text.lower().split(";"))
    return name, frozenset(each for each in parameters if not each.startswith("charset="))


async def is_reachable(client: httpx2.AsyncClient, path: str) -> bool:
    """Whether anything but 404 answers at the path, by GET or by POST."""
    statuses = {(await client.request(method, path)).status_code for method in ("GET", "POST")}
    assert 500 not in statuses, path
    return statuses != {404}


ACCEPTED: Final = {
    None: "text/html",
    "*/*": "text/html",
    "text/markdown": "text/markdown",
    "text/markdown;q=0, text/html": "text/html",
    "text/html;q=0.4, text/markdown;q=0.9": "text/markdown",
}


SITEMAPS: Final = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


async def located(client: httpx2.AsyncClient, path: str) -> list[str]:
    """Every address in the sitemap and in those it names."""
    answer = await client.get(path)
    assert answer.status_code == 200, path
    assert answer.headers["content-type"] == "application/xml"
    tree = ElementTree.fromstring(answer.text)  # noqa: S314  it is our own
    found = [element.text or "" for element in tree.iter(f"{SITEMAPS}loc")]
    assert all(address.startswith(f"{BASE}/") for address in found)
    if tree.tag == f"{SITEMAPS}urlset":
        return found
    assert tree.tag == f"{SITEMAPS}sitemapindex"
    inner = [await located(client, address.removeprefix(BASE)) for address in found]
    return [address for each in inner for address in each]
