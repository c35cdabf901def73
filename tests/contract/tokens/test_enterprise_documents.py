"""Programs that are known by a document and work without a person: for users of an issuer, and for themselves."""

from typing import Any

import pytest

from negotiator.config.settings import Settings
from negotiator.store.store import Store, make_store
from negotiator.tokens import clients
from negotiator.tokens.clients import JWT_BEARER
from negotiator.trust import issuer_queries
from tests.conftest import bearer, connect
from tests.contract.requirements import covers
from tests.helpers.answer_checks import refused
from tests.helpers.client_assertions import ClientAssertionSigner
from tests.helpers.client_site import AT, Site
from tests.helpers.code_flow import ClientApp, service_and_user
from tests.helpers.fake_issuer import FakeIssuer
from tests.helpers.form_browser import BASE

TOKEN = "/oauth/token"
BY_ITSELF = {"grant_type": "client_credentials"}


def machine(site: Site, **changes: Any) -> ClientAssertionSigner:
    """A signer whose document names no redirect URI."""
    signer = ClientAssertionSigner(site.client_id)
    site.publish(signer)
    site.extra = {
        "token_endpoint_auth_method": "private_key_jwt",
        "jwks_uri": site.keys_at,
        "grant_types": [JWT_BEARER, "client_credentials"],
        "response_types": [],
        "redirect_uris": ...,
        **changes,
    }
    return signer


async def opened(settings: Settings) -> Store:
    store = make_store(settings.database_url)
    await store.start()
    return store


@covers("3.6:enterprise")
@pytest.mark.asyncio
async def test_a_program_known_by_its_document_acts_for_the_users_of_an_issuer_that_lists_it(
    settings: Settings, site: Site
) -> None:
    signer, idp = machine(site), FakeIssuer(BASE)
    async with service_and_user(settings, allow_loopback_fetch=True) as (application, _), connect(application) as http:
        store = await opened(settings)

        async def trust(*listed: str) -> None:
            issuer = idp.issuer(clients=frozenset(listed), scopes=("negotiations:read", "memories:read"))
            await store.write(lambda tx: issuer_queries.add(tx, issuer, own=BASE, allow_loopback=True))

        async def exchange(**form: str) -> Any:
            jag = idp.assertion(client_id=site.client_id)
            return await http.post(TOKEN, data={"grant_type": JWT_BEARER, "assertion": jag, **signer.form(), **form})

        for listed in ((), ("https://other.example/client.json",)):
            await trust(*listed)
            body = refused(await exchange(), 400, "invalid_grant")
            assert "an administrator adds its address to the issuer's clients" in body["error_description"]
        await trust(site.client_id)
        made = await exchange(scope="negotiations:read negotiations:write bookmarks:read mcp:tools")
        assert (made.status_code, made.json()["scope"]) == (200, "negotiations:read")
        assert (await http.get("/api/negotiations", headers=bearer(made.json()))).status_code == 200
        assert (await http.post(TOKEN, data={**BY_ITSELF, "client_id": site.client_id})).status_code == 401
        thief = ClientAssertionSigner(site.client_id)
        jag = idp.assertion(client_id=site.client_id)
        stolen = await http.post(TOKEN, data={"grant_type": JWT_BEARER, "assertion": jag, **thief.form()})
        refused(stolen, 401, "invalid_client")
        page = await http.get(ClientApp(http, site.client_id, redirect_uri=AT).asks())
        assert page.status_code == 400
        assert "location" not in page.headers
        await store.close()


@covers("3.6:enterprise")
@pytest.mark.asyncio
async def test_a_program_known_by_its_document_has_no_scope_of_its_own_until_an_administrator_allows_its_address(
    settings: Settings, site: Site
) -> None:
    signer = machine(site, scope="negotiations:read memories:read")
    async with service_and_user(settings, allow_loopback_fetch=True) as (application, _), connect(application) as http:
        store = await opened(settings)

        async def ask(**form: str) -> Any:
            return await http.post(TOKEN, data={**BY_ITSELF, **signer.form(), **form})

        for form in ({}, {"scope": "negotiations:read"}):
            body = refused(await ask(**form), 400, "invalid_scope")
            assert "An administrator of this server decides" in body["error_description"]
        allowed = ("negotiations:read", "negotiations:write")
        await store.write(lambda tx: clients.allow(tx, site.client_id, allowed))
        made = (await ask()).json()
        assert made["scope"] == "negotiations:read"
        assert (await http.get("/api/negotiations", headers=bearer(made))).status_code == 200
        await store.write(lambda tx: clients.remove(tx, site.client_id))
        assert (await http.get("/api/negotiations", headers=bearer(made))).status_code == 401
        refused(await ask(), 401, "invalid_client")
        await store.write(lambda tx: clients.allow(tx, site.client_id, ("memories:read",)))
        again = (await ask()).json()
        assert again["scope"] == "memories:read"
        assert (await http.get("/api/negotiations", headers=bearer(made))).status_code == 401
        await store.close()


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "changes",
    [
        {"token_endpoint_auth_method": "none"},
        {"grant_types": ["refresh_token"]},
        {"grant_types": ["authorization_code", JWT_BEARER]},
        {"jwks_uri": ...},
    ],
)
async def test_a_document_without_keys_or_without_a_way_back_is_no_client(
    settings: Settings, site: Site, changes: dict[str, Any]
) -> None:
    signer = machine(site, **changes)
    async with service_and_user(settings, allow_loopback_fetch=True) as (application, _), connect(application) as http:
        refused(await http.post(TOKEN, data={**BY_ITSELF, **signer.form()}), 401, "invalid_client")
