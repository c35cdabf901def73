"""Prints the demo: chapters, requests, answers and checked statements. Secrets are shortened."""

import re
import shlex
import textwrap
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final, cast

import orjson
from rich.console import Console
from rich.highlighter import JSONHighlighter
from rich.markup import escape
from rich.panel import Panel
from rich.rule import Rule
from rich.text import Text

from negotiator.base.values import escape_invisible

SECRET_MEMBERS: Final = frozenset({"access_token", "assertion", "claim_token", "client_secret", "code", "token"})
_SECRET_PREFIX: Final = 9
_WIDTH: Final = 100
_LIST: Final = re.compile(r"\[\s+([^\[\]{}]*?)\s+\]")
_json = JSONHighlighter()


def shorten_secrets(value: Any, name: str = "") -> Any:
    """The value with every secret in it cut to its beginning, at any depth."""
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value)
        return {key: shorten_secrets(member, key) for key, member in members.items()}
    if isinstance(value, list):
        return [shorten_secrets(member) for member in cast("list[Any]", value)]
    if isinstance(value, str) and name in SECRET_MEMBERS:
        return f"{value[:_SECRET_PREFIX]}…"
    return value


class DemoPrinter:
    """Prints the demo, or nothing when `silent`."""

    def __init__(self, *, silent: bool) -> None:
        self._console = Console(quiet=silent)
        self._chapter = 0

    def title(self, url: str) -> None:
        """The heading."""
        text = f"A demo of [bold]Negotiator[/bold] at {escape(url)}\nEvery request below is real."
        self._console.print(Panel(text, width=min(_WIDTH, self._console.width)))

    def chapter(self, title: str, why: str) -> None:
        """Start a chapter."""
        self._chapter += 1
        self._console.print()
        self._console.print(Rule(f"[bold]{self._chapter}. {escape(title)}[/bold]", align="left"))
        self._console.print(why, style="italic", highlight=False, markup=False)

    def step(self, text: str) -> None:
        """A sentence about the next request."""
        self._console.print()
        self._console.print(text, highlight=False, markup=False)

    def ran(self, arguments: Sequence[str]) -> None:
        """A command of the operator."""
        self._line("$", f"negotiator {shlex.join(arguments)}", "magenta")

    def sent(self, method: str, target: str, body: Mapping[str, Any] | None) -> None:
        """A request."""
        self._line("→", f"{method} {target}", "cyan")
        if body:
            self._data(body)

    def got(self, status: int, body: Any) -> None:
        """An answer."""
        colour = "green" if status < HTTPStatus.BAD_REQUEST else "yellow"
        self._line("←", f"{status} {HTTPStatus(status).phrase}", colour)
        if body:
            self._data(body)

    def data(self, body: Any) -> None:
        """A document on its own."""
        self._data(body)

    def event(self, text: str) -> None:
        """One line of a list."""
        self._line("·", text, "dim")

    def shown(self, sentence: str) -> None:
        """A statement that was checked and holds."""
        self._line("✓", sentence, "bold green")

    def end(self, count: int, seconds: float) -> None:
        """The summary."""
        self._console.print()
        text = f"[bold green]All {count} checks passed[/bold green], in {seconds:.1f} seconds."
        self._console.print(Panel(text, width=min(_WIDTH, self._console.width)))

    def _line(self, mark: str, text: str, style: str) -> None:
        self._console.print(Text(f"  {mark} {escape_invisible(text)}", style=style), soft_wrap=True)

    def _data(self, body: Any) -> None:
        text = orjson.dumps(shorten_secrets(body), option=orjson.OPT_INDENT_2).decode()
        # A list of plain values takes one line.
        text = _LIST.sub(lambda found: f"[{' '.join(found[1].split())}]", text)
        text = "\n".join(map(escape_invisible, text.split("\n")))
        self._console.print(_json(textwrap.indent(text, "    ")), soft_wrap=True)
