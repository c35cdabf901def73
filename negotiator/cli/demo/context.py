"""What the chapters of the demo share: the server, the printer, the credentials so far, the checked statements."""

import base64
import re
import shlex
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final, cast

import httpx2
import orjson
from rich.console import Console
from rich.highlighter import JSONHighlighter
from rich.markup import escape
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from negotiator.base.values import escape_invisible
from negotiator.cli.demo.server import DemoFailed, DemoIdentityProvider, DemoServer

JsonObject = dict[str, Any]

TIMEOUT: Final = 20.0
SECRET_MEMBERS: Final = frozenset({"access_token", "assertion", "claim_token", "client_secret", "code", "token"})
_SECRET_PREFIX: Final = 9
_WIDTH: Final = 100
_LIST: Final = re.compile(r"\[\s+([^\[\]{}]*?)\s+\]")
_COLOURS: Final = {"Jens": "yellow", "Advice": "cyan", "Grace": "green"}
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
    """Prints what is told; with `verbose` also each request, answer and checked statement. Nothing when `silent`."""

    def __init__(self, *, silent: bool, verbose: bool) -> None:
        console = Console(quiet=silent, highlight=False)
        # What goes to a file or a pipe has no width of its own.
        self._width = min(_WIDTH, console.width) if console.is_terminal else _WIDTH
        self._told = Console(quiet=silent, highlight=False, width=self._width)
        self._console = Console(quiet=silent or not verbose)
        self._chapter = 0

    def line(self, text: str = "", style: str = "") -> None:
        """A paragraph over the whole width."""
        self._told.print(Text(text, style=style))

    def command(self, what: str, command: str) -> None:
        """A command to copy, on one line."""
        self._told.print(Text(f"{what}: {command}"), soft_wrap=True)

    def said(self, who: str, text: str) -> None:
        """What a speaker says, beside their name."""
        row = Table.grid(padding=(0, 2))
        row.add_column(min_width=8)
        row.add_column()
        row.add_row(Text(f"  {who}", style=f"bold {_COLOURS[who]}"), Text(text))
        self._told.print(row)

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

    def _line(self, mark: str, text: str, style: str) -> None:
        self._console.print(Text(f"  {mark} {escape_invisible(text)}", style=style), soft_wrap=True)

    def _data(self, body: Any) -> None:
        text = orjson.dumps(shorten_secrets(body), option=orjson.OPT_INDENT_2).decode()
        # A list of plain values takes one line.
        text = _LIST.sub(lambda found: f"[{' '.join(found[1].split())}]", text)
        text = "\n".join(map(escape_invisible, text.split("\n")))
        self._console.print(_json(textwrap.indent(text, "    ")), soft_wrap=True)


@dataclass(slots=True)
class DemoContext:
    """One run. Chapters fill in the fields below `provider`, and later chapters read them.

    `run` makes the names of this run unique; `undo` lists the operator's commands that undo earlier ones.
    """

    site: DemoServer
    printer: DemoPrinter
    http: httpx2.Client
    provider: DemoIdentityProvider
    run: str
    metadata: JsonObject = field(default_factory=dict[str, Any])
    anonymous_agent: JsonObject = field(default_factory=dict[str, Any])
    negotiation: JsonObject = field(default_factory=dict[str, Any])
    claimed: JsonObject = field(default_factory=dict[str, Any])
    checked: list[str] = field(default_factory=list[str])
    undo: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])

    def ask(
        self,
        method: str,
        target: str,
        *,
        body: JsonObject | None = None,
        form: Mapping[str, str] | None = None,
        token: str = "",
        secret: tuple[str, str] | None = None,
        show: tuple[str, ...] | None = None,
    ) -> httpx2.Response:
        """Send a request and print it; `target` is a path or a whole URL.

        `token` is a bearer token, `secret` a client's id and secret (HTTP Basic), `show` the members of the answer to
        print (default: all).
        """
        url = target if target.startswith("http") else f"{self.site.url}{target}"
        headers: dict[str, str] = {}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        if secret:
            headers["Authorization"] = f"Basic {base64.b64encode(':'.join(secret).encode()).decode()}"
        self.printer.sent(method, target, body or form)
        try:
            answer = self.http.request(method, url, json=body, data=form, headers=headers)
        except httpx2.TransportError as fault:
            raise DemoFailed(f"{method} {url} got no answer: {fault}") from None
        members: Any = _object(answer)
        if show is not None:
            members = {name: members[name] for name in show if name in members}
        members.pop("request_id", None)
        self.printer.got(answer.status_code, members)
        return answer

    def post(
        self, target: str, body: JsonObject, *, show: tuple[str, ...] | None = None, status: int = 200
    ) -> JsonObject:
        """Send a POST as Grace's agent; returns the body without `request_id`. Ends the demo unless the status is
        `status`.
        """
        token = self.claimed["access_token"]
        return _without_request_id(self.answered(self.ask("POST", target, body=body, token=token, show=show), status))

    def get(self, target: str, *, show: tuple[str, ...] | None = None) -> JsonObject:
        """Send a GET as Grace's agent; returns the body without `request_id`. Ends the demo unless it succeeds."""
        token = self.claimed["access_token"]
        return _without_request_id(self.answered(self.ask("GET", target, token=token, show=show), 200))

    def operate(self, *arguments: str) -> Any:
        """Run a command as the operator and print it."""
        self.printer.ran(arguments)
        return self.site.operate(*arguments)

    def answered(self, answer: httpx2.Response, status: int, error: str = "") -> JsonObject:
        """The answer's object; ends the demo unless status and error word are the expected ones."""
        body = _object(answer)
        if answer.status_code != status or body.get("error", "") != error:
            expected = f"{status} {error}".strip()
            found = f"{answer.status_code} {body.get('error', '')}".strip()
            raise DemoFailed(f"{answer.request.method} {answer.url}: expected {expected}, got {found}.")
        return body

    def check(self, holds: bool, sentence: str) -> None:
        """Print and store a statement that holds; ends the demo when it does not."""
        if not holds:
            raise DemoFailed(f"This is not true: {sentence}")
        self.checked.append(sentence)
        self.printer.shown(sentence)


@dataclass(frozen=True, slots=True)
class DemoChapter:
    """One part of the demo: its name, title, purpose, and the function that runs it."""

    name: str
    title: str
    purpose: str
    run: Callable[[DemoContext], None]


def _without_request_id(body: JsonObject) -> JsonObject:
    return {name: member for name, member in body.items() if name != "request_id"}


def _object(answer: httpx2.Response) -> JsonObject:
    """The JSON object in an answer; empty when there is none."""
    if not answer.headers.get("content-type", "").startswith("application/json"):
        return {}
    try:
        found: Any = answer.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}  # pyright: ignore[reportUnknownVariableType]
