"""Where answers go, and where they never go (RFC 9700 §4.1, §4.4, §4.11; RFC 9207)."""

from urllib.parse import parse_qs, quote, urlsplit

import httpx2
import pytest

from tests.helpers.code_flow import CALLBACK, ClientApp, ConsentingUser, told
from tests.helpers.form_browser import BASE

TRICKS = [
    "https://evil.example/callback",
    f"{CALLBACK}/../../evil",
    f"{CALLBACK}/",
    f"{CALLBACK}?next=https://evil.example",
    f"{CALLBACK}#x",
    f"{CALLBACK}%00",
    f"{CALLBACK}\r\nX-Evil: 1",
    f" {CALLBACK}",
    "https://app.example:443/callback",
    "https://app.example.evil.example/callback",
    "https://app.example@evil.example/callback",
    "https://evil.example\\@app.example/callback",
    "https://app.example\\.evil.example/callback",
    "https://evil.example/https://app.example/callback",
    "//app.example/callback",
    "http://app.example/callback",
    "HTTPS://app.example/callback",
    "javascript:alert(document.cookie)",
    "data:text/html,x",
    "/callback",
    f"{BASE}/sign-out",
]


@pytest.mark.asyncio
@pytest.mark.parametrize("uri", TRICKS)
async def test_an_unregistered_redirect_uri_gets_a_page_and_never_an_answer(
    ada: ConsentingUser, public_app: ClientApp, uri: str
) -> None:
    for changes in ({}, {"response_type": "bogus"}, {"prompt": "none"}, {"scope": "root"}):
        answer = await ada.http.get(public_app.asks(redirect_uri=uri, **changes))
        assert answer.status_code == 400
        assert "location" not in answer.headers
        assert "text/html" in answer.headers["content-type"]
        assert "evil" not in answer.text
        assert "refresh" not in answer.headers


@pytest.mark.asyncio
async def test_an_unknown_client_gets_a_page(ada: ConsentingUser, public_app: ClientApp) -> None:
    for client_id in (None, "cli_none", "agt_x", f"{public_app.client_id} ", "x" * 3000, "é"):
        answer = await ada.http.get(public_app.asks(client_id=client_id))
        assert answer.status_code == 400
        assert "location" not in answer.headers
    twice = await ada.http.get(f"{public_app.asks()}&redirect_uri={quote(CALLBACK)}")
    assert twice.status_code == 400
    twice = await ada.http.get(f"{public_app.asks()}&client_id={public_app.client_id}")
    assert twice.status_code == 400


@pytest.mark.asyncio
async def test_every_answer_names_the_issuer_so_that_clients_cannot_be_mixed_up(
    ada: ConsentingUser, public_app: ClientApp
) -> None:
    """RFC 9207: success, refusal and error alike; `told` holds each against the base."""
    answers = [
        await ada.http.get(public_app.asks(response_type="token")),
        await ada.http.get(public_app.asks(prompt="none")),
        await ada.http.get(public_app.asks(scope="root")),
        await ada.decide(public_app.asks(), decision="deny"),
        await ada.decide(public_app.asks()),
    ]
    for answer in answers:
        found = told(answer)
        assert found["state"] == "a state & more"
        assert ("code" in found) != ("error" in found)
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "state", ["x&code=evil", "x#y", "x\r\nSet-Cookie: a=b", "é \U0001f600", "%26iss=https://evil.example", "+"]
)
async def test_a_state_comes_back_as_it_went_and_adds_nothing(
    ada: ConsentingUser, public_app: ClientApp, state: str
) -> None:
    answer = await ada.http.get(public_app.asks(prompt="none", state=state))
    query = urlsplit(answer.headers["location"]).query
    assert parse_qs(query) == {
        "error": ["consent_required"],
        "error_description": ["The user has to give consent."],
        "state": [state],
        "iss": [BASE],
    }
    assert "set-cookie" not in answer.headers


@pytest.mark.asyncio
async def test_a_loopback_port_is_free_and_nothing_else_is(client: httpx2.AsyncClient, ada: ConsentingUser) -> None:
    body = {"redirect_uris": ["http://127.0.0.1/cb"], "token_endpoint_auth_method": "none"}
    made = (await client.post("/oauth/register", json=body)).json()
    at = "http://127.0.0.1:49999/cb"
    app = ClientApp(client, made["client_id"], redirect_uri=at)
    code = told(await ada.decide(app.asks()), at)["code"]
    other = await app.redeem(code, redirect_uri="http://127.0.0.1:50000/cb")
    assert other.json()["error"] == "invalid_grant"
    assert (await app.redeem(code)).status_code == 200
    for uri in ("http://127.0.0.1:49999/cb2", "http://localhost:49999/cb", "http://127.0.0.2/cb"):
        assert (await ada.http.get(app.asks(redirect_uri=uri))).status_code == 400


@pytest.mark.asyncio
async def test_pkce_cannot_be_left_out_weakened_or_added_later(
    ada: ConsentingUser, public_app: ClientApp, web_app: ClientApp
) -> None:
    """RFC 9700 §4.8.2: no code without a challenge, for clients with a secret too, and none without its verifier."""
    for app in (public_app, web_app):
        for changes in (
            {"code_challenge": None, "code_challenge_method": None},
            {"code_challenge_method": None},
            {"code_challenge_method": "plain"},
            {"code_challenge": "short"},
            {"code_challenge": app.verifier},
        ):
            answer = await ada.http.get(app.asks(**changes))
            assert told(answer)["error"] == "invalid_request"
        code = await ada.code(app)
        assert (await app.redeem(code, code_verifier=None)).status_code == 400
