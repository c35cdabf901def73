"""Clients without a browser: what they are granted of what they request, and whom an ID-JAG's address names."""

from typing import Any

import httpx2
import pytest

from negotiator.base.scopes import ASSISTANT
from negotiator.config.settings import Settings
from negotiator.store.statement import Transaction
from negotiator.tokens import clients
from negotiator.tokens.clients import JWT_BEARER, NewClient
from negotiator.users import user_queries
from tests.conftest import Change, Mint, bearer, connect, make_settings, running
from tests.contract.requirements import covers
from tests.helpers.answer_checks import refused
from tests.helpers.fake_issuer import FakeIssuer

TOKEN = "/oauth/token"
CHALLENGED = "negotiations:read negotiations:write memories:read memories:write ai:tactics tools:read"


def machine(*scopes: str) -> NewClient:
    """A client that an operator gave these scopes."""
    return NewClient("robot", clients.USERLESS_GRANTS, scopes)


@pytest.mark.asyncio
@covers("3.1:narrowed")
async def test_client_credentials_grants_the_requested_scopes_that_the_client_may_have(
    client: httpx2.AsyncClient, change: Change
) -> None:
    narrow = machine("negotiations:read", "openid")
    pair = await change(lambda tx: clients.add(tx, narrow))
    for asked, granted in (
        (CHALLENGED, "negotiations:read"),
        (f"{CHALLENGED} root:all", "negotiations:read"),
        ("memories:write openid openid", "openid"),
        (None, "openid negotiations:read"),
    ):
        form = {"grant_type": "client_credentials", **({"scope": asked} if asked else {})}
        answer = await client.post(TOKEN, data=form, auth=pair)
        assert answer.status_code == 200, answer.text
        assert answer.json()["scope"] == granted
    listed = await client.get("/api/negotiations", headers=bearer(answer.json()))
    assert listed.status_code == 200
    for asked in ("memories:write ai:tactics", "root:all", '"'):
        form = {"grant_type": "client_credentials", "scope": asked}
        refused(await client.post(TOKEN, data=form, auth=pair), 400, "invalid_scope")


@pytest.mark.asyncio
@covers("3.1:narrowed")
async def test_a_client_of_both_services_is_granted_what_the_running_one_offers(
    settings: Settings, change: Change
) -> None:
    both = machine("negotiations:read", "tools:read")
    pair = await change(lambda tx: clients.add(tx, both))
    alone = make_settings(settings.data_dir, settings.keys_dir, services=["directory"])
    async with running(alone) as application, connect(application) as client:
        form = {"grant_type": "client_credentials"}
        answer = await client.post(TOKEN, data=form, auth=pair)
        assert (answer.status_code, answer.json()["scope"]) == (200, "tools:read")


@pytest.mark.asyncio
@covers("3.1:unverified-email")
async def test_an_unverified_address_in_an_id_jag_is_neither_stored_nor_linked(
    client: httpx2.AsyncClient, change: Change, idp: FakeIssuer, mint: Mint
) -> None:
    owner, _ = await mint("ada@corp.example")
    pair = await change(lambda tx: clients.add(tx, machine(*ASSISTANT)))

    async def user_of(**claims: Any) -> str:
        assertion = idp.assertion(client_id=pair[0], **claims)
        form = {"grant_type": JWT_BEARER, "assertion": assertion}
        answer = await client.post(TOKEN, data=form, auth=pair)
        assert answer.status_code == 200, answer.text
        userinfo = await client.get("/oauth/userinfo", headers=bearer(answer.json()))
        assert "email" not in userinfo.json()
        return str(userinfo.json()["sub"])

    first = await user_of(sub="u-1", email="ada@corp.example")
    again = await user_of(sub="u-1", email="ada@corp.example", email_verified=False)
    stranger = await user_of(sub="u-2", email="new@corp.example")
    assert first == again
    assert owner not in {first, stranger}

    def addresses(tx: Transaction) -> list[str | None]:
        found = [user_queries.by_id(tx, user_id) for user_id in (first, stranger)]
        return [user.email for user in found if user]

    assert await change(addresses) == [None, None]
    assert await change(lambda tx: user_queries.by_email(tx, "new@corp.example")) is None
    for verified in ("true", 1):
        odd = idp.assertion(client_id=pair[0], email="ada@corp.example", email_verified=verified)
        form = {"grant_type": JWT_BEARER, "assertion": odd}
        refused(await client.post(TOKEN, data=form, auth=pair), 400, "invalid_grant")
    proven = idp.assertion(client_id=pair[0], sub="u-3", email="ada@corp.example", email_verified=True)
    form = {"grant_type": JWT_BEARER, "assertion": proven}
    refused(await client.post(TOKEN, data=form, auth=pair), 400, "invalid_grant")
