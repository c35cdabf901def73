"""Imports entries of other catalogues, one transaction a batch: existing tools are recognised and merged by evidence.

A file of entries is a JSON array, `{"servers": […]}`, or NDJSON; entries are numbered from 1.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import orjson
from pydantic import ValidationError

from negotiator.base.errors import InvalidRequest, Refusal
from negotiator.base.search_terms import split_words
from negotiator.base.strict_json import is_array, is_object, read_object
from negotiator.directory import catalogue_queries, exchange_entries, tool_record
from negotiator.directory.catalogue_queries import CatalogueTool
from negotiator.directory.exchange_entries import ImportedEntry, UnreadableEntry, first_fault
from negotiator.directory.tool_record import ToolRecord
from negotiator.store import atomic_updates
from negotiator.store.statement import Transaction

MAX_ENTRY_BYTES: Final = 256 * 1024
MAX_BATCH_LINES: Final = 1_000
MAX_BATCH_BYTES: Final = 5 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ImportLine:
    """An entry of a file: the parsed entry, or why it is invalid; both None for one to skip."""

    number: int
    incoming: ImportedEntry | None = None
    fault: str | None = None
    size: int = 0


def read_file(path: Path) -> Iterator[ImportLine]:
    """The entries of a file. Raises `InvalidRequest` when it has none of the three forms."""
    try:
        with path.open("rb") as file:
            first = file.read(4096).lstrip()[:1]
            file.seek(0)
            if first == b"[" or (first == b"{" and _is_document(file.readline())):
                yield from _document_entries(path.read_bytes())
                return
            file.seek(0)
            for number, text in enumerate(file, 1):
                if text.strip():
                    yield _line(number, text)
    except OSError as fault:
        raise InvalidRequest(f"{path.name} cannot be read.", detail=str(fault)) from None


def batches(lines: Iterator[ImportLine]) -> Iterator[list[ImportLine]]:
    """Batches of at most 1,000 lines and 5 MiB, one transaction each."""
    batch: list[ImportLine] = []
    size = 0
    for line in lines:
        if batch and (len(batch) >= MAX_BATCH_LINES or size + line.size > MAX_BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(line)
        size += line.size
    if batch:
        yield batch


def read_entry(number: int, entry: Any, size: int) -> ImportLine:
    """Parse an entry of any known form."""
    if not is_object(entry):
        return ImportLine(number, fault="not a JSON object", size=size)
    try:
        if exchange_entries.is_facts(entry):
            return ImportLine(number, exchange_entries.read_facts(entry), size=size)
        if not exchange_entries.is_server(entry):
            return ImportLine(number, fault="neither a server.json nor a line of facts", size=size)
        if exchange_entries.is_older(entry):
            return ImportLine(number, size=size)
        return ImportLine(number, exchange_entries.read_server(entry), size=size)
    except UnreadableEntry as fault:
        return ImportLine(number, fault=str(fault), size=size)
    except (AttributeError, KeyError, TypeError, ValueError):
        return ImportLine(number, fault="a member has the wrong type", size=size)


def _line(number: int, text: bytes) -> ImportLine:
    if len(text) > MAX_ENTRY_BYTES:
        return ImportLine(number, fault=f"longer than {MAX_ENTRY_BYTES} bytes", size=0)
    try:
        return read_entry(number, read_object(text.strip()), len(text))
    except ValueError as fault:
        return ImportLine(number, fault=f"not JSON: {fault}", size=len(text))


def _is_document(first_line: bytes) -> bool:
    """Whether a file that starts with a brace is one document, not NDJSON."""
    try:
        line = orjson.loads(first_line)
    except orjson.JSONDecodeError:
        return True
    return is_object(line) and isinstance(line.get("servers"), list)


def _document_entries(text: bytes) -> Iterator[ImportLine]:
    try:
        document: Any = orjson.loads(text)
    except orjson.JSONDecodeError as fault:
        raise InvalidRequest(f"The file is not JSON: {fault}.") from None
    entries: Any = document.get("servers") if is_object(document) else document
    if not is_array(entries):
        raise InvalidRequest("The file is neither a JSON array, nor an object with `servers`, nor NDJSON.")
    average_size = max(1, len(text) // max(1, len(entries)))
    for number, entry in enumerate(entries, 1):
        yield read_entry(number, entry, average_size)


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
