"""What a user learned before shows in plans and suggestions, by id; what nobody stands behind does not."""

from typing import Any

import httpx2
import pytest

from tests.conftest import Mint, Register, bearer

TALK: dict[str, Any] = {
    "title": "CRM renewal with Acme",
    "role": "buyer",
    "category": "software",
    "currency": "EUR",
    "counterparty": {"organisation": "Acme"},
    "issues": [
        {
            "name": "price",
            "type": "money",
            "direction": "lower",
            "range": {"min": "90000.00", "max": "120000.00", "step": "500.00"},
        }
    ],
    "walk_away": {"package": {"price": "115000.00"}},
    "target": {"package": {"price": "98000.00"}},
}
WIN: dict[str, Any] = {
    "category": "software",
    "currency": "EUR",
    "baseline": {"kind": "previous_price", "amount": "120.00"},
    "achieved": {"amount": "105.00"},
    "tactics_used": [{"tactic_id": "tac_let_them_open", "helped": 2}],
}
SCOPES = [*("negotiations:read", "negotiations:write", "memories:read", "memories:write", "ai:tactics")]


async def entered(client: httpx2.AsyncClient, register: Register, mint: Mint) -> dict[str, str]:
    """The header of an agent that acts for a user."""
    _, code = await mint(scopes=SCOPES)
    claim = {"claim_token": code}
    answer = await client.post("/api/agent/claim", json=claim, headers=bearer(await register()))
    return bearer(answer.json())


async def made(client: httpx2.AsyncClient, who: dict[str, str], path: str, body: Any) -> Any:
    """What a creating call answers."""
    answer = await client.post(path, json=body, headers=who)
    assert answer.status_code in {200, 201}, answer.text
    return answer.json()


@pytest.mark.asyncio
async def test_a_plan_cites_what_was_learned_about_the_other_side(
    client: httpx2.AsyncClient, register: Register, mint: Mint
) -> None:
    who = await entered(client, register, mint)
    lesson = {"text": "They gave way on price in the last week of March.", "counterparty": "Acme"}
    known = await made(client, who, "/api/memories", lesson)
    other = {"text": "The canteen in Lisbon closes at three.", "counterparty": "Globex"}
    unrelated = await made(client, who, "/api/memories", other)
    talk = await made(client, who, "/api/negotiations", TALK)
    plan = await made(client, who, f"/api/negotiations/{talk['id']}/battle-plans", {})
    assert f"memory:{known['id']}" in str(plan)
    assert unrelated["id"] not in str(plan)
    path = f"/api/negotiations/{talk['id']}/battle-plans/{plan['id']}"
    printed = await client.get(path, headers={**who, "Accept": "text/markdown"})
    assert "last week of March" in printed.text


@pytest.mark.asyncio
async def test_a_plan_cites_the_user_s_own_deals_and_never_says_them_aloud(
    client: httpx2.AsyncClient, register: Register, mint: Mint
) -> None:
    who = await entered(client, register, mint)
    for amount in ("105.00", "102.00", "108.00"):
        await made(client, who, "/api/wins", {**WIN, "achieved": {"amount": amount}})
    talk = await made(client, who, "/api/negotiations", TALK)
    plan = await made(client, who, f"/api/negotiations/{talk['id']}/battle-plans", {})
    benchmark = (await client.get("/api/benchmarks?category=software&currency=EUR&role=buyer", headers=who)).json()
    assert f"benchmark:{benchmark['id']}" in str(plan)
    assert "12.5%" in str(plan)
    said = [item.get("say") for item in plan.get("tactics", [])]
    assert not any("12.5" in str(sentence) for sentence in said)


@pytest.mark.asyncio
async def test_suggestions_count_what_a_tactic_did_for_its_user(
    client: httpx2.AsyncClient, register: Register, mint: Mint
) -> None:
    who = await entered(client, register, mint)
    win = await made(client, who, "/api/wins", WIN)
    talk = await made(client, who, "/api/negotiations", TALK)
    asked = {"limit": 20}
    found = await made(client, who, f"/api/negotiations/{talk['id']}/suggestions", asked)
    [item] = [one for one in found["items"] if one["tactic"]["id"] == "tac_let_them_open"] or [None]
    assert item is not None, [one["tactic"]["id"] for one in found["items"]]
    assert (item["wins"]["used"], item["wins"]["wins"]) == (1, 1)
    assert item["memories"] == [win["memory_id"]]
