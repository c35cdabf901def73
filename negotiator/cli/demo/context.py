"""What the chapters share: the server, the operator's commands, its metadata, credentials so far,
checked statements.
"""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2

from negotiator.cli.demo.identity_provider import DemoIdentityProvider
from negotiator.cli.demo.printer import DemoPrinter
from negotiator.cli.demo.server import DemoFailed, DemoServer

JsonObject = dict[str, Any]


@dataclass(slots=True)
class DemoContext:
    """One run. Chapters fill in the fields below `provider`, and later chapters read them.

    `run` makes the names of this run unique; `undo` lists the operator's commands that undo earlier ones.
    """

    site: DemoServer
    narrator: DemoPrinter
    http: httpx2.Client
    provider: DemoIdentityProvider
    run: str
    metadata: JsonObject = field(default_factory=dict[str, Any])
    anonymous_agent: JsonObject = field(default_factory=dict[str, Any])
    negotiation: JsonObject = field(default_factory=dict[str, Any])
    enterprise: JsonObject = field(default_factory=dict[str, Any])
    claimed: JsonObject = field(default_factory=dict[str, Any])
    client: JsonObject = field(default_factory=dict[str, Any])
    client_token: JsonObject = field(default_factory=dict[str, Any])
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
        self.narrator.sent(method, target, body or form)
        try:
            answer = self.http.request(method, url, json=body, data=form, headers=headers)
        except httpx2.TransportError as fault:
            raise DemoFailed(f"{method} {url} got no answer: {fault}") from None
        members: Any = _object(answer)
        if show is not None:
            members = {name: members[name] for name in show if name in members}
        members.pop("request_id", None)
        self.narrator.got(answer.status_code, members)
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
        self.narrator.ran(arguments)
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
        self.narrator.shown(sentence)


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
