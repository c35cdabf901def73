"""Reads what a tool's own address says about it, for a person who submits it: the page, llms.txt, the MCP server card,
openapi.json. Nothing is stored; what was read is a proposal that the person mends.
"""

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any, Final, cast
from urllib.parse import urljoin, urlsplit

from negotiator.base.errors import TooManyRequests, Unavailable
from negotiator.directory.record_text import single_line, web_url
from negotiator.directory.schemas_submissions import AddressSourceKind
from negotiator.runtime.thread_pools import SEARCH
from negotiator.trust.client_url_fetch import ClientUrlFetcher
from negotiator.trust.fetch import FetchedText, FetchFailed, FetchRedirected

PAGE_BYTES: Final = 256 * 1024
DOCUMENT_BYTES: Final = 512 * 1024
_HOPS: Final = 2
"""Redirects of the page that are followed; each target is checked like the address itself."""
_CODE_HOSTS: Final = ("github.com", "gitlab.com", "codeberg.org")
_HEADING: Final = re.compile(r"^#\s+(.+)$", re.MULTILINE)
_QUOTE: Final = re.compile(r"^>\s*(.+)$", re.MULTILINE)
_SEPARATOR: Final = re.compile(r" [|·–—-] ")

Members = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ReadSource:
    """A document that was asked for: what it is, its address, and what was found in it; None when nothing was."""

    what: AddressSourceKind
    url: str
    found: Members | None


@dataclass(frozen=True, slots=True)
class AddressReader:
    """Fetches the documents, through the fetcher that reaches public hosts only."""

    fetcher: ClientUrlFetcher

    async def read(self, url: str, reader: str) -> tuple[Members, list[ReadSource]]:
        """Members of a draft that the documents state, the page's last, and every document that was asked for.

        `reader` is whose budget of fetches is charged; 429 when it is empty.
        """
        page, place = await self._page(url, reader)
        site = "{0.scheme}://{0.netloc}".format(urlsplit(place))
        llms, card, openapi = f"{site}/llms.txt", f"{site}/.well-known/mcp/server-card.json", f"{site}/openapi.json"
        others = await asyncio.gather(
            self._document("llms.txt", llms, self._text(llms, reader)),
            self._document("MCP server card", card, self._json(card, reader)),
            self._document("OpenAPI description", openapi, self._json(openapi, reader)),
        )
        sources = [ReadSource("page", place, page), *others]
        draft: Members = {}
        for source in sources:
            for name, value in (source.found or {}).items():
                draft.setdefault(name, value)
        if not any(source.found for source in sources):
            return {}, sources
        return {**_place(place), **draft}, sources

    async def _page(self, url: str, reader: str) -> tuple[Members | None, str]:
        """What the page says, and its address after redirects."""
        place = url
        for _ in range(_HOPS + 1):
            try:
                text = await self.fetcher.text(place, limit=PAGE_BYTES, address=reader)
            except FetchRedirected as redirected:
                try:
                    place = web_url(redirected.location)
                except ValueError:
                    return None, url
            except FetchFailed:
                return None, place
            else:
                return await SEARCH.run(_page_members, text, place) or None, place
        return None, url

    async def _document(self, what: AddressSourceKind, url: str, found: Awaitable[Members]) -> ReadSource:
        """A document beside the page, which need not be there."""
        try:
            return ReadSource(what, url, await found or None)
        except (FetchFailed, TooManyRequests, Unavailable):
            return ReadSource(what, url, None)

    async def _text(self, url: str, reader: str) -> Members:
        text = await self.fetcher.text(url, limit=PAGE_BYTES, address=reader)
        return {} if text.is_html else await SEARCH.run(_llms_members, text.body)

    async def _json(self, url: str, reader: str) -> Members:
        body = await self.fetcher.json(url, limit=DOCUMENT_BYTES, address=reader)
        return _openapi_members(body, url) if "openapi" in body else _card_members(body, url)


@dataclass(slots=True)
class _PageHead(HTMLParser):
    """The title, the meta tags and the links of a page's head."""

    title: str = ""
    meta: dict[str, str] = field(default_factory=dict[str, str])
    _in_title: bool = False

    def __post_init__(self) -> None:
        HTMLParser.__init__(self, convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = {name: value or "" for name, value in attrs}
        if tag == "title" and not self.title:
            self._in_title = True
        elif tag == "meta":
            name = (told.get("property") or told.get("name") or "").lower()
            self.meta.setdefault(name, told.get("content", ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False

    def handle_data(self, data: str) -> None:
        if self._in_title and len(self.title) < _TITLE:
            self.title += data[:_TITLE]


def _page_members(text: FetchedText, place: str) -> Members:
    if not text.is_html:
        return _llms_members(text.body)
    head = _PageHead()
    with contextlib.suppress(AssertionError):  # how older Pythons stop at a declaration that they cannot read
        head.feed(text.body)
    meta = head.meta
    title = single_line(meta.get("og:title") or head.title)
    name = single_line(meta.get("og:site_name", "")) or _SEPARATOR.split(title)[0]
    if _is_code_host(place):
        name = urlsplit(place).path.strip("/").rpartition("/")[2]
    said = single_line(meta.get("description") or meta.get("og:description") or "")
    return _kept(name=name, summary=said)


def _llms_members(text: str) -> Members:
    heading, quote = _HEADING.search(text), _QUOTE.search(text)
    return _kept(name=single_line(heading[1]) if heading else "", summary=single_line(quote[1]) if quote else "")


def _card_members(card: Mapping[str, Any], url: str) -> Members:
    """Members of an MCP server card (SEP-1649)."""
    server = _mapping(card.get("serverInfo")) or card
    transport = _mapping(card.get("transport"))
    name = _string(server.get("title")) or _string(server.get("name"))
    if not name:
        return {}
    endpoint = _string(transport.get("endpoint")) or _string(transport.get("url"))
    address = _address(endpoint, url)
    found = _kept(name=name, summary=_string(card.get("description")))
    found["kind"] = "mcp_server"
    if version := _string(server.get("version"))[:100]:
        found["version"] = version
    if docs := _address(_string(card.get("documentationUrl")), url):
        found["docs_url"] = docs
    if address:
        found["interfaces"] = [{"type": "streamable-http", "url": address}]
    return found


def _openapi_members(body: Mapping[str, Any], url: str) -> Members:
    info, servers = _mapping(body.get("info")), body.get("servers")
    listed = cast("list[Any]", servers) if isinstance(servers, list) else []
    found = _kept(name=_string(info.get("title")), summary=_string(info.get("description")))
    found["kind"] = "api"
    licence = _mapping(info.get("license"))
    if identifier := _string(licence.get("identifier"))[:100]:
        found["licence"] = identifier
    base = _address(_string(_mapping(listed[0] if listed else None).get("url")), url)
    if base:
        found["interfaces"] = [{"type": "rest", "url": base}]
    return found


def _place(place: str) -> Members:
    """What the address itself says: a repository at a code host, else the homepage."""
    if _is_code_host(place):
        return {"repository": {"url": place}, "kind": "library"}
    return {"homepage_url": place}


def _is_code_host(place: str) -> bool:
    return (urlsplit(place).hostname or "").removeprefix("www.") in _CODE_HOSTS


def _kept(*, name: str, summary: str) -> Members:
    """The texts that are there, at most as long as a record has them."""
    short = summary if len(summary) <= _SUMMARY else f"{summary[: _SUMMARY - 1].rstrip()}…"
    found = {"name": name[:_NAME].strip(), "summary": short}
    if len(summary) > _SUMMARY:
        found["description"] = summary[:_DESCRIPTION]
    return {key: value for key, value in found.items() if value}


_NAME, _SUMMARY, _DESCRIPTION, _TITLE = 100, 200, 4000, 1000


def _address(text: str, base: str) -> str:
    """The address as a public https URL; empty for anything else."""
    try:
        return web_url(urljoin(base, text)) if text and "{" not in text else ""
    except ValueError:
        return ""


def _string(value: Any) -> str:
    return single_line(value) if isinstance(value, str) else ""


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
