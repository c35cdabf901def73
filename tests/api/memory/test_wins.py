"""Wins and benchmarks over HTTP."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import orjson
import pytest
import pytest_asyncio

from tests.conftest import Change, Clock, Mint, Register, bearer
from tests.contract.requirements import covers
from tests.helpers.answer_checks import OPENING, refused

pytestmark = pytest.mark.asyncio

WIN: dict[str, Any] = {
    "category": "software",
    "kind": "renewal",
    "counterparty": "Acme",
    "currency": "EUR",
    "baseline": {"kind": "previous_price", "amount": "120.00"},
    "achieved": {"amount": 105},
    "quantity": 250,
    "period_months": 24,
    "tactics_used": [{"tactic_id": "tac_mirroring", "helped": 2}],
}
SCOPES = ["memories:read", "memories:write", "negotiations:write"]
Member = Callable[..., Awaitable[dict[str, str]]]


@pytest_asyncio.fixture
async def member(client: httpx2.AsyncClient, register: Register, mint: Mint) -> Member:
    """The header of an agent that acts for a user of this address."""

    async def call(email: str = "ada@example.com") -> dict[str, str]:
        _, code = await mint(email, scopes=SCOPES)
        claimed = await client.post("/api/agent/claim", json={"claim_token": code}, headers=bearer(await register()))
        return bearer(claimed.json())

    return call


async def recorded(client: httpx2.AsyncClient, who: dict[str, str], **members: Any) -> Any:
    """A recorded win."""
    answer = await client.post("/api/wins", json={**WIN, **members}, headers=who)
    assert answer.status_code == 201, answer.text
    return answer.json()


@covers("7.5:savings")
async def test_the_server_computes_what_was_saved(client: httpx2.AsyncClient, member: Member) -> None:
    win = await recorded(client, await member())
    assert win["savings_total"] == "3750.00"
    assert win["savings_annualised"] == "1875.00"
    assert win["savings_rate"] == 0.125
    assert win["tcv"] == "26250.00"
    assert win["validated"]["status"] == "claimed"
    assert win["visibility"] == "private"


async def test_a_loss_is_kept_as_one(client: httpx2.AsyncClient, member: Member) -> None:
    win = await recorded(client, await member(), achieved={"amount": "130.00"})
    assert win["savings_rate"] < 0
    assert win["savings_total"] == "-2500.00"


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({"baseline": {"amount": 0}}, "/baseline/amount"),
        ({"baseline": {"amount": 5, "currency": "USD"}}, "/baseline/currency"),
        ({"achieved": {"amount": 5, "currency": "USD"}}, "/achieved/currency"),
        ({"achieved": {"amount": -1}}, "/achieved/amount"),
        ({"quantity": 0}, "/quantity"),
        ({"currency": "XXX"}, "/currency"),
        ({"savings_total": "1.00"}, "/savings_total"),
        ({"savings_rate": 1}, "/savings_rate"),
    ],
)
async def test_what_cannot_be_computed_from_is_refused_where_it_is(
    client: httpx2.AsyncClient, member: Member, members: dict[str, Any], pointer: str
) -> None:
    answer = await client.post("/api/wins", json={**WIN, **members}, headers=await member())
    refused(answer, 422, "validation_failed")
    assert [fault["pointer"] for fault in answer.json()["errors"]] == [pointer]


async def test_a_figure_of_ones_own_stands_beside_the_server_s(client: httpx2.AsyncClient, member: Member) -> None:
    who = await member()
    assert (await recorded(client, who, savings_total="3750"))["claimed_savings"] is None
    assert (await recorded(client, who, claimed_savings="9999"))["claimed_savings"] == "9999.00"


async def test_a_negotiation_has_one_win(client: httpx2.AsyncClient, member: Member) -> None:
    who = await member()
    talk = (await client.post("/api/negotiations", json=OPENING, headers=who)).json()["id"]
    first = await recorded(client, who, negotiation_id=talk)
    again = await client.post("/api/wins", json={**WIN, "negotiation_id": talk}, headers=who)
    refused(again, 409, "win_exists")
    assert again.json()["existing"] == first["id"]


@covers("7.5:memory")
async def test_a_win_is_remembered_and_forgotten_with_its_memory(client: httpx2.AsyncClient, member: Member) -> None:
    who = await member()
    win = await recorded(client, who)
    memory = await client.get(f"/api/memories/{win['memory_id']}", headers=who)
    assert memory.json()["kind"] == "win"
    assert "12.5%" in memory.json()["text"]
    edited = await client.patch(f"/api/wins/{win['id']}", json={"achieved": {"amount": "90.00"}}, headers=who)
    assert edited.json()["savings_rate"] == 0.25
    assert edited.json()["revision"] == 2
    told = await client.get(f"/api/memories/{edited.json()['memory_id']}", headers=who)
    assert "25%" in told.json()["text"]
    assert (await client.delete(f"/api/wins/{win['id']}", headers=who)).status_code == 204
    listed = await client.get("/api/memories", headers=who)
    assert listed.json()["items"] == []


async def test_a_stale_edit_is_refused_and_changes_nothing(client: httpx2.AsyncClient, member: Member) -> None:
    who = await member()
    win = await recorded(client, who)
    path = f"/api/wins/{win['id']}"
    stale = await client.patch(path, json={"rounds": 3}, headers={**who, "If-Match": '"7"'})
    refused(stale, 412, "precondition_failed")
    assert (await client.get(path, headers=who)).json()["rounds"] is None


@covers("7.6:suppressed")
async def test_an_empty_service_invents_no_benchmark(client: httpx2.AsyncClient, member: Member) -> None:
    found = (await client.get("/api/benchmarks", headers=await member())).json()
    assert (found["suppressed"], found["reason"], found["p50"]) == (True, "no_deals", None)
    assert found["contributors"]["suppressed"]


async def test_own_deals_are_always_told_with_their_number(client: httpx2.AsyncClient, member: Member) -> None:
    who = await member()
    for amount in (90, 96, 102, 108, 114, 120):
        await recorded(client, who, achieved={"amount": amount})
    await recorded(client, who, category="hardware")
    found = (await client.get("/api/benchmarks?category=software", headers=who)).json()
    assert (found["n_deals"], found["scope"], found["suppressed"]) == (6, "mine", False)
    assert found["p50"] == 0.125
    assert found["p90"] is None
    assert found["confidence_interval"] == {"low": 0.0, "high": 0.25, "level": 0.9688}


@covers("7.6:privacy")
async def test_others_are_told_of_only_above_the_floor(
    client: httpx2.AsyncClient, member: Member, change: Change, clock: Clock
) -> None:
    del change
    asker = await member()
    whole = "/api/benchmarks?category=software&currency=EUR&role=buyer"
    for name in ("a", "b", "c", "d", "e"):
        who = await member(f"{name}@example.com")
        await recorded(client, who, visibility="contribute_anonymously")
        await recorded(client, who, achieved={"amount": 1})
    fresh = (await client.get(whole, headers=asker)).json()["contributors"]
    assert (fresh["suppressed"], fresh["reason"]) == (True, "too_few_contributors")
    clock.advance(91 * 86_400)
    asker = await member()
    found = (await client.get(whole, headers=asker)).json()
    assert found["n_deals"] == 0
    assert found["contributors"]["n_contributors"] == 5
    assert found["contributors"]["n_deals"] == 5
    assert found["contributors"]["p50"] == 0.125
    assert "Acme" not in str(found)
    split = (await client.get("/api/benchmarks?category=software", headers=asker)).json()
    assert split["contributors"]["reason"] == "name_the_currency"
    kind = (await client.get(f"{whole}&kind=sale", headers=asker)).json()["contributors"]
    assert (kind["widened"], kind["n_deals"]) == (["kind"], 5)


async def test_an_export_carries_wins_too(client: httpx2.AsyncClient, member: Member) -> None:
    who = await member()
    win = await recorded(client, who)
    lines = (await client.get("/api/memories/export", headers=who)).text.splitlines()
    found = [orjson.loads(line) for line in lines]
    assert [line["id"] for line in found if line["type"] == "win"] == [win["id"]]
    assert found[0]["others"] == 1
