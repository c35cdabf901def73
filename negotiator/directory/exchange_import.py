"""Imports entries of other catalogues, one transaction a batch: existing tools are recognised and
merged by evidence.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import ValidationError

from negotiator.base.errors import Refusal
from negotiator.base.search_terms import split_words
from negotiator.directory import catalogue_queries, exchange_entries, tool_record
from negotiator.directory.catalogue_queries import CatalogueTool
from negotiator.directory.exchange_entries import ImportedEntry, first_fault
from negotiator.directory.exchange_files import ImportLine
from negotiator.directory.tool_record import ToolRecord
from negotiator.store import atomic_updates
from negotiator.store.statement import Transaction

ImportAction = Literal["created", "updated", "unchanged", "removed", "skipped", "refused"]
IMPORT_ACTOR: Final = "import"
_FOREVER: Final = 2**53


@dataclass(frozen=True, slots=True)
class ImportOutcome:
    """The result of a line; `reason` says why it was skipped or refused."""

    line: int
    action: ImportAction
    tool: str | None = None
    slug: str | None = None
    reason: str | None = None


class DryRunRollback(Exception):
    """Raised at the end of a dry run to roll the transaction back; `outcomes` holds the results."""

    def __init__(self, outcomes: list[ImportOutcome]) -> None:
        super().__init__("a dry run")
        self.outcomes = outcomes


def import_batch(tx: Transaction, lines: Sequence[ImportLine], *, dry: bool = False) -> list[ImportOutcome]:
    """Import a batch, line by line; a refused line does not affect the others. A dry run raises `DryRunRollback`."""
    outcomes = [_import_line(tx, line) for line in lines]
    if dry:
        raise DryRunRollback(outcomes)
    return outcomes


def import_release_content(tx: Transaction, version: str, entries: Callable[[], Sequence[ImportedEntry]]) -> int:
    """Import the project's own content once per version, by one of all processes; returns how many entries."""
    if not atomic_updates.spend(tx, "content", version, expires_at=_FOREVER):
        return 0
    return len([import_entry(tx, each, actor="content") for each in entries()])


def import_bundled_content(tx: Transaction) -> int:
    """Import the content of this release."""
    return import_release_content(tx, exchange_entries.content_version(), lambda: list(exchange_entries.read_content()))


def import_entry(tx: Transaction, incoming: ImportedEntry, *, actor: str) -> tuple[ImportAction, CatalogueTool | None]:
    """Import one entry: a new tool, or missing and better evidenced values of an existing one."""
    current = find_existing(tx, incoming)
    if current is not None and current.status == "deleted":
        return ("skipped", current)
    if incoming.status == "deleted":
        if current is None:
            return ("skipped", None)
        message = incoming.message or "Removed at its source."
        removed = catalogue_queries.withdraw(tx, current.id, "deleted", message=message, actor=actor)
        return ("removed", removed)
    if current is None:
        slug = catalogue_queries.free_slug(tx, incoming.wanted_slug or incoming.record.name)
        record = incoming.record.model_copy(update={"slug": slug})
        return ("created", _state(tx, catalogue_queries.put(tx, record, actor=actor), incoming, actor=actor))
    merged = tool_record.merge_records(current.view.record, incoming.record)
    stored = _state(tx, catalogue_queries.put(tx, merged, actor=actor), incoming, actor=actor)
    return ("unchanged" if stored.seq == current.seq else "updated", stored)


def find_existing(tx: Transaction, incoming: ImportedEntry) -> CatalogueTool | None:
    """The tool that an entry is about: by its registry name, else by a shared key.

    Packages and endpoints identify a tool. Several tools may share a page or repository, so there the names must agree
    too. Two different registry names are two tools.
    """
    record = incoming.record
    name = record.external_ids.mcp_registry
    if name and (found := catalogue_queries.by_external(tx, name)):
        return found
    for (kind, _), holder in catalogue_queries.duplicates(tx, record).items():
        tool = catalogue_queries.find(tx, holder)
        if tool is None:
            continue
        view = tool.view
        if name and view.external_ids.mcp_registry not in (None, name):
            continue
        if kind in {"package", "endpoint"} or _has_same_name(record, view.name, view.slug):
            return tool
    return None


def _has_same_name(record: ToolRecord, name: str, slug: str) -> bool:
    known_names = {_joined(name), _joined(slug)}
    return _joined(record.name) in known_names


def _joined(text: str) -> str:
    """The name without words that names of servers commonly add."""
    return "".join(word for word in split_words(text) if word not in {"mcp", "server", "official"})


def _state(tx: Transaction, tool: CatalogueTool, incoming: ImportedEntry, *, actor: str) -> CatalogueTool:
    """Deprecate the tool when its source does; a quarantined tool stays quarantined."""
    if incoming.status != "deprecated" or tool.status != "active":
        return tool
    return catalogue_queries.withdraw(tx, tool.id, "deprecated", message=incoming.message, actor=actor)


def _import_line(tx: Transaction, line: ImportLine) -> ImportOutcome:
    if line.fault is not None:
        return ImportOutcome(line.number, "refused", reason=line.fault)
    if line.incoming is None:
        return ImportOutcome(line.number, "skipped", reason="not the latest version")
    try:
        action, tool = import_entry(tx, line.incoming, actor=IMPORT_ACTOR)
    except Refusal as refusal:
        return ImportOutcome(line.number, "refused", reason=refusal.description)
    except ValidationError as fault:
        return ImportOutcome(line.number, "refused", reason=first_fault(fault))
    reason = None
    if action == "skipped":
        reason = "deleted here" if tool else "deleted at its source, and not listed here"
    named: dict[str, Any] = {"tool": tool.id, "slug": tool.slug} if tool else {}
    return ImportOutcome(line.number, action, reason=reason, **named)
