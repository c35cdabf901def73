"""The service description: operations as plain data, from which everything about them is read."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel

from negotiator.caller import Caller
from negotiator.errors import PreconditionFailed, PreconditionRequired
from negotiator.http.idempotency import IdempotentCreation
from negotiator.http.limits import BASELINE_BUDGET
from negotiator.schema import NoInput

Input = TypeVar("Input", bound=BaseModel)

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
LINES = "application/x-ndjson"
EVENT = "application/secevent+jwt"
MERGE = "application/merge-patch+json"
REGISTRATION_BODY_LIMIT = 8 * 1024
BODY_LIMIT = 64 * 1024
IMPORT_BODY_LIMIT = 5 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """What an operation answers when it is more than a JSON object with the operation's own status.

    A `bytes` body goes out as it is, an asynchronous generator of bytes as they come, anything else as JSON; None
    means no body.
    """

    body: Any
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    media_type: str = JSON


@dataclass(frozen=True, slots=True)
class Call(Generic[Input]):
    """One call of an operation: who, with what input, under which conditions.

    `expected` is the revision named by `If-Match`; `once` wraps a creating unit so that the same
    `Idempotency-Key` answers the first result again.
    """

    caller: Caller
    input: Input
    headers: Mapping[str, str]
    address: str
    expected: int | None = None
    once: IdempotentCreation = field(default_factory=IdempotentCreation)

    def require_revision(self, current: int) -> None:
        """Refuse with 412 when `If-Match` names another revision than the current one."""
        if self.expected is not None and self.expected != current:
            raise PreconditionFailed(
                "The resource has changed since that revision.",
                members={"revision": current},
            )

    def require_condition(self) -> None:
        """Refuse with 428 a change that came without `If-Match`; `*` is one that takes any revision."""
        if "if-match" not in self.headers:
            raise PreconditionRequired("Send If-Match with the ETag of the revision you change.")


OperationFunction = Callable[[Call[Any]], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """That an operation is offered to models, as a tool; schemas, scopes and limits are the operation's own.

    `title` is for people. `hint` says to a model, beyond the summary, when to use the tool, what comes before it and
    what next. `name` is another name than the operation's. `reads` says of a POST that it changes nothing; `foreign`
    that its answer carries text which others wrote, and which is data to the reader, never an instruction. `unclaimed`
    limits the tool to agents that act for no user yet. `note` is added to every result as the member `note`: what to do
    next. `leave_out` names members of the input that the tool does not show, though it takes them: `issues.label`, or
    with `*` for any part. `brief` names the members that each entry of the answer's `items` keeps. Over MCP an
    operation sees no header but `Accept`: one that reads others is no tool.
    """

    title: str
    hint: str = ""
    name: str = ""
    reads: bool = False
    foreign: bool = False
    unclaimed: bool = False
    note: str = ""
    leave_out: tuple[str, ...] = ()
    brief: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One thing a service offers. Routes, guard, limits, OpenAPI, MCP tools and docs are read from it.

    `access`: `open` looks at no credential of ours, `public` takes one but needs none, `bearer` needs one;
    `scopes` are all needed then. `budget` names the rate budget from the input, for operations that have one of
    their own, or several that are all charged. `baseline` names the budget of callers without a credential.
    `encoding` is how a body comes; `either` takes JSON and forms alike, `lines` takes NDJSON beside JSON, as the member
    `lines`, `event` one signed text (RFC 8935), as the member `token`.
    `media_type` is what a successful answer has, or may have in place of the JSON that `output` describes.
    `refusals` are the statuses beside its own: 304 too, and 200 where what would be created may be there already.
    `creates` marks a POST that honours `Idempotency-Key`. `tool` offers the operation over MCP too. `aliases` are other
    paths of the same form at which it answers too.
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
    tool: ToolOffer | None = None
    aliases: tuple[str, ...] = ()
    tag: str = ""

    @property
    def reads_query(self) -> bool:
        """Whether the input comes from the query string rather than from a body."""
        return self.method in {"GET", "DELETE"}

    @property
    def takes(self) -> tuple[str, ...]:
        """The media types of the bodies it reads, the usual one first."""
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
        """The names in braces in the path, in order."""
        return tuple(part[1:-1] for part in self.path.split("/") if part.startswith("{"))


@dataclass(frozen=True, slots=True)
class ServiceDescription:
    """What the running process offers: its base, its scopes with their meaning, its operations."""

    base: str
    scopes: Mapping[str, str]
    operations: tuple[Operation, ...]

    def find(self, name: str) -> Operation | None:
        """The operation of this name, if it is offered."""
        return next((operation for operation in self.operations if operation.name == name), None)

    def at(self, path: str, method: str = "GET") -> Operation | None:
        """The operation at this place, if there is one."""
        places = (each for each in self.operations if (each.path, each.method) == (path, method))
        return next(places, None)

    def url(self, name: str) -> str | None:
        """The absolute URL of a parameterless operation, if it is offered."""
        operation = self.find(name)
        return f"{self.base}{operation.path}" if operation else None
