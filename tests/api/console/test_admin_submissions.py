"""Administrators decide what was submitted: with the differences, the checks and a reason; nobody else does."""

import re
from typing import Any

import httpx2
import pytest

from negotiator.directory import catalogue_queries
from negotiator.directory.tool_record import ToolRecord
from negotiator.store.statement import Transaction
from negotiator.users import user_queries
from tests.conftest import Browsers, Change
from tests.helpers.form_browser import PASSWORD, FormBrowser

QUEUE = "/admin/submissions"
FORM = "/tools/submit?form=1"


async def administrator(browsers: Browsers, change: Change) -> FormBrowser:
    def unit(tx: Transaction) -> str:
        hashed = user_queries.hash_password(PASSWORD)
        return user_queries.add(tx, "root@example.com", is_admin=True, password_hash=hashed, actor="operator")

    await change(unit)
    browser = browsers()
    await browser.sign_in("root@example.com")
    return browser


async def sent(browser: FormBrowser, name: str) -> str:
    """The id of a submission."""
    fields = {
        "name": name,
        "summary": f"{name} searches notes",
        "kind": "app",
        "category": "search-web",
        "homepage_url": f"https://{name.lower()}.org",
    }
    answer = await browser.send("/tools/submit", on=FORM, **fields)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"].rpartition("/")[2]


async def decided(browser: FormBrowser, key: str, move: str, **fields: str) -> httpx2.Response:
    page = (await browser.open(f"{QUEUE}/{key}")).text
    found = re.search(r'name="revision" value="(\d+)"', page)
    assert found, page
    path = f"{QUEUE}/{key}"
    return await browser.send(f"{path}/{move}", on=path, **{"revision": found[1], **fields})


@pytest.mark.asyncio
async def test_a_submission_is_approved_in_the_queue_and_found_in_the_search(
    browser: FormBrowser, browsers: Browsers, client: httpx2.AsyncClient, change: Change
) -> None:
    first, second = await sent(browser, "Quiver"), await sent(browser, "Bow")
    root = await administrator(browsers, change)
    queue = (await root.open(QUEUE)).text
    assert queue.index("Quiver") < queue.index("Bow")
    page = (await root.open(f"{QUEUE}/{first}")).text
    assert "1 of 2" in page
    assert f'data-key="j" href="{QUEUE}/{second}"' in page
    assert "From ada@example.com" in page or "From Ada" in page
    answer = await decided(root, first, "approve")
    assert answer.headers["location"].endswith(f"{QUEUE}/{second}?decided=approved")
    found = (await client.get("/api/v1/tools?query=quiver")).json()["items"]
    assert [tool["name"] for tool in found] == ["Quiver"]
    assert "Listed" in (await browser.open(f"/tools/submissions/{first}")).text
    again = await root.send(f"{QUEUE}/{first}/approve", on=f"{QUEUE}/{second}", revision="2")
    assert again.status_code == 409


@pytest.mark.asyncio
async def test_a_refusal_needs_a_reason_and_a_request_its_text(
    browser: FormBrowser, browsers: Browsers, change: Change
) -> None:
    first, second = await sent(browser, "Quiver"), await sent(browser, "Bow")
    root = await administrator(browsers, change)
    assert "Choose a reason." in (await decided(root, first, "reject", note="No")).text
    await decided(root, first, "reject", reason="spam", note="An advert")
    assert "It reads like advertising" in (await browser.open(f"/tools/submissions/{first}")).text
    assert "Say what is to be changed." in (await decided(root, second, "send-back")).text
    await decided(root, second, "send-back", note="Which notes?")
    assert "Which notes?" in (await browser.open(f"/tools/submissions/{second}")).text
    stale = await decided(root, second, "reject", reason="spam", revision="1")
    assert "It was changed meanwhile." in stale.text


@pytest.mark.asyncio
async def test_a_correction_shows_what_was_and_what_would_be(
    browser: FormBrowser, browsers: Browsers, change: Change
) -> None:
    record = {
        "name": "Quiver",
        "summary": "Searches vectors",
        "kind": "app",
        "category": "coding",
        "homepage_url": "https://quiver.org/",
    }
    tool: Any = await change(lambda tx: catalogue_queries.put(tx, ToolRecord.model_validate(record), actor="tests"))
    form = f"/tools/{tool.slug}/change"
    answer = await browser.send(form, on=form, **{**record, "summary": "Searches notes"})
    key = answer.headers["location"].rpartition("/")[2]
    root = await administrator(browsers, change)
    page = (await root.open(f"{QUEUE}/{key}")).text
    assert "<del>Searches vectors</del>" in page
    assert "<ins>Searches notes</ins>" in page


@pytest.mark.asyncio
async def test_only_administrators_see_and_decide(browser: FormBrowser, client: httpx2.AsyncClient) -> None:
    key = await sent(browser, "Quiver")
    for page in (QUEUE, f"{QUEUE}/{key}"):
        assert (await browser.open(page)).status_code == 403
        assert (await client.get(page)).status_code == 303
    for move in ("approve", "reject", "send-back"):
        path = f"{QUEUE}/{key}/{move}"
        answer = await browser.send(path, on=FORM, revision="1", reason="spam", note="x")
        assert answer.status_code == 403
    assert "A person looks at it" in (await browser.open(f"/tools/submissions/{key}")).text
