"""Refresh tokens: one use each, and what ends a chain of them."""

from collections.abc import Callable

import jwt
import pytest

from negotiator.store.statement import Transaction
from negotiator.tokens import clients, consent_queries
from negotiator.users import user_queries
from tests.conftest import Change, Clock, bearer
from tests.contract.requirements import covers
from tests.helpers.code_flow import ClientApp, ConsentingUser

LIST = "/api/negotiations"


async def status(app: ClientApp, tokens: dict[str, str]) -> int:
    """What an access token gets."""
    return (await app.http.get(LIST, headers=bearer(tokens))).status_code


@pytest.mark.asyncio
@covers("3.4:refresh")
async def test_each_use_answers_the_next_and_reuse_ends_the_family(
    ada: ConsentingUser, public_app: ClientApp, web_app: ClientApp
) -> None:
    for app in (public_app, web_app):
        first = await ada.tokens(app)
        if app.secret:
            thief = ClientApp(app.http, app.client_id)
            assert (await thief.refresh(first["refresh_token"])).json()["error"] == "invalid_client"
        second = (await app.refresh(first["refresh_token"])).json()
        assert second["refresh_token"] != first["refresh_token"]
        assert second["scope"] == first["scope"]
        assert await status(app, second) == 200
        third = (await app.refresh(second["refresh_token"])).json()
        reused = await app.refresh(first["refresh_token"])
        assert (reused.status_code, reused.json()["error"]) == (400, "invalid_grant")
        for tokens in (first, second, third):
            assert await status(app, tokens) == 401
        dead = await app.refresh(third["refresh_token"])
        assert dead.json()["error"] == "invalid_grant"


@pytest.mark.asyncio
async def test_a_retry_is_answered_with_the_same_next_token_while_that_is_unused(
    clock: Clock, ada: ConsentingUser, public_app: ClientApp, web_app: ClientApp
) -> None:
    for app, wait in ((public_app, 59), (web_app, 86_400)):
        first = await ada.tokens(app)
        lost = (await app.refresh(first["refresh_token"])).json()
        clock.advance(wait)
        found = (await app.refresh(first["refresh_token"])).json()
        assert found["refresh_token"] == lost["refresh_token"]
        assert await status(app, found) == 200
        assert (await app.refresh(found["refresh_token"])).status_code == 200


@pytest.mark.asyncio
@pytest.mark.parametrize(("wait", "program"), [(60, ""), (0, "another program")])
async def test_a_late_retry_or_one_of_another_program_is_a_theft(
    clock: Clock, ada: ConsentingUser, public_app: ClientApp, wait: int, program: str
) -> None:
    first = await ada.tokens(public_app)
    second = (await public_app.refresh(first["refresh_token"])).json()
    clock.advance(wait)
    public_app.http.headers["user-agent"] = program
    assert (await public_app.refresh(first["refresh_token"])).json()["error"] == "invalid_grant"
    assert await status(public_app, second) == 401
    assert (await public_app.refresh(second["refresh_token"])).status_code == 400


@pytest.mark.asyncio
async def test_scopes_may_shrink_for_a_while_and_never_grow(ada: ConsentingUser, public_app: ClientApp) -> None:
    first = await ada.tokens(public_app, scope="negotiations:read memories:read")
    less = (await public_app.refresh(first["refresh_token"], scope="memories:read")).json()
    assert less["scope"] == "memories:read"
    assert await status(public_app, less) == 403
    whole = (await public_app.refresh(less["refresh_token"])).json()
    assert whole["scope"] == "negotiations:read memories:read"
    more = await public_app.refresh(whole["refresh_token"], scope="negotiations:write")
    assert more.json()["error"] == "invalid_scope"
    assert (await public_app.refresh(whole["refresh_token"])).status_code == 200


@pytest.mark.asyncio
async def test_a_refresh_token_lives_from_its_last_use(
    clock: Clock, ada: ConsentingUser, public_app: ClientApp
) -> None:
    token = (await ada.tokens(public_app))["refresh_token"]
    for _ in range(3):
        clock.advance(2_591_000)
        token = (await public_app.refresh(token)).json()["refresh_token"]
    clock.advance(2_592_001)
    assert (await public_app.refresh(token)).json()["error"] == "invalid_grant"


@pytest.mark.asyncio
async def test_a_renewed_id_token_has_the_first_sign_in_and_no_nonce(
    clock: Clock, ada: ConsentingUser, public_app: ClientApp
) -> None:
    first = await ada.tokens(public_app)
    clock.advance(7200)
    second = (await public_app.refresh(first["refresh_token"])).json()
    before, after = (jwt.decode(tokens["id_token"], options={"verify_signature": False}) for tokens in (first, second))
    assert after["auth_time"] == before["auth_time"]
    assert after["iat"] == before["iat"] + 7200
    assert "nonce" in before
    assert "nonce" not in after


@pytest.mark.asyncio
async def test_revoking_a_refresh_token_ends_what_it_renewed(
    ada: ConsentingUser, public_app: ClientApp, web_app: ClientApp
) -> None:
    for app in (public_app, web_app):
        tokens = await ada.tokens(app)
        about = {"token": tokens["refresh_token"], "token_type_hint": "refresh_token"}
        secret = {"client_secret": app.secret} if app.secret else {}
        named = {"client_id": app.client_id, **secret}
        ended = await app.http.post("/oauth/revoke", data={**about, **named})
        assert ended.status_code == 200
        assert await status(app, tokens) == 401
        assert (await app.refresh(tokens["refresh_token"])).status_code == 400


@pytest.mark.asyncio
async def test_nobody_revokes_a_refresh_token_of_a_client_with_a_secret(
    ada: ConsentingUser, web_app: ClientApp, public_app: ClientApp
) -> None:
    tokens = await ada.tokens(web_app)
    for named in ({}, {"client_id": web_app.client_id}, {"client_id": public_app.client_id}):
        about = {"token": tokens["refresh_token"], **named}
        await web_app.http.post("/oauth/revoke", data=about)
    assert await status(web_app, tokens) == 200


@pytest.mark.asyncio
async def test_a_client_asks_after_its_own_refresh_token_only(
    ada: ConsentingUser, web_app: ClientApp, change: Change
) -> None:
    new = clients.NewClient("other", clients.CODE_FLOW_GRANTS, ("openid",), (web_app.redirect_uri,))
    other = await change(lambda tx: clients.add(tx, new))
    token = (await ada.tokens(web_app))["refresh_token"]
    mine = (web_app.client_id, web_app.secret)
    asked = await web_app.http.post("/oauth/introspect", data={"token": token}, auth=mine)
    assert (asked.json()["active"], asked.json()["sub"]) == (True, ada.user_id)
    asked = await web_app.http.post("/oauth/introspect", data={"token": token}, auth=other)
    assert asked.json() == {"active": False}
    await web_app.refresh(token)
    asked = await web_app.http.post("/oauth/introspect", data={"token": token}, auth=mine)
    assert asked.json() == {"active": False}


@pytest.mark.asyncio
@pytest.mark.parametrize("ending", ["consent", "client", "user"])
async def test_an_end_ends_codes_families_and_tokens_at_once(
    ada: ConsentingUser, public_app: ClientApp, change: Change, ending: str
) -> None:
    tokens, code = await ada.tokens(public_app), await ada.code(public_app, prompt="consent")
    app_id, user_id = public_app.client_id, ada.user_id
    ends: dict[str, Callable[[Transaction], object]] = {
        "consent": lambda tx: consent_queries.withdraw(tx, user_id, app_id, actor=user_id),
        "client": lambda tx: clients.remove(tx, app_id),
        "user": lambda tx: user_queries.disable(tx, ada.email),
    }
    await change(ends[ending])
    assert await status(public_app, tokens) == 401
    assert (await public_app.refresh(tokens["refresh_token"])).status_code in {400, 401}
    assert (await public_app.redeem(code)).status_code in {400, 401}
