"""The code flow, refresh, registration and userinfo, as the contract promises them."""

import httpx2
import pytest

from negotiator.base.scopes import ASSISTANT
from negotiator.console.people.scope_words import WORDS
from tests.conftest import bearer
from tests.contract.requirements import covers
from tests.helpers.code_flow import CALLBACK, SCOPE, ClientApp, ConsentingUser, told
from tests.helpers.form_browser import BASE

RESOURCE = "/.well-known/oauth-protected-resource"


@pytest.mark.asyncio
@covers("3.3:authorize")
async def test_a_user_signs_in_consents_and_the_client_gets_a_code_with_iss(
    client: httpx2.AsyncClient, ada: ConsentingUser, public_app: ClientApp
) -> None:
    stranger = await client.get(public_app.asks())
    assert (stranger.status_code, stranger.headers["location"].split("?")[0]) == (303, f"{BASE}/sign-in")
    page = await ada.http.get(public_app.asks())
    wanted, _, others = page.text.partition("It may not")
    assert "app.example" in wanted
    for scope in ASSISTANT:
        side = wanted if scope in SCOPE.split() else others
        assert WORDS[scope] in side
    assert told(await ada.answer(page, decision="deny"))["error"] == "access_denied"
    code = told(await ada.decide(public_app.asks()))["code"]
    wrong = await public_app.redeem(code, code_verifier="x" * 43)
    assert wrong.json()["error"] == "invalid_grant"
    assert (await public_app.redeem(code)).status_code == 200
    for changes in ({"code_challenge_method": "plain"}, {"code_challenge": None}):
        assert told(await ada.http.get(public_app.asks(**changes)))["error"] == "invalid_request"


@pytest.mark.asyncio
@covers("3.4:refresh")
async def test_refresh_tokens_rotate_and_reuse_kills_the_family(ada: ConsentingUser, public_app: ClientApp) -> None:
    first = await ada.tokens(public_app)
    second = (await public_app.refresh(first["refresh_token"])).json()
    retried = (await public_app.refresh(first["refresh_token"])).json()
    assert retried["refresh_token"] == second["refresh_token"]
    third = (await public_app.refresh(second["refresh_token"])).json()
    for dead in (first, third):
        assert (await public_app.refresh(dead["refresh_token"])).json()["error"] == "invalid_grant"
    for tokens in (first, second, third):
        answer = await public_app.http.get("/api/negotiations", headers=bearer(tokens))
        assert answer.status_code == 401


@pytest.mark.asyncio
@covers("3.6:register")
async def test_a_client_registers_itself_and_uses_the_flow(client: httpx2.AsyncClient, ada: ConsentingUser) -> None:
    body = {"redirect_uris": [CALLBACK], "token_endpoint_auth_method": "none"}
    made = await client.post("/oauth/register", json=body)
    assert made.status_code == 201
    assert "no-store" in made.headers["cache-control"]
    assert made.json()["redirect_uris"] == [CALLBACK]
    assert (await ada.tokens(ClientApp(client, made.json()["client_id"])))["token_type"] == "Bearer"
    bad = await client.post("/oauth/register", json={**body, "redirect_uris": ["javascript:1"]})
    assert (bad.status_code, bad.json()["error"]) == (400, "invalid_redirect_uri")


@pytest.mark.asyncio
@covers("3.9:userinfo", "1.14:scope-openid")
async def test_openid_and_profile_open_userinfo(ada: ConsentingUser, public_app: ClientApp) -> None:
    for scope, claims in (("openid", {"sub"}), ("openid profile", {"sub", "name", "preferred_username", "email"})):
        tokens = await ada.tokens(public_app, scope=scope)
        answer = await public_app.http.get("/oauth/userinfo", headers=bearer(tokens))
        assert set(answer.json()) == claims
        assert answer.json()["sub"] == ada.user_id
    tokens = await ada.tokens(public_app, scope="profile")
    answer = await public_app.http.get("/oauth/userinfo", headers=bearer(tokens))
    assert (answer.status_code, answer.json()["error"]) == (403, "insufficient_scope")


@pytest.mark.asyncio
@covers("4.1:inserted")
async def test_parts_of_the_service_have_resource_metadata_of_their_own(client: httpx2.AsyncClient) -> None:
    for path in ("", "/mcp", "/api/v1"):
        document = (await client.get(f"{RESOURCE}{path}")).json()
        assert document["resource"] == f"{BASE}{path}"
        assert document["authorization_servers"] == [BASE]


@pytest.mark.asyncio
@covers("4.1:code-flow")
async def test_the_metadata_says_what_the_code_flow_can(client: httpx2.AsyncClient) -> None:
    for path in ("oauth-authorization-server", "openid-configuration"):
        document = (await client.get(f"/.well-known/{path}")).json()
        assert document["authorization_endpoint"] == f"{BASE}/oauth/authorize"
        assert document["registration_endpoint"] == f"{BASE}/oauth/register"
        assert document["response_types_supported"] == ["code"]
        assert document["code_challenge_methods_supported"] == ["S256"]
        assert document["authorization_response_iss_parameter_supported"] is True
        assert document["client_id_metadata_document_supported"] is True
        assert {"authorization_code", "refresh_token"} <= set(document["grant_types_supported"])
    assert document["userinfo_endpoint"] == f"{BASE}/oauth/userinfo"
    assert document["subject_types_supported"] == ["public"]
    assert document["id_token_signing_alg_values_supported"][0] == "RS256"
