"""Tools at rest: revisions, slugs, states, keys and the feed of changes."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import delete
from sqlalchemy.exc import DBAPIError

from negotiator.base.errors import Conflict, Gone, NotFound
from negotiator.directory import catalogue_queries
from negotiator.directory.tables import ToolChange
from negotiator.store.statement import Statement
from negotiator.store.store import Store
from tests.helpers.directory_agents import record

pytestmark = pytest.mark.asyncio


async def keep(store: Store, *args: Any, **members: Any) -> catalogue_queries.CatalogueTool:
    """Put a new tool."""
    return await store.write(lambda tx: catalogue_queries.put(tx, record(*args, **members), actor="t"))


async def test_a_new_tool_has_an_id_a_slug_and_revision_one(store: Store) -> None:
    tool = await keep(store, "Notion AI")
    assert (tool.slug, tool.revision, tool.status, tool.seq) == ("notion-ai", 1, "active", 1)
    for name in (tool.id, tool.slug):
        assert await store.read(lambda tx, name=name: catalogue_queries.find(tx, name)) == tool
    assert tool.view.evidence[0].source == "the tests"
    assert tool.document.startswith(b'{"id":"tool_')


async def test_the_same_name_twice_makes_two_slugs(store: Store) -> None:
    slugs = [(await keep(store, "Notion")).slug for _ in range(3)]
    assert slugs == ["notion", "notion-2", "notion-3"]
    with pytest.raises(Conflict, match="slug"):
        await keep(store, slug="notion-2")


async def test_a_long_name_makes_a_slug_that_fits_every_time(store: Store) -> None:
    slugs = {(await keep(store, "x" * 100, homepage_url=None)).slug for _ in range(12)}
    assert len(slugs) == 12
    assert max(map(len, slugs)) <= 64


async def test_a_revision_is_made_by_a_difference_only(store: Store) -> None:
    tool = await keep(store)
    same = tool.view.record
    assert await store.write(lambda tx: catalogue_queries.put(tx, same, actor="t")) == tool
    other = same.model_copy(update={"summary": "Something else"})
    newer = await store.write(lambda tx: catalogue_queries.put(tx, other, actor="t"))
    assert (newer.revision, newer.seq, newer.view.summary) == (2, 2, "Something else")
    assert newer == await store.read(lambda tx: catalogue_queries.find(tx, tool.id))


async def test_a_former_slug_leads_to_the_tool_and_to_no_other(store: Store) -> None:
    tool = await keep(store)
    renamed = tool.view.record.model_copy(update={"slug": "notion-hq"})
    await store.write(lambda tx: catalogue_queries.put(tx, renamed, actor="t"))
    found = await store.read(lambda tx: catalogue_queries.find(tx, "notion"))
    assert found is not None
    assert (found.id, found.slug) == (tool.id, "notion-hq")
    assert (await keep(store)).slug == "notion-2"
    back = await store.write(lambda tx: catalogue_queries.put(tx, tool.view.record, actor="t"))
    assert back.slug == "notion"


async def test_a_removed_tool_leaves_a_tombstone_that_frees_nothing(store: Store) -> None:
    tool = await keep(store, description="long")
    gone = await store.write(
        lambda tx: catalogue_queries.withdraw(tx, tool.id, "deleted", message="malware", actor="op")
    )
    view = gone.view
    assert (view.status, view.status_message, view.slug) == ("deleted", "malware", "notion")
    assert (view.description, view.homepage_url, view.evidence) == (None, None, ())
    assert (await keep(store)).slug == "notion-2"
    key = ("url", "notion.example")
    assert (await store.read(lambda tx: catalogue_queries.duplicates(tx, record())))[key] == tool.id
    with pytest.raises(Gone):
        await store.write(lambda tx: catalogue_queries.withdraw(tx, tool.id, "active", message="", actor="op"))
    with pytest.raises(Gone):
        await store.write(lambda tx: catalogue_queries.put(tx, record(id=tool.id), actor="op"))
    with pytest.raises(NotFound):
        await store.read(lambda tx: catalogue_queries.require(tx, "nobody"))


async def test_states_move_as_they_may(store: Store) -> None:
    tool = await keep(store)

    async def move(status: Any) -> str:
        moved = await store.write(lambda tx: catalogue_queries.withdraw(tx, tool.id, status, message="m", actor="op"))
        return moved.status

    for status in ("deprecated", "active", "quarantined"):
        assert await move(status) == status
    with pytest.raises(Conflict) as refused:
        await move("deprecated")
    assert refused.value.members["allowed"] == ["active", "deleted"]
    restored = await store.write(lambda tx: catalogue_queries.withdraw(tx, tool.id, "active", message="", actor="op"))
    assert (restored.status, restored.view.status_message) == ("active", None)


async def test_the_feed_has_every_change_once_and_the_newest_state_of_each_tool(store: Store) -> None:
    tool, other = await keep(store), await keep(store, "Coda")
    await store.write(lambda tx: catalogue_queries.withdraw(tx, tool.id, "deleted", message="gone", actor="op"))
    feed = await store.read(lambda tx: catalogue_queries.list_changes(tx, 0, limit=10))
    assert [(each["seq"], each["change"], each["tool_id"]) for each in feed] == [
        (1, "created", tool.id),
        (2, "created", other.id),
        (3, "deleted", tool.id),
    ]
    newest = await store.read(lambda tx: catalogue_queries.tools_since(tx, 0, limit=10))
    assert [(each.seq, each.id, each.status) for each in newest] == [(2, other.id, "active"), (3, tool.id, "deleted")]
    with pytest.raises((DBAPIError, Exception), match="append-only"):
        await store.write(lambda tx: tx.run(Statement(delete(ToolChange))))


async def test_numbers_have_no_gap_however_many_write_at_once(store: Store) -> None:
    kept = await asyncio.gather(*(keep(store, "Crowd") for _ in range(40)))
    assert sorted(tool.seq for tool in kept) == list(range(1, 41))
    assert len({tool.slug for tool in kept}) == 40


async def test_saves_are_counted_without_making_the_tool_newer(store: Store) -> None:
    tool = await keep(store)
    await store.write(lambda tx: catalogue_queries.count_saves(tx, tool.id, 10))
    counted = await store.read(lambda tx: catalogue_queries.require(tx, tool.id))
    assert (counted.saves, counted.revision, counted.updated_at) == (10, 2, tool.updated_at)
    assert counted.view.popularity.saves == 10
    assert counted.view.popularity.score == 0.5
    await store.write(lambda tx: catalogue_queries.count_saves(tx, tool.id, 10))
    assert (await store.read(catalogue_queries.latest_change)) == 2


async def test_a_tool_knows_its_duplicates_and_not_itself(store: Store) -> None:
    tool = await keep(store)
    draft = record("Other", homepage_url="https://www.notion.example/?utm_source=x")
    assert await store.read(lambda tx: catalogue_queries.duplicates(tx, draft)) == {("url", "notion.example"): tool.id}
    assert await store.read(lambda tx: catalogue_queries.duplicates(tx, draft, of=tool.id)) == {}
