"""Every page, refusals included: axe-core's rules, narrow screens, large text, its headers, its size, what it loads."""

from importlib import resources
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page

from tests.helpers.console_pages import PAGES, ConsolePage
from tests.helpers.example_site import SCHEMES, WIDTHS, ExampleSite

Examples = tuple[ExampleSite, Browser]

GRAVE: Final = frozenset({"serious", "critical"})
BUDGET: Final = 150_000
"""Bytes of a page's HTML, style sheets and scripts together, before compression."""
_AXE: Final = resources.files("axe_playwright_python") / "axe.min.js"
_SMALL: Final = 800
_CLIPPED: Final = """() => [...document.querySelectorAll('body *')].filter((one) => {
  const style = getComputedStyle(one);
  return one.innerText?.trim() && one.getClientRects().length && style.position !== 'absolute'
    && (style.overflowX === 'hidden' || style.overflowX === 'clip') && one.scrollWidth > one.clientWidth + 1;
}).map((one) => one.outerHTML.slice(0, 120))"""
_LOADED: Final = """() => [...document.querySelectorAll('link[rel=stylesheet], script[src]')]
  .map((one) => one.href || one.src)"""
_SIDEWAYS: Final = (
    "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
)

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def findings(tab: Page) -> list[str]:
    """What axe-core finds serious or critical, one line each."""
    if not tab.evaluate("'axe' in window"):
        tab.evaluate(_AXE.read_text())
    found: Any = tab.evaluate("axe.run({resultTypes: ['violations']})")
    return [
        f"{rule['id']}: {node['html'][:140]} ({node['failureSummary'][:200]})"
        for rule in found["violations"]
        if rule["impact"] in GRAVE
        for node in rule["nodes"]
    ]


@each_page
def test_axe_finds_nothing_serious(examples: Examples, page: ConsolePage) -> None:
    site, browser = examples
    with site.context(browser, page) as context:
        tab = context.new_page()
        assert site.show(page, tab).status == page.status
        for scheme, width in zip(SCHEMES, WIDTHS, strict=True):
            site.look(tab, scheme=scheme, width=width)
            assert findings(tab) == [], f"{page.name}, {scheme}, {width}"


@each_page
def test_a_page_fits_narrow_screens_and_large_text(examples: Examples, page: ConsolePage) -> None:
    site, browser = examples
    with site.context(browser, page, width=320) as context:
        tab = context.new_page()
        site.show(page, tab)
        assert tab.evaluate(_SIDEWAYS) <= 0, "it scrolls sideways at 320 pixels"
        tab.set_viewport_size({"width": 1280, "height": 900})
        tab.evaluate("document.documentElement.style.fontSize = '200%'")
        assert tab.evaluate(_SIDEWAYS) <= 0, "it scrolls sideways with text at 200 %"
        assert tab.evaluate(_CLIPPED) == []


@each_page
def test_a_page_is_small_and_loads_and_allows_nothing_foreign(
    examples: Examples, page: ConsolePage
) -> None:
    site, browser = examples
    asked: list[str] = []
    said: list[str] = []
    with site.context(browser, page) as context:
        tab = context.new_page()
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        answer = site.show(page, tab)
        policy = answer.header_value("content-security-policy") or ""
        assert policy
        assert "unsafe" not in policy
        assert [url for url in asked if not url.startswith((f"{site.base}/", "data:"))] == []
        assert [text for text in said if not _is_about(text, page.status)] == []
        sizes = {answer.url: len(answer.body())}
        coded = {answer.url: answer.header_value("content-encoding")}
        for url in tab.evaluate(_LOADED):
            loaded = context.request.get(url)
            sizes[url], coded[url] = len(loaded.body()), loaded.headers.get("content-encoding")
        assert sum(sizes.values()) < BUDGET, sizes
        plain = [url for url, size in sizes.items() if size >= _SMALL and coded[url] != "gzip"]
        assert plain == [], "these are not compressed"


def _is_about(text: str, status: int) -> bool:
    """Whether the browser only says that the page itself is a refusal."""
    return status != 200 and f"the server responded with a status of {status}" in text
