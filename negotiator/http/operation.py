"""The service description: operations as plain data, from which routes, limits, OpenAPI and MCP tools are made."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Literal, TypeVar

from pydantic import BaseModel

from negotiator.base.caller import Caller
from negotiator.base.errors import PreconditionFailed, PreconditionRequired
from negotiator.base.schema import NoInput
from negotiator.http.idempotency import IdempotentCreation
from negotiator.http.limits import BASELINE_BUDGET

Input = TypeVar("Input", bound=BaseModel)

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
LINES = "application/x-ndjson"
MARKDOWN = "text/markdown"
EVENT = "application/secevent+jwt"
MERGE = "application/merge-patch+json"
REGISTRATION_BODY_LIMIT = 8 * 1024
BODY_LIMIT = 64 * 1024
IMPORT_BODY_LIMIT = 5 * 1024 * 1024


@dataclass(slots=True)
class Answer:
    """An answer with its own status, headers or media type; most operations return just their JSON object.

    A `bytes` body is sent unchanged, an asynchronous generator of bytes is sent chunk by chunk, anything else as JSON;
    None means no body.
    """

    body: Any
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    media_type: str = JSON


_NOT_REPEATED: Final = IdempotentCreation()


@dataclass(slots=True)
class Call(Generic[Input]):
    """One call of an operation: its caller, its validated input and its conditions.

    `expected` is the revision that `If-Match` names; `once` wraps a creating unit so that a repeated `Idempotency-Key`
    gets the first result again.
    """

    caller: Caller
    input: Input
    headers: Mapping[str, str]
    address: str
    expected: int | None = None
    once: IdempotentCreation = _NOT_REPEATED

    def require_revision(self, current: int) -> None:
        """Raise 412 when `If-Match` names another revision than the current one."""
        if self.expected is not None and self.expected != current:
            raise PreconditionFailed("The resource has changed since that revision.", members={"revision": current})

    def require_condition(self) -> None:
        """Raise 428 when the call came without `If-Match`; `*` accepts any revision."""
        if "if-match" not in self.headers:
            raise PreconditionRequired("Send If-Match with the ETag of the revision you change.")


OperationFunction = Callable[[Call[Any]], Awaitable[Any]]


def path_pattern(template: str) -> str:
    """A regular expression for the paths of a template; a part in braces is a named parameter, any text but a slash."""
    parts = template.split("/")
    return "/".join(f"(?P<{part[1:-1]}>[^/]+)" if part[:1] == "{" else re.escape(part) for part in parts)


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """How an operation is offered as an MCP tool; schemas, scopes and limits are the operation's own.

    `title` is for people. `hint` says, beyond the summary, when to use the tool and what comes before and after it; how
    a model should behave stands in the server's instructions. `name` replaces the operation's name. `reads` marks a
    POST that changes nothing. `foreign` marks an answer with text by third parties, `public` a tool that reads or adds
    to what the public has published. `unclaimed` limits the tool to agents that act for no user yet. `note` is added to
    every result as the member `note` and says what to do next. `leave_out` names members of the input that the tool's
    schema does not list although they are accepted: `issues.label`; `*` matches any part. `brief` names the members
    that the tool's answer keeps: `offer`, or `items.id`, which keeps of each entry only what is named. An operation
    that can answer Markdown does so as a tool. Over MCP an operation sees no header but `Accept`, so an operation that
    reads others cannot be a tool.
    """

    title: str
    hint: str = ""
    name: str = ""
    reads: bool = False
    foreign: bool = False
    public: bool = False
    unclaimed: bool = False
    note: str = ""
    leave_out: tuple[str, ...] = ()
    brief: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation of the service. Routes, guard, limits, OpenAPI, MCP tools and docs are made from it.

    `access`: `open` reads no bearer credential, `public` accepts one but needs none, `bearer` needs one with all of
    `scopes`. `budget` maps the input to the operation's own rate budget, or to several that are all charged; without it
    the caller's budget is charged. `baseline` names the budget of callers without a credential. `encoding` is the form
    of the body: `either` accepts JSON and forms, `lines` accepts JSON and NDJSON (as the member `lines`), `event`
    accepts one signed text (RFC 8935, as the member `token`). `media_type` is that of a successful answer, in place of
    or beside the JSON that `output` describes. `refusals` are the further statuses that it answers, including 304, and
    200 where the resource to be created may exist already. `creates` marks a POST that honours `Idempotency-Key`.
    `urgent` marks an operation that comes before all others when the service is overloaded: health and what ends a
    credential. `probe` marks one by which others ask about this process: it has no budget and waits in no queue. `tool`
    offers the operation over MCP too. `aliases` are further paths with the same parameters.
    """

    name: str
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    summary: str
    run: OperationFunction
    input: type[BaseModel] = NoInput
    output: Any = None
    status: int = 200
    access: Literal["open", "public", "bearer"] = "bearer"
    scopes: frozenset[str] = frozenset()
    refusals: tuple[int, ...] = ()
    encoding: Literal["json", "form", "either", "lines", "event"] = "json"
    body_limit: int = BODY_LIMIT
    media_type: str = JSON
    budget: Callable[[Any], str | tuple[str, ...]] | None = None
    baseline: str = BASELINE_BUDGET
    creates: bool = False
    urgent: bool = False
    probe: bool = False
    tool: ToolOffer | None = None
    aliases: tuple[str, ...] = ()
    tag: str = ""

    @property
    def reads_query(self) -> bool:
        """Whether the input comes from the query string rather than from a body."""
        return self.method in {"GET", "DELETE"}

    @property
    def takes(self) -> tuple[str, ...]:
        """The media types of the bodies it accepts, the usual one first."""
        match self.encoding:
            case "form":
                return (FORM,)
            case "either":
                return (JSON, FORM)
            case "lines":
                return (LINES, JSON)
            case "event":
                return (EVENT,)
            case "json":
                return (JSON, MERGE) if self.method == "PATCH" else (JSON,)

    @property
    def path_parameters(self) -> tuple[str, ...]:
        """The names of the path's parameters, in order."""
        return tuple(part[1:-1] for part in self.path.split("/") if part.startswith("{"))


@dataclass(frozen=True, slots=True)
class ServiceDescription:
    """What the running process offers: its base URL, its scopes with their meanings, its operations."""

    base: str
    scopes: Mapping[str, str]
    operations: tuple[Operation, ...]

    def find(self, name: str) -> Operation | None:
        return next((operation for operation in self.operations if operation.name == name), None)

    def at(self, path: str, method: str = "GET") -> Operation | None:
        matches = (each for each in self.operations if (each.path, each.method) == (path, method))
        return next(matches, None)

    def url(self, name: str) -> str | None:
        """The absolute URL of an operation without path parameters; None if the process does not offer it."""
        operation = self.find(name)
        return f"{self.base}{operation.path}" if operation else None
