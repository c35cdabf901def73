"""Registration by a verified e-mail: signed by an issuer, or asked of the owner by mail."""

from typing import Any

import httpx2
import pytest

from negotiator.trust import issuer_queries
from tests.conftest import Change
from tests.contract.requirements import covers
from tests.helpers.answer_checks import refused
from tests.helpers.email_registration import REGISTER, by_email
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
