"""Anonymous registration, and what every registration has in common."""

import re

import httpx2
import pytest

from tests.contract.requirements import covers
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
@pytest.mark.parametrize("name", ["x", "x" * 100, "Müller & Söhne", "交渉エージェント", "O'Neil <b>"])
@covers("2.1:name")
async def test_a_plain_name_of_any_language_is_fine(client: httpx2.AsyncClient, name: str) -> None:
    answer = await client.post(REGISTER, json={**ANONYMOUS, "agent_name": name})
    assert answer.status_code == 201


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
