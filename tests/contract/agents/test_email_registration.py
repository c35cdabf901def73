"""Registration by a verified e-mail: signed by an issuer, or asked of the owner by mail."""

import re
from typing import Any

import httpx2
import pytest

from negotiator.config.settings import Settings
from negotiator.store.statement import Transaction
from negotiator.trust import issuer_queries
from negotiator.users import user_queries
from tests.conftest import Change, bearer
from tests.contract.requirements import covers
from tests.helpers.answer_checks import refused
from tests.helpers.email_registration import REGISTER, by_email, outbox
from tests.helpers.fake_issuer import FakeIssuer
from tests.helpers.form_browser import BASE

FIVE = ["client_id", "access_token", "token_type", "expires_in", "scopes"]
PASSWORD = "a long enough password"


async def verifier(change: Change, **policy: Any) -> FakeIssuer:
    """A trusted e-mail verifier."""
    idp = FakeIssuer(BASE, "https://mail.example")
    issuer = idp.issuer(email_verifier=True, **policy)
    await change(lambda tx: issuer_queries.add(tx, issuer, own=BASE, allow_loopback=False))
    return idp


@pytest.mark.asyncio
@covers("2.4:verified-email", "2.4:signed", "2.4:domain")
async def test_a_configured_verifier_speaks_for_its_domains_only(client: httpx2.AsyncClient, change: Change) -> None:
    idp = await verifier(change, email_domains=("corp.example",))
    good = idp.assertion(email="ada@corp.example", email_verified=True)
    answer = await client.post(REGISTER, json=by_email(good))
    assert answer.status_code == 201, answer.text
    result = answer.json()
    assert list(result) == [*FIVE, "identity"]
    assert result["identity"]["email"] == "ada@corp.example"
    lacking: list[dict[str, Any]] = [
        {"email": "ada@evil.example", "email_verified": True},
        {"email": "ada@sub.corp.example", "email_verified": True},
        {"email": "ada@corp.example", "email_verified": False},
        {"email": "ada@corp.example"},
        {},
    ]
    for claims in lacking:
        answer = await client.post(REGISTER, json=by_email(idp.assertion(**claims)))
        refused(answer, 400, "missing_verified_email")


@pytest.mark.asyncio
@covers("2.4:signed")
async def test_an_issuer_that_is_no_verifier_is_not_enabled_for_it(client: httpx2.AsyncClient, idp: FakeIssuer) -> None:
    assertion = idp.assertion(email="ada@corp.example", email_verified=True)
    refused(await client.post(REGISTER, json=by_email(assertion)), 400, "issuer_not_enabled")


@pytest.mark.asyncio
@covers("2.4:approve")
async def test_the_owner_s_password_turns_the_link_into_a_code_for_that_agent(
    client: httpx2.AsyncClient, settings: Settings, change: Change
) -> None:
    hashed = user_queries.hash_password(PASSWORD)

    def account(tx: Transaction) -> str:
        return user_queries.add(tx, "ada@corp.example", password_hash=hashed, actor="operator")

    user_id = await change(account)
    agent = (await client.post(REGISTER, json=by_email("ada@corp.example"))).json()
    other = (await client.post(REGISTER, json={"type": "anonymous"})).json()
    ((to, link),) = outbox(settings)
    assert to == "ada@corp.example"
    page = await client.get(link)
    assert page.status_code == 200
    assert page.headers["cache-control"] == "no-store"
    assert "mailer" in page.text
    assert (await client.get(link)).status_code == 200, "looking grants nothing"
    wrong = await client.post(link, data={"password": "not the password"})
    assert wrong.status_code == 403
    form = {"purpose": "own", "password": PASSWORD, "scope:negotiations:read": "on", "scope:openid": "on"}
    granted = await client.post(link, data=form)
    assert granted.status_code == 200, granted.text
    code = re.search("([BCDFGHJKLMNPQRSTVWXZ]{4}-){2}[BCDFGHJKLMNPQRSTVWXZ]{4}", granted.text)
    assert code
    claim = {"claim_token": code[0]}
    answer = await client.post("/api/agent/claim", json=claim, headers=bearer(other))
    refused(answer, 400, "invalid_claim_token")
    answer = await client.post("/api/agent/claim", json=claim, headers=bearer(agent))
    assert answer.status_code == 200
    assert answer.json()["identity"] == {"user_id": user_id, "email": "ada@corp.example"}
    assert answer.json()["scopes"] == ["openid", "negotiations:read"]
    assert (await client.get(link)).status_code == 410
    assert (await client.post(link, data=form)).status_code == 410
