"""A tool's page: each fact with its source and day, what clients paste, saving it and reporting it."""

import re
from html import unescape
from typing import Any

import httpx2
import pytest

from negotiator.console.tools import tool_view
from negotiator.directory import catalogue_queries
from negotiator.directory.catalogue_queries import CatalogueTool
from negotiator.directory.tool_record import FieldEvidence, ToolRecord
from tests.conftest import Change
from tests.helpers.form_browser import FormBrowser

SERVER: dict[str, Any] = {
    "name": "Quiver",
    "summary": "Quiver searches vectors",
    "kind": "mcp_server",
    "category": "databases-storage",
    "subcategories": ["vector-databases"],
    "homepage_url": "https://quiver.example/",
    "interfaces": [{"type": "streamable-http", "url": "https://quiver.example/mcp"}],
    "auth": {"type": "api_key"},
    "licence": "MIT",
}
DATED = FieldEvidence(source="a list", checked_at="2026-11-21T00:00:00.000Z", method="list", licence="CC0-1.0")
UNDATED = FieldEvidence(field="licence", source="its publisher", method="content")


async def listed(change: Change, **members: Any) -> CatalogueTool:
    record = ToolRecord.model_validate({**SERVER, "evidence": (DATED, UNDATED), **members})
    tool: CatalogueTool = await change(lambda tx: catalogue_queries.put(tx, record, actor="tests"))
    return tool


def fact(page: str, name: str) -> str:
    found = re.search(rf"<dt>{name}</dt><dd>(.*?)</dd>", page, re.DOTALL)
    assert found, name
    return re.sub(r"<[^>]+>", "", unescape(found[1])).strip()


@pytest.mark.asyncio
async def test_each_fact_says_its_source_and_only_a_recorded_day(client: httpx2.AsyncClient, change: Change) -> None:
    tool = await listed(change)
    page = (await client.get(f"/tools/{tool.slug}")).text
    assert fact(page, "How to sign in") == "API key"
    common = re.sub(r"<[^>]+>", "", page)
    assert "names no other source, it comes from a list, checked 21 November 2026." in common
    assert fact(page, "Licence") == "MIT from its publisher"
    assert page.count("not recorded") == 1
    assert "price" in fact(page, "Not known")
    bare = await listed(change, name="Bare", homepage_url="https://bare.example/", interfaces=[], evidence=())
    page = (await client.get(f"/tools/{bare.slug}")).text
    assert fact(page, "Licence") == "MIT no source is recorded"
    assert "checked 2" not in page
    assert "No evidence is recorded for this entry." in page


@pytest.mark.asyncio
async def test_alternatives_are_those_of_the_api(client: httpx2.AsyncClient, change: Change) -> None:
    tool = await listed(change)
    other = await listed(change, name="Bow", homepage_url="https://bow.example/", interfaces=[], tags=["vectors"])
    answer = await client.get(f"/api/v1/tools/{tool.slug}/alternatives")
    assert [each["slug"] for each in answer.json()["items"]] == [other.slug]
    assert f'href="/tools/{other.slug}">Bow</a>' in (await client.get(f"/tools/{tool.slug}")).text
    assert (await client.get("/api/v1/tools/nothing/alternatives")).status_code == 404


def document(**members: Any) -> dict[str, Any]:
    use = {"install": None, "rest_base": None}
    return {**SERVER, "slug": "quiver", "packages": [], "use": use, **members}


def test_clients_get_texts_of_recorded_addresses_and_packages_only() -> None:
    texts = {each.client: each.text for each in tool_view.install_texts(document())}
    assert list(texts) == ["Claude", "Claude Code", "Cursor", "VS Code", "curl"]
    command = "claude mcp add --transport http quiver https://quiver.example/mcp"
    assert texts["Claude Code"] == command
    use = {"install": {"value": "npx -y quiver-mcp"}, "rest_base": None}
    local = tool_view.install_texts(document(interfaces=[], use=use))
    assert local[1].text == "claude mcp add quiver -- npx -y quiver-mcp"
    assert '"command": "npx"' in local[2].text
    template = [{"type": "streamable-http", "url": "https://{tenant}.example/mcp"}]
    assert not tool_view.install_texts(document(interfaces=template))
    library = tool_view.install_texts(
        document(kind="library", use={"install": {"value": "pip install x"}, "rest_base": None})
    )
    assert [each.client for each in library] == ["Terminal"]


@pytest.mark.asyncio
async def test_a_tool_is_saved_to_a_new_collection_and_then_to_the_same(
    browser: FormBrowser, client: httpx2.AsyncClient, change: Change
) -> None:
    tool = await listed(change)
    page = f"/tools/{tool.slug}"
    unnamed = await browser.send(f"{page}/save", on=page, name="", note="cheap")
    assert unnamed.status_code == 422
    assert 'value="cheap"' in unnamed.text
    saved = await browser.send(f"{page}/save", on=page, name="To try", note="cheap")
    assert saved.status_code == 303
    shown = (await browser.open(saved.headers["location"])).text
    assert ">To try</a>" in shown
    assert "To try (1)" in shown
    assert (await client.post(f"{page}/save", data={"name": "x"})).status_code == 303


@pytest.mark.asyncio
async def test_a_report_of_a_user_is_stored_once(browser: FormBrowser, change: Change) -> None:
    tool = await listed(change)
    page = f"/tools/{tool.slug}"
    sent = await browser.send(f"{page}/report", on=page, reason="spam", details="An advert")
    assert sent.headers["location"].endswith("?reported=1#report")
    again = await browser.send(f"{page}/report", on=page, reason="spam", details="Again")
    assert again.status_code == 409
    assert "You have reported this tool already." in again.text
    assert ">Again</textarea>" in again.text
