"""Clients that register themselves (RFC 7591)."""

from typing import Any

import httpx2
import jwt
import pytest

from negotiator.config.settings import Settings
from negotiator.tokens import clients
from tests.conftest import Change, Clock, connect, make_settings, running
from tests.contract.requirements import covers
from tests.helpers.code_flow import CALLBACK, ClientApp, ConsentingUser
from tests.helpers.sweep import sweep

PUBLIC = {
    "client_name": "Desk",
    "redirect_uris": [CALLBACK],
    "token_endpoint_auth_method": "none",
    "grant_types": ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:x"],
    "logo_uri": "https://app.example/logo.png",
}


async def registered(client: httpx2.AsyncClient, **changes: Any) -> dict[str, Any]:
    """The answer to a good registration."""
    answer = await client.post("/oauth/register", json={**PUBLIC, **changes})
    assert answer.status_code == 201, answer.text
    assert answer.headers["cache-control"] == "no-store"
    told: dict[str, Any] = answer.json()
    return told


@pytest.mark.asyncio
@covers("3.6:register")
async def test_a_public_client_registers_and_is_let_in(client: httpx2.AsyncClient, ada: ConsentingUser) -> None:
    told = await registered(client, client_id="mine", scope="negotiations:read root")
    assert told["client_id"].startswith("cli_")
    assert "client_secret" not in told
    assert told["grant_types"] == ["authorization_code", "refresh_token"]
    assert told["scope"] == "negotiations:read"
    app = ClientApp(client, told["client_id"])
    tokens = await ada.tokens(app, scope="negotiations:read")
    assert (await app.refresh(tokens["refresh_token"])).status_code == 200


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("name", "callbacks"),
    [
        ("Claude", ["https://claude.ai/api/mcp/auth_callback"]),
        ("ChatGPT", ["https://chatgpt.com/connector_platform_oauth_redirect"]),
        (
            "Cursor",
            [
                "cursor://anysphere.cursor-mcp/oauth/callback",
                "https://www.cursor.com/agents/mcp/oauth/callback",
                "http://localhost:8787/callback",
            ],
        ),
        ("Visual Studio Code", ["https://vscode.dev/redirect", "http://127.0.0.1/", "http://127.0.0.1:33418/"]),
    ],
)
async def test_what_the_clients_of_the_guides_register_is_taken(
    client: httpx2.AsyncClient, name: str, callbacks: list[str]
) -> None:
    told = await registered(client, client_name=name, redirect_uris=callbacks)
    assert told["redirect_uris"] == callbacks


@pytest.mark.asyncio
async def test_the_user_is_told_that_an_editor_s_scheme_leads_to_a_program_on_the_device(
    client: httpx2.AsyncClient, ada: ConsentingUser
) -> None:
    callback = "cursor://anysphere.cursor-mcp/oauth/callback"
    told = await registered(client, client_name="Cursor", redirect_uris=[callback])
    app = ClientApp(client, told["client_id"])
    page = await ada.http.get(app.asks(redirect_uri=callback))
    assert "cursor: asks to work for you here" in page.text
    assert "It claims to be a program on this device" in page.text


@pytest.mark.asyncio
async def test_a_confidential_client_registers_and_needs_its_secret(
    client: httpx2.AsyncClient, ada: ConsentingUser
) -> None:
    told = await registered(client, token_endpoint_auth_method="client_secret_post")
    assert told["client_secret_expires_at"] == 0
    app = ClientApp(client, told["client_id"], told["client_secret"])
    code = await ada.code(app)
    assert (await ClientApp(client, app.client_id, verifier=app.verifier).redeem(code)).status_code == 401
    assert (await app.redeem(code)).status_code == 200


@pytest.mark.asyncio
async def test_a_client_that_wants_es256_gets_it(client: httpx2.AsyncClient, ada: ConsentingUser) -> None:
    told = await registered(client, id_token_signed_response_alg="ES256")
    tokens = await ada.tokens(ClientApp(client, told["client_id"]))
    assert jwt.get_unverified_header(tokens["id_token"])["alg"] == "ES256"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"redirect_uris": None}, "invalid_redirect_uri"),
        ({"redirect_uris": []}, "invalid_redirect_uri"),
        ({"redirect_uris": "https://app.example/cb"}, "invalid_redirect_uri"),
        ({"redirect_uris": [7]}, "invalid_redirect_uri"),
        ({"redirect_uris": [CALLBACK, "javascript:alert(1)"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["http://app.example/cb"]}, "invalid_redirect_uri"),
        ({"redirect_uris": [f"https://app.example/{n}" for n in range(11)]}, "invalid_redirect_uri"),
        ({"grant_types": ["client_credentials"]}, "invalid_client_metadata"),
        ({"grant_types": "authorization_code"}, "invalid_client_metadata"),
        ({"response_types": ["token"]}, "invalid_client_metadata"),
        ({"token_endpoint_auth_method": "private_key_jwt"}, "invalid_client_metadata"),
        ({"token_endpoint_auth_method": ["none"]}, "invalid_client_metadata"),
        ({"scope": "root"}, "invalid_client_metadata"),
        ({"scope": ["openid"]}, "invalid_client_metadata"),
        ({"client_name": "evil\u202eeman"}, "invalid_client_metadata"),
        ({"client_name": "x" * 101}, "invalid_client_metadata"),
        ({"client_name": {"en": "x"}}, "invalid_client_metadata"),
        ({"client_uri": "javascript:alert(1)"}, "invalid_client_metadata"),
        ({"subject_type": "pairwise"}, "invalid_client_metadata"),
        ({"id_token_signed_response_alg": "none"}, "invalid_client_metadata"),
        ({"dpop_bound_access_tokens": True}, "invalid_client_metadata"),
    ],
)
async def test_odd_metadata_is_refused_by_name(client: httpx2.AsyncClient, changes: dict[str, Any], error: str) -> None:
    body = {name: value for name, value in {**PUBLIC, **changes}.items() if value is not None}
    answer = await client.post("/oauth/register", json=body)
    assert (answer.status_code, answer.json()["error"]) == (400, error)


@pytest.mark.asyncio
async def test_registrations_are_budgeted_by_address(settings: Settings) -> None:
    few = make_settings(settings.data_dir, settings.keys_dir, register_limit_anonymous=2)
    async with running(few) as application, connect(application) as client:
        statuses = [(await client.post("/oauth/register", json=PUBLIC)).status_code for _ in range(4)]
        assert statuses == [201, 201, 429, 429]


@pytest.mark.asyncio
async def test_a_client_that_nobody_lets_in_is_forgotten_after_a_week(
    clock: Clock, client: httpx2.AsyncClient, ada: ConsentingUser, change: Change, public_app: ClientApp
) -> None:
    unused, used = await registered(client), await registered(client)
    await ada.tokens(ClientApp(client, used["client_id"]))
    clock.advance(8 * 86_400)
    await change(lambda tx: sweep(tx, clock()))
    left = {row.id for row in await change(clients.list_clients)}
    assert unused["client_id"] not in left
    assert {used["client_id"], public_app.client_id} <= left
