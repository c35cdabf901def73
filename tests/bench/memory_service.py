"""One owner among a million memories of others: what a search costs then, warm, and when the shelf must be fetched."""

import statistics
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from negotiator.memory.content_guard import text_digest
from negotiator.memory.glossary import glossary
from negotiator.memory.search import MemoryIndexCache
from negotiator.memory.tables import Memory, MemoryOwner
from negotiator.store.migrate import migrate
from negotiator.store.statement import RowInsertion, Transaction
from negotiator.store.store import Store, make_store
from tests.bench import memory as bench

_ADD = RowInsertion(Memory)
_OWNER = RowInsertion(MemoryOwner)
_MODEL = "bench"
_AT_ONCE = 10_000


async def among(folder: Path, others: int) -> None:
    """Fill a database owner by owner, a thousand memories each, and ask the first one after every tenfold."""
    url = f"sqlite+aiosqlite:///{folder / 'many.db'}"
    await migrate(url)
    store = make_store(url)
    await store.start()
    given = bench.material(1_000)
    rows = list(_rows(given))
    print("| memories in all | owner's | fetch the shelf ms CPU | p50 ms CPU | p99 ms CPU |")
    print("|---:|---:|---:|---:|---:|")
    filled, step = 0, 1_000
    while step <= others:
        start = time.process_time()
        while filled < step:
            span = range(filled // 1_000, min(step, filled + _AT_ONCE) // 1_000)
            await store.write(lambda tx, span=span: _fill(tx, span, rows))
            filled = span.stop * 1_000
        rate = 0.9 * step / max(1e-9, time.process_time() - start)
        fetch, half, most = await _asked(store, given)
        print(
            f"| {filled:,} | 1,000 | {fetch:.1f} | {half:.2f} | {most:.2f} | inserted {rate:,.0f}/s CPU |", flush=True
        )
        step *= 10
    await store.close()


def _rows(given: bench.Material) -> Iterable[dict[str, Any]]:
    for number, text in enumerate(given.texts):
        yield {
            "stamp": number + 1,
            "kind": "fact",
            "status": "active",
            "trust": 2,
            "pinned": False,
            "digest": text_digest(text, None),
            "document": b'{"text":"%b","tags":[],"counterparty":null,"pinned":false,"kind":"fact"}' % text.encode(),
            "model": _MODEL,
            "vector": given.vectors[number].tobytes(),
            "revision": 1,
            "created_at": bench.NOW,
            "updated_at": bench.NOW,
            **dict.fromkeys(("origin", "category", "counterparty", "negotiation", "expires_at")),
        }


def _fill(tx: Transaction, owners: Iterable[int], rows: list[dict[str, Any]]) -> None:
    for owner in owners:
        name = f"usr_{owner:026}"
        tx.run(_OWNER, owner=name, stamp=len(rows), removed=0)
        for number, row in enumerate(rows):
            tx.run(_ADD, id=f"mem_{owner:013}{number:013}", owner=name, **row)


async def _asked(store: Store, given: bench.Material) -> tuple[float, float, float]:
    shelves = MemoryIndexCache(store, (_MODEL,))
    name = f"usr_{0:026}"
    start = time.process_time()
    await shelves.of(name)
    fetch = (time.process_time() - start) * 1000
    spent: list[float] = []
    for text, vector in zip(given.questions, given.asked, strict=True):
        start = time.process_time()
        shelf = await shelves.of(name)
        found = shelf.search(glossary().query_terms(text), vector, "hybrid", now=bench.NOW)
        [shelf.facts(memory) for (memory, _), _ in zip(found, range(bench.TOP), strict=False)]
        spent.append((time.process_time() - start) * 1000)
    return fetch, statistics.median(spent), statistics.quantiles(spent, n=100)[98]
