"""`/api/memories/export`: everything stored about an owner's memories as NDJSON, one JSON object per line, and
`/api/memories/import` of such lines.

What is imported, from an export or written by hand, is untrusted until the user reviews it.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NotRequired
from weakref import WeakValueDictionary

import orjson
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import bindparam, select
from sqlmodel import col
from typing_extensions import TypedDict

from negotiator.base import values
from negotiator.base.errors import NotFound, Refusal, ValidationFailed
from negotiator.base.schema import NoInput, Strict, example_schema
from negotiator.base.scopes import MEMORIES_READ, MEMORIES_WRITE
from negotiator.base.strict_json import is_object, read_object
from negotiator.http.input import validate
from negotiator.http.operation import IMPORT_BODY_LIMIT, LINES, Answer, Call, Operation
from negotiator.memory import memories_lifecycle, wins_queries
from negotiator.memory.memories_lifecycle import MAX_MEMORIES, MemoryWriter, ReferenceChecks
from negotiator.memory.memories_queries import StoredEmbedding
from negotiator.memory.schemas_memories import MEMORY_IMPORT_PATH, MemoryBody, NewMemory
from negotiator.memory.searchable_text import EmbeddedText, MemoryEmbedder
from negotiator.memory.tables import Memory, MemoryVersion
from negotiator.store.statement import Query, Transaction, table
from negotiator.store.store import Store

EXPORT_FORMAT: Final = "negotiator-memories-1"
_HEADERS: Final = {"content-disposition": 'attachment; filename="memories.ndjson"'}


class ImportMemories(Strict):
    """Lines of an export or of your own: one memory each, with the members of a new memory."""

    model_config = ConfigDict(
        json_schema_extra=example_schema(
            {"lines": [{"text": "Initech pays on day 44 of 45.", "counterparty": "Initech"}]}
        )
    )

    lines: list[Any] = Field(
        min_length=1, max_length=MAX_MEMORIES, description="JSON objects; with NDJSON, one per line."
    )


class ImportFaultView(TypedDict):
    """One refused member of a line."""

    pointer: str
    description: str


class ImportLineView(TypedDict):
    """The result of a line, numbered from 1: kept, known, pending, quarantined, skipped or refused."""

    line: int
    result: str
    id: NotRequired[str]
    reason: NotRequired[str]
    errors: NotRequired[list[ImportFaultView]]


class ImportResultView(TypedDict):
    """How many lines had each result, and the result of each line."""

    counts: dict[str, int]
    lines: list[ImportLineView]


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
class TransferRoutes:
    """Export and import of an owner's memories. Lines are imported in small batches, so that other requests do not wait
    for all of them.
    """

    store: Store
    embedder: MemoryEmbedder
    references: ReferenceChecks
    turns: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary[str, asyncio.Lock])

    def operations(self) -> list[Operation]:
        return [
            Operation(
                name="export_memories",
                method="GET",
                path="/api/memories/export",
                summary="Export all of your memories and wins as NDJSON",
                run=self.export,
                media_type=LINES,
                scopes=frozenset({MEMORIES_READ}),
                tag="memory",
            ),
            Operation(
                name="import_memories",
                method="POST",
                path=MEMORY_IMPORT_PATH,
                summary="Import memories: a result for each line; they stay untrusted until the user reviews them",
                run=self.import_memories,
                input=ImportMemories,
                output=ImportResultView,
                scopes=frozenset({MEMORIES_WRITE}),
                encoding="lines",
                body_limit=IMPORT_BODY_LIMIT,
                refusals=(400, 422, 503),
                tag="memory",
            ),
        ]

    async def export(self, call: Call[NoInput]) -> Answer:
        """All memories as NDJSON, assembled off the event loop."""
        owner = call.caller.principal
        lines = await self.store.scan(lambda tx: export_lines(tx, owner))
        return Answer(lines, 200, _HEADERS, LINES)

    async def import_memories(self, call: Call[ImportMemories]) -> dict[str, Any]:
        """Import the lines; importing the same lines again changes nothing."""
        caller = call.caller
        writer = MemoryWriter(caller.principal, "import", caller.client_id or None, caller.user_id is not None)
        lines = await self.import_lines(writer, call.input.lines)
        return {"counts": Counter(line["result"] for line in lines), "lines": lines}

    async def import_lines(self, writer: MemoryWriter, lines: Sequence[Any]) -> list[LineOutcome]:
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


def export_lines(tx: Transaction, owner: str) -> bytes:
    """A header line with the counts, then every memory, every version, and every win."""
    memories = tx.all(_MEMORIES, holder=owner)
    versions = tx.all(_VERSIONS, holder=owner)
    wins = [orjson.dumps({"type": "win", **win}) for win in wins_queries.list_all(tx, owner)]
    head = {
        "type": "export",
        "format": EXPORT_FORMAT,
        "at": values.timestamp(values.now()),
        "memories": len(memories),
        "memory_versions": len(versions),
        "others": len(wins),
    }
    return b"\n".join([orjson.dumps(head), *memories, *versions, *wins, b""])


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
