"""The directory in a real browser: a search by keyboard, and a tool from its submission to the search."""

from typing import Any, Final

import httpx2
import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from negotiator.directory import catalogue_queries, submissions_queries, submissions_transitions
from negotiator.directory.tool_record import ProvenPublisher
from negotiator.store.statement import Transaction
from tests.helpers.chromium import OpenTab, Tab, sign_in, tab, tab_to
from tests.helpers.directory_agents import record
from tests.helpers.live_server import Server

WIDE: Final[ViewportSize] = {"width": 1280, "height": 800}
SMALL: Final[ViewportSize] = {"width": 390, "height": 844}
NARROW: Final = 320


def api(one: Tab, path: str) -> dict[str, Any]:
    answer = httpx2.get(f"{one.base}/api/v1{path}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def names(page: Page) -> list[str]:
    return page.locator(".finding h2").all_inner_texts()


@pytest.mark.parametrize("size", [WIDE, SMALL], ids=["wide", "small"])
def test_a_person_searches_with_a_filter_by_keyboard(chromium: Browser, server: Server, size: ViewportSize) -> None:
    with chromium.new_context(viewport=size) as context:
        one = tab(context, server.base)
        one.open("/tools")
        page = one.page
        opened: list[str] = []
        page.on("load", lambda loaded: opened.append(loaded.url))
        tab_to(page, "query")
        page.keyboard.type("crm")
        page.wait_for_url("**/tools?query=crm")
        told = api(one, "/tools?query=crm&facets=kind&limit=24")
        expect(page.locator("#count")).to_contain_text(f"{told['total']} tools for")
        assert names(page) == [tool["name"] for tool in told["items"]]
        if size == SMALL:
            tab_to(page, "show-filters")
            page.keyboard.press("Space")
        tab_to(page, "kind-app")
        page.keyboard.press("Space")
        page.wait_for_url("**/tools?query=crm&kind=app")
        told = api(one, "/tools?query=crm&kind=app&limit=24")
        expect(page.locator("#count")).to_contain_text(f"{told['total']} tools for")
        assert names(page) == [tool["name"] for tool in told["items"]]
        assert page.evaluate("document.activeElement.id") == "kind-app"
        page.go_back()
        page.wait_for_url("**/tools?query=crm")
        page.set_viewport_size({"width": NARROW, "height": 700})
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW
        assert opened == []
        assert one.said == []
        assert one.outside == []


def test_without_script_the_search_is_a_form(chromium: Browser, server: Server) -> None:
    with chromium.new_context(java_script_enabled=False) as context:
        one = tab(context, server.base)
        one.open("/tools")
        one.page.locator("#query").fill("vector database")
        one.page.locator("#kind-library").check()
        one.press("Search")
        assert "kind=library" in one.page.url
        told = api(one, "/tools?query=vector+database&kind=library&limit=24")
        assert names(one.page) == [tool["name"] for tool in told["items"]]


def test_a_tool_is_submitted_approved_in_the_queue_and_found(signed_in: OpenTab) -> None:
    with signed_in(viewport=WIDE) as one:
        page = one.page
        for name in ("Heliotrope Notes", "Second Heliotrope"):
            one.open("/tools/submit")
            page.get_by_label("Address").fill(f"https://{name.split()[0].lower()}.invalid")
            one.press("Read it")
            page.get_by_role("heading", name="Nothing could be read").wait_for()
            page.locator("[name=homepage_url]").fill(f"https://{name.lower().replace(' ', '-')}.org")
            page.locator("[name=name]").fill(name)
            page.locator("[name=summary]").fill("Finds what you wrote down")
            page.locator("[name=kind]").select_option("app")
            page.locator("[name=category]").select_option("knowledge-memory")
            one.press("Send it")
            page.get_by_text("A person looks at it").wait_for()
        followed = page.url
        one.open("/admin/submissions")
        page.get_by_role("link", name="Heliotrope Notes").click()
        page.get_by_text("1 of 2").wait_for()
        page.wait_for_load_state()
        first = page.url
        page.keyboard.press("j")
        page.get_by_text("2 of 2").wait_for()
        page.wait_for_load_state()
        page.keyboard.press("k")
        page.wait_for_url(first)
        page.get_by_text("1 of 2").wait_for()
        one.press("List it")
        page.get_by_text("The one before: listed.").wait_for()
        page.get_by_label("Reason").select_option("insufficient_detail")
        page.get_by_label("What is to be changed").fill("What does it find?")
        one.press("Do not list it")
        page.get_by_text("No submission waits for a decision.").wait_for()
        one.open(followed)
        assert one.sees("Too little is said about it.")
        assert one.sees("What does it find?")
        found = api(one, "/tools?query=heliotrope")["items"]
        assert [tool["name"] for tool in found] == ["Heliotrope Notes"]
        one.open("/tools?query=heliotrope")
        page.get_by_role("link", name="Heliotrope Notes").click()
        page.get_by_role("heading", name="Heliotrope Notes").wait_for()
        assert one.said == []
        assert one.outside == []


def test_a_tool_is_kept_shared_and_read_without_a_sign_in(chromium: Browser, server: Server) -> None:
    with chromium.new_context(viewport=SMALL) as context, chromium.new_context() as other:
        one, stranger = tab(context, server.base), tab(other, server.base)
        sign_in(one)
        one.open("/tools/twenty")
        one.page.get_by_label("Name of a collection").fill("CRM for spring")
        one.page.get_by_label("Your note").fill("We host it")
        one.press("Save to the collection")
        one.page.get_by_role("link", name="CRM for spring").click()
        one.press("Make a link")
        link = one.page.locator("#share-link").input_value()
        stranger.open(link)
        assert stranger.sees("We host it")
        assert stranger.sees("Twenty")
        token = link.rpartition("/")[2]
        assert [item["note"] for item in api(one, f"/shared/{token}")["items"]] == ["We host it"]
        one.press("Stop sharing")
        one.page.get_by_role("button", name="Make a link").wait_for()
        assert httpx2.get(link).status_code == 404
        assert one.said == []


@pytest.mark.parametrize("size", [WIDE, SMALL], ids=["wide", "small"])
def test_a_publisher_learns_at_once_what_the_proof_of_their_domain_does_not_settle(
    signed_in: OpenTab, server: Server, size: ViewportSize
) -> None:
    word = "Plover" if size == WIDE else "Curlew"
    theirs = ProvenPublisher(domain=f"{word.lower()}.org", verified=True, method="http")

    def unit(tx: Transaction) -> str:
        catalogue_queries.put(tx, record(word, publisher=theirs), actor="tests")
        like = record(f"{word} MCP Server", kind="mcp_server", interfaces=[{"type": "sse"}])
        return catalogue_queries.put(tx, like, actor="tests").slug

    slug: str = server.change_now(unit)
    with signed_in(viewport=size) as one:
        page = one.page
        one.open(f"/tools/{slug}")
        assert one.sees("MCP over SSE (no address given)")
        page.get_by_role("link", name="It is mine").click()
        page.get_by_text(f"The name is like that of {word}").wait_for()
        assert one.sees(f"If {word.lower()}.org is yours too, put the same file there as well")
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        one.press("Ask a moderator")
        page.get_by_text("A moderator of this directory decides, because the name").wait_for()
        one.open("/")
        one.open("/tools/submit?form=1")
        page.locator("[name=name]").fill(f"{word} Tide")
        page.locator("[name=summary]").fill("Says when the water comes")
        page.locator("[name=kind]").select_option("app")
        page.locator("[name=category]").select_option("data-ml")
        page.locator("[name=homepage_url]").fill(f"https://{word.lower()}-tide.org")
        one.press("Send it")
        page.get_by_role("link", name="Prove that it is yours").click()
        page.get_by_role("heading", name=f"{word} Tide is mine").wait_for()
        assert one.sees(f"https://{word.lower()}-tide.org/.well-known/negotiator-claim.json")
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        assert one.said == []
        assert one.outside == []

    def decide(tx: Transaction) -> None:
        for row in submissions_queries.queue(tx, status="pending", limit=50):
            submissions_transitions.reject(tx, row.id, reason="duplicate")

    server.change_now(decide)
