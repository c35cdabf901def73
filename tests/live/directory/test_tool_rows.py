"""The rows by which PostgreSQL searches the catalogue follow it, whoever writes it and whoever searches."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any, Final

import pytest
import pytest_asyncio
from sqlalchemy import text

from negotiator.directory import catalogue_queries, database_matching, database_search, search_rows
from negotiator.directory.catalogue_index import CatalogueIndex
from negotiator.directory.database_search import DatabaseSearch
from negotiator.directory.search import matching
from negotiator.directory.search.search import SearchPage, SearchRequest
from negotiator.directory.tool_vectors import ToolVectors
from negotiator.memory.embedding.embedder import HashingEmbedder
from negotiator.store.statement import Query, Transaction
from negotiator.store.store import Store, make_store
from tests.conftest import Clock
from tests.helpers.command_line import CommandLine
from tests.helpers.directory_agents import record
from tests.helpers.opened_store import opened_store

pytestmark = pytest.mark.asyncio
AT: Final = 1_800_000_000_000
_ROW: Final = Query(text("select tool, seq, form, terms::text from tool_search order by tool"), tuple)


@pytest.fixture
def url(postgres: Callable[[], str]) -> str:
    return postgres()


@pytest_asyncio.fixture
async def store(url: str) -> AsyncGenerator[Store]:
    async with opened_store(url) as opened:
        yield opened


async def put(store: Store, *names: str, **members: Any) -> list[str]:
    """The ids of new tools."""

    def unit(tx: Transaction) -> list[str]:
        return [catalogue_queries.put(tx, record(name, **members), actor="t").id for name in names]

    return await store.write(unit)


async def change(store: Store, sql: str) -> None:
    await store.write(lambda tx: tx.all(Query(text(sql), tuple)))


async def search(catalogue: DatabaseSearch | CatalogueIndex, query: str, **more: Any) -> SearchPage:
    request = SearchRequest(query=query, sort="relevance", now=AT, **more)
    return await (await catalogue.snapshot()).search(request)


async def found(catalogue: DatabaseSearch | CatalogueIndex, query: str) -> list[str]:
    return [hit.id for hit in (await search(catalogue, query)).hits]


async def test_what_any_process_wrote_is_found_by_the_next_search_of_every_other(store: Store, url: str) -> None:
    other = make_store(url)
    await other.start()
    here, there = DatabaseSearch(store), DatabaseSearch(other)
    (first,) = await put(store, "Alpha")
    assert await found(there, "alpha") == [first]
    await other.write(
        lambda tx: catalogue_queries.put(tx, record("Alpha", id=first, summary="Renders waterfalls"), actor="t")
    )
    assert await found(here, "waterfalls") == [first]
    assert await found(here, "does its work") == []
    (second,) = await put(other, "Alpha Two")
    pages = await asyncio.gather(*(found(each, "alpha") for each in (here, there) * 4))
    assert pages == [[first, second]] * 8
    await other.write(lambda tx: catalogue_queries.withdraw(tx, first, "deleted", message="m", actor="op"))
    assert await found(here, "alpha") == [second]
    await other.close()


async def test_rows_of_an_older_version_are_made_anew_and_none_replaces_a_newer_one(store: Store) -> None:
    await put(store, "Alpha", "Beta")
    catalogue = DatabaseSearch(store)
    await catalogue.catch_up()
    rows = await store.read(lambda tx: tx.all(_ROW))
    await change(store, "update tool_search set form = 0, terms = '' where name = 'alpha'")
    assert await found(catalogue, "alpha") == []
    await catalogue.warm()
    assert await store.read(lambda tx: tx.all(_ROW)) == rows
    late = await store.read(lambda tx: search_rows.tools_after(tx, 0))
    await change(store, "update tool_search set seq = seq + 10, terms = '''newer'''")
    newer = await store.read(lambda tx: tx.all(_ROW))
    await store.write(lambda tx: search_rows.put(tx, database_search.rows_of(late)))
    assert await store.read(lambda tx: tx.all(_ROW)) == newer


async def test_a_search_does_not_wait_for_a_whole_catalogue(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_search, "AWAITED", 2)
    monkeypatch.setattr(search_rows, "BATCH", 2)
    ids = await put(store, "Alpha", "Beta", "Gamma")
    catalogue = DatabaseSearch(store)
    assert await found(catalogue, "beta") == []
    assert catalogue.state() == "lesser: in the database; 3 changes are not in it yet"
    await catalogue.warm()
    assert catalogue.state() == "ok: in the database"
    assert await found(catalogue, "beta") == [ids[1]]


async def test_of_more_matches_than_are_ranked_every_one_has_its_page_and_the_first_are_the_same(
    store: Store, clock: Clock
) -> None:
    del clock
    ids: list[str] = []
    for start in range(0, 1_000, 200):
        names = [f"Tool {number}" for number in range(start, start + 200)]
        ids += await put(store, *names, summary="Draws graphs of networks")
    await put(store, *(f"Graph {number}" for number in range(30)))
    catalogue, index = DatabaseSearch(store), CatalogueIndex(store)
    await catalogue.warm()
    long = "graph maker tool pictures of networks for a friend"
    for query in ("graphs", "graph networks", "graph maker", "graph tooI", long):
        mine, theirs = await search(catalogue, query), await search(index, query)
        assert mine.total == theirs.total >= 1_000, query
        # Numbers of tools are remembered for a minute, and so are not those of the last changes.
        assert [(hit.id, hit.matched_on) for hit in mine.hits] == [(hit.id, hit.matched_on) for hit in theirs.hits], (
            query
        )
        seen: list[str] = []
        after, frozen, added = None, None, 0
        while True:
            page = await search(catalogue, query, limit=70, after=after, frozen=frozen)
            seen += [hit.id for hit in page.hits]
            after, frozen = page.last, page.frozen
            if after is None:
                break
            if added < 2:
                added += 1
                await put(store, f"Graph {query} {added}")
        assert len(set(seen)) == len(seen)
        assert len(seen) >= mine.total


async def test_without_pgvector_words_alone_count_and_the_command_makes_what_is_missing(
    store: Store, url: str, tmp_path: Path
) -> None:
    (tool,) = await put(store, "Alpha")
    await change(store, "drop table tool_vectors")
    catalogue = DatabaseSearch(store)
    catalogue.vectors = ToolVectors(HashingEmbedder(), tmp_path)
    await catalogue.warm()
    assert catalogue.state() == "ok: in the database; by words alone, PostgreSQL has no pgvector"
    assert await found(catalogue, "alpha work") == [tool]
    assert (await catalogue.snapshot()).meaning == (False, 0)
    await put(store, "Beta")
    machine = CommandLine(
        {
            "NEGOTIATOR_DATABASE_URL": url,
            "NEGOTIATOR_DATA_DIR": str(tmp_path / "data"),
            "NEGOTIATOR_KEYS_DIR": str(tmp_path / "keys"),
            "NEGOTIATOR_DIRECTORY_SEARCH": "database",
        }
    )
    for indexed in (1, 0):
        said = await asyncio.to_thread(machine.run, "directory", "index", "--json")
        assert said.value == {"indexed": indexed}, said
    checks = (await asyncio.to_thread(machine.run, "doctor", "--json")).value["findings"]
    [told] = [one for one in checks if one["name"] == "tools"]
    assert told["text"] == "searched in the database, by words and pgvector"
    machine.variables["NEGOTIATOR_DATABASE_URL"] = f"sqlite+aiosqlite:///{tmp_path / 'one.db'}"
    refused = await asyncio.to_thread(machine.run, "directory", "index")
    assert refused.exit_code == 2
    assert "needs PostgreSQL" in refused.err
    await catalogue.warm()
    assert catalogue.state() == "ok: in the database"
    assert (await catalogue.snapshot()).meaning == (True, 0)


async def test_what_is_long_is_stored_beside_the_rows_so_that_counting_reads_few_pages(store: Store) -> None:
    await put(store, "Alpha")
    await DatabaseSearch(store).catch_up()
    stored = "pg_column_toast_chunk_id(terms) is not null, pg_column_toast_chunk_id(name) is null"
    query = Query(text(f"select {stored} from tool_search"), tuple)  # noqa: S608  two columns
    assert await store.read(lambda tx: tx.all(query)) == [(True, True)]


async def test_numbers_of_tools_are_counted_again_only_when_the_rows_have_changed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[search_rows.RowScope] = []
    count = search_rows.count

    def counting(tx: Transaction, scope: search_rows.RowScope, **more: Any) -> int:
        counted.append(scope)
        return count(tx, scope, **more)

    monkeypatch.setattr(search_rows, "count", counting)
    await put(store, "Alpha One", "Alpha Two")
    catalogue = DatabaseSearch(store)
    first = await search(catalogue, "alpha")
    counted.clear()
    assert await search(catalogue, "alpha") == first
    assert [scope for scope in counted if scope.words == "'alpha'"] == []
    await put(store, "Alpha Three")
    again = await search(catalogue, "alpha")
    assert again.total == first.total + 1 == 3
    assert again.frozen is not None
    assert first.frozen is not None
    assert again.frozen.weights != first.frozen.weights


async def test_later_pages_count_meaning_if_the_first_did_whichever_process_answers_them(
    store: Store, url: str, tmp_path: Path
) -> None:
    await put(store, *(f"Graph {number}" for number in range(12)), summary="Draws networks")
    await put(store, *(f"Painter {number}" for number in range(12)), summary="Draws networks too")
    other = make_store(url)
    await other.start()
    knows, waits = DatabaseSearch(store), DatabaseSearch(other)
    for catalogue in (knows, waits):
        catalogue.vectors = ToolVectors(HashingEmbedder(), tmp_path)
    await knows.warm()
    assert (await knows.snapshot()).meaning == (True, 0)
    assert not (await waits.snapshot()).meaning[0]
    for one, two in ((knows, waits), (waits, knows)):
        whole = await search(one, "graph networks", limit=24)
        page = await search(one, "graph networks", limit=5)
        assert page.frozen is not None
        assert (page.frozen.near is not None) == (one is knows)
        follows = {"after": page.last, "frozen": page.frozen, "limit": 19}
        rest = await search(two, "graph networks", **follows)
        assert [*page.hits, *rest.hits] == whole.hits
    await other.close()


async def test_of_many_tools_the_nearest_are_found_by_an_index_unless_a_filter_leaves_few(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(store, *(f"Graph {number}" for number in range(40)), summary="Draws networks")
    (other,) = await put(store, "Painter", summary="Draws networks", kind="library")
    catalogue = DatabaseSearch(store)
    catalogue.vectors = ToolVectors(HashingEmbedder(), tmp_path)
    await catalogue.warm()
    exact = await search(catalogue, "drawing of a network", limit=50)
    asked: list[tuple[bool, bool]] = []
    nearest = search_rows.nearest
    used = Query(
        text("select coalesce(pg_stat_get_xact_numscans(cast('ix_tool_vectors_embedding' as regclass)), 0)"),
        lambda row: int(row[0]),
    )

    def by_index(tx: Transaction, *values: Any, is_exact: bool, **more: Any) -> Any:
        tx.all(Query(text("select set_config('enable_sort', 'off', true)"), tuple))
        before = tx.one(used)
        found = nearest(tx, *values, is_exact=is_exact, **more)
        asked.append((is_exact, tx.one(used) != before))
        return found

    monkeypatch.setattr(search_rows, "nearest", by_index)
    monkeypatch.setattr(database_matching, "SCANNED", 0)
    monkeypatch.setattr(matching, "SCANNED", 10**9)
    near = await search(catalogue, "drawing of a network", limit=50)
    assert near == exact
    few = await search(catalogue, "drawing of a network", filters={"kind": ["library"]}, limit=50)
    assert [hit.id for hit in few.hits] == [other]
    assert set(asked) == {(False, True), (True, False)}


async def test_large_numbers_are_estimated_and_the_first_are_found_without_reading_every_match(store: Store) -> None:
    await put(store, *(f"Graph {number}" for number in range(300)), summary="Draws networks")
    await DatabaseSearch(store).catch_up()
    scope = search_rows.RowScope("'network'")

    def count(tx: Transaction) -> tuple[int, int]:
        return search_rows.count(tx, scope), search_rows.count(tx, scope, is_estimate=True)

    def ranked(tx: Transaction, limit: int, *, are_many: bool) -> list[tuple[float, str]]:
        found = search_rows.ranked(
            tx,
            search_rows.RowScope(),
            [("'network'", 1)],
            highest=4.0,
            are_many=are_many,
            model="",
            vector=None,
            limit=limit,
        )
        return [(rank, row.tool) for rank, row in found]

    assert await store.read(count) == (300, 300)
    # All of them become the sample; what a sample leaves out, because its threshold is too high, is read after all.
    await change(store, "update tool_search set digest = set_byte(digest, 0, 3)")
    assert await store.read(count) == (300, 300 * 64)
    for is_estimate, tools in ((False, 300), (True, 300 * 64)):
        facets = await store.read(
            lambda tx, is_estimate=is_estimate: search_rows.facet_counts(
                tx, scope, ["kind", "status"], 5, is_estimate=is_estimate
            )
        )
        assert facets == {"kind": [("app", tools)], "status": [("active", tools)]}
    for limit in (5, 60, 400):
        every = await store.read(lambda tx, limit=limit: ranked(tx, limit, are_many=False))
        assert len(every) == min(limit, 300)
        assert every == sorted(every, reverse=True)
        assert every == await store.read(lambda tx, limit=limit: ranked(tx, limit, are_many=True))
