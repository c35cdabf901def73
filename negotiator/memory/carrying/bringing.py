"""Lines of an export, or of anybody's own making, become memories again: untrusted until somebody looks at them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from negotiator.edge.input import believe
from negotiator.errors import NotFound, Refusal, ValidationFailed
from negotiator.memory.embedding.embedder import Embedder
from negotiator.memory.memories import keeping
from negotiator.memory.memories.keeping import Near, Writer
from negotiator.memory.memories.rows import Embedded
from negotiator.memory.memories.schemas import MemoryBody, NewMemory
from negotiator.memory.references import References
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from negotiator.strict import is_object, read_object

AT_ONCE: Final = 32
LONGEST: Final = 64 * 1024
_LEFT_OUT: Final = {
    "export": "The head of an export.",
    "memory_version": "History is not brought along.",
}
_ITS_OWN: Final = {"origin", "similar_to", "superseded_by", "supersedes", "trust", "valid_to"}

Outcome = dict[str, Any]


class _Kind(BaseModel):
    """What a line says it is."""

    model_config = ConfigDict(extra="ignore")

    type: str = "memory"
    status: str = "active"


@dataclass(frozen=True, slots=True)
class _Brought:
    """A line that can be kept: its number from 1, what it says, and how far its own status lets it be seen."""

    line: int
    body: NewMemory
    status: str


@dataclass(frozen=True, slots=True)
class Bringing:
    """Keeps lines, a few at a time, so that nobody else's question waits for all of them."""

    store: Store
    embedder: Embedder
    references: References

    async def bring(self, writer: Writer, lines: Sequence[Any]) -> list[Outcome]:
        """What became of every line, in their order; a line that is refused takes no other with it. 503."""
        outcomes: list[Outcome] = []
        taken: list[_Brought] = []
        for number, line in enumerate(lines, 1):
            found = _read(number, line)
            if isinstance(found, _Brought):
                taken.append(found)
            else:
                outcomes.append(found)
        for start in range(0, len(taken), AT_ONCE):
            outcomes += await self._keep(writer, taken[start : start + AT_ONCE])
        return sorted(outcomes, key=lambda outcome: outcome["line"])

    async def _keep(self, writer: Writer, some: Sequence[_Brought]) -> list[Outcome]:
        vectors = await self.embedder.embed([one.body.text for one in some])
        model = self.embedder.model
        embedded = [Embedded(model, vector.tobytes()) for vector in vectors]
        pairs = list(zip(some, embedded, strict=True))
        return await self.store.write(lambda tx: list(_kept(tx, writer, pairs, self.references)))


def _kept(
    tx: Transaction,
    writer: Writer,
    some: Sequence[tuple[_Brought, Embedded]],
    references: References,
) -> Iterator[Outcome]:
    for one, embedded in some:
        body, dropped = _own_references(tx, writer.owner, one.body, references)
        try:
            view, new = keeping.remember(tx, writer, body, embedded, near=Near(), status=one.status)
        except Refusal as refusal:
            yield _refused(one.line, refusal)
            continue
        word = "known" if not new else "kept" if view["status"] == "active" else view["status"]
        yield {"line": one.line, "result": word, "id": view["id"], **dropped}


def _own_references(
    tx: Transaction, owner: str, body: NewMemory, references: References
) -> tuple[NewMemory, Outcome]:
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


def _read(number: int, line: Any) -> _Brought | Outcome:
    """The line as a memory to keep, or why it is none."""
    try:
        members = _members(line)
        kind: _Kind = believe(_Kind, members)
        if kind.type != "memory":
            reason = _LEFT_OUT.get(kind.type, "Only memories are brought along.")
            return {"line": number, "result": "skipped", "reason": reason}
        if kind.status == "superseded":
            reason = "It was superseded already."
            return {"line": number, "result": "skipped", "reason": reason}
        given = {name: members[name] for name in MemoryBody.model_fields if name in members}
        body: NewMemory = believe(NewMemory, {**given, "pinned": False})
    except Refusal as refusal:
        return _refused(number, refusal)
    return _Brought(number, body, kind.status)


def _members(line: Any) -> Mapping[str, Any]:
    if is_object(line):
        return line
    try:
        if not isinstance(line, str) or len(line) > LONGEST:
            raise ValueError("no line")
        return read_object(line.encode())
    except ValueError:
        raise Refusal("The line is not a JSON object.", error="malformed_line") from None


def _refused(number: int, refusal: Refusal) -> Outcome:
    outcome: Outcome = {"line": number, "result": "refused", "reason": refusal.description}
    if isinstance(refusal, ValidationFailed):
        outcome["errors"] = [
            {"pointer": fault.pointer, "description": fault.description} for fault in refusal.errors
        ]
    return outcome
