"""Reading the catalogue over HTTP."""

from typing import Any

import httpx2
import pytest

from negotiator.directory import catalogue_queries
from negotiator.directory.tool_record import ToolStatus
from tests.conftest import Change
from tests.contract.requirements import covers
from tests.helpers.answer_checks import limited, refused
from tests.helpers.directory_agents import keep, names, record

pytestmark = pytest.mark.asyncio


async def withdraw(change: Change, tool: str, status: ToolStatus) -> None:
    """Move a tool to another state."""
    await change(lambda tx: catalogue_queries.withdraw(tx, tool, status, message="m", actor="op"))


async def test_an_empty_catalogue_lists_nothing(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/api/v1/tools")
    assert answer.json() == {
        "items": [], "count": 0, "total": 0, "next_cursor": None, "query": None, "facets": {},
    }  # fmt: skip
    limited(answer)


async def test_a_name_comes_first_however_it_is_spelled(client: httpx2.AsyncClient, change: Change) -> None:
    await keep(change)
    for query in ("notion", " NOTION ", "no-tion", "n o t i o n"):
        assert (await names(client, query=query))[:1] == ["Notion"], query
    answer = (await client.get("/api/v1/tools", params={"q": "Notion"})).json()
    first, second = answer["items"]
    assert (first["score"], first["matched_on"][0]) == (1.0, "exact")
    assert second["name"] == "Notion AI"
    assert 0 < second["score"] < 1
    assert answer["query"] == {
        "normalized": "notion", "corrected": [], "step": "exact", "translated_from": None,
    }  # fmt: skip
    assert (answer["count"], answer["total"]) == (2, 2)


async def test_the_answer_says_which_step_found_it(client: httpx2.AsyncClient, change: Change) -> None:
    await keep(change)

    async def step(query: str) -> Any:
        return (await client.get("/api/v1/tools", params={"query": query})).json()["query"]

    assert (await step("vector databases"))["step"] == "all"
    mended = await step("vektor database")
    assert mended["step"] == "repaired"
    assert mended["corrected"] == [{"from": "vektor", "to": "vector"}]
    assert (await step("vector speech"))["step"] == "any"
    assert (await step("zzzzzzzz"))["step"] == "none"


@covers("9.4:tools")
async def test_a_repeated_filter_is_or_and_two_filters_are_and(client: httpx2.AsyncClient, change: Change) -> None:
    await keep(change)
    both = await names(client, category=["audio-video", "databases-storage"], sort="name")
    assert both == ["Pinecone", "Postgres MCP", "Qdrant", "Whisper"]
    assert await names(client, category="databases-storage", kind="mcp_server") == ["Postgres MCP"]
    assert await names(client, open_source="true") == ["Qdrant"]
    assert await names(client, open_source="false") == ["Pinecone"]
    assert await names(client, interface="stdio") == ["Postgres MCP"]
    assert await names(client, licence="Apache-2.0") == ["Qdrant"]
    assert await names(client, tag="vector", query="managed") == ["Pinecone"]
    assert await names(client, tag="vector,notes") == []


@covers("9.4:tools")
async def test_facets_count_what_else_could_be_chosen(client: httpx2.AsyncClient, change: Change) -> None:
    await keep(change)
    params = {"category": "audio-video", "facets": ["category", "kind"]}
    facets = (await client.get("/api/v1/tools", params=params)).json()["facets"]
    assert facets["kind"] == [{"value": "model", "count": 1}]
    assert facets["category"] == [
        {"value": "databases-storage", "count": 3},
        {"value": "productivity", "count": 2},
        {"value": "audio-video", "count": 1},
    ]


@covers("9.4:tools")
async def test_pages_have_every_tool_once_in_every_order(client: httpx2.AsyncClient, change: Change) -> None:
    await keep(change, *(record(f"Tool {n}", summary="Some vector work") for n in range(23)))
    for sort, query in (
        ("name", ""), ("updated", ""), ("created", ""), ("popularity", ""), ("relevance", "vector"),
    ):  # fmt: skip
        seen: list[str] = []
        url: str | None = f"/api/v1/tools?sort={sort}&limit=5&query={query}"
        while url:
            answer = await client.get(url)
            seen += [item["id"] for item in answer.json()["items"]]
            url = answer.links.get("next", {}).get("url")
        assert (len(seen), len(set(seen))) == (23, 23), sort


async def test_a_list_goes_on_while_the_catalogue_grows(client: httpx2.AsyncClient, change: Change) -> None:
    await keep(change, *(record(f"Tool {n}", summary="Some vector work") for n in range(23)))
    first = (await client.get("/api/v1/tools?query=vector&limit=10")).json()
    await keep(change, *(record(f"New {n}", summary="More vector vector") for n in range(9)))
    cursor = {"query": "vector", "limit": 100, "cursor": first["next_cursor"]}
    rest = (await client.get("/api/v1/tools", params=cursor)).json()
    got = [item["id"] for item in (*first["items"], *rest["items"])]
    assert len(got) == len(set(got))
    old = {item["name"] for item in (*first["items"], *rest["items"]) if "Tool" in item["name"]}
    assert len(old) == 23


async def test_a_cursor_belongs_to_its_list(client: httpx2.AsyncClient, change: Change) -> None:
    await keep(change)
    answer = (await client.get("/api/v1/tools?sort=name&limit=2")).json()
    cursor = answer["next_cursor"]
    onward = await client.get("/api/v1/tools", params={"sort": "name", "cursor": cursor})
    assert [item["name"] for item in onward.json()["items"]] == [
        "Pinecone", "Postgres MCP", "Qdrant", "Whisper",
    ]  # fmt: skip
    wrong: list[dict[str, Any]] = [
        {"sort": "created", "cursor": cursor},
        {"sort": "name", "kind": "api", "cursor": cursor},
        {"sort": "name", "cursor": cursor[:-1] + ("A" if cursor[-1] != "A" else "B")},
        {"sort": "name", "cursor": "x"},
    ]
    for params in wrong:
        refused(await client.get("/api/v1/tools", params=params), 400, "invalid_cursor")


async def test_parameters_of_trackers_are_ignored(client: httpx2.AsyncClient) -> None:
    assert (await client.get("/api/v1/tools?utm_source=x&fbclid=y")).status_code == 200


async def test_what_cannot_be_asked_is_refused(client: httpx2.AsyncClient) -> None:
    for params, status in (
        ("limit=0", 422), ("limit=101", 422), ("limit=x", 422), ("sort=best", 422),
        ("sort=relevance", 400), ("query=a&q=b", 400), ("query=" + "x" * 257, 422),
        ("category=other", 422), ("kind=toy", 422), ("facets=secrets", 422), ("query=%00", 400),
        ("limit=1&limit=2", 400), ("updated_since=yesterday", 422), ("query=%ff", 400),
    ):  # fmt: skip
        answer = await client.get(f"/api/v1/tools?{params}")
        assert answer.status_code == status, (params, answer.text)


async def test_a_list_has_a_tag_that_changes_with_the_catalogue(client: httpx2.AsyncClient, change: Change) -> None:
    await keep(change)
    for path in ("/api/v1/tools?query=vector", "/api/v1/categories", "/api/v1/changes"):
        answer = await client.get(path)
        assert answer.headers["cache-control"].startswith("public, max-age=60")
        assert "Authorization" in answer.headers["vary"]
        tag = {"if-none-match": answer.headers["etag"]}
        same = await client.get(path, headers=tag)
        assert (same.status_code, same.content) == (304, b"")
        assert same.headers["etag"] == answer.headers["etag"]
        limited(same)
        await keep(change, record("Another vector"))
        assert (await client.get(path, headers=tag)).status_code == 200


@covers("9.4:tool")
async def test_a_tool_is_found_by_id_and_by_every_slug_it_had(client: httpx2.AsyncClient, change: Change) -> None:
    tool = (await keep(change, record()))[0]
    moved = tool.view.record.model_copy(update={"slug": "notion-hq"})
    await change(lambda tx: catalogue_queries.put(tx, moved, actor="t"))
    for name in (tool.id, "notion", "notion-hq"):
        answer = await client.get(f"/api/v1/tools/{name}")
        assert answer.json()["slug"] == "notion-hq"
        assert answer.headers["content-location"].endswith("/api/v1/tools/notion-hq")
        assert answer.headers["etag"] == '"2"'
    known = {"if-modified-since": answer.headers["last-modified"]}
    assert (await client.get("/api/v1/tools/notion", headers=known)).status_code == 304
    known = {"if-modified-since": "Sun, 22 Nov 99999999999 00:00:00 GMT"}
    assert (await client.get("/api/v1/tools/notion", headers=known)).status_code == 200
    head = await client.head("/api/v1/tools/notion")
    assert (head.status_code, head.content) == (200, b"")
    refused(await client.get("/api/v1/tools/nobody"), 404, "not_found")


async def test_pages_of_any_origin_may_read_a_tool(client: httpx2.AsyncClient, change: Change) -> None:
    await keep(change, record())
    for path in ("/api/v1/tools", "/api/v1/tools/notion"):
        answer = await client.get(path, headers={"origin": "https://a.example"})
        assert answer.headers["access-control-allow-origin"] == "*"


async def test_a_removed_tool_is_gone_and_listed_for_mirrors_only(client: httpx2.AsyncClient, change: Change) -> None:
    tool, *_ = await keep(change)
    await change(lambda tx: catalogue_queries.withdraw(tx, tool.id, "deleted", message="m", actor="op"))
    body = refused(await client.get(f"/api/v1/tools/{tool.id}"), 410, "gone")
    assert body["slug"] == "notion"
    assert "Notion" not in await names(client)
    assert "Notion" in await names(client, include_deleted="true")
    feed = (await client.get("/api/v1/changes?since=6")).json()
    assert [each["change"] for each in feed["items"]] == ["deleted"]


async def test_a_quarantined_tool_is_on_no_list_and_a_deprecated_one_sinks(
    client: httpx2.AsyncClient, change: Change
) -> None:
    kept = await keep(change)
    by_name = {tool.view.name: tool.id for tool in kept}
    await withdraw(change, by_name["Pinecone"], "quarantined")
    await withdraw(change, by_name["Qdrant"], "deprecated")
    assert await names(client, query="vector") == ["Qdrant"]
    assert await names(client, query="vector", status="active") == []


@covers("9.4:tool")
async def test_many_tools_come_at_once_in_the_order_asked_for(client: httpx2.AsyncClient, change: Change) -> None:
    kept = await keep(change)
    asked = {"ids": [kept[1].id, "nobody", "qdrant", kept[1].id]}
    answer = (await client.post("/api/v1/tools/batch-get", json=asked)).json()
    assert [item["name"] for item in answer["items"]] == ["Notion AI", "Qdrant"]
    assert answer["missing"] == ["nobody"]
    too_many = {"ids": ["x"] * 101}
    refused(await client.post("/api/v1/tools/batch-get", json=too_many), 422, "validation_failed")


async def test_categories_are_nineteen_with_counts(client: httpx2.AsyncClient, change: Change) -> None:
    await keep(change)
    answer = (await client.get("/api/v1/categories")).json()
    assert answer["total"] == len(answer["categories"]) == 19
    assert answer["items"] == answer["categories"]
    found = next(each for each in answer["items"] if each["slug"] == "databases-storage")
    assert found["tool_count"] == 3
    vector = next(each for each in found["subcategories"] if each["slug"] == "vector-databases")
    assert vector["tool_count"] == 2


@covers("9.4:tool")
async def test_the_feed_is_followed_by_number_and_by_cursor(client: httpx2.AsyncClient, change: Change) -> None:
    await keep(change)
    first = (await client.get("/api/v1/changes?limit=4")).json()
    assert [each["seq"] for each in first["items"]] == [1, 2, 3, 4]
    by_cursor = await client.get("/api/v1/changes", params={"cursor": first["next_cursor"]})
    by_number = await client.get("/api/v1/changes", params={"since": first["last"]})
    assert by_cursor.json()["items"] == by_number.json()["items"]
    last = by_number.json()
    assert (last["last"], last["latest"], last["next_cursor"]) == (6, 6, None)


async def test_a_subcategory_is_a_filter_and_a_facet(client: httpx2.AsyncClient, change: Change) -> None:
    await keep(change)
    parts = ["vector-databases", "relational"]
    assert await names(client, subcategory=parts, sort="name") == ["Pinecone", "Qdrant"]
    assert await names(client, subcategory=parts, category="audio-video") == []
    counted = await client.get("/api/v1/tools", params={"facets": "subcategory", "limit": 1})
    assert counted.json()["facets"] == {"subcategory": [{"value": "vector-databases", "count": 2}]}


async def test_a_subcategory_that_does_not_exist_is_refused_by_name(client: httpx2.AsyncClient) -> None:
    refused(await client.get("/api/v1/tools?subcategory=other"), 422, "validation_failed")
