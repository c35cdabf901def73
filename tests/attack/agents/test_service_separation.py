"""Agents of both services share one table; neither service acts on an agent of the other."""

import httpx2
import pytest

from negotiator.agents import registration
from negotiator.base import values
from negotiator.base.errors import NotFound
from negotiator.config.settings import Settings
from negotiator.directory import accounts_queries
from negotiator.directory.accounts_registration import IdleAgentSweep
from negotiator.store.store import make_store
from tests.conftest import Change, Mint, Register, bearer
from tests.helpers.answer_checks import refused
from tests.helpers.directory_agents import join_directory


@pytest.mark.asyncio
async def test_an_agent_of_the_directory_cannot_be_claimed(
    client: httpx2.AsyncClient, change: Change, mint: Mint
) -> None:
    agent = await join_directory(client, change)
    claim = {"claim_token": (await mint())[1]}
    answer = await client.post("/api/agent/claim", json=claim, headers=agent.headers)
    refused(answer, 403, "access_denied")


@pytest.mark.asyncio
async def test_the_directory_neither_finds_nor_ends_nor_vets_an_agent_of_the_assistant(
    client: httpx2.AsyncClient, change: Change, register: Register
) -> None:
    agent = await register()
    found = await change(lambda tx: accounts_queries.find(tx, agent["client_id"]))
    assert found is None
    with pytest.raises(NotFound):
        await change(lambda tx: accounts_queries.revoke(tx, agent["client_id"], actor="operator"))
    with pytest.raises(NotFound):
        await change(lambda tx: accounts_queries.vet(tx, agent["client_id"], vetted=True))
    challenge = await client.post("/api/auth/challenge", headers=bearer(agent))
    refused(challenge, 403, "access_denied")
    assert await change(lambda tx: accounts_queries.newest(tx, 10)) == []


@pytest.mark.asyncio
async def test_agents_of_the_assistant_have_no_key_and_are_not_idle(
    settings: Settings, change: Change, register: Register
) -> None:
    agent = await register()
    store = make_store(settings.database_url)
    await store.start()
    await IdleAgentSweep(store)()
    await store.close()
    left = await change(lambda tx: registration.find(tx, agent["client_id"]))
    assert left is not None
    assert left.revoked_at is None


@pytest.mark.asyncio
async def test_a_user_cannot_end_an_agent_of_the_directory(client: httpx2.AsyncClient, change: Change) -> None:
    agent = await join_directory(client, change)
    for user in ("", values.new_id("usr")):
        ended = await change(lambda tx, user=user: registration.revoke(tx, agent.id, user_id=user))
        assert not ended
