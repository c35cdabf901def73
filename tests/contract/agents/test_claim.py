"""Delegation codes and the claim."""

import asyncio

import httpx2
import pytest

from tests.conftest import Clock, Mint, Register, bearer
from tests.contract.requirements import covers
from tests.helpers.answer_checks import OPENING, limited, refused
from tests.helpers.fake_issuer import FakeIssuer, registration

CLAIM = "/api/agent/claim"
WRONG = "BCDF-GHJK-LMNP"
Headers = dict[str, str]


async def claim(client: httpx2.AsyncClient, code: str, headers: Headers) -> httpx2.Response:
    """Redeem a code."""
    return await client.post(CLAIM, json={"claim_token": code}, headers=headers)


@pytest.mark.asyncio
@covers("2.7:claim-later", "2.7:claim", "2.7:claimed", "2.7:new-token", "1.11:no-store", "2.6:spelling")
async def test_a_claimed_agent_has_a_new_token_and_the_old_one_is_dead(
    client: httpx2.AsyncClient, register: Register, mint: Mint
) -> None:
    agent = await register()
    user_id, code = await mint("ada@example.com", scopes=["memories:write", "negotiations:read"])
    typed = f"  {code.lower().replace('-', ' ')} "
    answer = await claim(client, typed, bearer(agent))
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    limited(answer)
    result = answer.json()
    assert list(result) == [
        *("client_id", "access_token", "token_type", "expires_in", "scopes"),
        *("status", "identity", "refresh_token"),
    ]
    assert result["client_id"] == agent["client_id"]
    assert result["access_token"] != agent["access_token"]
    assert (result["token_type"], result["expires_in"]) == ("Bearer", 3600)
    assert result["scopes"] == ["negotiations:read", "memories:write"]
    assert result["status"] == "claimed"
    assert result["identity"] == {"user_id": user_id, "email": "ada@example.com"}
    refused(await client.get("/api/negotiations", headers=bearer(agent)), 401, "invalid_token")
    assert (await client.get("/api/negotiations", headers=bearer(result))).status_code == 200


@pytest.mark.asyncio
@covers("1.9:claim-moves")
async def test_claiming_moves_everything_the_agent_owned(
    client: httpx2.AsyncClient, register: Register, mint: Mint
) -> None:
    agent, sibling = await register(), await register()
    made = (await client.post("/api/negotiations", json=OPENING, headers=bearer(agent))).json()
    (_, first), (_, second) = await mint(), await mint()
    for who, code in ((agent, first), (sibling, second)):
        bound = (await claim(client, code, bearer(who))).json()
        listed = (await client.get("/api/negotiations", headers=bearer(bound))).json()
        assert [item["id"] for item in listed["items"]] == [made["id"]]


@pytest.mark.asyncio
@covers("2.6:life", "2.7:claim_expired")
async def test_a_code_lives_ten_minutes_unless_told_otherwise(
    clock: Clock, client: httpx2.AsyncClient, register: Register, mint: Mint
) -> None:
    (_, short), (_, kept), (_, long) = await mint(), await mint(), await mint(ttl=3600)
    clock.advance(599)
    assert (await claim(client, kept, bearer(await register()))).status_code == 200
    clock.advance(1)
    refused(await claim(client, short, bearer(await register())), 410, "claim_expired")
    clock.advance(2999)
    assert (await claim(client, long, bearer(await register()))).status_code == 200


@pytest.mark.asyncio
@pytest.mark.parametrize("body", [{}, {"claim_token": 7}, {"claim_token": None}, {"code": WRONG}])
@covers("2.5:invalid_request")
async def test_a_claim_names_its_code(client: httpx2.AsyncClient, register: Register, body: dict[str, object]) -> None:
    answer = await client.post(CLAIM, json=body, headers=bearer(await register()))
    refused(answer, 400, "invalid_request")


@pytest.mark.asyncio
@covers("2.7:already_claimed")
async def test_a_bound_agent_is_bound_for_good(
    client: httpx2.AsyncClient, register: Register, mint: Mint, idp: FakeIssuer
) -> None:
    (_, first), (_, second) = await mint(), await mint("eve@example.com")
    bound = (await claim(client, first, bearer(await register()))).json()
    refused(await claim(client, second, bearer(bound)), 409, "already_claimed")
    asserted = await client.post("/api/agent/register", json=registration(idp.assertion()))
    refused(await claim(client, second, bearer(asserted.json())), 409, "already_claimed")
    assert (await claim(client, second, bearer(await register()))).status_code == 200


@pytest.mark.asyncio
@covers("2.7:one-wins")
async def test_of_fifty_agents_with_one_code_one_wins(
    client: httpx2.AsyncClient, register: Register, mint: Mint
) -> None:
    agents = [bearer(await register()) for _ in range(50)]
    _, code = await mint()
    answers = await asyncio.gather(*(claim(client, code, agent) for agent in agents))
    assert sorted(answer.status_code for answer in answers) == [200, *[409] * 49]
    for answer in answers:
        assert answer.status_code == 200 or answer.json()["error"] == "claim_used"
