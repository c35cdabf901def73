"""The directory's pages: tools to look through, one tool in two forms, where the data is from, the sitemap of all."""

import re
from typing import Any, Final

import httpx2
import pytest
import pytest_asyncio

from negotiator.config.settings import Settings
from negotiator.directory import catalogue_queries
from negotiator.directory.catalogue_queries import CatalogueTool
from negotiator.directory.tool_record import FieldEvidence, ToolRecord
from tests.conftest import Change, connect, make_settings, running
from tests.contract.requirements import covers
from tests.helpers.form_browser import BASE
from tests.helpers.published_documents import ACCEPTED, hrefs, is_reachable, located

HOSTILE: Final = '<script>alert(1)</script> [now](https://evil.example) `rm` & "more"'


def record(name: str, **members: Any) -> ToolRecord:
    """A record with one line of evidence."""
    evidence = (FieldEvidence(source="the tests", licence="MIT", method="content"),)
    plain: dict[str, Any] = {
        "name": name,
        "summary": f"{name} searches vectors",
        "kind": "app",
        "category": "databases-storage",
        "homepage_url": f"https://{name.lower()}.example/",
        "evidence": evidence,
    }
    return ToolRecord.model_validate({**plain, **members})


@pytest_asyncio.fixture
async def tool(change: Change) -> CatalogueTool:
    """One tool in the catalogue."""
    tool: CatalogueTool = await change(
        lambda tx: catalogue_queries.put(tx, record("Quiver", description=HOSTILE), actor="tests")
    )
    return tool


@pytest.mark.asyncio
@pytest.mark.parametrize("accept", ACCEPTED)
@covers("4.4:tool-pages")
async def test_line_4_a_tool_s_page_speaks_html_or_markdown(
    client: httpx2.AsyncClient, tool: CatalogueTool, accept: str | None
) -> None:
    answer = await client.get(f"/tools/{tool.slug}", headers={"accept": accept or ""})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == f"{ACCEPTED[accept]}; charset=utf-8"
    assert {"Accept", "Cookie"} <= set(answer.headers["vary"].split(", "))
    assert ("x-markdown-tokens" in answer.headers) == (ACCEPTED[accept] == "text/markdown")
    for said in ("Quiver", "the tests", "MIT", "Not known"):
        assert said in answer.text
    tag = {"if-none-match": answer.headers["etag"], "accept": accept or ""}
    assert (await client.get(f"/tools/{tool.slug}", headers=tag)).status_code == 304


@pytest.mark.asyncio
@covers("4.4:tool-pages")
async def test_what_others_wrote_is_text_and_never_markup(client: httpx2.AsyncClient, tool: CatalogueTool) -> None:
    page = await client.get(f"/tools/{tool.slug}")
    assert "<script>alert" not in page.text
    assert "&lt;script&gt;alert(1)" in page.text
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    text = (await client.get(f"/tools/{tool.slug}", headers={"accept": "text/markdown"})).text
    assert "[now](" not in text
    assert r"\[now\](https://evil.example) \`rm\` & " in text


@pytest.mark.asyncio
@covers("4.4:tool-pages")
async def test_a_tool_is_at_one_address_and_gone_is_gone(
    client: httpx2.AsyncClient, tool: CatalogueTool, change: Change
) -> None:
    moved = await client.get(f"/tools/{tool.id}", headers={"host": "evil.example"})
    assert (moved.status_code, moved.headers["location"]) == (301, f"/tools/{tool.slug}")
    assert (await client.get("/tools/nothing")).status_code == 404
    assert (await client.get("/tools/%00")).status_code == 404
    await change(lambda tx: catalogue_queries.withdraw(tx, tool.id, "deleted", message="", actor="tests"))
    answer = await client.get(f"/tools/{tool.slug}")
    assert answer.status_code == 410
    assert "Quiver" not in answer.text


@pytest.mark.asyncio
@covers("4.4:tool-pages")
async def test_tools_are_found_by_words_category_and_kind(
    client: httpx2.AsyncClient, tool: CatalogueTool, change: Change
) -> None:
    await change(lambda tx: catalogue_queries.put(tx, record("Other", category="coding"), actor="tests"))
    for query, found in (
        ("", {"Quiver", "Other"}),
        ("?query=quivr", {"Quiver"}),
        ("?category=coding", {"Other"}),
        ("?query=&kind=", {"Quiver", "Other"}),
        ("?kind=dataset", set[str]()),
    ):
        answer = await client.get(f"/tools{query}")
        assert answer.status_code == 200, query
        assert set(re.findall(r'<h2><a href="[^"]*">(\w+)</a></h2>', answer.text)) == found, query
    assert "Nothing was found" in (await client.get("/tools?kind=dataset")).text
    for wrong in ("?category=nothing", "?cursor=x", "?strange=1", "?query=a&query=b"):
        answer = await client.get(f"/tools{wrong}")
        assert answer.status_code in {400, 422}, wrong
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert "<h1>This page cannot be shown</h1>" in answer.text
    assert tool.slug in (await client.get("/tools")).text


@pytest.mark.asyncio
@covers("4.4:tool-pages")
async def test_a_long_list_goes_on_behind_one_link(client: httpx2.AsyncClient, change: Change) -> None:
    for number in range(30):
        made = record(f"Tool{number}")
        await change(lambda tx, made=made: catalogue_queries.put(tx, made, actor="tests"))
    seen: list[str] = []
    address = "/tools?query=vectors"
    while address:
        text = (await client.get(address)).text
        seen += re.findall(r'<h2><a href="/tools/([\w-]+)">', text)
        following = re.search(r'rel="next" href="([^"]+)"', text)
        address = following[1].replace("&amp;", "&") if following else ""
    assert len(seen) == len(set(seen)) == 30


@pytest.mark.asyncio
@covers("4.4:sitemap")
async def test_the_sitemap_names_every_tool_that_can_be_seen(
    client: httpx2.AsyncClient, tool: CatalogueTool, change: Change
) -> None:
    hidden = await change(lambda tx: catalogue_queries.put(tx, record("Hidden"), actor="tests"))
    await change(lambda tx: catalogue_queries.withdraw(tx, hidden.id, "quarantined", message="", actor="tests"))
    found = await located(client, "/sitemap.xml")
    assert f"{BASE}/tools/{tool.slug}" in found
    assert f"{BASE}/tools/{hidden.slug}" not in found
    assert {f"{BASE}/tools", f"{BASE}/about/data", f"{BASE}/", f"{BASE}/docs"} <= set(found)
    for address in found:
        assert (await client.get(address)).status_code == 200
    for strange in ("0", "2", "01", "x", "-1", "9" * 30, "²"):
        assert (await client.get(f"/sitemap/tools/{strange}")).status_code == 404


@pytest.mark.asyncio
@covers("4.4:data")
async def test_every_source_is_named_with_its_licence(client: httpx2.AsyncClient) -> None:
    for accept in ("text/html", "text/markdown"):
        text = (await client.get("/about/data", headers={"accept": accept})).text
        for named in ("docker/mcp-registry", "MIT", "CC0-1.0", "CC-BY-4.0 OR Apache-2.0"):
            assert named in text


@pytest.mark.asyncio
@covers("4.1:exists")
async def test_every_link_of_the_pages_is_there(client: httpx2.AsyncClient, tool: CatalogueTool) -> None:
    for path in ("/tools", f"/tools/{tool.slug}", "/about/data", "/tools/nothing"):
        for target in hrefs((await client.get(path)).text, path):
            assert await is_reachable(client, target), f"{target}, linked from {path}"


@pytest.mark.asyncio
@covers("1.10:key")
async def test_looking_through_the_tools_is_charged_to_the_address(settings: Settings) -> None:
    other_settings = make_settings(settings.data_dir, settings.keys_dir, limit_directory_rpm=2)
    async with running(other_settings) as application, connect(application) as client:
        found = [(await client.get("/tools")).status_code for _ in range(3)]
        answer = await client.get("/tools")
    assert found == [200, 200, 429]
    assert int(answer.headers["retry-after"]) >= 1
