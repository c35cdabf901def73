"""The client documents that the large products publish, through the code flow to a renewed token."""

import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

from negotiator.config.settings import Settings
from tests.conftest import connect
from tests.contract.requirements import covers
from tests.helpers.client_assertions import ClientAssertionSigner
from tests.helpers.client_site import AT, Site
from tests.helpers.code_flow import ClientApp, service_and_user, told
from tests.helpers.form_browser import BASE

_DOCUMENTS: Final = tomllib.loads((Path(__file__).parent / "published_documents.toml").read_text("utf-8"))


@covers("3.6:documents")
@pytest.mark.asyncio
@pytest.mark.parametrize("name", _DOCUMENTS)
async def test_every_published_document_is_let_in(settings: Settings, site: Site, name: str) -> None:
    published: dict[str, Any] = _DOCUMENTS[name]
    document: dict[str, Any] = published["document"]
    signs = document["token_endpoint_auth_method"] == "private_key_jwt"
    site.extra = document | ({"jwks_uri": site.keys_at} if signs else {})
    audience: str = published.get("audience", BASE).replace("https://n.example.com", BASE)
    signer = ClientAssertionSigner(site.client_id, audience=audience, kid="cimd-1", algorithm="RS256")
    site.publish(signer)

    def proof() -> dict[str, str]:
        return signer.form(signer.assertion(head={"typ": "JWT"})) if signs else {}

    async with (
        service_and_user(settings, allow_loopback_fetch=True) as (application, user),
        connect(application) as http,
    ):
        app = ClientApp(http, site.client_id, redirect_uri=published["back"])
        code = told(await user.decide(app.asks(resource=f"{BASE}/mcp")), app.redirect_uri)["code"]
        tokens = (await app.redeem(code, **proof())).json()
        renewed = (await app.refresh(tokens["refresh_token"], **proof())).json()
        seen = await http.get("/api/negotiations", headers={"authorization": f"Bearer {renewed['access_token']}"})
        assert seen.status_code == 401, "the token is for /mcp alone"
        assert site.key_fetches == signs


@covers("3.6:documents")
@pytest.mark.asyncio
async def test_a_client_may_register_the_address_of_its_keys(settings: Settings, site: Site) -> None:
    signer = ClientAssertionSigner()
    site.publish(signer)
    async with service_and_user(settings, allow_loopback_fetch=True) as (_, user):
        body = {"redirect_uris": [AT], "token_endpoint_auth_method": "private_key_jwt", "jwks_uri": site.keys_at}
        made = (await user.http.post("/oauth/register", json=body)).json()
        assert (made["jwks_uri"], "jwks" in made) == (site.keys_at, False)
        signer.client_id = made["client_id"]
        app = ClientApp(user.http, signer.client_id, redirect_uri=AT)
        code = told(await user.decide(app.asks()), AT)["code"]
        assert (await app.redeem(code, **signer.form())).status_code == 200
