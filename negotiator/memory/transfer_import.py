"""Lines of an export, or of anybody's own making, become memories again: untrusted until somebody looks at them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from negotiator.errors import NotFound, Refusal, ValidationFailed
from negotiator.http.input import validate
from negotiator.memory import memories_lifecycle
from negotiator.memory.embedding.embedder import Embedder
from negotiator.memory.memories_lifecycle import MemoryWriter, ReferenceChecks, SimilarMemories
from negotiator.memory.memories_queries import StoredEmbedding
from negotiator.memory.schemas_memories import MemoryBody, NewMemory
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.strict_json import is_object, read_object

IMPORT_BATCH: Final = 32
MAX_LINE_LENGTH: Final = 64 * 1024
_LEFT_OUT: Final = {
    "export": "The head of an export.",
    "memory_version": "History is not brought along.",
}
_ITS_OWN: Final = {"origin", "similar_to", "superseded_by", "supersedes", "trust", "valid_to"}

LineOutcome = dict[str, Any]


class _LineHead(BaseModel):
    """What a line says it is."""

    model_config = ConfigDict(extra="ignore")

    type: str = "memory"
    status: str = "active"


@dataclass(frozen=True, slots=True)
class _ImportedLine:
    """A line that can be kept: its number from 1, what it says, and how far its own status lets it be seen."""

    line: int
    body: NewMemory
    status: str


@dataclass(frozen=True, slots=True)
class MemoryImporter:
    """Keeps lines, a few at a time, so that nobody else's question waits for all of them."""

    store: Store
    embedder: Embedder
    references: ReferenceChecks

    async def import_memories(
        self, writer: MemoryWriter, lines: Sequence[Any]
    ) -> list[LineOutcome]:
        """What became of every line, in their order; a line that is refused takes no other with it. 503."""
        outcomes: list[LineOutcome] = []
        taken: list[_ImportedLine] = []
        for number, line in enumerate(lines, 1):
            found = _read(number, line)
            if isinstance(found, _ImportedLine):
                taken.append(found)
            else:
                outcomes.append(found)
        for start in range(0, len(taken), IMPORT_BATCH):
            outcomes += await self._keep(writer, taken[start : start + IMPORT_BATCH])
        return sorted(outcomes, key=lambda outcome: outcome["line"])

    async def _keep(self, writer: MemoryWriter, some: Sequence[_ImportedLine]) -> list[LineOutcome]:
        vectors = await self.embedder.embed([one.body.text for one in some])
        model = self.embedder.model
        embedded = [StoredEmbedding(model, vector.tobytes()) for vector in vectors]
        pairs = list(zip(some, embedded, strict=True))
        return await self.store.write(lambda tx: list(_kept(tx, writer, pairs, self.references)))


def _kept(
    tx: Transaction,
    writer: MemoryWriter,
    some: Sequence[tuple[_ImportedLine, StoredEmbedding]],
    references: ReferenceChecks,
) -> Iterator[LineOutcome]:
    for one, embedded in some:
        body, dropped = _own_references(tx, writer.owner, one.body, references)
        try:
            view, new = memories_lifecycle.create_memory(
                tx, writer, body, embedded, near=SimilarMemories(), status=one.status
            )
        except Refusal as refusal:
            yield _refused(one.line, refusal)
            continue
        word = "known" if not new else "kept" if view["status"] == "active" else view["status"]
        yield {"line": one.line, "result": word, "id": view["id"], **dropped}


def _own_references(
    tx: Transaction, owner: str, body: NewMemory, references: ReferenceChecks
) -> tuple[NewMemory, LineOutcome]:
    """The memory without a negotiation that is not the owner's, and what to say of it.

    An export names negotiations of the account and the server it comes from, so the memory itself is kept.
    """
    try:
        if body.negotiation_id is not None:
            references.negotiation(tx, owner, body.negotiation_id)
    except NotFound:
        reason = "Kept without negotiation_id: there is no such negotiation here."
        return body.model_copy(update={"negotiation_id": None}), {"reason": reason}
    return body, {}


def _read(number: int, line: Any) -> _ImportedLine | LineOutcome:
    """The line as a memory to keep, or why it is none."""
    try:
        members = _members(line)
        kind: _LineHead = validate(_LineHead, members)
        if kind.type != "memory":
            reason = _LEFT_OUT.get(kind.type, "Only memories are brought along.")
            return {"line": number, "result": "skipped", "reason": reason}
        if kind.status == "superseded":
            reason = "It was superseded already."
            return {"line": number, "result": "skipped", "reason": reason}
        given = {name: members[name] for name in MemoryBody.model_fields if name in members}
        body: NewMemory = validate(NewMemory, {**given, "pinned": False})
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
            {"pointer": fault.pointer, "description": fault.description} for fault in refusal.errors
        ]
    return outcome
