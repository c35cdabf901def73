"""No page shows a word that only the code knows."""

import re
from typing import Final

import pytest
from playwright.sync_api import Browser

from tests.helpers.console_pages import PAGES, ConsolePage
from tests.helpers.example_site import ExampleSite

INNER_WORDS: Final = re.compile(
    r"\b(?:utilit(?:y|ies)|alpha|(?<!whole )packages?|undominated|pareto|nash|kalai|logit|leverage points?|walk_away"
    r"|their_estimate|idempotency|undefined|NaN|null)\b|engine:|\b(?:neg|off|tac|bpl)_\w",
    re.IGNORECASE,
)
_EXPLAINED: Final = re.compile(r"best alternative|what (?:you do|happens) without", re.IGNORECASE)
_BATNA: Final = re.compile(r"\bBATNA\b", re.IGNORECASE)
_OPENED: Final = "() => document.querySelectorAll('details').forEach((one) => { one.open = true; })"
_NAMES: Final = """() => [...document.querySelectorAll('[aria-label], [title], [alt], [placeholder]')].flatMap((one) =>
  ['aria-label', 'title', 'alt', 'placeholder'].map((name) => one.getAttribute(name)).filter(Boolean)).join('\\n')"""


def inner_words(text: str) -> list[str]:
    """Each inner word with what stands around it."""
    found = [
        text[max(0, hit.start() - 40) : hit.end() + 40].replace("\n", " ")
        for hit in INNER_WORDS.finditer(text)
    ]
    return found + (["BATNA"] if _BATNA.search(text) and not _EXPLAINED.search(text) else [])


def test_inner_words_are_found() -> None:
    text = "The utility of neg_01 is null; the BATNA; Nash; engine: v2."
    assert len(inner_words(text)) == 6
    assert inner_words("Your best alternative (BATNA). None of them; the alphabet.") == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_speaks_plain_english(
    examples: tuple[ExampleSite, Browser], page: ConsolePage
) -> None:
    site, browser = examples
    with site.context(browser, page) as context:
        tab = context.new_page()
        site.show(page, tab)
        tab.evaluate(_OPENED)
        told = f"{tab.title()}\n{tab.inner_text('body')}\n{tab.evaluate(_NAMES)}"
        assert page.quotes or inner_words(told) == []
