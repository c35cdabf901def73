"""What a negotiation is worked with: plans, advice, states, money (docs/contract 6)."""

from typing import Any

import httpx2
import pytest

from tests.conftest import Mint, Register, bearer
from tests.contract.requirements import covers
from tests.helpers.answer_checks import refused

PATH = "/api/negotiations"
PRICED: dict[str, Any] = {
    "title": "Laptops",
    "role": "buyer",
    "currency": "EUR",
    "issues": [{"name": "price", "type": "money", "range": {"min": "800", "max": "1200"}}],
    "target": {"package": {"price": "900"}},
    "walk_away": {"package": {"price": "1100"}},
}


async def opened(client: httpx2.AsyncClient, headers: dict[str, str]) -> str:
    """The path of a new negotiation."""
    answer = await client.post(PATH, json=PRICED, headers=headers)
    assert answer.status_code == 201, answer.text
    return f"{PATH}/{answer.json()['id']}"


@covers("6.4:states")
@pytest.mark.asyncio
async def test_a_state_is_changed_by_the_update_operation(client: httpx2.AsyncClient, register: Register) -> None:
    headers = bearer(await register())
    one = await opened(client, headers)
    moved = await client.post(f"{one}/state", json={"to": "planned"}, headers=headers)
    assert (moved.status_code, moved.json()["state"]) == (200, "planned")
    assert (await client.get(one, headers=headers)).json()["state"] == "planned"
    wrong = await client.post(f"{one}/state", json={"to": "won"}, headers=headers)
    refused(wrong, 409, "illegal_transition")


@covers("6.8:plans")
@pytest.mark.asyncio
async def test_a_battle_plan_is_made_and_kept_and_tactics_are_listed(
    client: httpx2.AsyncClient, register: Register
) -> None:
    headers = bearer(await register())
    one = await opened(client, headers)
    plan = await client.post(f"{one}/battle-plans", json={}, headers=headers)
    assert plan.status_code == 201, plan.text
    assert plan.headers["location"].endswith(f"{one}/battle-plans/{plan.json()['id']}")
    kept = await client.get(plan.headers["location"], headers=headers)
    assert kept.json()["concession_schedule"] == plan.json()["concession_schedule"]
    tactics = await client.get("/api/tactics?limit=5", headers=headers)
    assert len(tactics.json()["items"]) == 5


@covers("1.14:scope-tactics")
@pytest.mark.asyncio
async def test_leverage_and_suggestions_run_under_their_scope_alone(
    client: httpx2.AsyncClient, register: Register, mint: Mint
) -> None:
    anonymous = bearer(await register())
    one = await opened(client, anonymous)
    _, code = await mint(scopes=["negotiations:read", "negotiations:write"])
    claim = {"claim_token": code}
    bound = bearer((await client.post("/api/agent/claim", json=claim, headers=anonymous)).json())
    _, code = await mint(scopes=["negotiations:read", "ai:tactics"])
    claim = {"claim_token": code}
    other = bearer(await register("second"))
    able = bearer((await client.post("/api/agent/claim", json=claim, headers=other)).json())
    for path in (f"{one}/leverage", f"{one}/suggestions", f"{one}/next-move"):
        refused(await client.post(path, json={}, headers=bound), 403, "insufficient_scope")
        assert (await client.post(path, json={}, headers=able)).status_code == 200


@covers("1.5:money")
@pytest.mark.asyncio
async def test_money_is_a_decimal_string_and_never_loses_a_cent(client: httpx2.AsyncClient, register: Register) -> None:
    headers = bearer(await register())
    one = await opened(client, headers)
    view = (await client.get(one, headers=headers)).json()
    assert view["currency"] == "EUR"
    assert view["walk_away"]["package"] == {"price": "1100.00"}
    offer = {"by": "them", "package": {"price": "1000.10"}}
    made = await client.post(f"{one}/offers", json=offer, headers=headers)
    assert made.json()["package"] == {"price": "1000.10"}
    odd = {"by": "them", "package": {"price": "1000.101"}}
    finer = await client.post(f"{one}/offers", json=odd, headers=headers)
    assert finer.json()["package"] == {"price": "1000.101"}, "what they said is not rounded"
