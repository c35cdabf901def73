"""`/robots.txt` (RFC 9309), which says what crawlers and the fetchers of language models may read, and sitemaps.

A sitemap (sitemaps.org 0.9) lists the pages of this origin, each by its canonical address.
"""

from collections.abc import Iterable
from typing import Final
from xml.sax.saxutils import escape

from negotiator.discovery.site import SiteDescription

ROBOTS_PATH: Final = "/robots.txt"
CRAWLERS: Final = (
    *("*", "GPTBot", "OAI-SearchBot", "ChatGPT-User", "ClaudeBot", "Claude-Web", "anthropic-ai", "Google-Extended"),
    *("PerplexityBot", "Amazonbot", "Bytespider", "CCBot", "Applebot-Extended"),
)
_CLOSED: Final = ("/api/", "/oauth/")
_SIGNAL: Final = "Content-Signal: search=yes, ai-input=yes, ai-train=no"
_USAGE: Final = "Content-Usage: search=y, train-ai=n"


def robots_txt(site: SiteDescription) -> str:
    """The rules: crawlers may read the public documents and the API of the tools directory, but no other API path and
    no personal page.

    Each group repeats every rule, since a crawler reads only the group that names it (RFC 9309 §2.2.1).
    """
    personal = {_beginning(site, path) for path in site.personal if "." not in path}
    paths = (*_CLOSED, *sorted(personal))
    closed = "".join(f"Disallow: {site.root}{path}\n" for path in paths)
    opened = f"Allow: {site.root}/api/v1/\n" if site.lists_tools else ""
    rules = f"{_SIGNAL}\n{_USAGE}\n{opened}{closed}Allow: /\n"
    groups = "\n".join(f"User-agent: {crawler}\n{rules}" for crawler in CRAWLERS)
    return f"{groups}\nSitemap: {site.base}/sitemap.xml\nAgentmap: {site.base}/.well-known/ard.json\n"


def _beginning(site: SiteDescription, path: str) -> str:
    """The common prefix of the personal pages of one kind."""
    first = f"/{path.split('/')[1]}"
    return first if first in site.personal else f"{first}/"


SITEMAP_PATH: Final = "/sitemap.xml"
SITEMAP_TYPE: Final = "application/xml"
_NAMESPACE: Final = "http://www.sitemaps.org/schemas/sitemap/0.9"


def url_set(entries: Iterable[tuple[str, str | None]]) -> str:
    """A sitemap of these addresses, each with the time of its last change where that is known (W3C date format)."""
    return _document("urlset", "url", entries)


def sitemap_index(entries: Iterable[tuple[str, str | None]]) -> str:
    """A sitemap index, which lists other sitemaps."""
    return _document("sitemapindex", "sitemap", entries)


def _document(root: str, entry: str, entries: Iterable[tuple[str, str | None]]) -> str:
    rows = "".join(f"  <{entry}><loc>{escape(address)}</loc>{_changed(at)}</{entry}>\n" for address, at in entries)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return f'{head}<{root} xmlns="{_NAMESPACE}">\n{rows}</{root}>\n'


def _changed(at: str | None) -> str:
    return f"<lastmod>{escape(at)}</lastmod>" if at else ""
