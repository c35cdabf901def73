"""A tool is submitted, mended, taken back and appealed on pages; what is refused keeps what was typed."""

import re
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from negotiator.directory import catalogue_queries, submissions_transitions
from negotiator.directory.tool_record import ToolRecord
from negotiator.users import user_queries
from tests.conftest import Account, Browsers, Change
from tests.helpers.directory_agents import add_tool, join_directory
from tests.helpers.form_browser import FormBrowser

SUBMIT = "/tools/submit"
FORM = "/tools/submit?form=1"
FIELDS: dict[str, str] = {
    "name": "Quiet Search",
    "summary": "Full-text search over your own notes",
    "kind": "mcp_server",
    "category": "search-web",
    "homepage_url": "https://quiet-search.org",
    "tags": "notes, search",
    "pricing": "free",
    "interface_type": "streamable-http",
    "interface_url": "https://api.quiet-search.org/mcp",
}


async def sent(browser: FormBrowser, **fields: str) -> str:
    """The path of a submission that the browser's user made."""
    answer = await browser.send(SUBMIT, on=FORM, **{**FIELDS, **fields})
    assert answer.status_code == 303, answer.text
    return re.sub(r"^https?://[^/]+", "", answer.headers["location"])


@pytest.mark.asyncio
async def test_an_address_that_says_nothing_leads_to_the_form(browser: FormBrowser) -> None:
    for wrong in ("", "http://quiet.example", "https://127.0.0.1/"):
        refused = await browser.send("/tools/submit/address", on=SUBMIT, address=wrong)
        assert refused.status_code == 422, wrong
        assert 'role="alert"' in refused.text
    read = await browser.send("/tools/submit/address", on=SUBMIT, address="nothing.invalid")
    assert read.status_code == 200
    assert "Nothing could be read" in read.text
    assert 'value="https://nothing.invalid"' in read.text


@pytest.mark.asyncio
async def test_a_person_submits_mends_and_takes_back(browser: FormBrowser) -> None:
    bad = await browser.send(SUBMIT, on=FORM, **{**FIELDS, "summary": "", "homepage_url": "ftp:x"})
    assert bad.status_code == 422
    assert 'id="summary-error"' in bad.text
    assert 'id="homepage_url-error"' in bad.text
    assert 'value="notes, search"' in bad.text
    path = await sent(browser)
    page = (await browser.open(path)).text
    assert "A person looks at it" in page
    assert "MCP over HTTP at https://api.quiet-search.org/mcp" in page
    again = await browser.send(SUBMIT, on=FORM, **FIELDS)
    assert again.status_code == 409
    assert path in again.text
    unchanged = await browser.send(f"{path}/change", on=f"{path}/change", **FIELDS)
    assert unchanged.status_code == 422
    mended = await browser.send(f"{path}/change", on=f"{path}/change", **{**FIELDS, "summary": "Finds your notes"})
    assert mended.status_code == 303
    assert "Finds your notes" in (await browser.open(path)).text
    assert "Quiet Search" in (await browser.open("/tools/submissions")).text
    await browser.send(f"{path}/withdraw", on=path)
    assert "Withdrawn" in (await browser.open(path)).text


@pytest.mark.asyncio
async def test_the_reason_of_a_refusal_is_said_and_appealed_once(browser: FormBrowser, change: Change) -> None:
    path = await sent(browser)
    key = path.rpartition("/")[2]
    await change(
        lambda tx: submissions_transitions.reject(tx, key, reason="insufficient_detail", note="What does it search?")
    )
    page = (await browser.open(path)).text
    assert "Too little is said about it." in page
    assert "What does it search?" in page
    await browser.send(f"{path}/appeal", on=path, message="Notes on this computer")
    page = (await browser.open(path)).text
    assert "You said: Notes on this computer" in page
    assert "A person looks at it" in page


@pytest.mark.asyncio
async def test_a_correction_proposes_only_what_was_changed(browser: FormBrowser, change: Change) -> None:
    packages = [{"registry": "npm", "identifier": name} for name in ("one", "two")]
    record: dict[str, Any] = {
        "name": "Quiver",
        "summary": "Searches vectors",
        "kind": "app",
        "category": "coding",
        "homepage_url": "https://quiver.org/",
        "packages": packages,
    }
    tool: Any = await change(lambda tx: catalogue_queries.put(tx, ToolRecord.model_validate(record), actor="tests"))
    form = f"/tools/{tool.slug}/change"
    page = (await browser.open(form)).text
    typed = {
        "name": "Quiver",
        "summary": "Searches vectors fast",
        "kind": "app",
        "category": "coding",
        "homepage_url": "https://quiver.org/",
        "registry": "npm",
        "package": "one",
    }
    assert 'value="one"' in page
    answer = await browser.send(form, on=form, **typed)
    assert answer.status_code == 303, answer.text
    key = answer.headers["location"].rpartition("/")[2]
    after: Any = await change(lambda tx: submissions_transitions.approve(tx, key))
    assert after.status == "approved"
    view = (await change(lambda tx: catalogue_queries.require(tx, tool.id))).view
    assert view.summary == "Searches vectors fast"
    assert [one.identifier for one in view.packages] == ["one", "two"]


@pytest.mark.asyncio
async def test_what_another_sent_is_not_there(browser: FormBrowser, browsers: Browsers, account: Account) -> None:
    path = await sent(browser)
    await account("eve@example.com")
    eve = browsers()
    await eve.sign_in("eve@example.com")
    for page in (path, f"{path}/change"):
        assert (await eve.open(page)).status_code == 404
    for form in (f"{path}/withdraw", f"{path}/appeal", f"{path}/change"):
        answer = await eve.send(form, on=SUBMIT, **FIELDS, message="x")
        assert answer.status_code == 404, form


@pytest.mark.asyncio
async def test_an_mcp_address_that_was_not_given_is_said_to_be_missing(
    browser: FormBrowser, change: Change, client: httpx2.AsyncClient
) -> None:
    path = await sent(browser, interface_url="")
    assert "MCP over HTTP (no address given)" in (await browser.open(path)).text
    key = path.rpartition("/")[2]
    row = await change(lambda tx: submissions_transitions.approve(tx, key))
    tool = await change(lambda tx: catalogue_queries.require(tx, row.tool))
    page = (await client.get(f"/tools/{tool.slug}")).text
    assert "MCP over HTTP (no address given)" in page


@pytest.mark.asyncio
async def test_a_correction_of_an_agent_may_leave_the_address_out(
    agents_tool: tuple[str, str], browsers: Browsers, account: Account, change: Change
) -> None:
    key, submission = agents_tool
    user = await account()
    await change(lambda tx: user_queries.set_admin(tx, user, True, actor="operator"))
    browser = browsers()
    await browser.sign_in()
    shown = await browser.open(f"/admin/submissions/{submission}")
    assert shown.status_code == 200, key
    assert "MCP over HTTP (no address given), MCP on your computer" in shown.text


@pytest_asyncio.fixture
async def agents_tool(client: httpx2.AsyncClient, change: Change) -> tuple[str, str]:
    """A listed tool, and an agent's correction of its interfaces, none of which has an address."""
    key = await add_tool(change, "Heron", kind="mcp_server")
    agent = await join_directory(client, change)
    interfaces = [{"type": "streamable-http"}, {"type": "stdio"}]
    patch = {"interfaces": interfaces}
    answer = await agent.call("PATCH", f"/tools/{key}", patch, if_match="*")
    assert answer.status_code == 202, answer.text
    return key, answer.json()["id"]
