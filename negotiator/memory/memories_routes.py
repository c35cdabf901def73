"""`/api/memories`: search, list, read, create, edit and erase memories; and the user's review of those that others
wrote, which has no address: no bearer token confirms a memory.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any, Final

import orjson
from pydantic import Field

from negotiator.base import values
from negotiator.base.errors import Conflict, NotFound
from negotiator.base.schema import NoInput, Strict, apply_merge_patch
from negotiator.base.scopes import MEMORIES_READ, MEMORIES_WRITE
from negotiator.base.values import ShortText, Truth, milliseconds
from negotiator.http.cursors import Cursors
from negotiator.http.input import validate
from negotiator.http.operation import Answer, Call, Operation, ToolOffer
from negotiator.memory import memories_lifecycle, memories_queries
from negotiator.memory.memories_lifecycle import MemoryWriter, ReferenceChecks, memory_writer
from negotiator.memory.memories_queries import StoredEmbedding
from negotiator.memory.schemas_memories import (
    MEMORIES_PATH,
    MEMORY_SEARCH_PATH,
    EditMemory,
    ErasedMemoriesView,
    EraseMemories,
    GetMemory,
    ListMemories,
    ListMemoryVersions,
    MemoryBody,
    MemoryCountsView,
    MemoryId,
    MemoryList,
    MemorySearchView,
    MemoryVersionList,
    MemoryView,
    NewMemory,
    SearchMemories,
)
from negotiator.memory.search import MemorySearch, update_vector
from negotiator.memory.searchable_text import EmbeddedText, MemoryEmbedder
from negotiator.store.statement import Transaction
from negotiator.store.store import Store

_MEMORY_PATH: Final = "/api/memories/{id}"
_read_operation = partial(Operation, scopes=frozenset({MEMORIES_READ}), tag="memory")
_write_operation = partial(Operation, scopes=frozenset({MEMORIES_WRITE}), tag="memory")


@dataclass(frozen=True, slots=True)
class MemoryRoutes:
    store: Store
    cursors: Cursors
    embedder: MemoryEmbedder
    recall: MemorySearch
    references: ReferenceChecks

    def operations(self) -> list[Operation]:
        return [
            _read_operation(
                name="search_memories",
                method="POST",
                path=MEMORY_SEARCH_PATH,
                summary="Recall memories by meaning and by words, best first",
                run=self.search,
                input=SearchMemories,
                output=MemorySearchView,
                tool=ToolOffer(
                    "Search memories",
                    hint="Use it before a negotiation is opened or prepared, to see what is known of the other side.",
                    reads=True,
                    foreign=True,
                    leave_out=("mode", "min_score", "include", "explain"),
                ),
                refusals=(400, 422, 503),
            ),
            _read_operation(
                name="list_memories",
                method="GET",
                path=MEMORIES_PATH,
                summary="List your memories, newest first, by kind, status, category, counterparty",
                run=self.list,
                input=ListMemories,
                output=MemoryList,
                refusals=(400, 422),
            ),
            _read_operation(
                name="count_memories",
                method="GET",
                path="/api/memories/counts",
                summary="Count your memories: all, of each kind, pinned, and waiting for the user's review",
                run=self.count,
                output=MemoryCountsView,
            ),
            _read_operation(
                name="get_memory",
                method="GET",
                path=_MEMORY_PATH,
                summary="Read one memory, as it is now or as it was at a given time",
                run=self.get,
                input=GetMemory,
                output=MemoryView,
                refusals=(404, 422),
            ),
            _read_operation(
                name="list_memory_versions",
                method="GET",
                path="/api/memories/{id}/history",
                summary="List the earlier versions of a memory, newest first",
                run=self.history,
                input=ListMemoryVersions,
                output=MemoryVersionList,
                refusals=(400, 404, 422),
            ),
            _write_operation(
                name="remember",
                method="POST",
                path=MEMORIES_PATH,
                summary="Store a memory; a text that is stored already is not stored twice",
                run=self.remember,
                input=NewMemory,
                output=MemoryView,
                status=201,
                creates=True,
                tool=ToolOffer(
                    "Remember",
                    hint="Use it when the user says something that later negotiations should know.",
                    leave_out=("idempotency_key", "attributes", "valid_from", "expires_at", "pinned"),
                ),
                refusals=(200, 400, 404, 409, 422, 503),
            ),
            _write_operation(
                name="edit_memory",
                method="PATCH",
                path=_MEMORY_PATH,
                summary="Change a memory by a JSON merge patch; the earlier version stays in its history",
                run=self.edit,
                input=EditMemory,
                output=MemoryView,
                refusals=(400, 404, 409, 412, 422, 503),
            ),
            _write_operation(
                name="forget_memory",
                method="DELETE",
                path=_MEMORY_PATH,
                summary="Erase one memory with its history",
                run=self.forget,
                input=MemoryId,
                status=204,
                refusals=(404, 412),
            ),
            _write_operation(
                name="erase_memories",
                method="DELETE",
                path=MEMORIES_PATH,
                summary="Erase all of your memories with their history",
                run=self.erase,
                input=EraseMemories,
                output=ErasedMemoriesView,
                refusals=(409, 422),
            ),
        ]

    async def search(self, call: Call[SearchMemories]) -> Any:
        return await self.recall.search(call.caller.principal, call.input)

    async def list(self, call: Call[ListMemories]) -> Answer:
        query, owner = call.input, call.caller.principal
        bound = ("memories", owner, query.model_dump(exclude={"limit", "cursor"}))
        before = None if query.cursor is None else self.cursors.open(query.cursor, *bound)
        read = self.store.read if query.query is None else self.store.scan
        found = await read(lambda tx: memories_queries.page(tx, owner, query, before))
        listed, cursor = self.cursors.page(found, query.limit, itemgetter(0), *bound)
        items = b",".join(document for _, document in listed)
        return Answer(b'{"items":[%b],"next_cursor":%b}' % (items, orjson.dumps(cursor)))

    async def count(self, call: Call[NoInput]) -> MemoryCountsView:
        owner = call.caller.principal
        return await self.store.scan(lambda tx: memories_queries.counts(tx, owner))

    async def get(self, call: Call[GetMemory]) -> Any:
        owner, query = call.caller.principal, call.input
        at = milliseconds(query.at)
        if at is None:
            return orjson.loads(await self.store.read(lambda tx: memories_queries.find(tx, owner, query.id)))
        return orjson.loads(await self.store.read(lambda tx: memories_queries.find_as_of(tx, owner, query.id, at)))

    async def history(self, call: Call[ListMemoryVersions]) -> Mapping[str, Any]:
        owner, query = call.caller.principal, call.input
        bound = ("memory versions", owner, query.id)
        newest = values.NEWEST if query.cursor is None else self.cursors.open(query.cursor, *bound)
        found = await self.store.read(
            lambda tx: memories_queries.versions(tx, owner, query.id, newest=newest, limit=query.limit + 1)
        )
        listed, cursor = self.cursors.page(found, query.limit, itemgetter(0), *bound)
        items = [
            {
                "revision": revision,
                "at": values.timestamp(at),
                "actor": actor,
                "change": change,
                "before": orjson.loads(before),
            }
            for revision, at, actor, change, before in listed
        ]
        return {"items": items, "next_cursor": cursor}

    async def remember(self, call: Call[NewMemory]) -> Answer:
        body, writer = call.input, memory_writer(call.caller)
        [embedded] = await self.embedder.embed([EmbeddedText.of_body(body)])
        similar = await self.recall.similar(writer.owner, body, embedded)
        view, new = await self.store.write(call.once(lambda tx: self._create(tx, writer, body, embedded, similar)))
        return Answer(view, 201 if new else 200)

    def _create(
        self, tx: Transaction, writer: MemoryWriter, body: NewMemory, embedded: StoredEmbedding, similar: str | None
    ) -> tuple[dict[str, Any], bool]:
        if body.negotiation_id is not None:
            self.references.negotiation(tx, writer.owner, body.negotiation_id)
        return memories_lifecycle.create_memory(tx, writer, body, embedded, similar_to=similar)

    async def edit(self, call: Call[EditMemory]) -> Mapping[str, Any]:
        """Apply a merge patch; what is embedded anew is embedded before the transaction."""
        writer, query = memory_writer(call.caller), call.input
        before = orjson.loads(await self.store.read(lambda tx: memories_queries.find(tx, writer.owner, query.id)))
        call.require_revision(before["revision"])
        current = {name: before[name] for name in MemoryBody.model_fields}
        body: MemoryBody = validate(MemoryBody, apply_merge_patch(current, query.patch))
        embedded = None
        if (new := EmbeddedText.of_body(body)) != EmbeddedText.of_view(before):
            [embedded] = await self.embedder.embed([new])

        def unit(tx: Transaction) -> dict[str, Any]:
            if body.negotiation_id not in {None, before["negotiation_id"]}:
                self.references.negotiation(tx, writer.owner, body.negotiation_id or "")
            if embedded is not None:
                revision = before["revision"]
                update_vector(tx, writer.owner, query.id, embedded, revision=revision)
            return memories_lifecycle.edit_memory(tx, writer, query.id, body, expected=before["revision"])

        return await self.store.write(unit)

    async def forget(self, call: Call[MemoryId]) -> Answer:
        owner, query = call.caller.principal, call.input
        await self.store.write(lambda tx: memories_lifecycle.delete_memory(tx, owner, query.id, expected=call.expected))
        self.recall.forget(owner)
        await self.store.scrub()
        return Answer(None, 204)

    async def erase(self, call: Call[EraseMemories]) -> ErasedMemoriesView:
        """Erase all memories, in the database and in this process's caches."""
        owner = call.caller.principal
        erased = await self.store.write(lambda tx: memories_lifecycle.erase_all_memories(tx, owner, call.input.confirm))
        self.recall.forget(owner)
        await self.store.scrub()
        return {"erased": erased}


MAX_REVIEWED: Final = 100


class ReviewMemories(Strict):
    """What the user decided about memories that wait."""

    memories: list[ShortText] = Field(min_length=1, max_length=MAX_REVIEWED, description="The memories' ids.")
    keep: Truth = Field(description="Confirm them, else erase them with their history.")


@dataclass(frozen=True, slots=True)
class MemoryReviews:
    """Keeps or erases memories at the user's own word."""

    store: Store
    recall: MemorySearch

    def operations(self) -> list[Operation]:
        return [
            Operation(
                name="review_memories",
                method="POST",
                path="",
                summary="Confirm memories that wait for the user's review, or erase them",
                run=self.review,
                input=ReviewMemories,
                scopes=frozenset({MEMORIES_WRITE}),
            )
        ]

    async def review(self, call: Call[ReviewMemories]) -> Mapping[str, Any]:
        """The ids that were kept, erased and left alone since another memory says the same; 404 if none is there."""
        owner, request = call.caller.principal, call.input

        def unit(tx: Transaction) -> dict[str, list[str]]:
            done: dict[str, list[str]] = {"kept": [], "erased": [], "known": []}
            for memory in dict.fromkeys(request.memories):
                try:
                    memories_lifecycle.review_memory(tx, owner, memory, keep=request.keep)
                except NotFound:
                    continue
                except Conflict:
                    done["known"].append(memory)
                else:
                    done["kept" if request.keep else "erased"].append(memory)
            if not any(done.values()):
                raise NotFound("There is no such memory.")
            return done

        done = await self.store.write(unit)
        if done["erased"]:
            self.recall.forget(owner)
            await self.store.scrub()
        return done
