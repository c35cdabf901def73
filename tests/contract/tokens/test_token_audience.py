"""A token is for the resource that was asked for: its `aud` says so, and it opens that resource only (RFC 8707)."""

import re
from typing import Any, Final

import httpx2
import jwt
import pytest
from starlette.applications import Starlette

from negotiator.base.scopes import ASSISTANT, DIRECTORY
from negotiator.config.settings import Settings
from negotiator.tokens import clients
from negotiator.tokens.clients import JWT_BEARER, JWT_TOKEN_TYPE, NewClient
from tests.conftest import Change, bearer, connect, make_settings, running
from tests.contract.requirements import covers
from tests.helpers.answer_checks import refused, refused_over_mcp
from tests.helpers.asgi_websocket import WebSocketRefused as Denied
from tests.helpers.asgi_websocket import connect as connect_socket
from tests.helpers.code_flow import ClientApp, ConsentingUser
from tests.helpers.directory_identity import register_account
from tests.helpers.dpop_proofs import DpopProver
from tests.helpers.fake_issuer import FakeIssuer, registration
from tests.helpers.form_browser import BASE

TOKEN: Final = "/oauth/token"
MCP, DIRECTORY_API = f"{BASE}/mcp", f"{BASE}/api/v1"
PLACES: Final = ("/mcp", "/api/v1/tools", "/api/negotiations", "/oauth/userinfo", "/v0.1/servers")
OPENED: Final = {
    BASE: set(PLACES),
    MCP: {"/mcp"},
    DIRECTORY_API: {"/api/v1/tools"},
    f"{MCP} {DIRECTORY_API}": {"/mcp", "/api/v1/tools"},
    f"{BASE} {MCP}": set(PLACES),
}
LISTING: Final = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
EVERY: Final = (*ASSISTANT, *DIRECTORY)


async def opened(client: httpx2.AsyncClient, token: str) -> set[str]:
    """Where this token is good; elsewhere it is refused as a token for something else has to be."""
    found: set[str] = set()
    for place in PLACES:
        headers = {"authorization": f"Bearer {token}"}
        if place == "/mcp":
            answer = await client.post(place, json=LISTING, headers=headers)
        else:
            answer = await client.get(place, headers=headers)
        if answer.status_code == 200:
            found.add(place)
            continue
        (refused_over_mcp if place == "/mcp" else refused)(answer, 401, "invalid_token")
        part = "/mcp" if place == "/mcp" else ""
        metadata = f"{BASE}/.well-known/oauth-protected-resource{part}"
        challenge = answer.headers["www-authenticate"]
        assert re.findall('resource_metadata="([^"]*)"', challenge) == [metadata]
        assert 'error="invalid_token"' in challenge
        described = (await client.get(metadata.removeprefix(BASE))).json()
        assert described["resource"] == f"{BASE}{part}"
    return found


def audience(token: str) -> Any:
    """The `aud` of a JWT."""
    return jwt.decode(token, options={"verify_signature": False})["aud"]


async def add(change: Change, *grants: str) -> tuple[str, str]:
    """A client with every scope."""
    new = NewClient("app", grants or clients.USERLESS_GRANTS, EVERY)
    pair: tuple[str, str] = await change(lambda tx: clients.add(tx, new))
    return pair


@pytest.mark.asyncio
@pytest.mark.parametrize("resource", OPENED)
@covers("3.7:audience", "3.1:resource")
async def test_a_client_s_token_opens_the_resource_it_was_asked_for(
    client: httpx2.AsyncClient, change: Change, resource: str
) -> None:
    pair = await add(change)
    form = {"grant_type": "client_credentials", "resource": resource.split()}
    answer = await client.post(TOKEN, data=form, auth=pair)
    assert answer.status_code == 200, answer.text
    token = answer.json()["access_token"]
    named = [BASE] if BASE in resource.split() else sorted(resource.split())
    expected = named[0] if len(named) == 1 else named
    assert audience(token) in (expected, expected[::-1])
    assert await opened(client, token) == OPENED[resource]
    shown = await client.post("/oauth/introspect", data={"token": token}, auth=pair)
    assert shown.json()["aud"] == audience(token)


@pytest.mark.asyncio
@covers("3.7:audience")
async def test_without_a_resource_a_token_opens_everything(
    client: httpx2.AsyncClient, change: Change, idp: FakeIssuer
) -> None:
    pair = await add(change)
    assertion = idp.assertion(client_id=pair[0])
    form = {"grant_type": JWT_BEARER, "assertion": assertion}
    token = (await client.post(TOKEN, data=form, auth=pair)).json()["access_token"]
    assert audience(token) == BASE
    assert await opened(client, token) == set(PLACES)


@pytest.mark.asyncio
@covers("3.7:audience")
async def test_tokens_bought_with_an_api_key_are_limited_too(client: httpx2.AsyncClient) -> None:
    record = await register_account(client)
    pair = (record["client_id"], record["api_key"])
    for more in ({}, {"requested_token_type": JWT_TOKEN_TYPE}):
        form = {"grant_type": "client_credentials", "resource": DIRECTORY_API, **more}
        token = (await client.post(TOKEN, data=form, auth=pair)).json()["access_token"]
        assert await opened(client, token) == {"/api/v1/tools"}
        shown = await client.post("/oauth/introspect", data={"token": token}, auth=pair)
        assert shown.json()["aud"] == DIRECTORY_API
    headers = {"authorization": f"Bearer {record['api_key']}"}
    assert (await client.get("/v0.1/servers", headers=headers)).status_code == 200


@pytest.mark.asyncio
@covers("3.7:audience", "3.4:refresh")
async def test_a_user_s_grant_limits_its_tokens_and_a_refresh_may_limit_further(
    client: httpx2.AsyncClient, ada: ConsentingUser, public_app: ClientApp
) -> None:
    narrow = await ada.tokens(public_app, resource=MCP)
    assert audience(narrow["access_token"]) == MCP
    assert await opened(client, narrow["access_token"]) == {"/mcp"}
    for beyond in (BASE, DIRECTORY_API):
        answer = await public_app.refresh(narrow["refresh_token"], resource=beyond)
        refused(answer, 400, "invalid_target")
    again = (await public_app.refresh(narrow["refresh_token"])).json()
    assert audience(again["access_token"]) == MCP
    whole = await ada.tokens(public_app)
    assert audience(whole["access_token"]) == BASE
    part = (await public_app.refresh(whole["refresh_token"], resource=MCP)).json()
    assert await opened(client, part["access_token"]) == {"/mcp"}
    after = (await public_app.refresh(part["refresh_token"])).json()
    assert audience(after["access_token"]) == BASE


@pytest.mark.asyncio
@covers("3.7:audience", "3.1:jwt-bearer")
async def test_an_id_jag_s_resource_limits_what_it_buys_at_every_endpoint(
    client: httpx2.AsyncClient, change: Change, idp: FakeIssuer
) -> None:
    pair = await add(change)

    async def bought(claim: str | None, **form: Any) -> httpx2.Response:
        claims: dict[str, Any] = {"resource": claim} if claim else {}
        assertion = idp.assertion(client_id=pair[0], **claims)
        sent = {"grant_type": JWT_BEARER, "assertion": assertion, **form}
        return await client.post(TOKEN, data=sent, auth=pair)

    assert audience((await bought(MCP)).json()["access_token"]) == MCP
    assert audience((await bought(BASE, resource=MCP)).json()["access_token"]) == MCP
    assert audience((await bought(None, resource=MCP)).json()["access_token"]) == MCP
    refused(await bought(MCP, resource=BASE), 400, "invalid_target")
    refused(await bought(MCP, resource=DIRECTORY_API), 400, "invalid_target")
    body = registration(idp.assertion(resource=MCP))
    agent = (await client.post("/api/agent/register", json=body)).json()
    assert await opened(client, agent["access_token"]) == {"/mcp"}
    newer = {"type": "identity_assertion", **_asserted(idp.assertion(resource=[MCP]))}
    identity = (await client.post("/api/agent/identity", json=newer)).json()["identity"]
    form = {"grant_type": JWT_BEARER, "assertion": identity["assertion"]}
    token = (await client.post(TOKEN, data=form)).json()["access_token"]
    assert await opened(client, token) == {"/mcp"}
    refused(await client.post(TOKEN, data={**form, "resource": BASE}), 400, "invalid_target")


@pytest.mark.asyncio
@covers("3.7:audience", "3.8:dpop")
async def test_a_bound_token_for_another_resource_is_refused_with_its_proof(
    client: httpx2.AsyncClient, change: Change
) -> None:
    pair, prover = await add(change), DpopProver()
    form = {"grant_type": "client_credentials", "resource": MCP}
    answer = await client.post(TOKEN, data=form, auth=pair, headers={"DPoP": prover.proof()})
    token = answer.json()["access_token"]
    for path, method, status in (("/mcp", "POST", 200), ("/api/negotiations", "GET", 401)):
        headers = prover.headers(token, method, path)
        answer = await client.request(method, path, json=LISTING, headers=headers)
        assert answer.status_code == status, answer.text
    assert answer.headers["www-authenticate"].startswith("DPoP ")


@pytest.mark.asyncio
@covers("3.7:audience")
async def test_a_token_for_another_resource_opens_no_socket(
    application: Starlette, client: httpx2.AsyncClient, change: Change
) -> None:
    pair = await add(change)
    stream = "/api/teleprompter/sessions/live_01jd0000000000000000000000/stream"
    for resource, status in ((BASE, 404), (MCP, 401), (DIRECTORY_API, 401)):
        form = {"grant_type": "client_credentials", "resource": resource}
        token = (await client.post(TOKEN, data=form, auth=pair)).json()
        with pytest.raises(Denied) as denied:
            async with connect_socket(application, stream, headers=bearer(token)):
                pass
        assert denied.value.status == status


@pytest.mark.asyncio
@covers("3.7:audience")
async def test_a_token_of_the_same_service_under_another_base_opens_nothing(
    application: Starlette, client: httpx2.AsyncClient, change: Change, settings: Settings
) -> None:
    del application
    pair = await add(change)
    form = {"grant_type": "client_credentials", "resource": MCP}
    token = (await client.post(TOKEN, data=form, auth=pair)).json()
    moved = make_settings(settings.data_dir, settings.keys_dir, base_url="https://moved.example")
    async with running(moved) as elsewhere, connect(elsewhere) as other:
        for path in ("/api/negotiations", "/oauth/userinfo"):
            assert (await other.get(path, headers=bearer(token))).status_code == 401


def _asserted(assertion: str) -> dict[str, str]:
    body = registration(assertion)
    return {name: body[name] for name in ("assertion_type", "assertion")}
