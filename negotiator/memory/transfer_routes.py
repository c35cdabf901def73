"""`/api/memories/export` and `/api/memories/import`."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Final, NotRequired

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from negotiator.base.schema import NoInput, Strict, example_schema
from negotiator.base.scopes import MEMORIES_READ, MEMORIES_WRITE
from negotiator.http.operation import IMPORT_BODY_LIMIT, LINES, Answer, Call, Operation
from negotiator.memory.memories_lifecycle import MAX_MEMORIES, MemoryWriter
from negotiator.memory.transfer import ExtraExport, MemoryImporter, export_lines
from negotiator.store.store import Store

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


MEMORY_IMPORT_PATH: Final = "/api/memories/import"


@dataclass(frozen=True, slots=True)
class TransferRoutes:
    """Export and import of an owner's memories; `more` adds other objects to the export."""

    store: Store
    bringing: MemoryImporter
    more: tuple[ExtraExport, ...] = ()

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
        lines = await self.store.scan(lambda tx: export_lines(tx, owner, self.more))
        return Answer(lines, 200, _HEADERS, LINES)

    async def import_memories(self, call: Call[ImportMemories]) -> dict[str, Any]:
        """Import the lines; importing the same lines again changes nothing."""
        caller = call.caller
        writer = MemoryWriter(caller.principal, "import", caller.client_id or None, caller.user_id is not None)
        lines = await self.bringing.import_memories(writer, call.input.lines)
        return {"counts": Counter(line["result"] for line in lines), "lines": lines}
