"""Markdown as HTML for pages: no styles, which their policy refuses, and wide tables that scroll by themselves."""

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

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


def render_markdown(text: str) -> str:
    """The text as HTML; HTML inside it is shown as text."""
    return render_tokens(parse_markdown(text))


def render_tokens(tokens: "Sequence[Token]") -> str:
    """The tokens as HTML."""
    html: str = _markdown().renderer.render(tokens, _markdown().options, {})
    found = _ALIGNED.sub(r'<\1 class="\2">', html)
    return found.replace("<table>", _TABLE[0]).replace("</table>", _TABLE[1])
