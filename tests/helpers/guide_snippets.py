"""The code snippets of the guide."""

import re
from dataclasses import dataclass

FENCE = re.compile(r"^```(sh|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Snippet:
    """A piece of shell and the lines its output must hold; `…` stands for anything."""

    shell: str
    promised: list[str]


def snippets(page: str) -> list[Snippet]:
    """The page's snippets in order; a `text` fence belongs to the `sh` fence before it."""
    found: list[Snippet] = []
    for kind, text in FENCE.findall(page):
        if kind == "sh":
            found.append(Snippet(text, []))
        else:
            found[-1].promised.extend(text.splitlines())
    return found


def fences(page: str, kind: str) -> list[str]:
    """The texts of the page's fences of this kind."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
