"""Who the user behind a token is."""

import pytest

from tests.conftest import Mint, Register, bearer
from tests.contract.requirements import covers
from tests.helpers.code_flow import ClientApp, ConsentingUser

PATH = "/oauth/userinfo"


@pytest.mark.asyncio
@covers("3.9:userinfo", "1.14:scope-openid")
async def test_the_scopes_open_the_claims(ada: ConsentingUser, public_app: ClientApp) -> None:
    whole = await ada.tokens(public_app)
    answer = await public_app.http.get(PATH, headers=bearer(whole))
    assert answer.json() == {
        "sub": ada.user_id,
        "name": "Ada",
        "preferred_username": "ada@example.com",
        "email": "ada@example.com",
    }
    less = await ada.tokens(public_app, scope="openid")
    assert (await public_app.http.get(PATH, headers=bearer(less))).json() == {"sub": ada.user_id}


@pytest.mark.asyncio
async def test_it_answers_post_too_with_or_without_a_form(ada: ConsentingUser, public_app: ClientApp) -> None:
    tokens = await ada.tokens(public_app)
    for form in (None, {"some": "thing"}):
        answer = await public_app.http.post(PATH, data=form, headers=bearer(tokens))
        assert answer.json()["sub"] == ada.user_id


@pytest.mark.asyncio
async def test_without_openid_it_is_403_and_without_a_token_401(ada: ConsentingUser, public_app: ClientApp) -> None:
    for scope in ("profile", "negotiations:read"):
        tokens = await ada.tokens(public_app, scope=scope)
        answer = await public_app.http.get(PATH, headers=bearer(tokens))
        assert (answer.status_code, answer.json()["error"]) == (403, "insufficient_scope")
        assert 'scope="openid"' in answer.headers["www-authenticate"]
    for method in ("GET", "POST"):
        assert (await public_app.http.request(method, PATH)).status_code == 401


@pytest.mark.asyncio
async def test_a_claimed_agent_is_told_whose_it_is(public_app: ClientApp, register: Register, mint: Mint) -> None:
    user_id, code = await mint(scopes=["openid", "profile"])
    agent = await register()
    claimed = await public_app.http.post("/api/agent/claim", json={"claim_token": code}, headers=bearer(agent))
    answer = await public_app.http.get(PATH, headers=bearer(claimed.json()))
    assert answer.json()["sub"] == user_id
