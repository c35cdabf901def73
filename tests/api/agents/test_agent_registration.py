"""Registration through the application: every variant, and what it grants."""

import httpx2
import pytest

from negotiator.base.scopes import ASSISTANT
from tests.conftest import Register, bearer
from tests.helpers.fake_issuer import FakeIssuer, registration


@pytest.mark.asyncio
async def test_an_anonymous_agent_lists_and_opens_negotiations(client: httpx2.AsyncClient, register: Register) -> None:
    headers = bearer(await register())
    issue = {"name": "price", "type": "money"}
    opened = await client.post(
        "/api/negotiations", headers=headers, json={"title": "Laptops", "role": "buyer", "issues": [issue]}
    )
    assert opened.status_code == 201
    listed = await client.get("/api/negotiations", headers=headers)
    assert [item["id"] for item in listed.json()["items"]] == [opened.json()["id"]]


@pytest.mark.asyncio
async def test_an_id_jag_registers_an_agent_of_its_user(client: httpx2.AsyncClient, idp: FakeIssuer) -> None:
    answer = await client.post("/api/agent/register", json=registration(idp.assertion()))
    assert answer.status_code == 201, answer.text
    result = answer.json()
    assert result["identity"]["subject"] == "u-1001"
    assert result["scopes"] == list(ASSISTANT)
    again = await client.post("/api/agent/register", json=registration(idp.assertion()))
    assert again.json()["identity"]["user_id"] == result["identity"]["user_id"]


@pytest.mark.asyncio
async def test_an_id_jag_is_used_once(client: httpx2.AsyncClient, idp: FakeIssuer) -> None:
    body = registration(idp.assertion())
    assert (await client.post("/api/agent/register", json=body)).status_code == 201
    replayed = await client.post("/api/agent/register", json=body)
    assert replayed.status_code == 400
    assert replayed.json()["error"] == "replay_detected"
