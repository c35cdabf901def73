"""Registration by ID-JAG: whom it makes, and each reason to refuse it."""

from typing import Any

import httpx2
import jwt
import pytest

from negotiator.trust import issuer_queries
from tests.conftest import Change, Clock, Mint, bearer
from tests.contract.requirements import covers
from tests.helpers.answer_checks import refused
from tests.helpers.fake_issuer import FakeIssuer, registration
from tests.helpers.form_browser import BASE

REGISTER = "/api/agent/register"
EIGHT = [
    "openid",
    "profile",
    "negotiations:read",
    "negotiations:write",
    "memories:read",
    "memories:write",
    "teleprompter:stream",
    "ai:tactics",
]
FIVE = ["client_id", "access_token", "token_type", "expires_in", "scopes"]


async def present(client: httpx2.AsyncClient, assertion: str) -> httpx2.Response:
    """Register by this assertion."""
    return await client.post(REGISTER, json=registration(assertion))


async def trust(change: Change, idp: FakeIssuer, **policy: Any) -> None:
    """Trust the provider under this policy."""
    issuer = idp.issuer(**policy)
    await change(lambda tx: issuer_queries.add(tx, issuer, own=BASE, allow_loopback=False))


@pytest.mark.asyncio
@covers("2.3:assertion", "2.3:id-jag", "2.3:answer", "2.3:policy", "2.3:no-refresh", "2.1:created", "2.1:variants")
async def test_an_id_jag_makes_an_agent_of_its_user(client: httpx2.AsyncClient, idp: FakeIssuer) -> None:
    assertion = idp.assertion(email="ada@corp.example", email_verified=True)
    answer = await present(client, assertion)
    assert answer.status_code == 201, answer.text
    assert answer.headers["cache-control"] == "no-store"
    result = answer.json()
    assert list(result) == [*FIVE, "identity"]
    assert result["scopes"] == EIGHT
    identity = result["identity"]
    assert set(identity) == {"user_id", "issuer", "subject", "email"}
    assert identity["user_id"].startswith("usr_")
    assert (identity["issuer"], identity["subject"]) == (idp.name, "u-1001")
    assert identity["email"] == "ada@corp.example"
    claims = jwt.decode(result["access_token"], options={"verify_signature": False})
    assert (claims["sub"], claims["client_id"]) == (identity["user_id"], result["client_id"])
    assert (await client.get("/api/negotiations", headers=bearer(result))).status_code == 200


@pytest.mark.asyncio
@covers("2.3:user")
async def test_the_same_subject_is_the_same_user_and_another_another(
    client: httpx2.AsyncClient, idp: FakeIssuer
) -> None:
    first, again, other = [
        (await present(client, idp.assertion(sub=subject))).json() for subject in ("u-1", "u-1", "u-2")
    ]
    assert first["identity"]["user_id"] == again["identity"]["user_id"]
    assert first["client_id"] != again["client_id"]
    assert other["identity"]["user_id"] != first["identity"]["user_id"]


@pytest.mark.asyncio
@covers("2.3:policy", "2.3:scope")
async def test_scopes_are_the_issuer_s_cut_to_the_assertion_s(
    client: httpx2.AsyncClient, idp: FakeIssuer, change: Change
) -> None:
    narrow = idp.assertion(scope="ai:tactics negotiations:read unheard:of")
    assert (await present(client, narrow)).json()["scopes"] == ["negotiations:read", "ai:tactics"]
    await trust(change, idp, scopes=("negotiations:read",))
    assert (await present(client, idp.assertion())).json()["scopes"] == ["negotiations:read"]
    wide = idp.assertion(scope="negotiations:read negotiations:write")
    assert (await present(client, wide)).json()["scopes"] == ["negotiations:read"]


@pytest.mark.asyncio
@covers("2.3:user", "2.5:missing_verified_email")
async def test_an_unverified_email_in_an_id_jag_is_not_believed(
    client: httpx2.AsyncClient, idp: FakeIssuer, mint: Mint
) -> None:
    await mint("ada@corp.example")
    for verified in (False, None, "true", 1, [True]):
        assertion = idp.assertion(email="ada@corp.example", email_verified=verified)
        refused(await present(client, assertion), 400, "missing_verified_email")


@pytest.mark.asyncio
@covers("2.5:login_required")
async def test_a_stale_login_names_the_age_that_is_allowed(
    clock: Clock, client: httpx2.AsyncClient, idp: FakeIssuer, change: Change
) -> None:
    await trust(change, idp, max_auth_age=900)
    now = clock.at // 1000
    for auth_time in (now - 2000, None):
        answer = await present(client, idp.assertion(auth_time=auth_time))
        body = refused(answer, 401, "login_required")
        assert body["max_age"] == 900
        assert answer.headers["www-authenticate"] == ('AgentAuth error="login_required", max_age="900"')
    assert (await present(client, idp.assertion(auth_time=now - 800))).status_code == 201


@pytest.mark.asyncio
@covers("2.5:temporarily_unavailable")
async def test_keys_out_of_reach_are_no_bad_signature(client: httpx2.AsyncClient, change: Change) -> None:
    away = FakeIssuer(BASE, "https://127.0.0.1:9")
    await trust(change, away, jwks="", jwks_uri="https://127.0.0.1:9/jwks.json")
    answer = await present(client, away.assertion())
    refused(answer, 503, "temporarily_unavailable")
    assert int(answer.headers["retry-after"]) >= 1
