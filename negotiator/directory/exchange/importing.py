"""Taking entries of other catalogues over, one unit a batch: found again, merged by evidence, never twice."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import ValidationError

from negotiator.directory.catalogue import tools
from negotiator.directory.catalogue.tools import Tool
from negotiator.directory.exchange.lines import Line
from negotiator.directory.exchange.shapes import content
from negotiator.directory.exchange.shapes.facts import said
from negotiator.directory.exchange.shapes.incoming import Incoming
from negotiator.directory.record import evidence
from negotiator.directory.record.tool import Record
from negotiator.errors import Refusal
from negotiator.store import moves
from negotiator.store.statement import Transaction
from negotiator.words import words

Action = Literal["created", "updated", "unchanged", "removed", "skipped", "refused"]
ACTOR: Final = "import"
_FOREVER: Final = 2**53


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a line; `reason` says why it was skipped or refused."""

    line: int
    action: Action
    tool: str | None = None
    slug: str | None = None
    reason: str | None = None


class Undone(Exception):
    """Raised at the end of a dry run, so that its unit leaves nothing; `outcomes` is what would have been."""

    def __init__(self, outcomes: list[Outcome]) -> None:
        super().__init__("a dry run")
        self.outcomes = outcomes


def take_all(tx: Transaction, lines: Sequence[Line], *, dry: bool = False) -> list[Outcome]:
    """Take a batch over, line by line; a line that is refused leaves the others alone. A dry run raises `Undone`."""
    outcomes = [_take(tx, line) for line in lines]
    if dry:
        raise Undone(outcomes)
    return outcomes


def stock(tx: Transaction, version: str, entries: Callable[[], Sequence[Incoming]]) -> int:
    """Take the project's own content over, once per version however many processes start; answers how many it took."""
    if not moves.spend(tx, "content", version, expires_at=_FOREVER):
        return 0
    return len([take(tx, each, actor="content") for each in entries()])


def stock_with_content(tx: Transaction) -> int:
    """The same with the content of this release."""
    return stock(tx, content.version(), lambda: list(content.read()))


def take(tx: Transaction, incoming: Incoming, *, actor: str) -> tuple[Action, Tool | None]:
    """Take one entry over: a tool that is here already learns what it did not know, or what is better attested."""
    current = find(tx, incoming)
    if current is not None and current.status == "deleted":
        return ("skipped", current)
    if incoming.status == "deleted":
        if current is None:
            return ("skipped", None)
        message = incoming.message or "Removed where it came from."
        gone = tools.withdraw(tx, current.id, "deleted", message=message, actor=actor)
        return ("removed", gone)
    if current is None:
        wanted = tools.free_slug(tx, incoming.wanted_slug or incoming.record.name)
        record = incoming.record.model_copy(update={"slug": wanted})
        return ("created", _state(tx, tools.put(tx, record, actor=actor), incoming, actor=actor))
    merged = evidence.merge(current.view.record, incoming.record)
    kept = _state(tx, tools.put(tx, merged, actor=actor), incoming, actor=actor)
    return ("unchanged" if kept.seq == current.seq else "updated", kept)


def find(tx: Transaction, incoming: Incoming) -> Tool | None:
    """The tool that an entry is about: the one of its registry name, else one that shares a coordinate with it.

    A package or an endpoint is a tool's own; a page or a repository may be shared by several, so that there the names
    have to agree too. Two different registry names are two tools.
    """
    record = incoming.record
    name = record.external_ids.mcp_registry
    if name and (found := tools.by_external(tx, name)):
        return found
    for (kind, _), holder in tools.duplicates(tx, record).items():
        tool = tools.find(tx, holder)
        if tool is None:
            continue
        view = tool.view
        if name and view.external_ids.mcp_registry not in (None, name):
            continue
        if kind in {"package", "endpoint"} or _alike(record, view.name, view.slug):
            return tool
    return None


def _alike(record: Record, name: str, slug: str) -> bool:
    ours = {_joined(name), _joined(slug)}
    return _joined(record.name) in ours


def _joined(text: str) -> str:
    """A name without what names of servers add to it."""
    return "".join(word for word in words(text) if word not in {"mcp", "server", "official"})


def _state(tx: Transaction, tool: Tool, incoming: Incoming, *, actor: str) -> Tool:
    """Follow the source where it deprecates; what we quarantined stays so."""
    if incoming.status != "deprecated" or tool.status != "active":
        return tool
    return tools.withdraw(tx, tool.id, "deprecated", message=incoming.message, actor=actor)


def _take(tx: Transaction, line: Line) -> Outcome:
    if line.fault is not None:
        return Outcome(line.number, "refused", reason=line.fault)
    if line.incoming is None:
        return Outcome(line.number, "skipped", reason="not the latest version")
    try:
        action, tool = take(tx, line.incoming, actor=ACTOR)
    except Refusal as refusal:
        return Outcome(line.number, "refused", reason=refusal.description)
    except ValidationError as fault:
        return Outcome(line.number, "refused", reason=said(fault))
    reason = None
    if action == "skipped":
        reason = "removed here" if tool else "deleted there, and never here"
    named: dict[str, Any] = {"tool": tool.id, "slug": tool.slug} if tool else {}
    return Outcome(line.number, action, reason=reason, **named)
