"""The directory's search page: its counts are the API's, filters narrow it, and it is the same for everyone."""

import re
from html import unescape
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from negotiator.directory import catalogue_queries
from negotiator.directory.tool_record import FieldEvidence, ToolRecord
from tests.conftest import Change
from tests.helpers.form_browser import FormBrowser


def record(name: str, **members: Any) -> ToolRecord:
    plain: dict[str, Any] = {
        "name": name,
        "summary": f"{name} searches vectors",
        "kind": "app",
        "category": "databases-storage",
        "homepage_url": f"https://{name.lower()}.example/",
        "evidence": (FieldEvidence(source="the tests", method="content"),),
    }
    return ToolRecord.model_validate({**plain, **members})


@pytest_asyncio.fixture
async def tools(change: Change) -> None:
    """Four tools, one of a verified publisher."""
    records = (
        record("Quiver", pricing={"model": "paid"}, open_source=True),
        record("Bow", kind="api", pricing={"model": "free"}, licence="MIT", open_source=False),
        record("Target", category="coding", publisher={"name": "Range", "verified": True}),
        record("Old", kind="api"),
    )
    for each in records:
        await change(lambda tx, each=each: catalogue_queries.put(tx, each, actor="tests"))


def names(page: str) -> list[str]:
    return re.findall(r'<h2><a href="[^"]*">(\w+)</a></h2>', page)


def counts(page: str, name: str) -> dict[str, int]:
    """The values of a filter on the page with their counts."""
    found = re.findall(
        rf'name="{name}" value="([^"]+)"[^>]*> <span>[^<]*</span> <span class="count">(\d+)</span>', page
    )
    return {unescape(value): int(count) for value, count in found}


@pytest.mark.asyncio
@pytest.mark.usefixtures("tools")
async def test_each_filter_shows_the_counts_of_the_api(client: httpx2.AsyncClient) -> None:
    for query in ("", "?query=vectors", "?kind=api", "?kind=api&pricing=free"):
        page = (await client.get(f"/tools{query}")).text
        facets = "".join(f"&facets={name}" for name in ("category", "kind", "pricing", "licence", "open_source"))
        api = (await client.get(f"/api/v1/tools{query or '?limit=20'}{facets}")).json()
        assert f">{api['total']} tool" in page
        for name in ("category", "kind", "pricing", "licence", "open_source"):
            told = {line["value"]: line["count"] for line in api["facets"][name]}
            told.pop("unknown", None)
            narrows = len(told) > 1 or f"{name}=" in query
            assert counts(page, name) == (told if narrows else {}), (query, name)


@pytest.mark.asyncio
@pytest.mark.usefixtures("tools")
async def test_filters_narrow_the_list_and_can_be_dropped_one_by_one(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/tools?kind=api&kind=app&open_source=false")).text
    assert names(page) == ["Bow"]
    assert "Source code: Closed" in page
    assert 'href="/tools?kind=api&amp;kind=app"' in page
    assert set(names((await client.get("/tools?kind=api")).text)) == {"Bow", "Old"}


@pytest.mark.asyncio
@pytest.mark.usefixtures("tools")
async def test_what_is_proven_comes_first_and_other_orders_are_the_api_s(client: httpx2.AsyncClient) -> None:
    assert names((await client.get("/tools")).text)[0] == "Target"
    for sort in ("proven", "created", "name", "updated"):
        api = (await client.get(f"/api/v1/tools?sort={sort}")).json()["items"]
        assert names((await client.get(f"/tools?sort={sort}")).text) == [tool["name"] for tool in api]
    seen = [tool["name"] for tool in (await client.get("/api/v1/tools?sort=proven")).json()["items"]]
    paged: list[str] = []
    cursor = ""
    while cursor is not None:
        body = (await client.get(f"/api/v1/tools?sort=proven&limit=1{cursor}")).json()
        paged += [tool["name"] for tool in body["items"]]
        cursor = f"&cursor={body['next_cursor']}" if body["next_cursor"] else None
    assert paged == seen


@pytest.mark.asyncio
@pytest.mark.usefixtures("tools")
async def test_the_page_is_cacheable_for_everyone_and_never_that_of_a_user(
    browser: FormBrowser, client: httpx2.AsyncClient
) -> None:
    page = await client.get("/tools?query=&kind=api")
    assert page.headers["cache-control"] == "public, max-age=60"
    assert page.headers["hx-push-url"] == "/tools?kind=api"
    assert "set-cookie" not in page.headers
    assert "Cookie" in page.headers["vary"]
    again = await client.get("/tools?kind=api", headers={"if-none-match": page.headers["etag"]})
    assert again.status_code == 304
    strange = await client.get("/tools", headers={"cookie": "theme=dark"})
    assert "set-cookie" not in strange.headers
    own = await browser.open("/tools?kind=api")
    assert own.headers["cache-control"] == "no-store"
    assert names(own.text) == names(page.text)
    assert "Sign out" in own.text
    assert "Sign out" not in page.text
