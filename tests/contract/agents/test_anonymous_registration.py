"""Anonymous registration, and what every registration has in common."""

import re
from typing import Any

import httpx2
import jwt
import pytest

from tests.conftest import Clock, Register, bearer
from tests.contract.requirements import covers
from tests.helpers.answer_checks import refused
from tests.helpers.fake_issuer import FakeIssuer, registration

REGISTER = "/api/agent/register"
ANONYMOUS = {"agent_name": "walker", "identity_type": "anonymous"}
SCOPES = ["negotiations:read", "negotiations:write", "memories:read", "ai:tactics"]
FIVE = ["client_id", "access_token", "token_type", "expires_in", "scopes"]


@pytest.mark.asyncio
@covers("2.2:anonymous", "2.1:result", "2.1:result-status", "2.2:anonymous-scopes", "2.2:five", "2.1:created")
async def test_an_anonymous_agent_gets_exactly_the_five_members(client: httpx2.AsyncClient) -> None:
    answer = await client.post(REGISTER, json=ANONYMOUS)
    assert answer.status_code == 201
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-type"] == "application/json"
    result = answer.json()
    assert list(result) == FIVE
    assert re.fullmatch("agt_[0-9a-hjkmnp-tv-z]{26}", result["client_id"])
    assert isinstance(result["access_token"], str)
    assert result["token_type"] == "Bearer"
    assert result["expires_in"] == 3600
    assert result["scopes"] == SCOPES


@pytest.mark.asyncio
@covers("2.2:lifetime", "2.1:expires-in", "2.2:retention")
async def test_the_token_lives_as_long_as_it_was_said_to(
    clock: Clock, client: httpx2.AsyncClient, register: Register
) -> None:
    result = await register()
    claims = jwt.decode(result["access_token"], options={"verify_signature": False})
    assert claims["exp"] - claims["iat"] == result["expires_in"] == 3600
    clock.advance(3599)
    assert (await client.get("/api/negotiations", headers=bearer(result))).status_code == 200
    clock.advance(1)
    refused(await client.get("/api/negotiations", headers=bearer(result)), 401, "invalid_token")


@pytest.mark.asyncio
@covers("2.1:types", "2.5:invalid_request")
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"agent_name": "a"},
        {"identity_type": "anonymous"},
        {"agent_name": "a", "identity_type": "robot"},
        {"agent_name": "a", "identity_type": "Anonymous"},
        {"agent_name": "a", "identity_type": ["anonymous"]},
        {"agent_name": "a", "identity_type": None},
        {"agent_name": 7, "identity_type": "anonymous"},
        {"agent_name": None, "identity_type": "anonymous"},
        {"agent_name": "a", "identity_type": "identity_assertion"},
        {"agent_name": "a", "identity_type": "identity_assertion", "assertion": "a.b.c"},
        {
            "agent_name": "a",
            "identity_type": "identity_assertion",
            "assertion_type": "urn:ietf:params:oauth:token-type:id-jag",
        },
        {
            "agent_name": "a",
            "identity_type": "identity_assertion",
            "assertion_type": "urn:ietf:params:oauth:token-type:id-jag",
            "assertion": {"jwt": "a.b.c"},
        },
    ],
)
async def test_a_missing_or_mistyped_field_is_refused(client: httpx2.AsyncClient, body: dict[str, Any]) -> None:
    refused(await client.post(REGISTER, json=body), 400, "invalid_request")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "x" * 101,
        "a\nb",
        "a\x00b",
        "a\x7fb",
        "evil\u202egnp.exe",
        "\u2066a\u2069",
        "zero\u200bwidth",
        "a\u2028b",
    ],
)
@covers("2.1:name", "2.5:invalid_request")
async def test_a_name_that_could_deceive_a_reader_is_refused(client: httpx2.AsyncClient, name: str) -> None:
    refused(await client.post(REGISTER, json={**ANONYMOUS, "agent_name": name}), 400, "invalid_request")


@pytest.mark.asyncio
@pytest.mark.parametrize("name", ["x", "x" * 100, "Müller & Söhne", "交渉エージェント", "O'Neil <b>"])
@covers("2.1:name")
async def test_a_plain_name_of_any_language_is_fine(client: httpx2.AsyncClient, name: str) -> None:
    answer = await client.post(REGISTER, json={**ANONYMOUS, "agent_name": name})
    assert answer.status_code == 201


@pytest.mark.asyncio
@pytest.mark.parametrize("extra", [{"assertion": "a.b.c"}, {"assertion_type": "verified_email"}, {"assertion": ""}])
@covers("2.2:no-assertion")
async def test_an_anonymous_agent_carries_no_assertion(client: httpx2.AsyncClient, extra: dict[str, str]) -> None:
    refused(await client.post(REGISTER, json={**ANONYMOUS, **extra}), 400, "invalid_request")


@pytest.mark.asyncio
@covers("2.1:alias", "2.8:v0.1")
async def test_type_is_an_alias_and_brings_the_members_of_auth_md(client: httpx2.AsyncClient, idp: FakeIssuer) -> None:
    for body in (
        {"type": "anonymous"},
        {"type": "anonymous", "identity_type": "anonymous", "agent_name": "a"},
        {**registration(idp.assertion()), "type": "identity_assertion"},
    ):
        answer = await client.post(REGISTER, json=body)
        assert answer.status_code == 201, answer.text
        result = answer.json()
        assert result["registration_id"] == result["client_id"]
        assert result["credential_type"] == "access_token"
        assert result["credential"] == result["access_token"]
        assert result["credential_expires"].endswith("Z")
        assert set(FIVE) <= set(result)


@pytest.mark.asyncio
@covers("2.1:alias")
async def test_two_names_of_the_variant_must_agree(client: httpx2.AsyncClient) -> None:
    body = {**ANONYMOUS, "type": "identity_assertion"}
    refused(await client.post(REGISTER, json=body), 400, "invalid_request")


@pytest.mark.asyncio
@covers("2.1:variants")
async def test_the_identity_type_selects_the_variant(client: httpx2.AsyncClient, idp: FakeIssuer) -> None:
    anonymous = (await client.post(REGISTER, json=ANONYMOUS)).json()
    asserted = (await client.post(REGISTER, json=registration(idp.assertion()))).json()
    assert "identity" not in anonymous
    assert "identity" in asserted
