"""Sitemaps (sitemaps.org 0.9): the pages of this origin, each by its canonical address."""

from collections.abc import Iterable
from typing import Final
from xml.sax.saxutils import escape

PATH: Final = "/sitemap.xml"
MEDIA_TYPE: Final = "application/xml"
_NAMESPACE: Final = "http://www.sitemaps.org/schemas/sitemap/0.9"


def urlset(entries: Iterable[tuple[str, str | None]]) -> str:
    """A sitemap of these addresses, each with the time it last changed where that is known (W3C date format)."""
    return _document("urlset", "url", entries)


def index(entries: Iterable[tuple[str, str | None]]) -> str:
    """A sitemap of sitemaps."""
    return _document("sitemapindex", "sitemap", entries)


def _document(root: str, entry: str, entries: Iterable[tuple[str, str | None]]) -> str:
    rows = "".join(
        f"  <{entry}><loc>{escape(address)}</loc>{_changed(at)}</{entry}>\n"
        for address, at in entries
    )
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return f'{head}<{root} xmlns="{_NAMESPACE}">\n{rows}</{root}>\n'


def _changed(at: str | None) -> str:
    return f"<lastmod>{escape(at)}</lastmod>" if at else ""
