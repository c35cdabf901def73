"""An identity whose e-mail is an account's: its owner approves the link once, then assertions work."""

import httpx2
import pytest

from negotiator.store.statement import Transaction
from negotiator.users import user_queries
from tests.conftest import Change, Clock
from tests.helpers.answer_checks import refused
from tests.helpers.fake_issuer import FakeIssuer, registration
from tests.helpers.form_browser import BASE

PASSWORD = "a long enough password"


async def asked(client: httpx2.AsyncClient, idp: FakeIssuer) -> httpx2.Response:
    """Register by an assertion about Ada."""
    assertion = idp.assertion(email="ada@corp.example", email_verified=True)
    return await client.post("/api/agent/register", json=registration(assertion))


async def account(change: Change) -> str:
    """Ada's account, with a password."""
    hashed = user_queries.hash_password(PASSWORD)

    def unit(tx: Transaction) -> str:
        return user_queries.add(tx, "ada@corp.example", password_hash=hashed, actor="operator")

    made: str = await change(unit)
    return made


def path(answer: httpx2.Response) -> str:
    """Where the owner approves."""
    uri: str = refused(answer, 401, "interaction_required")["interaction"]["verification_uri"]
    return uri.removeprefix(BASE)


@pytest.mark.asyncio
async def test_five_wrong_passwords_or_an_hour_end_a_link(
    clock: Clock, client: httpx2.AsyncClient, idp: FakeIssuer, change: Change
) -> None:
    await account(change)
    guessed, old = path(await asked(client, idp)), path(await asked(client, idp))
    for _ in range(5):
        assert (await client.post(guessed, data={"password": "wrong"})).status_code == 403
    assert (await client.post(guessed, data={"password": PASSWORD})).status_code == 410
    clock.advance(3600)
    assert (await client.get(old)).status_code == 410
    assert (await client.post(old, data={"password": PASSWORD})).status_code == 410
    path(await asked(client, idp))


@pytest.mark.asyncio
async def test_the_fifth_try_may_be_the_right_one(client: httpx2.AsyncClient, idp: FakeIssuer, change: Change) -> None:
    await account(change)
    link = path(await asked(client, idp))
    for _ in range(4):
        assert (await client.post(link, data={"password": "wrong"})).status_code == 403
    assert (await client.post(link, data={"password": PASSWORD})).status_code == 200


@pytest.mark.asyncio
async def test_a_closed_account_approves_nothing(client: httpx2.AsyncClient, idp: FakeIssuer, change: Change) -> None:
    await account(change)
    link = path(await asked(client, idp))
    await change(lambda tx: user_queries.disable(tx, "ada@corp.example"))
    assert (await client.post(link, data={"password": PASSWORD})).status_code == 403
