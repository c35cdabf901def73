"""A provider's answer that was forged, stolen, replayed, or begun in another browser."""

from typing import Any
from urllib.parse import urlencode

import pytest

from negotiator.users import user_queries
from tests.conftest import Browsers, Change
from tests.helpers.fake_issuer import FakeIssuer
from tests.helpers.fake_openid_provider import CLIENT, FakeOpenIdProvider
from tests.helpers.form_browser import redirect_path
from tests.helpers.provider_sign_in import application, provider, settings, there, through

__all__ = ["application", "provider", "settings"]

FORGED: list[dict[str, Any]] = [
    {"iss": "https://other.example"},
    {"aud": "another-client"},
    {"aud": [CLIENT, "another-client"]},
    {"aud": [CLIENT, "another-client"], "azp": "another-client"},
    {"aud": None},
    {"azp": "another-client"},
    {"nonce": "another sign-in's"},
    {"nonce": None},
    {"exp": 1},
    {"exp": "9999999999"},
    {"iat": 1},
    {"iat": 9_999_999_999},
    {"sub": ""},
    {"sub": None},
    {"sub": 7},
    {"sub": "a\u202eb"},
]


@pytest.mark.asyncio
async def test_no_forged_id_token_signs_anybody_in(
    browsers: Browsers, provider: FakeOpenIdProvider, change: Change
) -> None:
    for claims in FORGED:
        provider.claims = claims
        browser = browsers()
        answer = await through(browser, provider)
        assert answer.status_code == 403, claims
        assert browser.session() is None
    provider.claims = {}
    for headers in ({"typ": "oauth-id-jag+jwt"}, {"typ": "at+jwt"}, {"typ": ["JWT"]}, {"kid": "x"}):
        provider.headers = headers
        assert (await through(browsers(), provider)).status_code == 403, headers
    provider.headers = {}
    provider.idp.key = FakeIssuer("the keys are known, and this is none of them").key
    assert (await through(browsers(), provider)).status_code == 403
    assert await change(user_queries.list_users) == []


@pytest.mark.asyncio
async def test_an_answer_is_good_once_in_the_browser_that_asked(
    browsers: Browsers, provider: FakeOpenIdProvider
) -> None:
    ada, eve = browsers(), browsers()
    back, asked = await there(ada, provider), urlencode(provider.asked)
    assert (await eve.open(back)).status_code == 400, "no errand at all"
    await there(eve, provider)
    assert (await eve.open(back)).status_code == 400, "another errand"
    held = ada.client.cookies.get("__Host-negotiator-pending-sign-in") or ""
    assert redirect_path(await ada.open(back)) == "/account"
    assert (await ada.open(back)).status_code == 400, "the errand is over"
    ada.client.cookies.set("__Host-negotiator-pending-sign-in", held, domain="negotiator.example")
    again = provider.sign_in(f"{provider.name}/authorize?{asked}")
    answer = await ada.open(again.removeprefix("https://negotiator.example"))
    assert answer.status_code == 403, "a state counts once, with a fresh code too"


@pytest.mark.asyncio
async def test_an_errand_that_somebody_else_sealed_is_none(browsers: Browsers, provider: FakeOpenIdProvider) -> None:
    browser = browsers()
    back = await there(browser, provider)
    held = browser.client.cookies.get("__Host-negotiator-pending-sign-in") or ""
    content, _, seal = held.partition(".")
    for forged in (f"{content}.", content, f"{content}.{'0' * 64}", f"{content[:-2]}.{seal}", "."):
        other = browsers()
        other.client.cookies.set("__Host-negotiator-pending-sign-in", forged)
        assert (await other.open(back)).status_code == 400, forged


@pytest.mark.asyncio
async def test_another_provider_s_answer_is_not_taken_for_this_one_s(
    browsers: Browsers, provider: FakeOpenIdProvider
) -> None:
    for iss in ("", "&iss=https%3A%2F%2Fevil.example"):
        browser = browsers()
        back = (await there(browser, provider)).partition("&iss=")[0]
        assert (await browser.open(back + iss)).status_code == 403
        assert browser.session() is None


@pytest.mark.asyncio
async def test_a_provider_that_refuses_or_is_away_or_lies_is_said_so(
    browsers: Browsers, provider: FakeOpenIdProvider
) -> None:
    browser = browsers()
    back = (await there(browser, provider)).partition("?")[0]
    state = provider.asked["state"]
    refused = await browser.client.get(back, params={"error": "<script>", "state": state})
    assert refused.status_code == 403
    assert "<script" not in refused.text
    browser = browsers()
    back = await there(browser, provider)
    provider.codes.clear()
    assert (await browser.open(back)).status_code == 503


@pytest.mark.asyncio
async def test_a_provider_whose_metadata_is_not_its_own_is_not_asked(
    browsers: Browsers, provider: FakeOpenIdProvider
) -> None:
    for metadata in (
        {"issuer": "https://evil.example"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"authorization_endpoint": None},
        {"token_endpoint": "ftp://x"},
        {"token_endpoint": "https://[x"},
    ):
        provider.metadata = metadata
        assert (await browsers().open("/sign-in/provider")).status_code == 503, metadata


@pytest.mark.asyncio
async def test_the_way_back_leads_nowhere_else(browsers: Browsers, provider: FakeOpenIdProvider) -> None:
    browser = browsers()
    back = await there(browser, provider, "/sign-in/provider?next=//evil.example")
    assert redirect_path(await browser.open(back)) == "/"
