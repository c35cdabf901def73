"""The pages in a real browser: the whole way of a person, with nothing loaded from elsewhere and nothing refused."""

import re
from collections.abc import Generator
from typing import Final

import httpx2
import pytest
from playwright.sync_api import Browser

from tests.helpers.chromium import PASSWORD, Tab, sign_in, tab
from tests.helpers.chromium import chromium as chromium
from tests.helpers.fake_openid_provider import CLIENT, SECRET, FakeOpenIdProvider, fake_openid_provider
from tests.helpers.live_server import Server

CODE: Final = re.compile("^([BCDFGHJKLMNPQRSTVWXZ]{4}-){2}[BCDFGHJKLMNPQRSTVWXZ]{4}$")


@pytest.fixture(scope="module")
def provider() -> Generator[FakeOpenIdProvider]:
    """An organisation's OpenID provider."""
    with fake_openid_provider() as started:
        started.claims = {"email": "grace@corp.example", "email_verified": True}
        yield started


def claim(base: str, code: str) -> tuple[str, str]:
    """An agent bound by a code: its id and its token."""
    body = {"agent_name": "scout <b>", "identity_type": "anonymous"}
    agent = httpx2.post(f"{base}/api/agent/register", json=body).json()
    bearer = {"Authorization": f"Bearer {agent['access_token']}"}
    bound = httpx2.post(f"{base}/api/agent/claim", json={"claim_token": code}, headers=bearer)
    assert bound.status_code == 200, bound.text
    return bound.json()["client_id"], bound.json()["access_token"]


def works(base: str, token: str) -> bool:
    """Whether the token opens anything."""
    bearer = {"Authorization": f"Bearer {token}"}
    return httpx2.get(f"{base}/api/negotiations", headers=bearer).status_code == 200


def first_user(first_user_server: Server, one: Tab) -> None:
    """Follow the link that the first start printed."""
    printed = (first_user_server.folder / "log").read_text()
    found = re.search(f"{re.escape(first_user_server.base)}/first-user/[0-9a-f-]+", printed)
    assert found, printed
    one.open(found[0])
    one.fill("E-mail", "ada@example.com")
    one.fill("Name", "Ada")
    one.fill("Password", PASSWORD)
    one.press("Make the account")
    one.at("/")
    one.open(found[0])
    assert one.sees("This link was used")


@pytest.fixture(scope="module")
def first_user_server(
    tmp_path_factory: pytest.TempPathFactory, chromium: Browser, provider: FakeOpenIdProvider
) -> Generator[Server]:
    """A service of two workers whose first user, Ada, followed the link that its first start printed."""
    told = {"oidc_issuer": provider.name, "oidc_client_id": CLIENT, "oidc_client_secret": SECRET}
    more = {**told, "oidc_name": "Corp", "allow_loopback_fetch": "true"}
    started = Server(tmp_path_factory.mktemp("house"), workers=2, settings=more)
    started.start()
    with chromium.new_context() as context:
        first_user(started, tab(context, started.base))
    yield started
    started.stop()


def test_a_person_s_whole_way(chromium: Browser, first_user_server: Server) -> None:
    with chromium.new_context() as context:
        one = tab(context, first_user_server.base)
        sign_in(one)
        one.open("/agents")
        one.page.get_by_label("Own choice").check()
        one.fill("Note for you", "the laptop")
        one.page.locator('input[name="scope:memories:write"]').uncheck()
        one.page.get_by_label("The code can be used for").select_option("1 hour")
        one.press("Make the code")
        code = one.page.locator(".code").inner_text()
        assert CODE.match(code)
        agent_id, token = claim(first_user_server.base, code)
        assert works(first_user_server.base, token)
        one.page.clock.install()
        one.open("/agents")
        assert one.sees("scout <b>")
        assert agent_id in one.page.content()
        assert not one.sees(code)
        one.page.locator("summary", has_text="End scout <b>").click()
        one.press("End it scout <b>")
        one.page.get_by_role("status").filter(has_text="stops working").wait_for()
        assert works(first_user_server.base, token), "it can be undone for ten seconds"
        one.page.clock.fast_forward(10_500)
        one.page.get_by_text("The agent is ended.").wait_for()
        assert not works(first_user_server.base, token), "at once, on both workers"
        one.press("Sign out")
        one.at("/sign-in")
        one.open("/account")
        one.fill("E-mail", "ada@example.com")
        one.fill("Password", PASSWORD)
        one.page.keyboard.press("Enter")
        one.at("/account")
        assert one.sees("Chrome on Linux")
        assert one.said == []
        assert one.outside == []


def test_the_cookie_is_out_of_a_script_s_reach(chromium: Browser, first_user_server: Server) -> None:
    with chromium.new_context() as context:
        one = tab(context, first_user_server.base)
        sign_in(one)
        kept = {str(each.get("name")): each for each in context.cookies()}
        session = kept["negotiator-session"]
        assert session.get("httpOnly") is True
        assert session.get("sameSite") == "Lax"
        assert one.page.evaluate("document.cookie") == ""


def test_another_site_can_neither_frame_nor_post(chromium: Browser, first_user_server: Server) -> None:
    with chromium.new_context() as context:
        one = tab(context, first_user_server.base)
        sign_in(one)
        evil = context.new_page()
        host = first_user_server.base.replace("127.0.0.1", "localhost")
        evil.goto(f"{host}/api/health")
        evil.set_content(
            f'<iframe src="{first_user_server.base}/account"></iframe>'
            f'<form method="post" action="{first_user_server.base}/account/name">'
            '<input name="name" value="Mallory"><button>win</button></form>'
        )
        evil.wait_for_load_state("networkidle")
        assert all("Account" not in frame.content() for frame in evil.frames[1:])
        evil.click("button")
        assert "/account" not in evil.url or "came from elsewhere" in evil.content()
        one.open("/account")
        assert one.page.get_by_label("Name to address you by").input_value() == "Ada"


def test_an_organisation_s_provider_signs_people_in(
    chromium: Browser, first_user_server: Server, provider: FakeOpenIdProvider
) -> None:
    with chromium.new_context() as context:
        one = tab(context, first_user_server.base, others=(f"{provider.name}/authorize?",))
        one.open("/account")
        one.page.get_by_role("link", name="Sign in with Corp").click()
        one.at("/account")
        assert one.sees("grace@corp.example")
        assert one.sees("through " + provider.name)
        assert one.said == []
        assert one.outside == []


def test_it_can_be_used_by_keyboard_on_a_phone(chromium: Browser, first_user_server: Server) -> None:
    small = {"width": 360, "height": 640}
    with chromium.new_context(viewport={"width": 360, "height": 640}) as context:
        one = tab(context, first_user_server.base)
        sign_in(one)
        for path in ("/agents", "/account", "/sign-in?again"):
            one.open(path)
            wide = one.page.evaluate("document.documentElement.scrollWidth")
            assert wide <= small["width"], f"{path} scrolls sideways"
            one.page.keyboard.press("Tab")
            assert one.page.evaluate("document.activeElement.tagName") in {"A", "INPUT", "BUTTON"}
            outline = "getComputedStyle(document.activeElement).outlineStyle"
            assert one.page.evaluate(outline) != "none", f"{path}: the focus is invisible"
