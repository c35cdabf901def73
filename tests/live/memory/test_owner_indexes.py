"""Memories searched by PostgreSQL beside memories searched in the worker: the same questions, the same answers."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
import pytest_asyncio
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from negotiator.memory import memories_lifecycle, memories_queries, search_rows, vector_queries
from negotiator.memory.database_index import DatabaseIndexes, PreferredIndexes, catch_up, catch_up_all
from negotiator.memory.embedding.embedder import HashingEmbedder
from negotiator.memory.index_cache import MemoryIndexCache, WorkerIndexes
from negotiator.memory.memories_lifecycle import MemoryWriter
from negotiator.memory.owner_index import OwnerIndexes
from negotiator.memory.schemas_memories import NewMemory, SearchMemories
from negotiator.memory.search import MemorySearch
from negotiator.memory.searchable_text import EmbeddedText, MemoryEmbedder
from negotiator.store import ownership
from negotiator.store.migrations.memory_search import create_search_rows
from negotiator.store.statement import Query, Statement, Transaction
from negotiator.store.store import Store, make_store
from tests.conftest import Clock
from tests.helpers.command_line import CommandLine
from tests.helpers.opened_store import opened_store
from tests.quality.memory.corpus import memories, questions

ADA: Final = "usr_" + "a" * 26
EVE: Final = "usr_" + "e" * 26
MODES: Final = ("hybrid", "semantic", "keyword")


def noted(**members: Any) -> NewMemory:
    return NewMemory.model_validate(members)


def asking(**members: Any) -> SearchMemories:
    return SearchMemories.model_validate(members)


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
                memories_lifecycle.create_memory(tx, writer, body, one)[0]["id"]
                for body, one in zip(bodies, embedded, strict=True)
            ]

        return await self.store.write(unit)

    async def answers(self, query: str, **members: Any) -> dict[str, list[dict[str, Any]]]:
        """What each of both finds."""
        request = asking(query=query, explain=True, **members)
        return {name: (await search.search(self.owner, request))["items"] for name, search in self.searches.items()}

    async def found(self, query: str, **members: Any) -> list[str]:
        """The texts that both find, in the same order and with the same scores."""
        answers = await self.answers(query, **members)
        assert_same(answers["worker"], answers["database"], (query, members))
        return [hit["memory"]["text"] for hit in answers["database"]]


def indexes_of(store: Store, models: Sequence[str]) -> dict[str, OwnerIndexes]:
    return {"worker": WorkerIndexes(MemoryIndexCache(store, models)), "database": DatabaseIndexes(store, models)}


def assert_same(worker: Sequence[dict[str, Any]], database: Sequence[dict[str, Any]], asked: object) -> None:
    assert [hit["memory"] for hit in database] == [hit["memory"] for hit in worker], asked
    for mine, theirs in zip(database, worker, strict=True):
        assert mine["score"] == pytest.approx(theirs["score"], abs=2e-6), asked
        assert mine["why"] == pytest.approx(theirs["why"], abs=2e-4), asked


@pytest.fixture
def url(postgres: Callable[[], str]) -> str:
    return postgres()


@pytest_asyncio.fixture
async def store(url: str) -> AsyncGenerator[Store]:
    async with opened_store(url) as opened:
        yield opened


@pytest_asyncio.fixture
async def ada(clock: Clock, store: Store) -> Owner:
    """The clock stands: both searches weigh a memory's age alike."""
    del clock
    return Owner(store)


@pytest.mark.asyncio
async def test_a_thousand_memories_answer_every_question_alike(ada: Owner) -> None:
    bodies = [
        noted(
            text=one.text,
            kind=one.kind,
            counterparty=one.counterparty,
            tags=["terms", one.kind] if number % 3 else [],
            expires_at=datetime(2031 - number % 2 * 10, 1, 1, tzinfo=UTC) if number % 7 == 0 else None,
        )
        for number, one in enumerate(memories())
    ]
    for start in range(0, len(bodies), 200):
        await ada.say(*bodies[start : start + 200], bound=start % 400 == 0)
    asked = [one.text for one in questions()][::3]
    asked += [each.replace("e", "ee", 1) for each in asked[:20]]
    for number, question in enumerate(asked):
        await ada.found(question, mode=MODES[number % 3], limit=50)


RENT: Final = noted(text="Acme pays the rent in 30 days.", counterparty="Acme", tags=["terms"])
STEEL: Final = noted(text="Globex sells steel by the ton.", kind="preference", attributes={"tons": 30})


@pytest.mark.asyncio
async def test_filters_and_statuses_narrow_both_alike(ada: Owner) -> None:
    rent, steel = await ada.say(RENT, STEEL)
    [late] = await ada.say(noted(text="Acme pays late."), bound=False)

    def unit(tx: Transaction) -> None:
        memories_lifecycle.quarantine_memories(tx, ADA, "nobody", actor="operator")
        view = memories_queries.load(tx, ADA, late, expected=None)
        memories_queries.save(tx, ADA, view, {**view, "status": "pending"}, actor="ada", change="edited")

    await ada.store.write(unit)
    assert set(await ada.found("rent or steel")) == {RENT.text, STEEL.text}
    assert set(await ada.found("pays", include=["pending"])) >= {RENT.text, "Acme pays late."}
    cases: tuple[tuple[dict[str, Any], list[str]], ...] = (
        ({"counterparty": "Acme"}, [RENT.text]),
        ({"counterparty": {"eq": "Acme"}}, [RENT.text]),
        ({"counterparty": "Acme", "kind": "preference"}, []),
        ({"kind": "preference", "attributes.tons": {"gte": 30}}, [STEEL.text]),
        ({"NOT": {"tags": "terms"}}, [STEEL.text]),
        ({"counterparty": "Acme\0"}, []),
        ({"counterparty": "\ud800"}, []),
        ({"kind": "' or true --"}, []),
    )
    for filters, texts in cases:
        assert await ada.found("steel rent", filters=filters) == texts, filters
    assert rent != steel


@pytest.mark.asyncio
async def test_a_query_is_only_ever_a_query(ada: Owner) -> None:
    await ada.say(RENT, STEEL)
    for query in (
        "rent\0",
        "\0",
        "'; drop table memory_search --",
        "$1 :owner %s {} \\",
        "ﬁfty ℌ 𝔯𝔢𝔫𝔱 \u202e rent",
        "\u0301\u200d",
        "rent " * 200,
    ):
        for mode in MODES:
            await ada.found(query, mode=mode)
    assert await ada.found("rent", mode="keyword") == [RENT.text]


@pytest.mark.asyncio
async def test_words_spelled_alike_are_found_until_they_are_erased(ada: Owner) -> None:
    rent, _ = await ada.say(RENT, STEEL)
    await ada.say(noted(text="Globexx is not Globex.", counterparty="Globexx"))
    assert await ada.found("glubex steell", mode="keyword") == [STEEL.text, "Globexx is not Globex."]
    assert await ada.found("rennt", mode="keyword") == [RENT.text]
    await ada.store.write(lambda tx: memories_lifecycle.erase_memory(tx, ADA, rent))
    assert await ada.found("rennt", mode="keyword") == []


def test_every_search_of_rows_names_the_owner() -> None:
    statements = {name: one.sql for name, one in vars(search_rows).items() if isinstance(one, Query)}
    without = {name for name, sql in statements.items() if "owner = :owner" not in sql}
    assert without == {"_EXISTS", "_WITHOUT_JIT", "_BEHIND"}, "the last is an operator's command"
    assert len(statements) >= 8


@pytest.mark.asyncio
async def test_owners_are_apart_even_where_their_terms_share_a_prefix(
    ada: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def prefix(_owner: str) -> str:
        return "12345678"

    monkeypatch.setattr(search_rows, "term_prefix", prefix)
    eve = Owner(ada.store, EVE)
    await ada.say(RENT)
    await eve.say(STEEL)
    for mode in MODES:
        assert STEEL.text not in await ada.found("steel rent ton", mode=mode)
        assert RENT.text not in await eve.found("steel rent acme", mode=mode)
    assert await ada.found("stell", mode="keyword") == []


@pytest.mark.asyncio
async def test_a_memory_that_went_to_another_owner_is_not_found_by_its_old_row(ada: Owner) -> None:
    [rent, _] = await ada.say(RENT, STEEL)
    assert RENT.text in await ada.found("rent")
    await ada.store.write(lambda tx: memories_queries.change_owner(tx, ADA, rent, EVE))
    search = ada.searches["database"]
    found = (await search.search(ADA, asking(query="rent")))["items"]
    assert [hit["memory"]["text"] for hit in found] == [STEEL.text]
    vectors = await ada.embedder.embed_texts([RENT.text])
    assert [view["text"] for view, _ in await search.near(ADA, list(vectors), least=-1)] == [STEEL.text]


@pytest.mark.asyncio
async def test_claimed_memories_are_their_user_s(ada: Owner) -> None:
    agent = Owner(ada.store, "agt_" + "b" * 26)
    await agent.say(RENT)
    assert await agent.found("rent") == [RENT.text]
    await ada.say(STEEL)
    await ada.store.write(lambda tx: memories_lifecycle.claim_memories(tx, agent.owner, ADA))
    assert await agent.found("rent") == []
    assert RENT.text in await ada.found("rent", include=["pending"])


_ROWS = Query(
    text(
        "select memory, owner, stamp, model, embedding::text, length, terms, repeated::text, status "
        "from memory_search order by memory"
    ),
    tuple,
)


@pytest.mark.asyncio
async def test_the_row_that_is_stored_with_a_memory_is_the_one_that_a_search_would_put(ada: Owner) -> None:
    ada.embedder.makes_rows = True
    await ada.say(RENT, STEEL, noted(text="Steel, steel and Stahl.", tags=["steel"]))
    stored = await ada.store.read(lambda tx: tx.all(_ROWS))
    assert len(stored) == 3
    assert await catch_up(ada.store, ADA) == 0
    await ada.store.write(lambda tx: tx.run(Statement(text("delete from memory_search"))))
    await ada.store.write(lambda tx: tx.run(Statement(text("delete from memory_search_owners"))))
    assert await catch_up_all(ada.store) == 3
    assert await ada.store.read(lambda tx: tx.all(_ROWS)) == stored


@pytest.mark.asyncio
async def test_erasing_a_principal_leaves_no_row(ada: Owner) -> None:
    ada.embedder.makes_rows = True
    eve = Owner(ada.store, EVE)
    await eve.say(STEEL)

    def walk(tx: Transaction) -> None:
        ownership.current_walk().erase(tx, ADA)
        memories_queries.mark_removed(tx, ADA)

    def delete(tx: Transaction) -> None:
        memories_queries.delete_all_memories(tx, ADA)

    for erase in (delete, walk):
        await ada.say(RENT)
        assert await ada.found("rent") == [RENT.text]
        await ada.store.write(erase)
        assert {row[1] for row in await ada.store.read(lambda tx: tx.all(_ROWS))} <= {EVE}
        assert await ada.found("rent") == []
    assert await eve.found("steel") == [STEEL.text]


class WiderEmbedder(HashingEmbedder):
    """Another model, of which every vector has one more number."""

    def __init__(self) -> None:
        super().__init__()
        self.model = "wider"

    async def embed(self, texts: Sequence[str]) -> Any:
        found = await super().embed(texts)
        return np.hstack([found, np.zeros((len(found), 1), np.float32)])


@pytest.mark.asyncio
async def test_vectors_of_another_model_or_length_are_not_compared(ada: Owner) -> None:
    await ada.say(RENT, STEEL)
    wider = MemoryEmbedder(WiderEmbedder())
    assert await vector_queries.reembed_all(ada.store, wider, lambda _done, _all: None) == 2
    indexes = DatabaseIndexes(ada.store, ada.embedder.models)
    assert (await indexes.of(ADA)).outdated
    for models in (ada.embedder.models, wider.models):
        index = await DatabaseIndexes(ada.store, models).of(ADA)
        [vector] = await ada.embedder.embed_texts(["rent"])
        assert await index.nearest([vector], now=0, statuses=frozenset({"active"})) == [[]]
    index = await DatabaseIndexes(ada.store, wider.models).of(ADA)
    assert not index.outdated
    [vector] = await wider.embed_texts([RENT.text])
    [found] = await index.nearest([vector], now=0, statuses=frozenset({"active"}))
    assert [view["text"] for view, _ in found] == [RENT.text, STEEL.text]


@pytest.mark.asyncio
async def test_searches_and_changes_at_once_miss_nothing_that_was_answered(ada: Owner) -> None:
    told: list[str] = []

    async def tell(number: int) -> None:
        await ada.say(noted(text=f"Party {number} pays the rent in {number} days."))
        told.append(f"Party {number} pays")

    async def ask() -> None:
        before = list(told)
        request = asking(query="rent", mode="keyword", limit=50)
        items = (await ada.searches["database"].search(ADA, request))["items"]
        texts = " ".join(hit["memory"]["text"] for hit in items)
        assert all(each in texts for each in before)

    await asyncio.gather(*(step for n in range(12) for step in (tell(n), ask())))
    await ask()


@pytest.mark.asyncio
async def test_the_database_searches_as_soon_as_it_has_the_rows(ada: Owner, url: str) -> None:
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        await connection.execute(text("drop table memory_search, memory_search_owners"))
    indexes = PreferredIndexes(ada.store, ada.embedder)
    await ada.say(RENT)
    search = MemorySearch(ada.store, ada.embedder, indexes)
    ask = asking(query="rent")
    assert len((await search.search(ADA, ask))["items"]) == 1
    assert indexes.state == "ok: in each worker; PostgreSQL has no search rows"
    async with engine.begin() as connection:
        assert await connection.run_sync(create_search_rows)
    await engine.dispose()
    await indexes.choose()
    assert indexes.state == "ok: in the database"
    assert len((await search.search(ADA, ask))["items"]) == 1
    assert len(await ada.store.read(lambda tx: tx.all(_ROWS))) == 1


def test_a_command_makes_the_rows_where_pgvector_came_later(url: str, tmp_path: Path) -> None:
    async def prepare() -> None:
        engine = create_async_engine(url)
        async with engine.begin() as connection:
            await connection.execute(text("drop table memory_search, memory_search_owners"))
            await connection.execute(text("drop extension vector cascade"))
        await engine.dispose()
        store = make_store(url)
        await store.start()
        await Owner(store).say(RENT, STEEL)
        await store.close()

    asyncio.run(prepare())
    folders = {name: str(tmp_path / name) for name in ("data", "keys")}
    machine = CommandLine(
        {
            "NEGOTIATOR_DATABASE_URL": url,
            "NEGOTIATOR_DATA_DIR": folders["data"],
            "NEGOTIATOR_KEYS_DIR": folders["keys"],
            "NEGOTIATOR_MEMORY_SEARCH": "database",
        }
    )
    for indexed in (2, 0):
        said = machine.run("memory", "index", "--json")
        assert said.value == {"indexed": indexed}
    checks = machine.run("doctor", "--json").value["findings"]
    [found] = [one for one in checks if one["name"] == "memory"]
    assert found["text"] == "searched in the database, by pgvector"
    machine.variables["NEGOTIATOR_DATABASE_URL"] = f"sqlite+aiosqlite:///{tmp_path / 'one.db'}"
    assert machine.run("memory", "index").exit_code == 1
