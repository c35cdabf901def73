"""Delegation codes and the claim."""

import asyncio
import re

import httpx2
import pytest

from negotiator.agents import delegation
from negotiator.config.settings import Settings
from negotiator.store.statement import Transaction
from negotiator.tokens import clients
from negotiator.tokens.clients import NewClient
from tests.conftest import Change, Clock, Mint, Register, bearer, connect, make_settings, running
from tests.contract.requirements import covers
from tests.helpers.answer_checks import CHALLENGE, OPENING, limited, refused
from tests.helpers.fake_issuer import FakeIssuer, registration

CLAIM = "/api/agent/claim"
WRONG = "BCDF-GHJK-LMNP"
Headers = dict[str, str]


async def claim(client: httpx2.AsyncClient, code: str, headers: Headers) -> httpx2.Response:
    """Redeem a code."""
    return await client.post(CLAIM, json={"claim_token": code}, headers=headers)


@pytest.mark.asyncio
@covers("2.7:claim-later", "2.7:claim", "2.7:claimed", "2.7:new-token", "1.11:no-store")
async def test_a_claimed_agent_has_a_new_token_and_the_old_one_is_dead(
    client: httpx2.AsyncClient, register: Register, mint: Mint
) -> None:
    agent = await register()
    user_id, code = await mint("ada@example.com", scopes=["memories:write", "negotiations:read"])
    answer = await claim(client, code, bearer(agent))
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
@covers("2.7:bearer", "2.7:claim-token")
async def test_a_claim_needs_the_agent_s_own_token(client: httpx2.AsyncClient, mint: Mint) -> None:
    _, code = await mint()
    answer = await claim(client, code, {})
    refused(answer, 401, "invalid_token")
    assert answer.headers["www-authenticate"] == CHALLENGE
    answer = await claim(client, code, {"authorization": "Bearer a.b.c"})
    refused(answer, 401, "invalid_token")
    assert answer.headers["www-authenticate"] == f'{CHALLENGE}, error="invalid_token"'


@pytest.mark.asyncio
@covers("2.6:code")
async def test_a_code_is_three_groups_of_consonants(mint: Mint) -> None:
    codes = {(await mint())[1] for _ in range(20)}
    assert len(codes) == 20
    for code in codes:
        assert re.fullmatch("([BCDFGHJKLMNPQRSTVWXZ]{4}-){2}[BCDFGHJKLMNPQRSTVWXZ]{4}", code)


@pytest.mark.asyncio
@covers("2.6:spelling")
async def test_case_spaces_and_dashes_do_not_matter(client: httpx2.AsyncClient, register: Register, mint: Mint) -> None:
    codes = [(await mint())[1] for _ in range(4)]
    typed = [
        codes[0].lower(),
        codes[1].replace("-", ""),
        f"  {codes[2].replace('-', ' ')} ",
        "-".join(codes[3].replace("-", "").lower()),
    ]
    for text in typed:
        assert (await claim(client, text, bearer(await register()))).status_code == 200


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
@pytest.mark.parametrize("code", [WRONG, "x", "BCDF-GHJK", "ABCD-EFGH-IJKL", "BCDF-GHJK-LMNP-QRST", " "])
@covers("2.7:invalid_claim_token")
async def test_an_unknown_or_malformed_code_is_refused(
    client: httpx2.AsyncClient, register: Register, code: str
) -> None:
    refused(await claim(client, code, bearer(await register())), 400, "invalid_claim_token")


@pytest.mark.asyncio
@pytest.mark.parametrize("body", [{}, {"claim_token": 7}, {"claim_token": None}, {"code": WRONG}])
@covers("2.5:invalid_request")
async def test_a_claim_names_its_code(client: httpx2.AsyncClient, register: Register, body: dict[str, object]) -> None:
    answer = await client.post(CLAIM, json=body, headers=bearer(await register()))
    refused(answer, 400, "invalid_request")


@pytest.mark.asyncio
@covers("2.7:claim_used", "2.7:claim_revoked")
async def test_a_used_or_revoked_code_says_so(
    client: httpx2.AsyncClient, register: Register, mint: Mint, change: Change
) -> None:
    user_id, code = await mint()
    assert (await claim(client, code, bearer(await register()))).status_code == 200
    refused(await claim(client, code, bearer(await register())), 409, "claim_used")
    _, other = await mint()

    def revoke(tx: Transaction) -> None:
        newest = delegation.of_user(tx, user_id)[0]
        delegation.revoke(tx, newest.id, actor=user_id)

    await change(revoke)
    refused(await claim(client, other, bearer(await register())), 410, "claim_revoked")


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
@covers("2.7:too_many_attempts")
async def test_five_failures_end_an_agent_s_tries_even_at_once(
    client: httpx2.AsyncClient, register: Register, mint: Mint
) -> None:
    agent = bearer(await register())
    answers = await asyncio.gather(*(claim(client, WRONG, agent) for _ in range(12)))
    assert sorted(answer.status_code for answer in answers) == [400] * 5 + [429] * 7
    _, code = await mint()
    late = await claim(client, code, agent)
    refused(late, 429, "too_many_attempts")
    assert int(late.headers["retry-after"]) >= 1
    assert (await claim(client, code, bearer(await register()))).status_code == 200


@pytest.mark.asyncio
@covers("2.7:global-budget")
async def test_wrong_codes_are_counted_over_all_agents_and_right_ones_pass(settings: Settings, mint: Mint) -> None:
    strict = make_settings(settings.data_dir, settings.keys_dir, claim_failures_per_hour=7)
    async with running(strict) as application, connect(application) as client:

        async def attempt(code: str) -> httpx2.Response:
            agent = await client.post("/api/agent/register", json={"type": "anonymous"})
            return await claim(client, code, bearer(agent.json()))

        for _ in range(7):
            refused(await attempt(WRONG), 400, "invalid_claim_token")
        late = await attempt(WRONG)
        refused(late, 429, "too_many_attempts")
        assert int(late.headers["retry-after"]) >= 1
        _, code = await mint()
        assert (await attempt(code)).status_code == 200


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


@pytest.mark.asyncio
@covers("2.7:claim-only-agents")
async def test_a_client_cannot_be_claimed(client: httpx2.AsyncClient, mint: Mint, change: Change) -> None:
    new = NewClient("robot", clients.GRANTS, ("negotiations:read",))
    client_id, secret = await change(lambda tx: clients.add(tx, new))
    token = await client.post("/oauth/token", data={"grant_type": "client_credentials"}, auth=(client_id, secret))
    _, code = await mint()
    refused(await claim(client, code, bearer(token.json())), 403, "access_denied")
