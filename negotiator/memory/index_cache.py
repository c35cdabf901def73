"""The shelves in use by this process: loaded when first asked for, caught up by the owner's counter, let go by size."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakValueDictionary

import orjson
from sqlalchemy import bindparam, select
from sqlmodel import col

from negotiator.memory.tables import Memory, MemoryOwner
from negotiator.search_terms import stemmed_terms
from negotiator.store.statement import Query, Transaction, table
from negotiator.store.store import Store

if TYPE_CHECKING:
    from negotiator.memory.index import IndexedMemory, MemoryIndex

IndexRow = tuple[Any, ...]
CACHE_BYTES: Final = 96 * 1024 * 1024
_FEW: Final = 32

_COUNTERS = Query(
    select(col(MemoryOwner.stamp), col(MemoryOwner.removed)).where(
        col(MemoryOwner.owner) == bindparam("owner")
    ),
    tuple,
)


_SINCE = Query(
    select(
        *(
            table(Memory).c[name]
            for name in (
                "id",
                "document",
                "model",
                "vector",
                "status",
                "trust",
                "expires_at",
                "created_at",
            )
        )
    )
    .where(col(Memory.owner) == bindparam("owner"), col(Memory.stamp) > bindparam("stamp"))
    .order_by(col(Memory.stamp), col(Memory.id)),
    tuple,
)


class MemoryIndexCache:
    """Answers an owner's shelf as it is now; `model` is whose vectors questions are put in."""

    def __init__(self, store: Store, model: str, *, room: int = CACHE_BYTES) -> None:
        self._store = store
        self._model = model
        self._room = room
        self._kept: OrderedDict[str, MemoryIndex] = OrderedDict()
        self._costs: dict[str, int] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._taken = 0

    async def of(self, owner: str) -> "MemoryIndex":
        """The shelf with everything that was committed before the call."""
        stamp, removed = await self._store.read(lambda tx: owner_stamps(tx, owner))
        shelf = self._kept.get(owner)
        if shelf is None or shelf.stamp < stamp:
            lock = self._locks.setdefault(owner, asyncio.Lock())
            async with lock:
                shelf = self._kept.get(owner)
                if shelf is None or shelf.stamp < stamp:
                    shelf = await self._caught_up(owner, shelf, removed)
        self._keep(owner, shelf)
        return shelf

    async def _caught_up(
        self, owner: str, shelf: "MemoryIndex | None", removed: int
    ) -> "MemoryIndex":
        """The shelf with what it lacks; much of it goes into a new one, filled on a thread."""
        if shelf is not None and shelf.stamp >= removed and not shelf.stale:
            since = shelf.stamp
            stamp, found = await self._store.scan(lambda tx: _since(tx, owner, since))
            if len(found) <= _FEW:
                shelf.put(self._shelved(found))
                shelf.stamp = stamp
                return shelf
        stamp, found = await self._store.scan(lambda tx: _since(tx, owner, 0))
        return await asyncio.to_thread(self._filled, stamp, found)

    def _filled(self, stamp: int, found: Sequence[IndexRow]) -> "MemoryIndex":
        # The arithmetic behind a shelf is loaded by whoever recalls, not by every process.
        from negotiator.memory.index import MemoryIndex

        fresh = MemoryIndex(stamp)
        fresh.put(self._shelved(found))
        return fresh

    def _shelved(self, found: Sequence[IndexRow]) -> "list[IndexedMemory]":
        """Rows as the shelf takes them; a vector of another model stays behind."""
        from negotiator.memory.index import IndexedMemory

        shelved: list[IndexedMemory] = []
        for key, document, model, vector, status, trust, expires, created in found:
            facts: dict[str, Any] = orjson.loads(document)
            words = " ".join([facts["text"], *facts["tags"], facts["counterparty"] or ""])
            compared = vector if model == self._model else None
            ageless = facts["pinned"] or facts["kind"] == "win"
            shelved.append(
                IndexedMemory(
                    key,
                    stemmed_terms(words),
                    compared,
                    document,
                    status,
                    trust,
                    ageless,
                    created,
                    expires,
                )
            )
        return shelved

    def forget(self, owner: str) -> None:
        """Let go of an owner's shelf."""
        if owner in self._kept:
            self._taken -= self._costs.pop(owner)
            del self._kept[owner]

    def _keep(self, owner: str, shelf: "MemoryIndex") -> None:
        self._taken += shelf.cost - self._costs.get(owner, 0)
        self._costs[owner] = shelf.cost
        self._kept[owner] = shelf
        self._kept.move_to_end(owner)
        while self._taken > self._room and len(self._kept) > 1:
            self.forget(next(iter(self._kept)))


def owner_stamps(tx: Transaction, owner: str) -> tuple[int, int]:
    """The owner's stamp and the stamp of the last erasure; zeros for an owner without memories."""
    return tx.one(_COUNTERS, owner=owner) or (0, 0)


def _since(tx: Transaction, owner: str, stamp: int) -> tuple[int, list[IndexRow]]:
    return owner_stamps(tx, owner)[0], tx.all(_SINCE, owner=owner, stamp=stamp)
