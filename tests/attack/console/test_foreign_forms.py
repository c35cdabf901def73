"""Forms that another site sends, forms without the token, and other people's ids in them."""

import re
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from negotiator.agents import delegation
from negotiator.console.page_router import DeferredPages
from negotiator.console.talk.prepare_page import PREPARE_PATH
from negotiator.users import session_queries
from tests.conftest import Account, Browsers, Change, Mint, Register, bearer
from tests.helpers.form_browser import BASE, PASSWORD, FormBrowser, redirect_path

FORMS = (
    "/agents/codes",
    "/agents/codes/dlg_01m7zgh720pce05geqy5t8y2x2/revoke",
    "/agents/agt_01m7zgh720pce05geqy5t8y2x2/revoke",
    "/agents/apps/revoke",
    "/account/name",
    "/account/password",
    "/account/sessions/ses_01m7zgh720pce05geqy5t8y2x2/end",
    "/account/sessions/end-others",
    "/account/passkeys",
    "/account/passkeys/psk_01m7zgh720pce05geqy5t8y2x2/name",
    "/account/passkeys/psk_01m7zgh720pce05geqy5t8y2x2/remove",
    "/sign-out",
    "/sign-in/passkey",
    "/sign-in",
)
FROM_ELSEWHERE = (
    {"origin": "https://evil.example"},
    {"origin": "https://negotiator.example.evil.example"},
    {"origin": "http://negotiator.example"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"sec-fetch-site": "cross-site", "origin": "null"},
    {"sec-fetch-site": "same-origin", "origin": "https://evil.example"},
)


async def signed_in(browsers: Browsers, email: str = "ada@example.com") -> FormBrowser:
    """A browser with a session."""
    browser = browsers()
    assert (await browser.sign_in(email)).status_code == 303
    return browser


async def every_form(application: Starlette) -> list[str]:
    """The path of each form of a page, with ids that are nobody's."""
    (deferred,) = [each for each in application.routes if isinstance(each, DeferredPages)]
    later: Any = vars(deferred)["_routes"]
    routes = [each for each in (*application.routes, *await later.get()) if isinstance(each, Route)]
    found = [each.path for each in routes if "PageRouter.open_form" in each.endpoint.__qualname__]
    return sorted({re.sub(r"\{[^}]*\}", "none", path) for path in found} - {PREPARE_PATH})


@pytest.mark.asyncio
async def test_every_form_needs_the_token_of_its_own_session_and_its_own_site(
    application: Starlette, browsers: Browsers, account: Account
) -> None:
    await account()
    await account("eve@example.com")
    ada, eve = await signed_in(browsers), await signed_in(browsers, "eve@example.com")
    theirs = {"csrf": await eve.token("/account")}
    forms, own = await every_form(application), {"csrf": await ada.token("/account")}
    assert len(forms) > 80
    assert {"/account/passkeys/none/name", "/admin/people/invite", "/live", "/tools/submit"} <= {*forms}
    for form in forms:
        for token in ({}, theirs):
            answer = await ada.client.post(form, data={**token, "sure": "yes"})
            assert answer.status_code == 403, form
        foreign = await ada.client.post(form, data=own, headers={"origin": "https://evil.example"})
        assert foreign.status_code == 403, form


@pytest.mark.asyncio
async def test_no_form_works_without_the_token_of_its_own_session(browsers: Browsers, account: Account) -> None:
    await account()
    await account("eve@example.com")
    ada, eve = await signed_in(browsers), await signed_in(browsers, "eve@example.com")
    before = ada.session()
    fields = {"email": "eve@example.com", "password": PASSWORD}
    tokens = ("", "x", await eve.token("/agents"), await browsers().token("/sign-in"), "é")
    for form in FORMS:
        for token in tokens:
            answer = await ada.client.post(form, data={**fields, "csrf": token})
            assert answer.status_code == 403, (form, token)
        assert (await ada.client.post(form, data=fields)).status_code == 403
    assert ada.session() == before
    assert (await ada.open("/agents")).status_code == 200


@pytest.mark.asyncio
async def test_even_with_the_token_a_form_from_elsewhere_is_refused(browsers: Browsers, account: Account) -> None:
    await account()
    ada, stranger = await signed_in(browsers), browsers()
    token = await ada.token("/agents")
    entry = {"csrf": await stranger.token("/sign-in"), "email": "ada@example.com"}
    entry["password"] = PASSWORD
    for headers in FROM_ELSEWHERE:
        for form in FORMS:
            answer = await ada.client.post(form, data={"csrf": token}, headers=headers)
            assert answer.status_code == 403, (form, headers)
        answer = await stranger.client.post("/sign-in", data=entry, headers=headers)
        assert answer.status_code == 403, "nobody is signed in by another site"
        assert stranger.session() is None


@pytest.mark.asyncio
async def test_a_browser_s_own_headers_do_not_stand_in_its_way(browsers: Browsers, account: Account) -> None:
    await account()
    ada = await signed_in(browsers)
    data = {"csrf": await ada.token("/account"), "name": "Ada"}
    own = {"sec-fetch-site": "same-origin", "origin": "null"}
    for headers in (own, {"origin": BASE}, {"origin": "null"}, {}):
        answer = await ada.client.post("/account/name", data=data, headers=headers)
        assert answer.status_code == 303, headers


@pytest.mark.asyncio
async def test_nothing_happens_by_get(browsers: Browsers, account: Account) -> None:
    await account()
    ada = await signed_in(browsers)
    for form in FORMS:
        if form != "/sign-in":  # which is a page too
            assert (await ada.open(form)).status_code in {404, 405}, form
    assert (await ada.open("/agents")).status_code == 200


@pytest.mark.asyncio
async def test_what_belongs_to_another_is_not_there(
    client: httpx2.AsyncClient, browsers: Browsers, account: Account, register: Register, mint: Mint, change: Change
) -> None:
    ada_id = await account()
    await account("eve@example.com")
    ada, eve = await signed_in(browsers), await signed_in(browsers, "eve@example.com")
    _, code = await mint("ada@example.com", label="Ada's first")
    agent = await register("Ada's agent")
    claim = {"claim_token": code}
    bound = (await client.post("/api/agent/claim", json=claim, headers=bearer(agent))).json()
    await mint("ada@example.com", label="Ada's second")
    newest = (await change(lambda tx: delegation.of_user(tx, ada_id)))[0]
    (session,) = await change(lambda tx: session_queries.of_user(tx, ada_id))
    page = (await eve.open("/agents")).text + (await eve.open("/account")).text
    for hers in (bound["client_id"], newest.id, session.id, "Ada"):
        assert hers not in page
    missing = re.sub("[0-9a-z]{26}$", "0" * 26, newest.id)
    for form, nothing in (
        (f"/agents/{bound['client_id']}/revoke", f"/agents/agt_{'0' * 26}/revoke"),
        (f"/agents/codes/{newest.id}/revoke", f"/agents/codes/{missing}/revoke"),
        (f"/account/sessions/{session.id}/end", f"/account/sessions/ses_{'0' * 26}/end"),
        ("/agents/apps/revoke", "/agents/apps/revoke"),
    ):
        refused = await eve.send(form, on="/agents")
        unknown = await eve.send(nothing, on="/agents")
        assert refused.status_code == unknown.status_code == 404
        assert refused.text == unknown.text
    assert (await client.get("/api/negotiations", headers=bearer(bound))).status_code == 200
    assert (await ada.open("/agents")).status_code == 200
    assert '<span class="state open">open</span>' in (await ada.open("/agents")).text


@pytest.mark.asyncio
async def test_a_form_without_a_session_leads_to_the_sign_in(browsers: Browsers) -> None:
    for form in FORMS[:-2]:
        back = "" if form == "/sign-out" else "account" if form.startswith("/account") else "agents"
        answer = await browsers().client.post(form, data={"csrf": "x"})
        assert redirect_path(answer) == f"/sign-in?next=%2F{back}", form


@pytest.mark.asyncio
async def test_a_form_that_is_none_is_refused_as_a_page(browsers: Browsers, account: Account) -> None:
    await account()
    ada = await signed_in(browsers)
    kind = {"content-type": "application/x-www-form-urlencoded"}
    many = b"&".join(b"a%d=1" % n for n in range(200))
    for body in (b"csrf=x&csrf=y", b"csrf=%ff", b"name=%00", b"a=" + b"x" * 9000, many):
        answer = await ada.client.post("/account/name", content=body, headers=kind)
        assert answer.status_code == (413 if len(body) > 8192 else 400)
        assert answer.headers["content-type"].startswith("text/html")
