"""What the chapters of the demo share: the server, the printer, the credentials so far, the checked statements."""

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
from negotiator.negotiations.routes import NEGOTIATIONS_PATH

JsonObject = dict[str, Any]

TIMEOUT: Final = 20.0
SECRET_MEMBERS: Final = frozenset(
    {"access_token", "assertion", "claim_token", "client_secret", "code", "refresh_token", "token"}
)
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
            self.data(body)

    def got(self, status: int, body: Any) -> None:
        """An answer."""
        colour = "green" if status < HTTPStatus.BAD_REQUEST else "yellow"
        self._line("←", f"{status} {HTTPStatus(status).phrase}", colour)
        if body:
            self.data(body)

    def event(self, text: str) -> None:
        """One line of a list."""
        self._line("·", text, "dim")

    def shown(self, sentence: str) -> None:
        """A statement that was checked and holds."""
        self._line("✓", sentence, "bold green")

    def _line(self, mark: str, text: str, style: str) -> None:
        self._console.print(Text(f"  {mark} {escape_invisible(text)}", style=style), soft_wrap=True)

    def data(self, body: Any) -> None:
        """A document."""
        text = orjson.dumps(shorten_secrets(body), option=orjson.OPT_INDENT_2).decode()
        # A list of plain values takes one line.
        text = _LIST.sub(lambda found: f"[{' '.join(found[1].split())}]", text)
        text = "\n".join(map(escape_invisible, text.split("\n")))
        self._console.print(_json(textwrap.indent(text, "    ")), soft_wrap=True)


@dataclass(slots=True)
class DemoContext:
    """One run. Chapters fill in the fields below `run`, and later chapters read them.

    `run` makes the names of this run unique. `agent` is what the agent was answered at registration and claim, its
    tokens included. `headers` are those of the last answer. `undo` lists the commands that undo earlier ones.
    """

    site: DemoServer
    printer: DemoPrinter
    http: httpx2.Client
    provider: DemoIdentityProvider
    run: str
    metadata: JsonObject = field(default_factory=dict[str, Any])
    agent: JsonObject = field(default_factory=dict[str, Any])
    negotiation: JsonObject = field(default_factory=dict[str, Any])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    checked: list[str] = field(default_factory=list[str])
    undo: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])

    def call(
        self,
        method: str,
        target: str,
        *,
        body: JsonObject | None = None,
        form: Mapping[str, str] | None = None,
        token: str | None = None,
        show: tuple[str, ...] | None = None,
        status: int = 200,
        error: str = "",
    ) -> JsonObject:
        """Send a request, by default as the agent, and print it; returns the answer's object without `request_id`.

        `target` is a path or a whole URL, `show` the members of the answer to print (default: all). Ends the demo
        unless status and error word are the expected ones.
        """
        url = target if target.startswith("http") else f"{self.site.url}{target}"
        token = self.agent["access_token"] if token is None else token
        self.printer.sent(method, target, body or form)
        try:
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            answer = self.http.request(method, url, json=body, data=form, headers=headers)
        except httpx2.TransportError as fault:
            raise DemoFailed(f"{method} {url} got no answer: {fault}") from None
        self.headers = answer.headers
        members = _object(answer)
        self.printer.got(
            answer.status_code, members if show is None else {name: members[name] for name in show if name in members}
        )
        if (answer.status_code, members.get("error", "")) != (status, error):
            found = f"{answer.status_code} {members.get('error', '')}".strip()
            raise DemoFailed(f"{method} {url}: expected {f'{status} {error}'.strip()}, got {found}.")
        return members

    def post(self, target: str, body: JsonObject, **more: Any) -> JsonObject:
        """Send a POST, as `call` does."""
        return self.call("POST", target, body=body, **more)

    def get(self, target: str, **more: Any) -> JsonObject:
        """Send a GET, as `call` does."""
        return self.call("GET", target, **more)

    def send_form(self, endpoint: str, form: Mapping[str, str], **more: Any) -> JsonObject:
        """Send a form without a credential to an endpoint that the metadata names."""
        return self.call("POST", self.metadata[endpoint], form=form, token="", **more)

    def operate(self, *arguments: str) -> Any:
        """Run a command as the operator and print it."""
        self.printer.ran(arguments)
        return self.site.operate(*arguments)

    def email(self, person: str) -> str:
        """An address that no other run uses."""
        return f"{person}-{self.run}@demo.example"

    def step(self, text: str) -> None:
        """Tell what comes next."""
        self.printer.step(text)

    def check(self, holds: bool, sentence: str) -> None:
        """Print and store a statement that holds; ends the demo when it does not."""
        if not holds:
            raise DemoFailed(f"This is not true: {sentence}")
        self.checked.append(sentence)
        self.printer.shown(sentence)

    def check_refused(self, token: str, sentence: str) -> None:
        """State that a token is refused."""
        self.get(NEGOTIATIONS_PATH, token=token, show=("error",), status=401, error="invalid_token")
        self.check(True, sentence)


@dataclass(frozen=True, slots=True)
class DemoChapter:
    """One part of the demo: its name, title, purpose, and the functions that run it."""

    name: str
    title: str
    purpose: str
    parts: tuple[Callable[[DemoContext], None], ...]


def _object(answer: httpx2.Response) -> JsonObject:
    """The JSON object in an answer, without `request_id`; empty when there is none."""
    if not answer.headers.get("content-type", "").startswith("application/json"):
        return {}
    try:
        found: JsonObject = dict(answer.json())
    except (ValueError, TypeError):
        return {}
    found.pop("request_id", None)
    return found
