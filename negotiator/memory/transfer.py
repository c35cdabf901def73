"""Export of everything stored about an owner's memories as NDJSON, one JSON object per line, and import of such lines.

What is imported, from an export or written by hand, is untrusted until the user reviews it.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from weakref import WeakValueDictionary

import orjson
from pydantic import BaseModel, ConfigDict
from sqlalchemy import bindparam, select
from sqlmodel import col

from negotiator.base import values
from negotiator.base.errors import NotFound, Refusal, ValidationFailed
from negotiator.base.strict_json import is_object, read_object
from negotiator.http.input import validate
from negotiator.memory import memories_lifecycle
from negotiator.memory.memories_lifecycle import MemoryWriter, ReferenceChecks
from negotiator.memory.memories_queries import StoredEmbedding
from negotiator.memory.schemas_memories import MemoryBody, NewMemory
from negotiator.memory.searchable_text import EmbeddedText, MemoryEmbedder
from negotiator.memory.tables import Memory, MemoryVersion
from negotiator.store.statement import Query, Transaction, table
from negotiator.store.store import Store

EXPORT_FORMAT: Final = "negotiator-memories-1"

ExtraExport = Callable[[Transaction, str], Iterable[Mapping[str, Any]]]
"""Other objects of an owner to export, each with its own `type`."""

_MEMORIES = Query(
    select(col(Memory.document)).where(col(Memory.owner) == bindparam("holder")).order_by(col(Memory.id)),
    lambda row: b'{"type":"memory",%b' % bytes(row[0])[1:],
)
_VERSIONS = Query(
    select(*(table(MemoryVersion).c[name] for name in ("memory", "revision", "at", "actor", "change", "before")))
    .where(col(MemoryVersion.owner) == bindparam("holder"))
    .order_by(col(MemoryVersion.memory), col(MemoryVersion.revision)),
    lambda row: orjson.dumps(
        {
            "type": "memory_version",
            "memory": row[0],
            "revision": row[1],
            "at": values.timestamp(row[2]),
            "actor": row[3],
            "change": row[4],
            "before": orjson.Fragment(bytes(row[5])),
        }
    ),
)


def export_lines(tx: Transaction, owner: str, more: Sequence[ExtraExport]) -> bytes:
    """A header line with the counts, then every memory, every version, and the objects that `more` adds."""
    memories = tx.all(_MEMORIES, holder=owner)
    versions = tx.all(_VERSIONS, holder=owner)
    others = [orjson.dumps(one) for extra in more for one in extra(tx, owner)]
    head = {
        "type": "export",
        "format": EXPORT_FORMAT,
        "at": values.timestamp(values.now()),
        "memories": len(memories),
        "memory_versions": len(versions),
        "others": len(others),
    }
    return b"\n".join([orjson.dumps(head), *memories, *versions, *others, b""])


IMPORT_BATCH: Final = 32
_ERRORS: Final = 3
"""How many errors of a line are told."""
MAX_LINE_LENGTH: Final = 64 * 1024
_SKIPPED_TYPES: Final = {"export": "The header of an export.", "memory_version": "History is not imported."}


LineOutcome = dict[str, Any]


class _LineHead(BaseModel):
    """The type and status of a line."""

    model_config = ConfigDict(extra="ignore")

    type: str = "memory"
    status: str = "active"


@dataclass(frozen=True, slots=True)
class _ImportedLine:
    """A valid line: its number from 1, the memory, and the status it had in the export."""

    line: int
    body: NewMemory
    status: str


@dataclass(frozen=True, slots=True)
class MemoryImporter:
    """Imports lines in small batches, so that other requests do not wait for all of them."""

    store: Store
    embedder: MemoryEmbedder
    references: ReferenceChecks
    turns: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary[str, asyncio.Lock])

    async def import_memories(self, writer: MemoryWriter, lines: Sequence[Any]) -> list[LineOutcome]:
        """What became of every line, in order; a refused line does not affect the others. 503."""
        outcomes: list[LineOutcome] = []
        batch: list[_ImportedLine] = []
        for number, line in enumerate(lines, 1):
            await asyncio.sleep(0)  # other requests pass between two lines
            found = _read(number, line)
            if isinstance(found, _ImportedLine):
                batch.append(found)
            else:
                outcomes.append(found)
            if len(batch) == IMPORT_BATCH or (batch and number == len(lines)):
                outcomes += await self._store_batch(writer, batch)
                batch = []
        return sorted(outcomes, key=lambda outcome: outcome["line"])

    async def _store_batch(self, writer: MemoryWriter, batch: Sequence[_ImportedLine]) -> list[LineOutcome]:
        # One batch of an owner at a time: several imports at once take no more from the others than one does.
        async with self.turns.setdefault(writer.owner, asyncio.Lock()):
            embedded = await self.embedder.embed([EmbeddedText.of_body(one.body) for one in batch])
            pairs = list(zip(batch, embedded, strict=True))
            return await self.store.write(lambda tx: list(_store_lines(tx, writer, pairs, self.references)))


def _store_lines(
    tx: Transaction,
    writer: MemoryWriter,
    batch: Sequence[tuple[_ImportedLine, StoredEmbedding]],
    references: ReferenceChecks,
) -> Iterator[LineOutcome]:
    for one, embedded in batch:
        body, dropped = _own_references(tx, writer.owner, one.body, references)
        try:
            view, new = memories_lifecycle.create_memory(tx, writer, body, embedded, status=one.status)
        except Refusal as refusal:
            yield _refused(one.line, refusal)
            continue
        word = "known" if not new else "kept" if view["status"] == "active" else view["status"]
        yield {"line": one.line, "result": word, "id": view["id"], **dropped}


def _own_references(
    tx: Transaction, owner: str, body: NewMemory, references: ReferenceChecks
) -> tuple[NewMemory, LineOutcome]:
    """The memory, without its negotiation if that is not the owner's, and the reason to report.

    An export names negotiations of its own account and server, so the memory itself is kept.
    """
    try:
        if body.negotiation_id is not None:
            references.negotiation(tx, owner, body.negotiation_id)
    except NotFound:
        reason = "Stored without negotiation_id: there is no such negotiation here."
        return body.model_copy(update={"negotiation_id": None}), {"reason": reason}
    return body, {}


def _read(number: int, line: Any) -> _ImportedLine | LineOutcome:
    """The line as a memory to store, or the reason why it is skipped or refused."""
    try:
        members = _members(line)
        kind: _LineHead = validate(_LineHead, members)
        if kind.type != "memory":
            reason = _SKIPPED_TYPES.get(kind.type, "Only memories are imported.")
            return {"line": number, "result": "skipped", "reason": reason}
        if kind.status == "superseded":
            reason = "It is superseded."
            return {"line": number, "result": "skipped", "reason": reason}
        members_of_memory = {name: members[name] for name in MemoryBody.model_fields if name in members}
        body: NewMemory = validate(NewMemory, {**members_of_memory, "pinned": False})
    except Refusal as refusal:
        return _refused(number, refusal)
    return _ImportedLine(number, body, kind.status)


def _members(line: Any) -> Mapping[str, Any]:
    if is_object(line):
        return line
    try:
        if not isinstance(line, str) or len(line) > MAX_LINE_LENGTH:
            raise ValueError("no line")
        return read_object(line.encode())
    except ValueError:
        raise Refusal("The line is not a JSON object.", error="malformed_line") from None


def _refused(number: int, refusal: Refusal) -> LineOutcome:
    outcome: LineOutcome = {"line": number, "result": "refused", "reason": refusal.description}
    if isinstance(refusal, ValidationFailed):
        outcome["errors"] = [
            {"pointer": fault.pointer, "description": fault.description} for fault in refusal.errors[:_ERRORS]
        ]
    return outcome
