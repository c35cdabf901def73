"""Memories searched by PostgreSQL beside memories searched in the worker: the same questions, the same answers."""

from collections.abc import AsyncGenerator, Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
import pytest
import pytest_asyncio

from negotiator import values
from negotiator.memory import memories_lifecycle, memories_queries, vector_queries
from negotiator.memory.database_index import DatabaseIndexes
from negotiator.memory.embedding.embedder import HashingEmbedder
from negotiator.memory.index_cache import MemoryIndexCache
from negotiator.memory.memories_lifecycle import MemoryWriter, SimilarMemories
from negotiator.memory.owner_index import OwnerIndexes, WorkerIndexes
from negotiator.memory.schemas_memories import NewMemory, SearchMemories
from negotiator.memory.search import MemorySearch
from negotiator.memory.searchable_text import EmbeddedText, MemoryEmbedder
from negotiator.store.statement import Transaction
from negotiator.store.store import Store, make_store
from tests.conftest import Clock
from tests.quality.memory.corpus import memories, questions

pytestmark = pytest.mark.asyncio

ADA: Final = "usr_" + "a" * 26
EVE: Final = "usr_" + "e" * 26
MODES: Final = ("hybrid", "semantic", "keyword")


class Owner:
    """One owner's memories on PostgreSQL, and both ways to search them."""

    def __init__(self, store: Store, owner: str = ADA) -> None:
        self.store, self.owner = store, owner
        self.embedder = MemoryEmbedder(HashingEmbedder())
        self.searches = {
            name: MemorySearch(store, self.embedder, indexes)
            for name, indexes in indexes_of(store, self.embedder.models).items()
        }

    async def say(self, *bodies: NewMemory, bound: bool = True) -> list[str]:
        """Store memories without looking for repetitions; returns their ids."""
        writer = MemoryWriter(self.owner, "agent", "cli_1", bound)
        embedded = await self.embedder.embed([EmbeddedText.of_body(body) for body in bodies])

        def unit(tx: Transaction) -> list[str]:
            return [
                memories_lifecycle.create_memory(tx, writer, body, one, near=SimilarMemories())[0][
                    "id"
                ]
                for body, one in zip(bodies, embedded, strict=True)
            ]

        return await self.store.write(unit)

    async def answers(self, query: str, **members: Any) -> dict[str, list[dict[str, Any]]]:
        """What each of both finds."""
        request = SearchMemories(query=query, explain=True, **members)
        return {
            name: (await search.search(self.owner, request))["items"]
            for name, search in self.searches.items()
        }

    async def found(self, query: str, **members: Any) -> list[str]:
        """The texts that both find, in the same order and with the same scores."""
        answers = await self.answers(query, **members)
        assert_same(answers["worker"], answers["database"], (query, members))
        return [hit["memory"]["text"] for hit in answers["database"]]


def indexes_of(store: Store, models: Sequence[str]) -> dict[str, OwnerIndexes]:
    return {
        "worker": WorkerIndexes(MemoryIndexCache(store, models)),
        "database": DatabaseIndexes(store, models),
    }


def assert_same(
    worker: Sequence[dict[str, Any]], database: Sequence[dict[str, Any]], asked: object
) -> None:
    if [hit["memory"] for hit in database] != [hit["memory"] for hit in worker]:
        for a, b in zip(worker, database):
            print(a["memory"]["id"][-6:], a["score"], a["why"], b["memory"]["id"][-6:], b["score"], b["why"])
    assert [hit["memory"] for hit in database] == [hit["memory"] for hit in worker], asked
    for mine, theirs in zip(database, worker, strict=True):
        assert mine["score"] == pytest.approx(theirs["score"], abs=2e-6), asked
        assert mine["why"] == pytest.approx(theirs["why"], abs=2e-4), asked


@pytest_asyncio.fixture
async def store(postgres: Callable[[], str]) -> AsyncGenerator[Store]:
    opened = make_store(postgres())
    await opened.start()
    yield opened
    await opened.close()


@pytest_asyncio.fixture
async def ada(clock: Clock, store: Store) -> Owner:
    """The clock stands: both searches weigh a memory's age alike."""
    del clock
    return Owner(store)


async def test_a_thousand_memories_answer_every_question_alike(ada: Owner) -> None:
    noted = [
        NewMemory(
            text=one.text,
            kind=one.kind,  # pyright: ignore[reportArgumentType]
            counterparty=one.counterparty,
            tags=["terms", one.kind] if number % 3 else [],
            expires_at=datetime(2031 - number % 2 * 10, 1, 1, tzinfo=UTC) if number % 7 == 0 else None,
        )
        for number, one in enumerate(memories())
    ]
    for start in range(0, len(noted), 100):
        await ada.say(*noted[start : start + 100], bound=start % 200 == 0)
    asked = [one.text for one in questions()]
    asked += [text.replace("e", "ee", 1) for text in asked[:20]]
    for number, text in enumerate(asked):
        await ada.found(text, mode=MODES[number % 3], limit=50)
