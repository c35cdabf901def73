"""The code flow from the first question to a token that opens something, until the user ends the connection."""

from typing import Any

import httpx2
import pytest
from joserfc import jwt
from joserfc.jwk import KeySet

from negotiator.base.scopes import ASSISTANT
from negotiator.console.people.scope_words import WORDS
from negotiator.tokens.id_tokens import half_hash
from tests.conftest import bearer
from tests.contract.requirements import covers
from tests.helpers.code_flow import SCOPE, ClientApp, ConsentingUser, csrf_token, told
from tests.helpers.form_browser import BASE


async def published_keys(client: httpx2.AsyncClient) -> Any:
    """The key set, as everybody reads it."""
    return (await client.get("/.well-known/jwks.json")).json()


@pytest.mark.asyncio
@covers("3.3:authorize")
async def test_a_user_lets_a_client_in_and_its_token_works(ada: ConsentingUser, public_app: ClientApp) -> None:
    page = await ada.http.get(public_app.asks())
    assert page.status_code == 200
    wanted, _, others = page.text.partition("It may not")
    for said in ("app.example", "Notes"):
        assert said in wanted
    for scope in ASSISTANT:
        assert WORDS[scope] in (wanted if scope in SCOPE.split() else others)
    assert WORDS["tools:read"] not in others
    answer = told(await ada.answer(page))
    assert answer["state"] == "a state & more"
    tokens = (await public_app.redeem(answer["code"])).json()
    assert set(tokens) == {*("access_token", "token_type", "expires_in", "scope", "refresh_token", "id_token")}
    assert tokens["scope"] == SCOPE
    listed = await public_app.http.get("/api/negotiations", headers=bearer(tokens))
    assert listed.status_code == 200
    refused = await public_app.http.post("/api/negotiations", json={}, headers=bearer(tokens))
    assert refused.status_code == 403


@pytest.mark.asyncio
async def test_an_id_token_says_who_when_for_whom_and_is_verified_by_rs256(
    ada: ConsentingUser, web_app: ClientApp
) -> None:
    tokens = await ada.tokens(web_app)
    keys = KeySet.import_key_set(await published_keys(web_app.http))
    token = jwt.decode(tokens["id_token"], keys, algorithms=["RS256"])
    assert token.header["typ"] == "JWT"
    claims = token.claims
    assert (claims["iss"], claims["aud"], claims["sub"]) == (BASE, web_app.client_id, ada.user_id)
    assert claims["nonce"] == "n-1"
    assert claims["at_hash"] == half_hash(tokens["access_token"])
    assert claims["auth_time"] <= claims["iat"] < claims["exp"]


@pytest.mark.asyncio
async def test_without_openid_there_is_no_id_token(ada: ConsentingUser, public_app: ClientApp) -> None:
    tokens = await ada.tokens(public_app, scope="negotiations:read")
    assert "id_token" not in tokens
    assert tokens["scope"] == "negotiations:read"


@pytest.mark.asyncio
async def test_a_stranger_signs_in_and_comes_back_to_the_same_question(
    client: httpx2.AsyncClient, ada: ConsentingUser, public_app: ClientApp
) -> None:
    asked = await client.get(public_app.asks())
    assert asked.status_code == 303
    other = ConsentingUser(client, ada.user_id)
    page = await client.get(asked.headers["location"])
    form = {"email": "ada@example.com", "password": "a long enough password"}
    hidden = {name: page.text.split(f'name="{name}" value="')[1].split('"')[0] for name in ("csrf", "next")}
    sent = await client.post(
        "/sign-in", data={**form, "csrf": hidden["csrf"], "next": hidden["next"].replace("&amp;", "&")}
    )
    assert sent.status_code == 200
    onward = sent.text.split("url=")[1].split('"')[0].replace("&amp;", "&")
    answer = told(await other.decide(onward))
    assert answer["state"] == "a state & more"
    assert (await public_app.redeem(answer["code"])).status_code == 200


@pytest.mark.asyncio
async def test_a_user_may_grant_less_or_nothing(ada: ConsentingUser, public_app: ClientApp) -> None:
    answer = await ada.decide(public_app.asks(), without=("memories:read",))
    tokens = (await public_app.redeem(told(answer)["code"])).json()
    assert tokens["scope"] == "openid profile negotiations:read"
    again = await ada.decide(public_app.asks(prompt="consent"), decision="deny")
    assert told(again)["error"] == "access_denied"
    everything = ("openid", "profile", "negotiations:read", "memories:read")
    nothing = await ada.decide(public_app.asks(prompt="consent"), without=everything)
    assert told(nothing)["error"] == "access_denied"


@pytest.mark.asyncio
async def test_the_same_question_is_not_asked_twice(ada: ConsentingUser, public_app: ClientApp) -> None:
    await ada.tokens(public_app, scope="negotiations:read")
    spared = await ada.http.get(public_app.asks(scope="negotiations:read"))
    assert told(spared)["code"]
    silent = await ada.http.get(public_app.asks(scope="negotiations:read", prompt="none"))
    assert told(silent)["code"]
    more = await ada.http.get(public_app.asks(scope="negotiations:read negotiations:write"))
    assert more.status_code == 200
    asked = await ada.http.get(public_app.asks(scope="negotiations:read", prompt="consent"))
    assert asked.status_code == 200


@pytest.mark.asyncio
async def test_a_program_on_the_device_is_asked_for_each_time(ada: ConsentingUser, client: httpx2.AsyncClient) -> None:
    body = {"redirect_uris": ["http://127.0.0.1/callback"], "token_endpoint_auth_method": "none"}
    made = (await client.post("/oauth/register", json=body)).json()
    at = "http://127.0.0.1:51004/callback"
    app = ClientApp(client, made["client_id"], redirect_uri=at)
    for _ in range(2):
        page = await ada.http.get(app.asks())
        assert "program on this device" in page.text
        answer = await ada.answer(page)
        assert (await app.redeem(told(answer, at)["code"])).status_code == 200
    silent = await ada.http.get(app.asks(prompt="none"))
    assert told(silent, at)["error"] == "consent_required"


@pytest.mark.asyncio
async def test_prompts_decide_who_is_asked_what(
    ada: ConsentingUser, client: httpx2.AsyncClient, public_app: ClientApp
) -> None:
    assert told(await client.get(public_app.asks(prompt="none")))["error"] == "login_required"
    assert told(await ada.http.get(public_app.asks(prompt="none")))["error"] == "consent_required"
    for changes in ({"prompt": "login"}, {"max_age": "0"}, {"prompt": "select_account consent"}):
        again = await ada.http.get(public_app.asks(**changes))
        assert again.headers["location"].startswith(f"{BASE}/sign-in?again=1&next=%2Foauth%2F")
    for odd in ("none login", "create", "NONE"):
        wrong = await ada.http.get(public_app.asks(prompt=odd))
        assert told(wrong)["error"] == "invalid_request"


@pytest.mark.asyncio
async def test_a_hint_at_somebody_else_asks_for_a_sign_in(ada: ConsentingUser, public_app: ClientApp) -> None:
    mine = (await ada.tokens(public_app))["id_token"]
    assert told(await ada.http.get(public_app.asks(prompt="none", id_token_hint=mine)))["code"]
    for hint in ("x", mine[:-3], (await ada.tokens(public_app))["access_token"]):
        silent = await ada.http.get(public_app.asks(prompt="none", id_token_hint=hint))
        assert told(silent)["error"] == "login_required"


@pytest.mark.asyncio
async def test_a_request_by_post_becomes_one_by_get(ada: ConsentingUser, public_app: ClientApp) -> None:
    query = public_app.asks().partition("?")[2]
    headers = {"content-type": "application/x-www-form-urlencoded"}
    sent = await ada.http.post("/oauth/authorize", content=query, headers=headers)
    assert sent.status_code == 303
    assert (await ada.http.get(sent.headers["location"])).status_code == 200


@pytest.mark.asyncio
async def test_both_resources_are_honoured_and_held_to(ada: ConsentingUser, public_app: ClientApp) -> None:
    for resource in (BASE, f"{BASE}/mcp"):
        code = await ada.code(public_app, resource=resource)
        assert (await public_app.redeem(code, resource=resource)).status_code == 200
    code = await ada.code(public_app, resource=f"{BASE}/mcp")
    other = await public_app.redeem(code, resource=BASE)
    assert other.json()["error"] == "invalid_target"
    wrong = await ada.http.get(public_app.asks(resource="https://evil.example"))
    assert told(wrong)["error"] == "invalid_target"


@pytest.mark.asyncio
async def test_a_client_that_was_let_in_is_listed_and_ended(
    ada: ConsentingUser, public_app: ClientApp, web_app: ClientApp
) -> None:
    tokens, others = await ada.tokens(public_app), await ada.tokens(web_app)
    page = await ada.http.get("/agents")
    for said in ("Notes", "app.example", public_app.client_id):
        assert said in page.text
    form = {"csrf": csrf_token(page), "app": public_app.client_id}
    ended = await ada.http.post("/agents/apps/revoke", data=form)
    assert ended.status_code == 303
    assert public_app.client_id not in (await ada.http.get("/agents")).text
    listed = await public_app.http.get("/api/negotiations", headers=bearer(tokens))
    assert listed.status_code == 401
    assert (await public_app.refresh(tokens["refresh_token"])).status_code == 400
    kept = await web_app.http.get("/api/negotiations", headers=bearer(others))
    assert kept.status_code == 200
    assert (await ada.http.get(public_app.asks())).status_code == 200, "they are asked again"
    again = await ada.http.post("/agents/apps/revoke", data=form)
    assert again.status_code == 404
