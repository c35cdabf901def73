"""The guides: `guides/*.md` as HTML with contents, which guide explains a page, and their search.

To add a guide, write `guides/NAME.md` (a title, one paragraph that says what it is for, then `##` sections) and add its
name to its job in `guides.toml`. It is then at `/docs/guides/NAME`, in the list of `/docs` and found by its words.
Its `sh` fences are run by `tests/live/discovery/test_guide.py`, and each line of the `text` fence below must be
answered (`…` is any text). `make hosts` runs the `shell` and `python` fences of "Give it to your agent". Write
addresses as `http://127.0.0.1:8000`; pages show the server's own. Link to other guides as `NAME.md`, and to a small
picture as `../guide_pictures/NAME.webp`; pages contain it.
"""

import re
import tomllib
from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from negotiator.base.search_terms import split_words, stemmed_terms
from negotiator.discovery.public_pages import GUIDES_PATH, MANUAL_PATH

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_ALIGNED: Final = re.compile(r'<(t[hd]) style="text-align:(\w+)">')
_TABLE: Final = ('<div class="scroll" role="region" aria-label="Table" tabindex="0"><table>', "</table></div>")


@cache
def _markdown() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # imported here: few processes show markdown

    return MarkdownIt("commonmark", {"html": False}).enable("table")


def parse_markdown(text: str) -> "list[Token]":
    """The tokens of the text, for pages that mark parts of it."""
    return _markdown().parse(text)


def render_tokens(tokens: "Sequence[Token]") -> str:
    """The tokens as HTML."""
    html: str = _markdown().renderer.render(tokens, _markdown().options, {})
    found = _ALIGNED.sub(r'<\1 class="\2">', html)
    return found.replace("<table>", _TABLE[0]).replace("</table>", _TABLE[1])


@dataclass(frozen=True, slots=True)
class GuideJob:
    """What a reader wants to do, and the names of the guides to it; a name is that of the file and of the address.

    `service` is the one that the guides are about, empty for both.
    """

    key: str
    title: str
    reader: str
    guides: str
    service: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.guides.split())


_CONTENTS: Final = tomllib.loads((resources.files("negotiator.console") / "guides.toml").read_text("utf-8"))
JOBS: Final = tuple(GuideJob(**job) for job in _CONTENTS["jobs"])
"""In the order of the table of contents."""
SERVED_FILES: Final = {"../../../docs/reference/operations.md": f"{MANUAL_PATH}/api"}
"""The files outside the folder of guides that guides link to, with the page that shows the same."""
EXAMPLE_BASE: Final = "http://127.0.0.1:8000"
"""The address of the server that guides name; a page names its own."""
GUIDES: Final = tuple(name for job in JOBS for name in job.names)
GUIDE_OF_PAGE: Final[Mapping[str, str]] = _CONTENTS["pages"]
"""The guide of each page, by the path that its own begins with; the longest one counts. `{id}` is any negotiation."""
SIGNING_CLIENTS: Final = ("claude", "chatgpt", "cursor", "vs-code")
_SETUP_HEADING: Final = '<h2 id="set-it-up">Set it up</h2>'
_NEGOTIATION: Final = re.compile(r"(?<=^/negotiations/)[^/]+(?=/)")
_ASKING: Final = frozenset({"how", "am", "should", "must", "may", "want", "need", "about", "all", "any", "get", "page"})
"""Words of a question that say nothing of what it is about."""
_SAME: Final = {"delet": "eras", "remov": "eras", "wipe": "eras", "destroy": "eras"}
"""Stems that are searched as another one."""
_SATURATION: Final = 0.01
"""A term that is this share of a guide weighs half of what it can weigh at most, so that a long guide is no better."""
_USUAL_LENGTH: Final = 150
_TITLE_WEIGHT: Final = 2
_HEADING_WEIGHT: Final = 0.75
_GUIDE_FILE: Final = re.compile(r"([a-z0-9-]+)\.md(#.*)?")
_CODE: Final = re.compile(r"<pre>(<code[^>]*>.*?</code>)</pre>", re.DOTALL)
_COMMENT: Final = re.compile(r"<!--.*?-->\n*", re.DOTALL)
_ANSWER: Final = 'class="language-text"'
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
    text: str
    html: str
    headings: tuple[GuideHeading, ...]
    terms: Mapping[str, float]


class Searched(Protocol):
    """Anything that is found by its terms."""

    @property
    def terms(self) -> Mapping[str, float]: ...


Entry = TypeVar("Entry", bound=Searched)


@cache
def all_guides() -> tuple[Guide, ...]:
    return tuple(_read(name) for name in GUIDES)


def guides_of(job: GuideJob) -> tuple[Guide, ...]:
    return tuple(guide for guide in all_guides() if guide.name in job.names)


def find_guide(name: str) -> Guide | None:
    return next((guide for guide in all_guides() if guide.name == name), None)


def client_setups(base: str) -> list[tuple[Guide, str]]:
    """The guide to each client that signs its user in, and its section on the set-up, for pages of the service at
    `base`.
    """
    found: list[tuple[Guide, str]] = []
    for guide in filter(None, map(find_guide, SIGNING_CLIENTS)):
        section = guide.html.split(_SETUP_HEADING, 1)[1].split("<h2", 1)[0]
        found.append((guide, section.replace(EXAMPLE_BASE, base).replace("code-", f"{guide.name}-code-")))
    return found


def guide_of_page(path: str) -> str:
    """The name of the guide to the page at `path`; empty for none."""
    path = _NEGOTIATION.sub("{id}", path)
    found = [one for one in GUIDE_OF_PAGE if path == one or (one != "/" and path.startswith(one.rstrip("/") + "/"))]
    return GUIDE_OF_PAGE[max(found, key=len)] if found else ""


def search_guides(query: str, *, whole: bool = False) -> list[Guide]:
    """The guides that have words of the query, those with most of them first; all without one."""
    return search_entries(all_guides(), query, whole=whole)


def search_entries(entries: Sequence[Entry], query: str, *, whole: bool = False) -> list[Entry]:
    """The entries that have words of the query, those with most of them first; all without one.

    With `whole` only entries that have every word. The last word may be a beginning.
    """
    asked = [word for word in split_words(query) if word not in _ASKING]
    terms = _terms(" ".join(asked) or query)
    if not terms:
        return [*entries]
    scored = [(_scores(entry.terms, terms), entry) for entry in entries]
    found = [one for one in scored if (all if whole else any)(one[0])]
    found.sort(key=lambda one: (-sum(map(bool, one[0])), -sum(one[0])))
    return [entry for _, entry in found]


def term_weights(text: str, title: str, headings: str = "") -> Mapping[str, float]:
    """How much each term says of a text with this title and these headings."""
    counted = Counter(_terms(text))
    half = _SATURATION * max(counted.total(), _USUAL_LENGTH)
    terms = {term: count / (count + half) for term, count in counted.items()}
    for words, weight in ((title, _TITLE_WEIGHT), (headings, _HEADING_WEIGHT)):
        for term in _terms(words):
            terms[term] = terms.get(term, 0) + weight
    return terms


def _scores(weights: Mapping[str, float], terms: Sequence[str]) -> list[float]:
    """How much each term weighs; the last may be a beginning."""
    *whole, last = terms
    begun = sum(weight for term, weight in weights.items() if term.startswith(last))
    return [*(weights.get(term, 0) for term in whole), begun]


def _terms(text: str) -> list[str]:
    return [_SAME.get(term, term) for term in stemmed_terms(text)]


def _read(name: str) -> Guide:
    file = resources.files("negotiator.console") / "guides" / f"{name}.md"
    text = file.read_text(encoding="utf-8")
    generated = text.startswith("<!--")  # its headings are a list of everything
    text = _COMMENT.sub("", text)
    tokens = parse_markdown(text)
    title = _texts(tokens, "h1")[0]
    summary = _texts(tokens, "p")[0]
    headings = tuple(GuideHeading(one, _NOT_WORD.sub("-", one.lower()).strip("-")) for one in _texts(tokens, "h2"))
    weighty = "" if generated else " ".join(heading.title for heading in headings)
    terms = term_weights(text, title, weighty)
    return Guide(name, title, summary, text, _html(tokens, headings), headings, terms)


def _texts(tokens: "Sequence[Token]", tag: str) -> list[str]:
    """The text of each element of this tag."""
    return [
        "".join(" " if part.type == "softbreak" else part.content for part in tokens[place + 1].children or ())
        for place, token in enumerate(tokens)
        if token.tag == tag and token.nesting == 1
    ]


def _lead_links(parts: "Sequence[Token]") -> None:
    """Lead links between files of the project to served pages; a link to a file without a page becomes text."""
    hides = False
    for part in parts:
        if part.type == "link_close":
            part.hidden = hides
        elif part.type == "link_open":
            target = str(part.attrGet("href") or "")
            hides = target.startswith("../") and target not in SERVED_FILES
            part.hidden = hides
            if guide := _GUIDE_FILE.fullmatch(target):
                target = f"{GUIDES_PATH}/{guide[1]}{guide[2] or ''}"
            target = SERVED_FILES.get(target, target)
            part.attrSet("href", f"{EXAMPLE_BASE}{target}" if target.startswith("/") else target)


def _html(tokens: "Sequence[Token]", headings: Sequence[GuideHeading]) -> str:
    """What follows the title, with the fragments of the headings, links to served guides, and pictures inside it.

    Each block of code has a button that copies it, but answers of the server, which are abridged.
    """
    titled = [token for token in tokens if token.tag == "h2" and token.nesting == 1]
    for token, heading in zip(titled, headings, strict=True):
        token.attrSet("id", heading.fragment)
    for token in tokens:
        _lead_links(token.children or ())
    for image in (part for token in tokens for part in token.children or () if part.tag == "img"):
        file = resources.files("negotiator.console") / str(image.attrGet("src")).removeprefix("../")
        data = b64encode(file.read_bytes()).decode()
        image.attrSet("src", f"data:image/webp;base64,{data}")
    number = 0

    def copied(block: re.Match[str]) -> str:
        nonlocal number
        if _ANSWER in block[1]:
            return f'<pre class="answer" tabindex="0">{block[1]}</pre>'
        number += 1
        return (
            f'<div class="paste"><pre id="code-{number}" tabindex="0">{block[1]}</pre>'
            f'<button class="small second with-script" type="button" data-copy="code-{number}">Copy</button></div>'
        )

    return _CODE.sub(copied, render_tokens(tokens[3:]))
