"""Replacing stored vectors: for one memory that changed, and for all when the model or what is embedded changes.

Vectors of two models are never compared: until a memory has its new vector, it is found by its words. Vectors of the
same model and an older form are compared until they are made anew.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import orjson
from sqlalchemy import BigInteger, LargeBinary, String, bindparam, func, select, update
from sqlmodel import col

from negotiator.memory import memories_queries
from negotiator.memory.memories_queries import StoredEmbedding
from negotiator.memory.searchable_text import EmbeddedText, MemoryEmbedder
from negotiator.memory.tables import Memory
from negotiator.store.statement import Query, Statement, Transaction
from negotiator.store.store import Store

REEMBED_BATCH: Final = 32

_REVECTOR = Statement(
    update(Memory)
    .where(
        col(Memory.id) == bindparam("memory"),
        col(Memory.owner) == bindparam("holder"),
        col(Memory.revision) == bindparam("seen", type_=BigInteger),
    )
    .values(
        stamp=bindparam("new_stamp", type_=BigInteger),
        model=bindparam("new_model", type_=String),
        vector=bindparam("new_vector", type_=LargeBinary),
    )
)
_foreign = col(Memory.model) != bindparam("current")
_OUTDATED = Query(
    select(col(Memory.id), col(Memory.owner), col(Memory.revision), col(Memory.document))
    .where(_foreign, col(Memory.id) > bindparam("after"))
    .order_by(col(Memory.id))
    .limit(REEMBED_BATCH),
    tuple,
)
_OUTDATED_OF_OWNER = Query(
    select(col(Memory.id), col(Memory.owner), col(Memory.revision), col(Memory.document))
    .where(_foreign, col(Memory.owner) == bindparam("holder"), col(Memory.id) > bindparam("after"))
    .order_by(col(Memory.id))
    .limit(REEMBED_BATCH),
    tuple,
)
_ANY = Query(select(col(Memory.model)).limit(1), lambda row: str(row[0]))
_COUNT = Query(select(func.count()).select_from(Memory).where(_foreign), lambda row: int(row[0]))


def is_any_stored(tx: Transaction) -> bool:
    """Whether there is any memory, of whichever owner."""
    return tx.one(_ANY) is not None


def update_vector(tx: Transaction, owner: str, memory: str, embedded: StoredEmbedding, *, revision: int) -> bool:
    """Store another vector for a memory, unless it has changed since `revision`; returns whether it did."""
    stamp = memories_queries.next_stamp(tx, owner)
    changed = tx.run(
        _REVECTOR,
        memory=memory,
        holder=owner,
        seen=revision,
        new_stamp=stamp,
        new_model=embedded.model,
        new_vector=embedded.vector,
    )
    return changed == 1


async def reembed_all(store: Store, embedder: MemoryEmbedder, report: Callable[[int, int], None]) -> int:
    """Embed every memory again whose vector another model or an older form made; returns how many.

    `report` is called after each batch with the number done and the total. 503.
    """
    total = await store.scan(lambda tx: tx.one(_COUNT, current=embedder.models[0])) or 0
    report(0, total)
    return await renew_vectors(store, embedder, report=lambda done: report(done, total))


async def renew_vectors(
    store: Store, embedder: MemoryEmbedder, *, owner: str | None = None, report: Callable[[int], None] = lambda _: None
) -> int:
    """Make the outdated vectors of one owner or of all anew; returns how many.

    Works in small batches next to a running server and can be interrupted and started again. `report` is called after
    each batch with the number done. A memory that changes meanwhile keeps the vector of that change. 503.
    """
    await embedder.embedder.prepare()
    done, last = 0, ""
    while found := await store.scan(partial(_outdated, model=embedder.models[0], owner=owner, after=last)):
        vectors = await embedder.embed_now(
            [EmbeddedText.of_view(orjson.loads(document)) for _, _, _, document in found]
        )

        def unit(tx: Transaction, found: Any = found, vectors: Any = vectors) -> int:
            return sum(
                update_vector(tx, holder, memory, vector, revision=revision)
                for (memory, holder, revision, _), vector in zip(found, vectors, strict=True)
            )

        done += await store.write(unit)
        last = found[-1][0]
        report(done)
    return done


def _outdated(tx: Transaction, *, model: str, owner: str | None, after: str) -> list[tuple[Any, ...]]:
    """The next batch of memories whose vector is not of this model, as (id, owner, revision, JSON)."""
    if owner is None:
        return tx.all(_OUTDATED, current=model, after=after)
    return tx.all(_OUTDATED_OF_OWNER, current=model, holder=owner, after=after)
