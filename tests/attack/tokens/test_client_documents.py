"""Clients known by a document, when the document is an attacker's (CIMD -01 §6)."""

import asyncio
from typing import Any, Final

import httpx2
import pytest

from negotiator.config.settings import Settings
from negotiator.store.store import make_store
from negotiator.tokens import client_metadata, clients
from tests.conftest import connect
from tests.helpers.client_assertions import ClientAssertionSigner
from tests.helpers.client_site import AT, Site
from tests.helpers.code_flow import ClientApp, service_and_user, told
from tests.helpers.forger import refused
from tests.helpers.loopback_server import JSON

_REASONS: Final = {
    "client_id": "The document names another client.",
    "client_secret": "A document carries no secret.",
    "token_endpoint_auth_method": "",
    "redirect_uris": "",
}
"""What the page of a refusal says, by the member that is wrong; nothing where several sentences are possible."""


@pytest.mark.asyncio
async def test_a_client_known_by_its_document_is_let_in(settings: Settings, site: Site) -> None:
    async with (
        service_and_user(settings, allow_loopback_fetch=True) as (application, user),
        connect(application) as http,
    ):
        app = ClientApp(http, site.client_id, redirect_uri="http://127.0.0.1:4000/callback")
        page = await user.http.get(app.asks())
        assert "<h1>127.0.0.1" in page.text
        code = told(await user.answer(page), app.redirect_uri)["code"]
        tokens = (await app.redeem(code)).json()
        renewed = (await app.refresh(tokens["refresh_token"])).json()
        listed = await http.get("/api/negotiations", headers={"authorization": f"Bearer {renewed['access_token']}"})
        assert listed.status_code == 200
        ended = await http.post("/oauth/revoke", data={"token": renewed["refresh_token"]})
        assert ended.status_code == 200
        refused(await app.refresh(renewed["refresh_token"]), (400, "invalid_grant"))
        assert len(site.heads) == 1


@pytest.mark.asyncio
async def test_a_document_with_keys_makes_a_client_that_nobody_else_can_be(settings: Settings, site: Site) -> None:
    """Whoever gets hold of its codes and refresh tokens has nothing without its key (CIMD -01 §6.2)."""
    async with (
        service_and_user(settings, allow_loopback_fetch=True) as (application, user),
        connect(application) as http,
    ):
        signer = ClientAssertionSigner(site.client_id)
        site.extra = {"token_endpoint_auth_method": "private_key_jwt", "jwks": signer.jwks}
        app = ClientApp(http, site.client_id, redirect_uri="http://127.0.0.1:4000/callback")
        code = told(await user.decide(app.asks()), app.redirect_uri)["code"]
        refused(await app.redeem(code), (401, "invalid_client"))
        thief = ClientAssertionSigner(site.client_id)
        refused(await app.redeem(code, **thief.form()), (401, "invalid_client"))
        tokens = (await app.redeem(code, **signer.form())).json()
        refused(await app.refresh(tokens["refresh_token"]), (401, "invalid_client"))
        renewed = (await app.refresh(tokens["refresh_token"], **signer.form())).json()
        about = {"token": renewed["access_token"], **signer.form()}
        assert (await http.post("/oauth/introspect", data=about)).json()["active"] is True


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "client_id",
    [
        "https://127.0.0.1/client.json",
        "https://localhost/client.json",
        "https://[::1]/client.json",
        "https://10.0.0.1/client.json",
        "https://169.254.169.254/latest/meta-data",
        "https://[::ffff:127.0.0.1]/client.json",
        "https://0.0.0.0/x",
        "https://100.64.0.1/x",
        "https://2130706433/x",
        "http://127.0.0.1/client.json",
        "file:///etc/passwd",
        "gopher://127.0.0.1/x",
    ],
)
async def test_no_id_leads_into_our_own_network(settings: Settings, site: Site, client_id: str) -> None:
    async with service_and_user(settings) as (_, user):
        for path in (client_id, client_id.replace("/", f":{site.port}/", 1)):
            answer = await user.http.get(ClientApp(user.http, path).asks())
            assert answer.status_code == 400
            assert "location" not in answer.headers
            assert (await ClientApp(user.http, path).redeem("x")).status_code in {400, 401}
        assert site.heads == []


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "changes",
    [
        {"extra": {"client_id": "https://other.example/client.json"}},
        {"extra": {"client_id": ...}},
        {"extra": {"client_secret": "s"}},
        {"extra": {"token_endpoint_auth_method": "client_secret_post"}},
        {"extra": {"token_endpoint_auth_method": "private_key_jwt"}},
        {"extra": {"token_endpoint_auth_method": "private_key_jwt", "jwks_uri": "http://10.0.0.1/#x"}},
        {"extra": {"redirect_uris": ["javascript:alert(1)"]}},
        {"extra": {"redirect_uris": ...}},
        {"extra": {"padding": "x" * 5000}},
        {"status": b"404 Not Found"},
        {"status": b"302 Found", "head": JSON + b"Location: /other.json\r\n"},
        {"status": b"301 Moved", "head": JSON + b"Location: http://169.254.169.254/\r\n"},
        {"status": b"204 No Content"},
        {"head": b"Content-Type: text/html\r\n"},
        {"body": b"not json"},
        {"body": b"[]"},
        {"body": b'{"client_id": "a", "client_id": "b"}'},
        {"body": b""},
    ],
)
async def test_a_bad_document_is_no_client(settings: Settings, site: Site, changes: dict[str, Any]) -> None:
    for name, value in changes.items():
        setattr(site, name, value)
    async with service_and_user(settings, allow_loopback_fetch=True) as (_, user):
        app = ClientApp(user.http, site.client_id, redirect_uri=AT)
        answer = await user.http.get(app.asks())
        assert answer.status_code == 400
        assert "location" not in answer.headers
        reason = _REASONS.get(next(iter(changes.get("extra", {})), ""), "It could not be fetched")
        for page in (answer, await user.http.get(app.asks())):
            assert f"{site.client_id} cannot be used. {reason}" in page.text
            assert "Tell whoever makes the program" in page.text
        refused(await app.redeem("x"), (401, "invalid_client"))
        assert len(site.heads) == 1, "a failure is remembered, and no redirect followed"


@pytest.mark.asyncio
async def test_a_slow_document_holds_up_nobody_but_its_own(
    settings: Settings, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("negotiator.compose.services._DOCUMENT_SECONDS", 0.4)
    site.stall = True
    async with service_and_user(settings, allow_loopback_fetch=True) as (_, user):
        asks = ClientApp(user.http, site.client_id, redirect_uri=AT).asks()
        waiting = [asyncio.create_task(user.http.get(asks)) for _ in range(20)]
        await asyncio.sleep(0)
        assert (await user.http.get("/api/health")).status_code == 200
        assert not all(task.done() for task in waiting)
        assert {answer.status_code for answer in await asyncio.gather(*waiting)} == {400}
        assert len(site.heads) == 1, "one flight for all who ask"


@pytest.mark.asyncio
async def test_a_document_that_changes_between_question_and_exchange_ends_the_code(
    settings: Settings, site: Site
) -> None:
    site.head = JSON + b"Cache-Control: no-store\r\n"
    async with service_and_user(settings, allow_loopback_fetch=True) as (_, user):
        app = ClientApp(user.http, site.client_id, redirect_uri=AT)
        code = told(await user.decide(app.asks()), AT)["code"]
        site.extra = {"redirect_uris": ["http://127.0.0.1/elsewhere"]}
        refused(await app.redeem(code), (400, "invalid_grant"), code)
        site.extra = {}
        assert (await app.redeem(code)).status_code == 200
        site.extra = {"client_secret": "x"}
        refused(await app.redeem(code), (401, "invalid_client"), code)


@pytest.mark.asyncio
async def test_what_the_page_showed_is_read_again_when_its_button_is_pressed(settings: Settings, site: Site) -> None:
    site.head = JSON + b"Cache-Control: no-store\r\n"
    async with service_and_user(settings, allow_loopback_fetch=True) as (_, user):
        page = await user.http.get(ClientApp(user.http, site.client_id, redirect_uri=AT).asks())
        site.extra = {"redirect_uris": ["http://127.0.0.1/elsewhere"]}
        answer = await user.answer(page)
        assert answer.status_code == 400
        assert "location" not in answer.headers


@pytest.mark.asyncio
async def test_a_client_that_is_shut_out_is_not_even_fetched(settings: Settings, site: Site) -> None:
    async with service_and_user(settings, allow_loopback_fetch=True) as (_, user):
        store = make_store(settings.database_url)
        await store.start()
        await store.write(lambda tx: clients.remove(tx, site.client_id))
        await store.close()
        app = ClientApp(user.http, site.client_id, redirect_uri=AT)
        assert (await user.http.get(app.asks())).status_code == 400
        assert site.heads == []


@pytest.mark.asyncio
async def test_an_id_of_a_row_is_never_a_document_and_the_other_way_round(client: httpx2.AsyncClient) -> None:
    """Client ids that we mint cannot be URLs (CIMD -01 §3)."""
    body = {"redirect_uris": [AT], "client_id": "https://app.example/client.json"}
    made = (await client.post("/oauth/register", json=body)).json()
    assert not client_metadata.is_document_address(made["client_id"], allow_loopback=True)
