"""Every page, refusals included: axe-core, narrow screens, large text, headers, size, what it loads, plain words.

Each page is opened once for all its tests, which leave it as it was.
"""

import re
from collections.abc import Generator
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page, Response

from tests.helpers.console_pages import PAGES, ConsolePage
from tests.helpers.example_site import SCHEMES, WIDTHS, ExampleSite

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
_SIDEWAYS: Final = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
_WORDS: Final = """() => {
  const folded = [...document.querySelectorAll('details:not([open])')];
  folded.forEach((one) => { one.open = true; });
  const named = [...document.querySelectorAll('[aria-label], [title], [alt], [placeholder]')].flatMap((one) =>
    ['aria-label', 'title', 'alt', 'placeholder'].map((name) => one.getAttribute(name)).filter(Boolean));
  const words = [document.title, document.body.innerText, ...named].join('\\n');
  folded.forEach((one) => { one.open = false; });
  return words;
}"""
INNER_WORDS: Final = re.compile(
    r"\b(?:utilit(?:y|ies)|alpha|(?<!whole )packages?|undominated|pareto|nash|kalai|logit|leverage points?|walk_away"
    r"|their_estimate|idempotency|undefined|NaN|null)\b|engine:|\b(?:neg|off|tac|bpl)_\w",
    re.IGNORECASE,
)
_EXPLAINED: Final = re.compile(r"best alternative|what (?:you do|happens) without", re.IGNORECASE)
_BATNA: Final = re.compile(r"\bBATNA\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ShownPage:
    """A page in a tab, its last answer, and what the browser asked for and complained of until it was quiet."""

    site: ExampleSite
    page: ConsolePage
    tab: Page
    answer: Response
    asked: tuple[str, ...]
    said: tuple[str, ...]


@pytest.fixture(scope="module", params=PAGES, ids=lambda page: page.name)
def shown(examples: tuple[ExampleSite, Browser], request: pytest.FixtureRequest) -> Generator[ShownPage]:
    """One page after the other; pytest runs the tests of one together."""
    site, browser = examples
    page: ConsolePage = request.param
    asked: list[str] = []
    said: list[str] = []
    with site.context(browser, page) as context:
        tab = context.new_page()
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        answer = site.show(page, tab)
        yield ShownPage(site, page, tab, answer, tuple(asked), tuple(said))


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


def test_axe_finds_nothing_serious(shown: ShownPage) -> None:
    assert shown.answer.status == shown.page.status
    for scheme, width in zip(SCHEMES, WIDTHS, strict=True):
        shown.site.look(shown.tab, scheme=scheme, width=width)
        assert findings(shown.tab) == [], f"{shown.page.name}, {scheme}, {width}"


def test_a_page_fits_narrow_screens_and_large_text(shown: ShownPage) -> None:
    tab = shown.tab
    shown.site.look(tab, scheme="light", width=320)
    assert tab.evaluate(_SIDEWAYS) <= 0, "it scrolls sideways at 320 pixels"
    shown.site.look(tab, scheme="light", width=1280)
    tab.evaluate("document.documentElement.style.fontSize = '200%'")
    assert tab.evaluate(_SIDEWAYS) <= 0, "it scrolls sideways with text at 200 %"
    assert tab.evaluate(_CLIPPED) == []
    tab.evaluate("document.documentElement.style.fontSize = ''")


def test_a_page_is_small_and_loads_and_allows_nothing_foreign(shown: ShownPage) -> None:
    site, answer = shown.site, shown.answer
    policy = answer.header_value("content-security-policy") or ""
    assert policy
    assert "unsafe" not in policy
    assert [url for url in shown.asked if not url.startswith((f"{site.base}/", "data:"))] == []
    assert [text for text in shown.said if not _is_about(text, shown.page.status)] == []
    sizes = {answer.url: len(answer.body())}
    coded = {answer.url: answer.header_value("content-encoding")}
    for url in shown.tab.evaluate(_LOADED):
        loaded = shown.tab.context.request.get(url)
        sizes[url], coded[url] = len(loaded.body()), loaded.headers.get("content-encoding")
    assert sum(sizes.values()) < BUDGET, sizes
    plain = [url for url, size in sizes.items() if size >= _SMALL and coded[url] != "gzip"]
    assert plain == [], "these are not compressed"


def _is_about(text: str, status: int) -> bool:
    """Whether the browser only says that the page itself is a refusal."""
    return status != 200 and f"the server responded with a status of {status}" in text


def inner_words(text: str) -> list[str]:
    """Each inner word with what stands around it."""
    found = [text[max(0, hit.start() - 40) : hit.end() + 40].replace("\n", " ") for hit in INNER_WORDS.finditer(text)]
    return found + (["BATNA"] if _BATNA.search(text) and not _EXPLAINED.search(text) else [])


def test_inner_words_are_found() -> None:
    text = "The utility of neg_01 is null; the BATNA; Nash; engine: v2."
    assert len(inner_words(text)) == 6
    assert inner_words("Your best alternative (BATNA). None of them; the alphabet.") == []


def test_a_page_speaks_plain_english(shown: ShownPage) -> None:
    told = shown.tab.evaluate(_WORDS)
    assert shown.page.quotes or inner_words(told) == []
