"""A claimed agent's refresh token under attack: reuse, theft, wrong keys, revocation, races, age, too much asked."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

import httpx2
import jwt
import pytest
import pytest_asyncio

from negotiator.agents import delegation, registration
from negotiator.store.statement import Transaction
from negotiator.users import user_queries
from tests.conftest import Change, Clock, Mint, Register, bearer
from tests.contract.requirements import covers
from tests.helpers.answer_checks import refused
from tests.helpers.dpop_proofs import DpopProver, register_bound
from tests.helpers.form_browser import BASE

TOKEN, CLAIM, LIST = "/oauth/token", "/api/agent/claim", "/api/negotiations"
SCOPES: Final = ["negotiations:read", "negotiations:write", "memories:write"]
DAY: Final = 86_400
Agent = dict[str, Any]
Claim = Callable[[], Awaitable[Agent]]


@pytest_asyncio.fixture
async def claimed(client: httpx2.AsyncClient, register: Register, mint: Mint) -> Claim:
    """Claims a new agent for Ada; answers the claim, with the user's id."""

    async def call() -> Agent:
        agent = await register()
        user_id, code = await mint(scopes=SCOPES)
        answer = await client.post(CLAIM, json={"claim_token": code}, headers=bearer(agent))
        assert answer.status_code == 200, answer.text
        return {**answer.json(), "user_id": user_id}

    return call


async def refresh(
    client: httpx2.AsyncClient, agent: Agent, *, proof: str | None = None, **changes: Any
) -> httpx2.Response:
    """Redeem the refresh token of this answer."""
    form = {
        "grant_type": "refresh_token",
        "client_id": agent["client_id"],
        "refresh_token": agent["refresh_token"],
        **changes,
    }
    headers = {"DPoP": proof} if proof else {}
    sent = {name: value for name, value in form.items() if value is not None}
    return await client.post(TOKEN, data=sent, headers=headers)


async def renewed(client: httpx2.AsyncClient, agent: Agent, **more: Any) -> Agent:
    """The next tokens of the agent."""
    answer = await refresh(client, agent, **more)
    assert answer.status_code == 200, answer.text
    return {**agent, **answer.json()}


async def works(client: httpx2.AsyncClient, agent: Agent) -> bool:
    """Whether the access token opens what it is for."""
    return (await client.get(LIST, headers=bearer(agent))).status_code == 200


async def ended(client: httpx2.AsyncClient, *agents: Agent) -> None:
    """None of these answers is worth anything any more."""
    for agent in agents:
        refused(await refresh(client, agent), 400, "invalid_grant")
        refused(await client.get(LIST, headers=bearer(agent)), 401, "invalid_token")


@pytest.mark.asyncio
@covers("2.7:refresh")
async def test_a_claimed_agent_renews_itself_with_what_its_user_approved(
    client: httpx2.AsyncClient, claimed: Claim, clock: Clock
) -> None:
    agent = await claimed()
    for _ in range(3):
        clock.advance(3_601)
        assert not await works(client, agent)
        answer = await refresh(client, agent)
        assert answer.headers["cache-control"] == "no-store"
        body = answer.json()
        assert set(body) == {"access_token", "token_type", "expires_in", "scope", "refresh_token"}
        assert body["scope"] == " ".join(SCOPES)
        assert body["refresh_token"] != agent["refresh_token"]
        agent = {**agent, **body}
        assert await works(client, agent)
        claims = jwt.decode(agent["access_token"], options={"verify_signature": False})
        assert (claims["sub"], claims["client_id"]) == (agent["user_id"], agent["client_id"])


@pytest.mark.asyncio
@covers("2.7:refresh")
async def test_a_second_use_ends_the_family(client: httpx2.AsyncClient, claimed: Claim) -> None:
    first, other = await claimed(), await claimed()
    second = await renewed(client, first)
    third = await renewed(client, second)
    refused(await refresh(client, first), 400, "invalid_grant")
    await ended(client, third, second, first)
    assert await works(client, other)
    assert await works(client, await renewed(client, other))


@pytest.mark.asyncio
async def test_a_stolen_refresh_token_needs_its_own_agent_s_id(
    client: httpx2.AsyncClient, claimed: Claim, register: Register
) -> None:
    agent, thief = await claimed(), await claimed()
    stranger = await register()
    for other in (thief["client_id"], stranger["client_id"], "agt_x", "agt_", "cli_x", "usr_x"):
        answer = await refresh(client, agent, client_id=other)
        assert answer.status_code in {400, 401}, answer.text
        assert answer.json()["error"] in {"invalid_grant", "invalid_client"}
    refused(await refresh(client, agent, client_id=None), 401, "invalid_client")
    refused(await refresh(client, agent, client_secret="x"), 401, "invalid_client")
    for grant in ("client_credentials", "authorization_code"):
        answer = await refresh(client, agent, grant_type=grant, code="x")
        assert answer.status_code in {400, 401}
    assert await works(client, await renewed(client, agent))


@pytest.mark.asyncio
async def test_a_bound_agent_s_refresh_token_wants_the_same_key(client: httpx2.AsyncClient, mint: Mint) -> None:
    prover, thief = DpopProver(), DpopProver()
    agent = await register_bound(client, prover)
    _, code = await mint(scopes=SCOPES)
    headers = prover.headers(agent["access_token"], "POST", CLAIM)
    answer = await client.post(CLAIM, json={"claim_token": code}, headers=headers)
    bound_agent: Agent = answer.json()
    assert bound_agent["token_type"] == "DPoP"
    refused(await refresh(client, bound_agent), 400, "invalid_grant")
    refused(await refresh(client, bound_agent, proof=thief.proof()), 400, "invalid_grant")
    elsewhere = prover.proof("POST", "/oauth/revoke")
    refused(await refresh(client, bound_agent, proof=elsewhere), 400, "invalid_dpop_proof")
    following = await renewed(client, bound_agent, proof=prover.proof())
    assert following["token_type"] == "DPoP"
    refused(await client.get(LIST, headers=bearer(following)), 401, "invalid_token")
    headers = prover.headers(following["access_token"], "GET", LIST)
    assert (await client.get(LIST, headers=headers)).status_code == 200
    refused(await refresh(client, following), 400, "invalid_grant")
    assert (await refresh(client, following, proof=prover.proof())).status_code == 200


def _end_agent(agent: Agent) -> Callable[[Transaction], Any]:
    return lambda tx: registration.revoke(tx, agent["client_id"], user_id=agent["user_id"])


def _end_user(_agent: Agent) -> Callable[[Transaction], Any]:
    return lambda tx: user_queries.disable(tx, "ada@example.com")


def _end_code(agent: Agent) -> Callable[[Transaction], Any]:
    def unit(tx: Transaction) -> None:
        codes = delegation.of_user(tx, agent["user_id"])
        (used,) = [code for code in codes if code.used_by == agent["client_id"]]
        delegation.revoke(tx, used.id, actor=agent["user_id"])
        assert delegation.state(delegation.of_user(tx, agent["user_id"])[0], 0) == "revoked"

    return unit


@pytest.mark.asyncio
@pytest.mark.parametrize("end", [_end_agent, _end_user, _end_code])
@covers("2.7:ended")
async def test_revoking_agent_user_or_code_ends_the_family_at_once(
    client: httpx2.AsyncClient, claimed: Claim, change: Change, end: Any
) -> None:
    agent = await claimed()
    following = await renewed(client, agent)
    assert await works(client, agent)
    assert await works(client, following)
    await change(end(agent))
    await ended(client, following)
    refused(await client.get(LIST, headers=bearer(agent)), 401, "invalid_token")


@pytest.mark.asyncio
@covers("2.7:ended")
async def test_an_agent_ends_its_own_family(client: httpx2.AsyncClient, claimed: Claim) -> None:
    agent = await claimed()
    form = {"token": agent["refresh_token"], "token_type_hint": "refresh_token"}
    assert (await client.post("/oauth/revoke", data=form)).status_code == 200
    await ended(client, agent)


@pytest.mark.asyncio
async def test_twenty_redemptions_at_once_get_one_next_token_and_another_program_ends_the_family(
    client: httpx2.AsyncClient, claimed: Claim
) -> None:
    agent = await claimed()
    answers = await asyncio.gather(*(refresh(client, agent) for _ in range(20)))
    (following,) = {answer.json()["refresh_token"] for answer in answers}
    client.headers["user-agent"] = "thief"
    await ended(client, agent, {**agent, **answers[0].json(), "refresh_token": following})


@pytest.mark.asyncio
@covers("2.7:refresh-life")
async def test_a_refresh_token_lives_thirty_idle_days_and_a_family_half_a_year(
    client: httpx2.AsyncClient, claimed: Claim, clock: Clock
) -> None:
    idle, busy = await claimed(), await claimed()
    clock.advance(30 * DAY - 1)
    busy = await renewed(client, busy)
    clock.advance(1)
    refused(await refresh(client, idle), 400, "invalid_grant")
    for _ in range(5):
        clock.advance(29 * DAY)
        busy = await renewed(client, busy)
    clock.advance(5 * DAY - 1)
    busy = await renewed(client, busy)
    clock.advance(1)
    refused(await refresh(client, busy), 400, "invalid_grant")


@pytest.mark.asyncio
async def test_no_refresh_gives_more_than_the_user_approved(client: httpx2.AsyncClient, claimed: Claim) -> None:
    agent = await claimed()
    for more in ("negotiations:read teleprompter:stream", "openid", "root", "tools:write"):
        refused(await refresh(client, agent, scope=more), 400, "invalid_scope")
    refused(await refresh(client, agent, resource="https://x.example"), 400, "invalid_target")
    less = await renewed(client, agent, scope="negotiations:read", resource=f"{BASE}/mcp")
    assert less["scope"] == "negotiations:read"
    refused(await client.get(LIST, headers=bearer(less)), 401, "invalid_token")
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert (await client.post("/mcp", json=message, headers=bearer(less))).status_code == 200
    whole = await renewed(client, less)
    assert whole["scope"] == " ".join(SCOPES)
    assert await works(client, whole)


@pytest.mark.asyncio
async def test_a_refresh_token_is_no_other_credential(client: httpx2.AsyncClient, claimed: Claim) -> None:
    agent = await claimed()
    text = agent["refresh_token"]
    refused(await client.get(LIST, headers={"authorization": f"Bearer {text}"}), 401, "invalid_token")
    answer = await client.post(CLAIM, json={"claim_token": text}, headers=bearer(agent))
    assert answer.status_code in {400, 409}
    assert text not in answer.text
    for odd in ("", "x", text[:-1], text + "A", "a" * 5000, "\U0001f600"):
        answer = await refresh(client, agent, refresh_token=odd)
        assert answer.status_code == 400, answer.text
    assert await works(client, await renewed(client, agent))
