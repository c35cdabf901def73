"""The index of a large catalogue: stored once, opened by others, right after every change, and optional."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from negotiator.base.caller import Caller
from negotiator.directory import catalogue_index, catalogue_queries
from negotiator.directory.catalogue_index import CatalogueIndex, ToolVectors
from negotiator.directory.listing_routes import CatalogueListing
from negotiator.directory.schemas_listing import ListTools
from negotiator.directory.search.request import SearchRequest
from negotiator.directory.search.search import search_page
from negotiator.http.cursors import Cursors
from negotiator.http.operation import Call
from negotiator.store.statement import Transaction
from negotiator.store.store import Store
from tests.helpers.directory_agents import record
from tests.helpers.theme_embedder import ThemeEmbedder

pytestmark = pytest.mark.asyncio
NAMES = ("Notion", "Qdrant", "Zapier", "Jukebox")


@pytest.fixture
def scanned(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of tools of each read of the catalogue."""
    scans, scan = list[int](), store.scan

    async def counted(unit: Callable[[Transaction], Any]) -> Any:
        found: list[Any] = await scan(unit)
        scans.append(len(found))
        return found

    monkeypatch.setattr(store, "scan", counted)
    return scans


async def put(store: Store, *names: str, **members: Any) -> list[str]:
    """The ids of new tools."""
    return [
        (await store.write(lambda tx, name=name: catalogue_queries.put(tx, record(name, **members), actor="t"))).id
        for name in names
    ]


def opened(store: Store, folder: Path) -> CatalogueIndex:
    return CatalogueIndex(store, folder=folder / "index", large=3)


async def found(catalogue: CatalogueIndex, query: str, **more: Any) -> list[tuple[str, float]]:
    """The names of the answer with their scores."""
    index, _ = await catalogue.current()
    page = search_page(index, SearchRequest(query=query, sort="relevance", now=1, **more))
    return [(index.position("name", 0, index.slot(hit.id))[0], hit.score) for hit in page.hits]


async def test_the_second_process_reads_only_what_changed(store: Store, tmp_path: Path, scanned: list[int]) -> None:
    await put(store, *NAMES)
    first = opened(store, tmp_path)
    before = [await found(first, query) for query in (*NAMES, "jukbox", "works")]
    assert scanned == [4, 0]
    scanned.clear()
    second = opened(store, tmp_path)
    assert [await found(second, query) for query in (*NAMES, "jukbox", "works")] == before
    assert scanned == [0]


async def test_every_process_sees_new_changed_and_deleted_tools_of_a_stored_index(store: Store, tmp_path: Path) -> None:
    _, old, gone, _ = await put(store, *NAMES)
    first, second = opened(store, tmp_path), opened(store, tmp_path)
    for each in (first, second):
        await each.current()
    await put(store, "Melodica")
    await put(store, "Qdrant", id=old, summary="Violins for all")
    await store.write(lambda tx: catalogue_queries.withdraw(tx, gone, "deleted", message="m", actor="op"))
    third, memory = opened(store, tmp_path), CatalogueIndex(store)
    for query in ("melodica", "violins", "zapier", "works", "melodika"):
        expected = await found(memory, query)
        for each in (first, second, third):
            assert await found(each, query) == expected
    for each in (first, second, third):
        index, _ = await each.current()
        assert index.counts("status") == {"active": 4}


async def test_an_index_of_another_history_is_built_anew(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scanned: list[int]
) -> None:
    await put(store, *NAMES)
    await opened(store, tmp_path).current()
    other = await store.read(lambda tx: catalogue_queries.count_tools(tx))
    scanned.clear()

    def made(_: Transaction, seq: int) -> tuple[str, int]:
        return "tool_other", seq

    monkeypatch.setattr(catalogue_queries, "find_change", made)
    await opened(store, tmp_path).current()
    assert scanned[0] == other
    assert len(list((tmp_path / "index").glob("*-*"))) == 1


@pytest.mark.parametrize("part", ["values.json", "arrays/saves.npy", "arrays/postings.npy"])
async def test_a_damaged_index_is_built_anew(store: Store, tmp_path: Path, part: str) -> None:
    await put(store, *NAMES)
    expected = await found(opened(store, tmp_path), "works")
    (folder,) = (tmp_path / "index").glob("*-*")
    (folder / part).unlink()
    catalogue = opened(store, tmp_path)
    assert await found(catalogue, "works") == expected
    assert catalogue.state() == "ok"


async def test_a_build_that_was_cut_off_leaves_nothing_behind(store: Store, tmp_path: Path) -> None:
    await put(store, *NAMES)
    left = tmp_path / "index" / "building-1"
    left.mkdir(parents=True)
    (left / "values.json").write_bytes(b"{")
    await opened(store, tmp_path).current()
    assert not left.exists()


async def test_without_room_for_files_the_index_is_in_memory_and_health_says_so(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(store, *NAMES)

    def full(*_: Any) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(np, "save", full)
    catalogue = opened(store, tmp_path)
    assert (await found(catalogue, "Qdrant"))[0][0] == "qdrant"
    assert catalogue.state() == "lesser: search index in memory"


async def test_an_index_that_lags_is_stored_anew_and_the_old_one_removed(
    store: Store, tmp_path: Path, scanned: list[int]
) -> None:
    await put(store, *NAMES)
    first = opened(store, tmp_path)
    await first.current()
    old = list((tmp_path / "index").glob("*-*"))
    del first
    await put(store, "Melodica")
    await opened(store, tmp_path).current()
    new = list((tmp_path / "index").glob("*-*"))
    assert len(new) == 1
    assert old != new
    scanned.clear()
    await opened(store, tmp_path).current()
    assert scanned == [0]


async def test_a_stored_index_takes_its_vectors_from_their_own_file(store: Store, tmp_path: Path) -> None:
    _, _, _, changed = await put(store, *NAMES, summary="plays music")
    first = opened(store, tmp_path)
    await first.current()
    first.vectors = ToolVectors(ThemeEmbedder(), tmp_path)
    await first.warm()
    second, embedder = opened(store, tmp_path), ThemeEmbedder()
    second.vectors = ToolVectors(embedder, tmp_path)
    await second.current()
    await second.warm()
    assert embedder.texts == 0
    await put(store, "Jukebox", id=changed, summary="plays melody")
    await second.warm()
    assert embedder.texts == 3
    vector = await second.vectors.of_query("song")
    assert len(await found(second, "song", vector=vector)) == 4


async def test_a_large_catalogue_is_read_once_before_the_first_search_and_an_empty_one_never(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue_index, "_LARGE", 0)
    scans, following = _counted(store, monkeypatch), CatalogueIndex(store)
    await following.warm()
    assert scans == []
    await store.write(lambda tx: catalogue_queries.put(tx, record("Notion"), actor="t"))
    await following.warm()
    assert scans == [1, 0]
    await store.write(lambda tx: catalogue_queries.put(tx, record("Qdrant"), actor="t"))
    await following.warm()
    index, seq = await following.current()
    assert scans == [1, 0]
    assert (len(index), seq) == (2, 2)


async def test_a_small_catalogue_is_read_by_the_first_search_and_followed_from_then_on(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    scans, following = _counted(store, monkeypatch), CatalogueIndex(store)
    await store.write(lambda tx: catalogue_queries.put(tx, record("Notion"), actor="t"))
    await following.warm()
    assert scans == []
    index, _ = await following.current()
    assert scans == [1, 0]
    await store.write(lambda tx: catalogue_queries.put(tx, record("Qdrant"), actor="t"))
    await following.warm()
    assert len(index) == 2


def _counted(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of tools that the scans of this store read from now on."""
    scans, scan = list[int](), store.scan

    async def counted(unit: Callable[[Transaction], Any]) -> Any:
        found: list[Any] = await scan(unit)
        scans.append(len(found))
        return found

    monkeypatch.setattr(store, "scan", counted)
    return scans


async def test_a_tool_that_changes_while_the_catalogue_is_read_is_there_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.write(lambda tx: catalogue_queries.put(tx, record("Notion", summary="Old words"), actor="t"))
    scan = store.scan

    async def overtaken(unit: Callable[[Transaction], Any]) -> Any:
        found: list[Any] = await scan(unit)
        if len(found) == 1 and found[0].seq == 1:
            new = record("Notion", summary="New words", id=found[0].id)
            await store.write(lambda tx: catalogue_queries.put(tx, new, actor="t"))
        return found

    monkeypatch.setattr(store, "scan", overtaken)
    index, seq = await CatalogueIndex(store).current()
    assert (len(index), seq) == (1, 2)
    assert (index.texts.postings.count("old"), index.texts.postings.count("new")) == (0, 1)


async def test_an_answer_from_before_a_tool_had_its_vector_is_not_given_afterwards(store: Store) -> None:
    await store.write(lambda tx: catalogue_queries.put(tx, record("Notion"), actor="t"))
    catalogue = CatalogueIndex(store)
    listing = CatalogueListing("https://n.example", store, Cursors(b"pepper"), catalogue)
    index, _ = await catalogue.current()
    tags = list[str]()
    for _ in range(2):
        query = ListTools.model_validate({"query": "notes"})
        answer = await listing.list(Call(Caller("nobody", "", "", frozenset()), query, {}, ""))
        tags.append(answer.headers["etag"])
        index.vectors.waiting.clear()
    assert tags[0] != tags[1]
