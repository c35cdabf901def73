"""Pages that are framed, cached, or made to run what somebody wrote into a name."""

import re
from html.parser import HTMLParser
from urllib.parse import quote

import httpx2
import pytest

from negotiator.users import user_queries
from negotiator.users.invitation import invite
from tests.conftest import PEPPER, Account, Browsers, Change, Mint, Register, bearer
from tests.helpers.form_browser import FormBrowser

POISON = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>{{7*7}}"
ALLOWED = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; media-src 'self' blob:; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)


class Tags(HTMLParser):
    """What a page is made of, and what it loads."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.loads: list[str] = []
        self.inline = ""
        self._in_script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self._in_script = tag == "script"
        for name, value in attrs:
            self.attributes.add(name)
            if name in {"src", "href", "action"}:
                self.loads.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.inline += data


def sound(answer: httpx2.Response, policy: str = ALLOWED) -> None:
    """The page runs nothing but files of ours, loads nothing from elsewhere, is kept nowhere and framed by nobody."""
    assert answer.headers["content-security-policy"] == policy
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    tags = Tags()
    tags.feed(answer.text)
    assert not tags.inline.strip(), "a script is a file of ours"
    assert not tags.names & {"iframe", "object", "embed", "base", "style"}
    assert not [name for name in tags.attributes if name.startswith("on") or name == "style"]
    assert all(re.match("[/#]", each) for each in tags.loads), tags.loads
    assert "{{" not in answer.text.replace("{{7*7}}", "")
    assert ">49" not in answer.text


@pytest.mark.asyncio
async def test_every_page_is_sound(browsers: Browsers, account: Account) -> None:
    browser = browsers()
    paths = ("/sign-in", f"/first-user/{invite(PEPPER.encode())}", "/first-user/x", "/approve/x")
    for path in paths:
        sound(await browser.open(path))
    await account()
    sound(await browser.sign_in(password="a wrong password"))
    sound(await browser.sign_in(next="/oauth/authorize?x=1"))
    for path in ("/agents", "/account", "/sign-in?again", "/approve/x", "/admin/people"):
        sound(await browser.open(path))
    sound(await browser.send("/agents/x/revoke", on="/agents"))
    options = {"life": "600", "purpose": "own", "scope__openid": "on"}
    sound(await browser.send("/agents/codes", on="/agents", **options))


@pytest.mark.asyncio
async def test_every_admin_page_is_sound_whatever_people_and_agents_are_called(
    browsers: Browsers, account: Account, register: Register, change: Change
) -> None:
    user_id = await account(name=POISON)
    await change(lambda tx: user_queries.set_admin(tx, user_id, True, actor=POISON))
    await register(POISON)
    browser = browsers()
    await browser.sign_in()
    for page in ("people", "issuers", "issuers/one", "clients", "registrations", "services"):
        sound(await browser.open(f"/admin/{page}"))
    for page in ("people?q=", "people?before=", "audit?who=", "audit?what=", "audit?from="):
        sound(await browser.open(f"/admin/{page}{quote(POISON)}"))
    fields = {"email": POISON, "name": POISON, "issuer": POISON, "redirects": POISON}
    for form in ("people/invite", "issuers/keep", "issuers/check", "clients/add", "services/x"):
        sound(await browser.send(f"/admin/{form}", on="/admin/people", **fields))


async def poisoned(browser: FormBrowser) -> None:
    """Every field that the visitor can fill."""
    told = {"label": POISON, "life": "600", "purpose": "own", "scope__openid": "on"}
    for page in (
        await browser.send("/agents/codes", on="/agents", **told),
        await browser.send("/agents/codes", on="/agents", **{**told, "life": POISON}),
        await browser.send("/account/name", on="/account", name=POISON),
        await browser.sign_in(POISON, "x", next=POISON),
    ):
        if page.status_code != 303:
            sound(page)


@pytest.mark.asyncio
async def test_no_name_label_or_address_runs(
    client: httpx2.AsyncClient, browsers: Browsers, account: Account, register: Register, mint: Mint
) -> None:
    await account(name=POISON)
    browser = browsers()
    browser.client.headers["user-agent"] = POISON
    await browser.sign_in()
    await poisoned(browser)
    _, code = await mint("ada@example.com", label=POISON)
    agent = await register(POISON)
    await client.post("/api/agent/claim", json={"claim_token": code}, headers=bearer(agent))
    for path in ("/agents", "/account"):
        page = await browser.open(path)
        assert page.status_code == 200
        sound(page)
        assert "&lt;script&gt;" in page.text
    for query in ("told", "agents_before", "codes_before", "next"):
        for path in ("/agents", "/account", "/sign-in"):
            page = await browsers().client.get(path, params={query: POISON})
            assert "<script>" not in page.text


@pytest.mark.asyncio
async def test_the_only_static_file_is_the_stylesheet(browsers: Browsers) -> None:
    browser = browsers()
    style = await browser.open("/console.css")
    assert style.headers["content-type"].startswith("text/css")
    assert "url(" not in style.text, "the stylesheet loads nothing"
    assert "@import" not in style.text
    for path in ("/page.html", "/console.css/../page.html", "/templates/page.html"):
        assert (await browser.open(path)).status_code == 404
