"""Replacing stored vectors: for one memory whose text changed, and for all memories when the model changes.

Vectors of two models are never compared: until a memory has its new vector, it is found by its words.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import orjson
from sqlalchemy import BigInteger, LargeBinary, String, bindparam, func, select, update
from sqlmodel import col

from negotiator.memory import memories_queries
from negotiator.memory.embedding.embedder import Embedder
from negotiator.memory.memories_queries import StoredEmbedding
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
_COUNT = Query(select(func.count()).select_from(Memory).where(_foreign), lambda row: int(row[0]))


def update_vector(
    tx: Transaction, owner: str, memory: str, embedded: StoredEmbedding, *, revision: int
) -> bool:
    """Store another vector for a memory, unless it has changed since `revision`; returns whether it did."""
    changed = tx.run(
        _REVECTOR,
        memory=memory,
        holder=owner,
        seen=revision,
        new_stamp=memories_queries.next_stamp(tx, owner),
        new_model=embedded.model,
        new_vector=embedded.vector,
    )
    return changed == 1


async def reembed_all(store: Store, embedder: Embedder, report: Callable[[int, int], None]) -> int:
    """Embed every memory again whose vector another model made; returns how many.

    Works in small batches next to a running server and can be interrupted and started again. `report` is called after
    each batch with the number done and the total. A memory that changes meanwhile keeps the vector of that change. 503.
    """
    model = embedder.model
    total = await store.scan(lambda tx: tx.one(_COUNT, current=model)) or 0
    done, last = 0, ""
    report(done, total)
    while found := await store.scan(partial(_outdated, model=model, after=last)):
        texts = [orjson.loads(document)["text"] for _, _, _, document in found]
        vectors = await embedder.embed(texts)

        def unit(tx: Transaction, found: Any = found, vectors: Any = vectors) -> int:
            return sum(
                update_vector(
                    tx, owner, memory, StoredEmbedding(model, vector.tobytes()), revision=revision
                )
                for (memory, owner, revision, _), vector in zip(found, vectors, strict=True)
            )

        done += await store.write(unit)
        last = found[-1][0]
        report(done, total)
    return done


def _outdated(tx: Transaction, *, model: str, after: str) -> list[tuple[Any, ...]]:
    """The next batch of memories with a vector of another model, as (id, owner, revision, JSON)."""
    return tx.all(_OUTDATED, current=model, after=after)
