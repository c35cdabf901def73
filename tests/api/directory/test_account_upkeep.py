"""What is looked at again: documents every 30 days, keys that nobody uses, challenges that are over."""

from typing import Any

import httpx2
import pytest

from negotiator.base import values
from negotiator.config.settings import Settings
from negotiator.directory import accounts_queries
from negotiator.directory.accounts_maintenance import IdleAgentSweep, PublishedKeyRechecks
from negotiator.directory.identity_proof import PublishedKeys
from negotiator.store import audit
from negotiator.store.store import Store, make_store
from negotiator.trust.fetcher import Fetcher
from tests.conftest import Change, Clock
from tests.helpers.directory_identity import (
    REVOKE,
    ROTATE,
    FakeWeb,
    StatementSigner,
    is_accepted,
    key_header,
    prove,
    register_account,
)
from tests.helpers.loopback_server import free_hosts
from tests.helpers.sweep import sweep

pytestmark = pytest.mark.asyncio
DAY = 86_400
DID = "did:web:agents.example"
DOCUMENT = "https://agents.example/.well-known/did.json"


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> FakeWeb:
    """The rest of the world."""
    return FakeWeb(monkeypatch)


async def opened(settings: Settings) -> Store:
    store = make_store(settings.database_url)
    await store.start()
    return store


async def proven(client: httpx2.AsyncClient, web: FakeWeb) -> tuple[dict[str, Any], StatementSigner]:
    signer = StatementSigner()
    web.documents[DOCUMENT] = signer.did_document(DID)
    record = await register_account(client, "did", DID)
    answer = await prove(client, record, signer.statement(record, DID))
    assert answer.status_code == 200, answer.text
    return record, signer


async def test_a_document_is_looked_at_every_thirty_days_and_missed_twice_before_it_counts(
    client: httpx2.AsyncClient, settings: Settings, change: Change, clock: Clock, web: FakeWeb
) -> None:
    record, signer = await proven(client, web)
    store, hosts = await opened(settings), free_hosts(Fetcher(allow_loopback=False))
    look = PublishedKeyRechecks(store, PublishedKeys(hosts))

    async def level() -> int:
        found = await change(lambda tx: accounts_queries.proven_identities(tx, record["client_id"]))
        return 1 + len(found)

    asked = len(web.asked)
    await look()
    assert len(web.asked) == asked, "nothing is due yet"
    clock.advance(31 * DAY)
    await look()
    await look()
    assert (await level(), len(web.asked)) == (2, asked + 1)
    clock.advance(31 * DAY)
    web.documents[DOCUMENT] = StatementSigner().did_document(DID)
    await look()
    await look()
    assert (await level(), len(web.asked)) == (2, asked + 2)
    clock.advance(DAY + 1)
    web.documents[DOCUMENT] = signer.did_document(DID)
    await look()
    clock.advance(31 * DAY)
    del web.documents[DOCUMENT]
    await look()
    assert await level() == 2, "a success in between forgives"
    assert await is_accepted(client, record["api_key"])
    clock.advance(DAY + 1)
    await look()
    assert await level() == 1
    await hosts.close()
    await store.close()
    events = await change(lambda tx: audit.latest_events(tx, 1))
    assert [event.event for event in events] == ["identity.dropped"]
    assert await is_accepted(client, record["api_key"])


async def test_a_key_that_nobody_used_for_ninety_days_ends_unless_its_agent_is_proven(
    client: httpx2.AsyncClient, settings: Settings, change: Change, clock: Clock
) -> None:
    signer = StatementSigner()
    idle, busy, known = (
        await register_account(client),
        await register_account(client),
        await register_account(client, "did", signer.did),
    )
    assert (await prove(client, known, signer.statement(known))).status_code == 200
    clock.advance(89 * DAY)
    assert await is_accepted(client, busy["api_key"])
    clock.advance(DAY)
    store = await opened(settings)
    assert not await is_accepted(client, idle["api_key"])
    await IdleAgentSweep(store)()
    await store.close()
    assert [await is_accepted(client, each["api_key"]) for each in (busy, known)] == [True, True]
    found = await change(lambda tx: accounts_queries.find(tx, idle["client_id"]))
    assert found.revoked_at == values.now()
    events = await change(lambda tx: audit.latest_events(tx, 1))
    assert (events[0].event, events[0].actor) == ("agent.expired", "clock")


async def test_an_agent_whose_last_key_ran_out_holds_no_name_any_more(
    client: httpx2.AsyncClient, settings: Settings, change: Change, clock: Clock
) -> None:
    signer = StatementSigner()
    record = await register_account(client, "did", signer.did)
    assert (await prove(client, record, signer.statement(record))).status_code == 200
    successor = (await client.post(ROTATE, json={}, headers=key_header(record))).json()
    await client.post(REVOKE, json={"token": successor["api_key"]})
    store = await opened(settings)
    upkeep = IdleAgentSweep(store)
    await upkeep()
    assert len(await change(lambda tx: accounts_queries.proven_identities(tx, record["client_id"]))) == 1
    clock.advance(DAY + 3600)
    await upkeep()
    await store.close()
    assert await change(lambda tx: accounts_queries.proven_identities(tx, record["client_id"])) == []


async def test_revoking_the_last_key_frees_the_name_at_once(client: httpx2.AsyncClient) -> None:
    signer = StatementSigner()
    record = await register_account(client, "did", signer.did)
    assert (await prove(client, record, signer.statement(record))).status_code == 200
    await client.post(REVOKE, json={"token": record["api_key"]})
    again = await register_account(client, "did", signer.did)
    assert (await prove(client, again, signer.statement(again))).status_code == 200


async def test_the_sweep_forgets_challenges_and_long_dead_keys(
    client: httpx2.AsyncClient, change: Change, clock: Clock
) -> None:
    sent = {"agent_name": "a", "identity_type": "did", "identity_value": StatementSigner().did}
    first = await client.post("/api/auth/register", json=sent)
    await client.post(REVOKE, json={"token": first.json()["api_key"]})
    clock.advance(31 * DAY)
    await change(lambda tx: sweep(tx, values.now()))
    second = await client.post("/api/auth/register", json=sent)
    assert second.status_code == 201
    assert second.json()["client_id"] != first.json()["client_id"]
