"""Collections of tools: made, ordered, noted, shared by a link, unshared, deleted; nobody else sees a private one."""

import re
from typing import Any

import httpx2
import pytest

from negotiator.directory import catalogue_queries
from negotiator.directory.tool_record import ToolRecord
from tests.conftest import Account, Browsers, Change
from tests.helpers.form_browser import FormBrowser

ALL = "/collections"


async def tool(change: Change, name: str) -> tuple[str, str]:
    """The id and slug of a new tool."""
    record = ToolRecord.model_validate(
        {
            "name": name,
            "summary": f"{name} keeps vectors",
            "kind": "app",
            "category": "databases-storage",
            "homepage_url": f"https://{name.lower()}.example/",
        }
    )
    made: Any = await change(lambda tx: catalogue_queries.put(tx, record, actor="tests"))
    return made.id, made.slug


async def made(browser: FormBrowser, change: Change) -> tuple[str, list[str]]:
    """The path of a collection with two tools, and their ids."""
    answer = await browser.send(ALL, on=ALL, name="To try", description="For spring")
    assert answer.status_code == 303
    path = re.sub(r"^https?://[^/]+", "", answer.headers["location"])
    ids: list[str] = []
    for name in ("Quiver", "Bow"):
        key, slug = await tool(change, name)
        page = f"/tools/{slug}"
        saved = await browser.send(f"{page}/save", on=page, collection=path.rpartition("/")[2], note=f"{name} is cheap")
        assert saved.status_code == 303
        ids.append(key)
    return path, ids


def order(page: str) -> list[str]:
    return re.findall(r'class="title" href="/tools/[^"]+">(\w+)</a>', page)


def revision(page: str) -> str:
    found = re.search(r'name="revision" value="(\d+)"', page)
    assert found
    return found[1]


@pytest.mark.asyncio
async def test_a_collection_is_ordered_noted_renamed_and_deleted(browser: FormBrowser, change: Change) -> None:
    assert "keeps tools that belong together" in (await browser.open(ALL)).text
    path, (first, second) = await made(browser, change)
    assert order((await browser.open(path)).text) == ["Quiver", "Bow"]
    await browser.send(f"{path}/items/{second}", on=path, position="0")
    page = (await browser.open(path)).text
    assert order(page) == ["Bow", "Quiver"]
    assert "Bow is cheap" in page
    await browser.send(f"{path}/items/{second}", on=path, note="Dear")
    assert "Dear" in (await browser.open(path)).text
    old = revision(page)
    stale = await browser.send(path, on=path, name="Spring", description="", revision=old)
    assert stale.status_code == 412
    assert 'value="Spring"' in stale.text
    now = revision((await browser.open(path)).text)
    renamed = await browser.send(path, on=path, name="Spring", description="", revision=now)
    assert renamed.status_code == 303
    assert "<h1>Spring</h1>" in (await browser.open(path)).text
    await browser.send(f"{path}/items/{first}/remove", on=path)
    page = (await browser.open(path)).text
    assert order(page) == ["Bow"]
    gone = await browser.send(f"{path}/delete", on=path, revision=revision(page))
    assert gone.headers["location"].endswith(ALL)
    assert (await browser.open(path)).status_code == 404


@pytest.mark.asyncio
async def test_a_link_opens_a_collection_until_it_is_ended(
    browser: FormBrowser, client: httpx2.AsyncClient, change: Change
) -> None:
    path, _ = await made(browser, change)
    now = revision((await browser.open(path)).text)
    await browser.send(f"{path}/share", on=path, share="yes", revision=now)
    page = (await browser.open(path)).text
    link = re.search(r'readonly value="https?://[^/]+(/shared/[^"]+)"', page)
    assert link
    shared = await client.get(link[1])
    assert shared.status_code == 200
    assert order(shared.text) == ["Quiver", "Bow"]
    assert shared.headers["cache-control"] == "no-store"
    assert "Quiver is cheap" in shared.text
    assert "ada@example.com" not in shared.text
    token = link[1].rpartition("/")[2]
    api = (await client.get(f"/api/v1/shared/{token}")).json()
    assert [item["note"] for item in api["items"]] == ["Quiver is cheap", "Bow is cheap"]
    await browser.send(f"{path}/share", on=path, share="no", revision=revision(page))
    ended = await client.get(link[1])
    assert ended.status_code == 404
    assert "This link leads nowhere any more" in ended.text


@pytest.mark.asyncio
async def test_a_private_collection_of_another_is_not_there(
    browser: FormBrowser, browsers: Browsers, account: Account, change: Change
) -> None:
    path, (first, _) = await made(browser, change)
    await account("eve@example.com")
    eve = browsers()
    await eve.sign_in("eve@example.com")
    assert (await eve.open(path)).status_code == 404
    for form in (path, f"{path}/share", f"{path}/delete", f"{path}/items/{first}/remove"):
        answer = await eve.send(form, on=ALL, name="Mine", share="yes", revision="1")
        assert answer.status_code == 404, form
