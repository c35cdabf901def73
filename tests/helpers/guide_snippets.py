"""The code snippets of a page."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SHELL, ANSWER = "sh", "text"


@dataclass(frozen=True)
class Snippet:
    """A piece of shell and the lines its output must hold, in this order; `…` stands for anything."""

    shell: str
    promised: list[str]

    def missing(self, output: str) -> str | None:
        """The first promised line that the output does not have after the ones before it."""
        lines = iter(output.splitlines())
        return next((line for line in self.promised if not _comes(line, lines)), None)


def snippets(page: str) -> list[Snippet]:
    """The page's snippets in order; a `text` fence belongs to the `sh` fence before it."""
    found: list[Snippet] = []
    for kind, text in FENCE.findall(page):
        if kind == SHELL:
            found.append(Snippet(text, []))
        elif kind == ANSWER and found:
            lines = [line.rstrip() for line in text.splitlines()]
            found[-1].promised.extend(line for line in lines if line.strip(" …"))
    return found


def languages(page: str) -> set[str]:
    """The languages of all fences of the page."""
    return {kind for kind, _ in FENCE.findall(page)}


def fences(page: str, kind: str) -> list[str]:
    """The texts of the page's fences of this language."""
    return [text for language, text in FENCE.findall(page) if language == kind]


def _comes(promised: str, lines: Iterator[str]) -> bool:
    pattern = re.compile(".*".join(re.escape(part) for part in promised.split("…")))
    return any(pattern.fullmatch(line.rstrip()) for line in lines)
