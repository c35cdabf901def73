"""The consent page against those who would press its button for the user (RFC 9700 §4.16).

What is left behind, counted from inside.
"""

import re
import sqlite3
from html import unescape

import httpx2
import pytest

from tests.helpers.code_flow import CALLBACK, ClientApp, ConsentingUser, csrf_token, told
from tests.helpers.form_browser import BASE


def row_count(database: str, table: str) -> int:
    """How many rows a table has."""
    with sqlite3.connect(database) as connection:
        counted: int = connection.execute(f"select count(*) from {table}").fetchone()[0]  # noqa: S608
        return counted


FORM = "/oauth/consent"


def answers(app: ClientApp) -> str:
    """Where the page of a request sends its form."""
    return app.asks().replace("/oauth/authorize", FORM)


@pytest.mark.asyncio
async def test_no_other_page_may_frame_it_run_in_it_or_read_it(ada: ConsentingUser, public_app: ClientApp) -> None:
    page = await ada.http.get(public_app.asks(), headers={"origin": "https://evil.example"})
    policy = page.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in policy
    assert "default-src 'none'" in policy
    assert "base-uri 'none'" in policy
    assert re.search(r"form-action 'self' https://app\.example(;|$)", policy)
    assert "script-src" not in policy
    assert page.headers["x-frame-options"] == "DENY"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in page.headers
    preflight = await ada.http.options(
        public_app.asks(), headers={"origin": "https://evil.example", "access-control-request-method": "GET"}
    )
    assert "access-control-allow-origin" not in preflight.headers


@pytest.mark.asyncio
async def test_a_form_from_elsewhere_grants_nothing(ada: ConsentingUser, public_app: ClientApp) -> None:
    page = await ada.http.get(public_app.asks())
    good = {"csrf": csrf_token(page), "decision": "allow", "scope:openid": "on"}
    for form, headers in (
        ({**good, "csrf": ""}, {}),
        ({**good, "csrf": "0" * 64}, {}),
        ({name: value for name, value in good.items() if name != "csrf"}, {}),
        (good, {"origin": "https://evil.example"}),
        (good, {"sec-fetch-site": "cross-site"}),
        (good, {"sec-fetch-site": "same-site"}),
    ):
        answer = await ada.http.post(answers(public_app), data=form, headers=headers)
        assert answer.status_code == 403
        assert "location" not in answer.headers
    assert told(await ada.http.post(answers(public_app), data=good))["code"]


@pytest.mark.asyncio
async def test_a_token_of_another_browser_is_worth_nothing(
    ada: ConsentingUser, client: httpx2.AsyncClient, public_app: ClientApp
) -> None:
    mallory = await client.get("/sign-in")
    form = {"csrf": csrf_token(mallory), "decision": "allow", "scope:openid": "on"}
    assert (await ada.http.post(answers(public_app), data=form)).status_code == 403
    stranger = await client.post(answers(public_app), data=form)
    assert stranger.headers["location"].startswith(f"{BASE}/sign-in")


@pytest.mark.asyncio
async def test_looking_grants_nothing(ada: ConsentingUser, public_app: ClientApp, database: str) -> None:
    """103: neither GET nor HEAD, nor a request by POST that carries a decision."""
    await ada.http.get(f"{public_app.asks()}&decision=allow&scope:openid=on")
    await ada.http.head(public_app.asks())
    await ada.http.get(answers(public_app))
    query = public_app.asks().partition("?")[2]
    form = {"content-type": "application/x-www-form-urlencoded"}
    await ada.http.post("/oauth/authorize", content=f"{query}&decision=allow&scope:openid=on", headers=form)
    assert row_count(database, "authorizations") == row_count(database, "consents") == 0


@pytest.mark.asyncio
async def test_a_form_grants_no_more_than_the_request_asks(ada: ConsentingUser, public_app: ClientApp) -> None:
    page = await ada.http.get(public_app.asks(scope="negotiations:read"))
    form = {"csrf": csrf_token(page), "decision": "allow"}
    boxes = {f"scope:{name}": "on" for name in ("negotiations:read", "memories:write", "root")}
    path = public_app.asks(scope="negotiations:read").replace("/oauth/authorize", FORM)
    code = told(await ada.http.post(path, data={**form, **boxes}))["code"]
    assert (await public_app.redeem(code)).json()["scope"] == "negotiations:read"


@pytest.mark.asyncio
async def test_a_client_cannot_dress_up_the_page(client: httpx2.AsyncClient, ada: ConsentingUser) -> None:
    """Impersonation: a name is quoted and escaped, and the address stands above it."""
    name = "Negotiator</q><script>alert(1)</script>"
    body = {"client_name": name, "redirect_uris": [CALLBACK], "token_endpoint_auth_method": "none"}
    made = (await client.post("/oauth/register", json=body)).json()
    page = await ada.http.get(ClientApp(client, made["client_id"]).asks(state='"><script>'))
    assert "<script" not in page.text
    assert name in unescape(page.text)
    heading = re.search(r"<h1>(.*?)</h1>", page.text)
    assert heading
    assert heading[1].startswith("app.example")
    assert "The operator has not reviewed it" in page.text


@pytest.mark.asyncio
async def test_a_fresh_sign_in_cannot_be_talked_away(ada: ConsentingUser, public_app: ClientApp) -> None:
    """What the client demanded holds at the form too, whoever keeps the page open."""
    page = await ada.http.get(public_app.asks())
    form = {"csrf": csrf_token(page), "decision": "allow", "scope:openid": "on"}
    path = public_app.asks(prompt="login").replace("/oauth/authorize", FORM)
    answer = await ada.http.post(path, data=form)
    assert answer.headers["location"].startswith(f"{BASE}/sign-in?again=1")
    future = public_app.asks(signed_in_after="9999999999")
    assert (await ada.http.get(future)).headers["location"].startswith(f"{BASE}/sign-in?again=1")


@pytest.mark.asyncio
async def test_whoever_signs_in_anew_is_not_sent_round_in_circles(ada: ConsentingUser, public_app: ClientApp) -> None:
    sent = await ada.http.get(public_app.asks(prompt="login", max_age="0"))
    back = httpx2.URL(sent.headers["location"]).params["next"]
    await ada.sign_in()
    page = await ada.http.get(back)
    assert page.status_code == 200
    assert told(await ada.answer(page))["code"]


@pytest.mark.asyncio
async def test_an_endless_request_is_refused(ada: ConsentingUser, public_app: ClientApp) -> None:
    assert (await ada.http.get(public_app.asks(state="x" * 9000))).status_code == 400
    body = "x=" + "y" * 70_000
    form = {"content-type": "application/x-www-form-urlencoded"}
    answer = await ada.http.post("/oauth/authorize", content=body, headers=form)
    assert answer.status_code == 413
