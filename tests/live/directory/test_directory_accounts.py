"""Agents of the directory on both engines, over processes: what may happen once, and limits that many share."""

import asyncio
import time
from collections.abc import AsyncGenerator
from pathlib import Path

import httpx2
import pytest
import pytest_asyncio

from negotiator.base import values
from negotiator.config.settings import Settings
from negotiator.directory import accounts_queries
from negotiator.store.store import Store
from tests.conftest import connect, make_settings, running
from tests.helpers.directory_identity import (
    CHALLENGE,
    REVOKE,
    ROTATE,
    TOKEN,
    StatementSigner,
    is_accepted,
    key_header,
    prove,
    register_account,
)
from tests.helpers.live_server import Server
from tests.helpers.sweep import sweep

pytestmark = pytest.mark.asyncio
Pair = tuple[httpx2.AsyncClient, httpx2.AsyncClient]


@pytest.fixture
def shared_settings(database_url: str, tmp_path: Path, signing_keys: Path) -> Settings:
    """Settings over each engine in turn."""
    return make_settings(tmp_path, signing_keys, database_url=database_url)


@pytest_asyncio.fixture
async def two_clients(shared_settings: Settings) -> AsyncGenerator[Pair]:
    """Two visitors, each at an application of its own over the same database."""
    async with (
        running(shared_settings) as one,
        running(shared_settings) as other,
        connect(one) as client,
        connect(other) as elsewhere,
    ):
        yield client, elsewhere


async def test_an_agent_s_whole_life_is_the_same_on_each_engine(two_clients: Pair) -> None:
    client, elsewhere = two_clients
    signer = StatementSigner()
    record = await register_account(client, "did", signer.did, requested_scopes=["tools:write"])
    assert await is_accepted(elsewhere, record["api_key"])
    refused = await prove(client, record, "a.b.c")
    assert refused.json()["error"] == "invalid_proof"
    proved = await prove(elsewhere, record, signer.statement(record))
    assert proved.json()["identity"]["trust_level"] == 2
    basic = (record["client_id"], record["api_key"])
    sent = {"grant_type": "client_credentials"}
    token = (await client.post(TOKEN, data=sent, auth=basic)).json()["access_token"]
    assert await is_accepted(elsewhere, token)
    rotated = (await elsewhere.post(ROTATE, json={}, headers=key_header(record))).json()
    answer = await client.get("/api/health", headers=key_header(record))
    assert "sunset" in answer.headers
    for credential in (record["api_key"], rotated["api_key"]):
        await client.post(REVOKE, json={"token": credential})
        assert not await is_accepted(elsewhere, credential)
    assert not await is_accepted(elsewhere, token)
    again = await register_account(client, "did", signer.did)
    assert (await prove(client, again, signer.statement(again))).status_code == 200
    mailed = await register_account(client, "email", "ada@example.com")
    assert mailed["identity"]["challenge"]["method"] == "email_code"


async def test_of_two_agents_with_one_identity_one_proves_it_on_each_engine(two_clients: Pair) -> None:
    client, elsewhere = two_clients
    signer = StatementSigner()
    records = [await register_account(client, "did", signer.did) for _ in range(2)]
    answers = await asyncio.gather(
        *(
            prove(each, record, signer.statement(record))
            for record in records
            for _ in range(3)
            for each in (client, elsewhere)
        )
    )
    words = [answer.json().get("error", "verified") for answer in answers]
    assert words.count("verified") == 1
    told = {"verified", "identity_taken", "challenge_used", "too_many_attempts"}
    assert set(words) <= told


async def test_the_sweep_and_the_operator_work_on_each_engine(shared_settings: Settings, store: Store) -> None:
    async with running(shared_settings) as one, connect(one) as client:
        record = await register_account(client)
        agent = record["client_id"]
        await store.write(lambda tx: accounts_queries.vet(tx, agent, vetted=True))
        await store.write(lambda tx: sweep(tx, values.now() + 86_400_000))
        (listed,) = await store.write(lambda tx: accounts_queries.newest(tx, 5))
        assert listed["trust_level"] == 3
        await store.write(lambda tx: accounts_queries.revoke(tx, agent, actor="operator"))
        assert not await is_accepted(client, record["api_key"])


async def test_a_rate_is_shared_by_four_workers_to_the_call(server: Server) -> None:
    async with server.connect() as client:
        record = await register_account(client)
        assert record["rate_limit"] == {"requests_per_minute": 60, "burst": 60}

    async def ask() -> httpx2.Response:
        async with server.connect() as visitor:
            return await visitor.post(CHALLENGE, headers=key_header(record))

    began = time.monotonic()
    answers = await asyncio.gather(*(ask() for _ in range(90)))
    statuses = [answer.status_code for answer in answers]
    taken = len(statuses) - statuses.count(429)
    back = int(time.monotonic() - began) + 1
    assert 60 <= taken <= 60 + back, "what comes back while the test runs, and no more"
