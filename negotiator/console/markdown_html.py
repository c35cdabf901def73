"""Markdown as HTML for pages: no styles, which their policy refuses, and wide tables that scroll by themselves."""

import re
from typing import Final

from markdown_it import MarkdownIt

_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False}).enable("table")
_ALIGNED: Final = re.compile(r'<(t[hd]) style="text-align:(\w+)">')
_TABLE: Final = (
    '<div class="scroll" role="region" aria-label="Table" tabindex="0"><table>',
    "</table></div>",
)


def render_markdown(text: str) -> str:
    """The text as HTML; HTML inside it is shown as text."""
    found = _ALIGNED.sub(r'<\1 class="\2">', _MARKDOWN.render(text))
    return found.replace("<table>", _TABLE[0]).replace("</table>", _TABLE[1])
