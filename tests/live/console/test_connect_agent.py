"""Connecting an agent in a real browser: a code by purpose, bound by itself, a refusal explained, ended with undo."""

import subprocess
from collections.abc import Generator
from typing import Any, Final

import httpx2
import pytest
from playwright.sync_api import Browser, Page

from tests.helpers.chromium import OpenTab, Tab, make_first_user, tab
from tests.helpers.live_server import Server, wait_for

UNDO_MS: Final = 10_500
"""A little more than an ending can be undone."""
LONG_NAME: Final = "Procurement helper of the northern branch, supplierandcontractnegotiations"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Generator[Server]:
    """A service of two workers whose first user is Ada."""
    started = Server(tmp_path_factory.mktemp("agents"), workers=2)
    started.start()
    with chromium.new_context() as context:
        make_first_user(tab(context, started.base), started.folder / "log")
    yield started
    started.stop()


def redeem(base: str, code: str, name: str) -> tuple[str, dict[str, str]]:
    """An agent bound by the code: its id and its header."""
    body = {"agent_name": name, "identity_type": "anonymous"}
    agent: dict[str, Any] = httpx2.post(f"{base}/api/agent/register", json=body).json()
    bearer = {"Authorization": f"Bearer {agent['access_token']}"}
    bound = httpx2.post(f"{base}/api/agent/claim", json={"claim_token": code}, headers=bearer)
    assert bound.status_code == 200, bound.text
    return bound.json()["client_id"], {"Authorization": f"Bearer {bound.json()['access_token']}"}


def lists(base: str, bearer: dict[str, str]) -> int:
    """The status of a call that the agent may make."""
    return httpx2.get(f"{base}/api/negotiations", headers=bearer).status_code


def new_code(one: Tab, purpose: str) -> str:
    one.page.get_by_role("radio", name=purpose).check()
    one.press("Make the code")
    return one.page.locator("#code").inner_text().strip()


def fits(page: Page) -> bool:
    """Whether nothing scrolls sideways."""
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_from_a_code_to_a_refusal_to_the_end(signed_in: OpenTab, server: Server) -> None:
    with signed_in() as one:
        one.open("/agents")
        code = new_code(one, "Advise only")
        assert one.sees("Waiting for your agent")
        agent_id, bearer = redeem(server.base, code, "scout")
        one.page.get_by_role("heading", name="Bound to scout").wait_for(timeout=10_000)
        assert one.page.evaluate("document.activeElement.textContent") == "Bound to scout"
        assert code not in one.page.content()

        body = {"kind": "fact", "text": "Acme gives way in the last week of a quarter."}
        refused = httpx2.post(f"{server.base}/api/memories", json=body, headers=bearer)
        assert refused.status_code == 403
        one.page.get_by_role("link", name="See what it does").click()
        one.at(f"/agents/{agent_id}")
        wait_for(lambda: one.page.reload() is not None and one.sees("Refused"))  # of either worker
        assert one.sees("It lacks: remember things for you and record what was won.")
        one.page.get_by_role("link", name="Make a code that allows it").click()
        assert one.page.get_by_role("radio", name="Negotiate and remember").is_checked()

        one.page.clock.install()
        one.open(f"/agents/{agent_id}")
        one.page.locator("summary", has_text="End this agent scout").click()
        one.press("End it scout")
        one.press("Undo")
        assert one.page.evaluate("document.activeElement.textContent.trim()") == "End it scout"
        one.page.clock.fast_forward(UNDO_MS)
        one.page.wait_for_timeout(500)
        assert lists(server.base, bearer) == 200, "it was undone"
        one.press("End it scout")
        one.page.clock.fast_forward(UNDO_MS)
        one.page.get_by_text("The agent is ended.").wait_for()
        assert lists(server.base, bearer) == 401
        assert one.said == []
        assert one.outside == []


def test_who_leaves_the_page_does_not_keep_the_agent(signed_in: OpenTab, server: Server) -> None:
    with signed_in() as one:
        one.open("/agents")
        agent_id, bearer = redeem(server.base, new_code(one, "Everything"), "leaver")
        one.open(f"/agents/{agent_id}")
        one.page.locator("summary", has_text="End this agent leaver").click()
        one.press("End it leaver")
        one.page.get_by_role("button", name="Undo").wait_for()
        one.open("/account")
        wait_for(lambda: lists(server.base, bearer) == 401)


def test_without_script_a_second_question_is_asked_and_no_more(signed_in: OpenTab, server: Server) -> None:
    with signed_in(java_script_enabled=False) as one:
        one.open("/agents")
        agent_id, bearer = redeem(server.base, new_code(one, "Negotiate and remember"), "plain")
        one.page.get_by_role("link", name="Has my agent used it?").click()
        assert one.sees("Bound to plain")
        one.open(f"/agents/{agent_id}")
        assert not one.page.get_by_role("button", name="End it plain").is_visible()
        one.page.locator("summary", has_text="End this agent plain").focus()
        one.page.keyboard.press("Enter")
        one.page.keyboard.press("Tab")
        one.page.keyboard.press("Tab")
        one.page.keyboard.press("Enter")
        one.page.get_by_text("The agent is ended.").wait_for()
        assert lists(server.base, bearer) == 401


def test_what_is_said_for_curl_works_in_a_shell(signed_in: OpenTab) -> None:
    with signed_in() as one:
        one.open("/agents")
        new_code(one, "Advise only")
        script = one.page.locator("#setup-curl").text_content() or ""
        done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
        assert '"status":"claimed"' in done.stdout
        one.page.get_by_role("heading", name="Bound to curl").wait_for(timeout=10_000)


@pytest.mark.parametrize("width", [390, 320])
def test_on_a_phone_a_long_name_is_read_and_nothing_scrolls(signed_in: OpenTab, server: Server, width: int) -> None:
    with signed_in(viewport={"width": width, "height": 700}) as one:
        one.open("/agents")
        code = new_code(one, "Advise only")
        assert fits(one.page)
        agent_id, _ = redeem(server.base, code, LONG_NAME)
        for path in ("/agents", f"/agents/{agent_id}"):
            one.open(path)
            for folded in one.page.locator("details").all():
                folded.evaluate("one => { one.open = true; }")
            assert fits(one.page)
            heading = one.page.get_by_role("heading", name=LONG_NAME).first
            box = heading.bounding_box()
            assert box
            assert box["width"] > width / 2, "the name has the line for itself"
