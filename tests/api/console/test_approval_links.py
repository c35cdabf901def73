"""Approval links, for an owner who is signed in."""

import re
from typing import Any

import httpx2
import pytest

from negotiator.config.settings import Settings
from negotiator.console.people.scope_words import purpose_scopes
from tests.conftest import Account, Browsers, bearer
from tests.helpers.email_registration import REGISTER, by_email, outbox
from tests.helpers.fake_issuer import FakeIssuer, registration
from tests.helpers.form_browser import PASSWORD


async def mailed(client: httpx2.AsyncClient, settings: Settings) -> tuple[dict[str, Any], str]:
    """An agent that named Ada's address, and the path of the link in the mail to them."""
    agent = (await client.post(REGISTER, json=by_email("ada@example.com"))).json()
    return agent, outbox(settings)[-1][1]


@pytest.mark.asyncio
async def test_a_signed_in_owner_approves_without_their_password(
    client: httpx2.AsyncClient, settings: Settings, browsers: Browsers, account: Account
) -> None:
    user_id = await account()
    agent, link = await mailed(client, settings)
    browser = browsers()
    await browser.sign_in()
    page = (await browser.open(link)).text
    assert 'type="password"' not in page
    granted = await browser.send(link, on=link, **{"purpose": "own", "scope__memories:read": "on"})
    code = re.search("([BCDFGHJKLMNPQRSTVWXZ]{4}-){2}[BCDFGHJKLMNPQRSTVWXZ]{4}", granted.text)
    assert code, granted.text
    claim = {"claim_token": code[0]}
    answer = await client.post("/api/agent/claim", json=claim, headers=bearer(agent))
    assert answer.json()["identity"]["user_id"] == user_id
    assert answer.json()["scopes"] == ["memories:read"]
    assert (await browser.open(link)).status_code == 410


@pytest.mark.asyncio
async def test_another_account_approves_nothing_however_signed_in(
    client: httpx2.AsyncClient, settings: Settings, browsers: Browsers, account: Account
) -> None:
    await account()
    await account("eve@example.com")
    _, link = await mailed(client, settings)
    browser = browsers()
    await browser.sign_in("eve@example.com")
    page = await browser.open(link)
    assert "signed in as" in page.text
    assert "Make a delegation code" not in page.text
    refused = await browser.send(link, on=link, **{"purpose": "own", "scope__memories:read": "on"})
    assert refused.status_code == 403
    assert (await client.get(link)).status_code == 200, "it is still there for its owner"


@pytest.mark.asyncio
async def test_a_signed_in_owner_links_an_identity(
    client: httpx2.AsyncClient, idp: FakeIssuer, browsers: Browsers, account: Account
) -> None:
    user_id = await account("ada@corp.example")

    async def asked() -> httpx2.Response:
        assertion = idp.assertion(email="ada@corp.example", email_verified=True)
        return await client.post("/api/agent/register", json=registration(assertion))

    uri = (await asked()).json()["interaction"]["verification_uri"]
    link = f"/approve/{uri.rpartition('/')[2]}"
    browser = browsers()
    await browser.sign_in("ada@corp.example")
    assert "Your account is linked" in (await browser.send(link, on=link)).text
    assert (await asked()).json()["identity"]["user_id"] == user_id
    assert idp.name in (await browser.open("/account")).text


@pytest.mark.asyncio
async def test_another_site_s_form_approves_nothing_whatever_it_knows(
    client: httpx2.AsyncClient, settings: Settings, browsers: Browsers, account: Account
) -> None:
    await account()
    _, link = await mailed(client, settings)
    browser = browsers()
    await browser.sign_in()
    grant = {"purpose": "own", "scope:memories:read": "on", "password": PASSWORD, "csrf": await browser.token(link)}
    foreign = {"sec-fetch-site": "cross-site", "origin": "https://evil.example"}
    for sender in (browser.client, client):
        answer = await sender.post(link, data=grant, headers=foreign)
        assert answer.status_code == 403
        assert (await client.get(link)).status_code == 200
    assert (await browser.client.post(link, data={**grant, "csrf": "x"})).status_code == 403
    assert (await browser.client.post(link, data=grant)).status_code == 200


@pytest.mark.asyncio
async def test_an_approval_is_chosen_by_purpose_and_an_empty_choice_is_asked_again(
    client: httpx2.AsyncClient, settings: Settings, browsers: Browsers, account: Account
) -> None:
    await account()
    agent, link = await mailed(client, settings)
    browser = browsers()
    await browser.sign_in()
    assert 'value="negotiate" checked' in (await browser.open(link)).text
    again = await browser.send(link, on=link, purpose="own")
    assert again.status_code == 422
    assert "Choose at least one thing" in again.text
    granted = await browser.send(link, on=link, purpose="advise")
    code = re.search("([BCDFGHJKLMNPQRSTVWXZ]{4}-){2}[BCDFGHJKLMNPQRSTVWXZ]{4}", granted.text)
    assert code, granted.text
    claim = {"claim_token": code[0]}
    answer = await client.post("/api/agent/claim", json=claim, headers=bearer(agent))
    assert set(answer.json()["scopes"]) == set(purpose_scopes("advise"))
