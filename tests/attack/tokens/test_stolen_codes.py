"""Codes and refresh tokens in the wrong hands (RFC 9700 §2.1, §4.5, §4.14)."""

import asyncio
import sqlite3

import httpx2
import pytest

from negotiator.config.settings import Settings
from negotiator.tokens import clients
from negotiator.tokens.authorization_codes import s256_challenge
from negotiator.tokens.clients import NewClient
from tests.conftest import Change, Clock, bearer
from tests.helpers.code_flow import CALLBACK, ClientApp, ConsentingUser
from tests.helpers.forger import refused
from tests.helpers.form_browser import BASE

LIST = "/api/negotiations"
GRANT = (400, "invalid_grant")


async def status(app: ClientApp, tokens: dict[str, str]) -> int:
    """What an access token gets."""
    return (await app.http.get(LIST, headers=bearer(tokens))).status_code


async def another(app: ClientApp, change: Change, method: str = "none") -> ClientApp:
    """A second client with the same redirect URI and verifier."""
    new = NewClient("Other", clients.CODE_FLOW_GRANTS, ("openid", "negotiations:read"), (CALLBACK,), method)
    client_id, secret = await change(lambda tx: clients.add(tx, new))
    return ClientApp(app.http, client_id, secret, verifier=app.verifier)


@pytest.mark.asyncio
async def test_a_second_use_of_a_code_ends_what_the_first_one_got(ada: ConsentingUser, public_app: ClientApp) -> None:
    code = await ada.code(public_app)
    tokens = (await public_app.redeem(code)).json()
    renewed = (await public_app.refresh(tokens["refresh_token"])).json()
    assert await status(public_app, renewed) == 200
    refused(await public_app.redeem(code), GRANT, code)
    for dead in (tokens, renewed):
        assert await status(public_app, dead) == 401
    refused(await public_app.refresh(renewed["refresh_token"]), GRANT)


@pytest.mark.asyncio
async def test_of_fifty_redemptions_at_once_one_wins_and_then_nothing_lives(
    ada: ConsentingUser, public_app: ClientApp
) -> None:
    code = await ada.code(public_app)
    answers = await asyncio.gather(*(public_app.redeem(code) for _ in range(50)))
    won = [answer for answer in answers if answer.status_code == 200]
    assert len(won) == 1
    for answer in answers:
        if answer.status_code != 200:
            refused(answer, GRANT, code)
    assert await status(public_app, won[0].json()) == 401


@pytest.mark.asyncio
async def test_a_code_is_good_for_its_client_redirect_uri_and_verifier_only(
    ada: ConsentingUser, public_app: ClientApp, web_app: ClientApp, change: Change
) -> None:
    """Code injection: another client, with or without a secret, cannot use a stolen code."""
    code = await ada.code(public_app)
    other = await another(public_app, change)
    web_app.verifier = public_app.verifier
    for thief in (other, web_app):
        refused(await thief.redeem(code), GRANT, code)
    for changes in (
        {"redirect_uri": f"{CALLBACK}/"},
        {"redirect_uri": "https://evil.example/callback"},
        {"code_verifier": "v" * 43},
        {"code_verifier": s256_challenge(public_app.verifier)},
        {"code_verifier": f"{public_app.verifier} "},
        {"code": f"{code}x"},
        {"code": code.swapcase()},
    ):
        refused(await public_app.redeem(code, **changes), GRANT)
    for missing in ("code", "redirect_uri", "code_verifier"):
        answer = await public_app.redeem(code, **{missing: None})
        refused(answer, (400, "invalid_request"))
    assert (await public_app.redeem(code)).status_code == 200


@pytest.mark.asyncio
async def test_a_client_with_a_secret_needs_it_and_its_verifier(ada: ConsentingUser, web_app: ClientApp) -> None:
    code = await ada.code(web_app)
    bare = ClientApp(web_app.http, web_app.client_id, verifier=web_app.verifier)
    wrong = ClientApp(web_app.http, web_app.client_id, "guess", verifier=web_app.verifier)
    for thief in (bare, wrong):
        refused(await thief.redeem(code), (401, "invalid_client"), code)
    refused(await web_app.redeem(code, code_verifier=None), (400, "invalid_request"), code)
    assert (await web_app.redeem(code)).status_code == 200


@pytest.mark.asyncio
async def test_a_code_lives_a_minute(clock: Clock, ada: ConsentingUser, public_app: ClientApp) -> None:
    late, soon = await ada.code(public_app), await ada.code(public_app)
    clock.advance(59)
    assert (await public_app.redeem(soon)).status_code == 200
    clock.advance(2)
    refused(await public_app.redeem(late), GRANT)


@pytest.mark.asyncio
async def test_a_thief_s_refresh_is_found_out_whoever_comes_first(ada: ConsentingUser, public_app: ClientApp) -> None:
    """Thief first: the owner's use ends it. Owner first: the thief's does."""
    stolen = await ada.tokens(public_app)
    own = public_app.http.headers["user-agent"]
    public_app.http.headers["user-agent"] = "thief"
    thief = (await public_app.refresh(stolen["refresh_token"])).json()
    public_app.http.headers["user-agent"] = own
    refused(await public_app.refresh(stolen["refresh_token"]), GRANT)
    assert await status(public_app, thief) == 401
    refused(await public_app.refresh(thief["refresh_token"]), GRANT)


@pytest.mark.asyncio
async def test_a_refresh_token_is_its_client_s_only_and_trying_ends_nothing(
    ada: ConsentingUser, public_app: ClientApp, change: Change
) -> None:
    tokens = await ada.tokens(public_app)
    for method in ("none", "client_secret_basic"):
        other = await another(public_app, change, method)
        refused(await other.refresh(tokens["refresh_token"]), GRANT, tokens["refresh_token"])
    assert (await public_app.refresh(tokens["refresh_token"])).status_code == 200


@pytest.mark.asyncio
async def test_other_credentials_are_no_refresh_token_and_no_code(ada: ConsentingUser, public_app: ClientApp) -> None:
    tokens = await ada.tokens(public_app)
    for text in (tokens["access_token"], tokens["id_token"], "x" * 5000, "ü", "'; --"):
        refused(await public_app.refresh(text), GRANT, tokens["access_token"])
        refused(await public_app.redeem(text), GRANT, tokens["access_token"])
    for text in (tokens["refresh_token"], tokens["id_token"], await ada.code(public_app)):
        answer = await public_app.http.get(LIST, headers={"authorization": f"Bearer {text}"})
        refused(answer, (401, "invalid_token"), text)
    assert await status(public_app, tokens) == 200


@pytest.mark.asyncio
async def test_a_public_client_gets_nothing_for_itself(ada: ConsentingUser, public_app: ClientApp) -> None:
    """55: neither client credentials nor an ID-JAG."""
    del ada
    answer = await public_app.post({"grant_type": "client_credentials"})
    refused(answer, (401, "invalid_client"))
    jag = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    answer = await public_app.post({"grant_type": jag, "assertion": "x.y.z"})
    refused(answer, (400, "unauthorized_client"))
    both = {"token": "x", "client_id": public_app.client_id}
    refused(await public_app.http.post("/oauth/introspect", data=both), (401, "invalid_client"))


@pytest.mark.asyncio
async def test_nothing_at_rest_opens_anything(ada: ConsentingUser, public_app: ClientApp, settings: Settings) -> None:
    code = await ada.code(public_app)
    tokens = await ada.tokens(public_app)
    with sqlite3.connect(settings.data_dir / "negotiator.db") as connection:
        dump = "\n".join(connection.iterdump())
    for secret in (code, tokens["refresh_token"], tokens["access_token"], tokens["id_token"]):
        assert secret not in dump
        assert secret[-20:] not in dump


@pytest.mark.asyncio
async def test_the_token_endpoint_is_not_the_browser_s(
    client: httpx2.AsyncClient, ada: ConsentingUser, public_app: ClientApp
) -> None:
    """Parameters twice, in the query, in JSON; a code in the URL is no code."""
    code = await ada.code(public_app)
    query = f"/oauth/token?grant_type=authorization_code&code={code}"
    assert (await client.get(query)).status_code == 405
    refused(await client.post(query, data={"x": "y"}), (400, "invalid_request"), code)
    twice = f"grant_type=authorization_code&code={code}&code={code}"
    form = {"content-type": "application/x-www-form-urlencoded"}
    refused(await client.post("/oauth/token", content=twice, headers=form), (400, "invalid_request"))
    answer = await client.post("/oauth/token", json={"grant_type": "authorization_code"})
    assert answer.status_code == 415
    assert (await public_app.redeem(code, resource=BASE)).status_code == 200
