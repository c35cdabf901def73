"""The guides for people: `guides/*.md` as HTML with contents, which guide explains a page, and their search."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from negotiator.console.markdown_html import render_markdown
from negotiator.search_terms import split_words, stemmed_terms

GUIDES: Final = (
    "home", "prepare", "negotiation", "practise", "call", "agents", "memories", "tactics", "wins", "tools", "submit",
    "account", "admin", "keyboard",
)  # fmt: skip
"""In the order of the table of contents; a name is the file's and the last part of the address."""
GUIDE_OF_PAGE: Final = {
    "/": "home",
    "/negotiations": "home",
    "/negotiations/new": "prepare",
    "/negotiations/": "negotiation",
    "/negotiations/{id}/rehearsals": "practise",
    "/live": "call",
    "/agents": "agents",
    "/approve": "agents",
    "/oauth": "agents",
    "/memories": "memories",
    "/tactics": "tactics",
    "/wins": "wins",
    "/tools": "tools",
    "/tools/submit": "submit",
    "/submissions": "submit",
    "/collections": "tools",
    "/account": "account",
    "/sign-in": "account",
    "/first-user": "account",
    "/password": "account",
    "/admin": "admin",
    "/go": "keyboard",
}
"""The guide of each page, by the path that its own begins with; the longest one counts. `{id}` is any negotiation."""
_NEGOTIATION: Final = re.compile(r"(?<=^/negotiations/)[^/]+(?=/)")
_ASKING: Final = frozenset(
    {"how", "am", "should", "must", "may", "want", "need", "about", "all", "any", "get", "page"}
)
"""Words of a question that say nothing of what it is about."""
_SAME: Final = {"delet": "eras", "remov": "eras", "wipe": "eras", "destroy": "eras"}
"""Stems that are searched as another one."""
_TITLE_WEIGHT: Final = 8
_HEADING_WEIGHT: Final = 3
_TAG: Final = re.compile(r"<(h2)>(.*?)</h2>")
_CODE: Final = re.compile(r"<pre>(<code[^>]*>.*?</code>)</pre>", re.DOTALL)
_NOT_WORD: Final = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class GuideHeading:
    """A heading and the fragment that leads to it."""

    title: str
    fragment: str


@dataclass(frozen=True, slots=True)
class Guide:
    """One guide; `terms` has the weight of each term that finds it."""

    name: str
    title: str
    summary: str
    html: str
    headings: tuple[GuideHeading, ...]
    terms: Counter[str]


@cache
def all_guides() -> tuple[Guide, ...]:
    return tuple(_read(name) for name in GUIDES)


def find_guide(name: str) -> Guide | None:
    return next((guide for guide in all_guides() if guide.name == name), None)


def guide_of_page(path: str) -> str:
    """The name of the guide to the page at `path`; empty for none."""
    path = _NEGOTIATION.sub("{id}", path)
    found = [
        one
        for one in GUIDE_OF_PAGE
        if path == one or (one != "/" and path.startswith(one.rstrip("/") + "/"))
    ]
    return GUIDE_OF_PAGE[max(found, key=len)] if found else ""


def search_guides(query: str, *, whole: bool = False) -> list[Guide]:
    """The guides that have words of the query, those with most of them first; all without one.

    With `whole` only guides that have every word. The last word may be a beginning.
    """
    asked = [word for word in split_words(query) if word not in _ASKING]
    terms = _terms(" ".join(asked) or query)
    if not terms:
        return list(all_guides())
    scored = [(_scores(guide, terms), guide) for guide in all_guides()]
    found = [one for one in scored if (all if whole else any)(one[0])]
    found.sort(key=lambda one: (-sum(map(bool, one[0])), -sum(one[0])))
    return [guide for _, guide in found]


def _scores(guide: Guide, terms: Sequence[str]) -> list[int]:
    """How much the guide has of each term."""
    *whole, last = terms
    begun = sum(count for term, count in guide.terms.items() if term.startswith(last))
    return [*(guide.terms[term] for term in whole), begun]


def _terms(text: str) -> list[str]:
    return [_SAME.get(term, term) for term in stemmed_terms(text)]


def _read(name: str) -> Guide:
    file = resources.files("negotiator.console") / "guides" / f"{name}.md"
    text = file.read_text(encoding="utf-8")
    tokens = MarkdownIt("commonmark").parse(text)
    title, *titles = _texts(tokens, "heading_open")
    summary = _texts(tokens, "paragraph_open")[0]
    headings = tuple(
        GuideHeading(one, _NOT_WORD.sub("-", one.lower()).strip("-")) for one in titles
    )
    terms = Counter(_terms(text))
    for words, weight in ((title, _TITLE_WEIGHT), (" ".join(titles), _HEADING_WEIGHT)):
        for term in _terms(words):
            terms[term] += weight
    body = text.split("\n", 1)[1]
    return Guide(name, title, summary, _html(body, headings), headings, terms)


def _texts(tokens: Sequence[Token], kind: str) -> list[str]:
    """The text of each element of this kind."""
    return [
        "".join(
            " " if part.type == "softbreak" else part.content
            for part in tokens[place + 1].children or ()
        )
        for place, token in enumerate(tokens)
        if token.type == kind
    ]


def _html(text: str, headings: Sequence[GuideHeading]) -> str:
    """The text as HTML, with the fragments of its headings, and a button that copies each block of code."""
    fragments = iter(headings)
    found = _TAG.sub(
        lambda tag: f'<h2 id="{next(fragments).fragment}">{tag[2]}</h2>', render_markdown(text)
    )
    number = 0

    def copied(block: re.Match[str]) -> str:
        nonlocal number
        number += 1
        return (
            f'<div class="paste"><pre id="code-{number}" tabindex="0">{block[1]}</pre>'
            f'<button class="small second with-script" type="button" data-copy="code-{number}">Copy</button></div>'
        )

    return _CODE.sub(copied, found)
