"""Keys and accounts: one successor, one overlap, one end; and what is looked at again."""

import asyncio
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette

from negotiator.base import values
from negotiator.config.settings import Settings
from negotiator.directory import accounts_queries
from negotiator.directory.accounts_registration import IdleAgentSweep, PublishedKeyRechecks
from negotiator.directory.identity_proof import PublishedKeys
from negotiator.store import audit
from negotiator.store.statement import Transaction
from negotiator.store.store import Store, make_store
from negotiator.tokens import api_keys
from negotiator.trust.fetcher import Fetcher
from tests.conftest import PEPPER, Change, Clock, connect
from tests.helpers.answer_checks import refused
from tests.helpers.directory_identity import (
    REVOKE,
    ROTATE,
    FakeWeb,
    StatementSigner,
    buy_token,
    is_accepted,
    key_header,
    prove,
    prove_did,
    register_account,
)
from tests.helpers.directory_identity import web as web
from tests.helpers.loopback_server import free_hosts
from tests.helpers.sweep import sweep

pytestmark = pytest.mark.asyncio
DAY = 86_400


async def rotated(client: httpx2.AsyncClient, record: dict[str, Any], **sent: int) -> dict[str, Any]:
    answer = await client.post(ROTATE, json=sent, headers=key_header(record))
    assert answer.status_code == 200, answer.text
    return answer.json()


async def token(client: httpx2.AsyncClient, record: dict[str, Any], **more: str) -> str:
    answer = await buy_token(client, record, **more)
    assert answer.status_code == 200, answer.text
    return answer.json()["access_token"]


async def test_a_rotated_key_says_when_it_ends_and_then_does(client: httpx2.AsyncClient, clock: Clock) -> None:
    record = await register_account(client)
    successor = await rotated(client, record)
    assert successor["previous_key_expires_at"] == "2027-01-16T08:00:00.000Z"
    old = await client.get("/api/health", headers=key_header(record))
    assert old.headers["deprecation"] == f"@{clock.at // 1000}"
    assert old.headers["sunset"] == "Sat, 16 Jan 2027 08:00:00 GMT"
    new = await client.get("/api/health", headers=key_header(successor))
    assert not {"deprecation", "sunset"} & set(new.headers)
    clock.advance(DAY - 1)
    assert await is_accepted(client, record["api_key"])
    clock.advance(1)
    assert not await is_accepted(client, record["api_key"])
    assert await is_accepted(client, successor["api_key"])


async def test_no_overlap_ends_the_old_key_and_its_tokens_at_once(client: httpx2.AsyncClient) -> None:
    record = await register_account(client)
    derived = await token(client, record)
    successor = await rotated(client, record, overlap_seconds=0)
    assert not await is_accepted(client, record["api_key"])
    assert not await is_accepted(client, derived)
    assert await is_accepted(client, successor["api_key"])


async def test_there_are_two_live_keys_at_most_and_a_lost_answer_can_be_asked_again(
    client: httpx2.AsyncClient, clock: Clock
) -> None:
    record = await register_account(client)
    lost = await rotated(client, record)
    clock.advance(10)
    kept = await rotated(client, record)
    assert [await is_accepted(client, each["api_key"]) for each in (record, lost, kept)] == [True, False, True]


@pytest.mark.parametrize("overlap", [3600, 0])
async def test_of_rotations_at_once_one_wins_and_its_key_lives(
    client: httpx2.AsyncClient, clock: Clock, overlap: int
) -> None:
    record = await register_account(client)
    won: list[httpx2.Response] = []
    for _ in range(2 if overlap else 1):
        clock.advance(10)
        sent = [client.post(ROTATE, json={"overlap_seconds": overlap}, headers=key_header(record)) for _ in range(12)]
        answers = await asyncio.gather(*sent)
        won = [answer for answer in answers if answer.status_code == 200]
        assert {answer.status_code for answer in answers} - {200} == {409 if overlap else 401}
        assert [await is_accepted(client, answer.json()["api_key"]) for answer in won] == [True]
    successor = await rotated(client, won[0].json())
    assert await is_accepted(client, successor["api_key"])


async def test_rotating_again_never_lengthens_an_overlap(client: httpx2.AsyncClient, clock: Clock) -> None:
    record = await register_account(client)
    await rotated(client, record, overlap_seconds=60)
    clock.advance(10)
    again = await rotated(client, record, overlap_seconds=600)
    assert again["previous_key_expires_at"] == "2027-01-15T08:01:00.000Z"
    clock.advance(61)
    assert not await is_accepted(client, record["api_key"])


async def test_only_the_key_itself_makes_another(client: httpx2.AsyncClient) -> None:
    record = await register_account(client)
    derived = {"authorization": f"Bearer {await token(client, record)}"}
    refused(await client.post(ROTATE, json={}, headers=derived), 403, "access_denied")


async def test_an_overlap_lasts_a_week_at_most(client: httpx2.AsyncClient) -> None:
    headers = key_header(await register_account(client))
    for seconds in (-1, 604_801, "soon"):
        answer = await client.post(ROTATE, json={"overlap_seconds": seconds}, headers=headers)
        refused(answer, 422, "validation_failed")


async def test_tokens_are_opaque_unless_a_jwt_is_asked_for_and_die_with_their_key(
    application: Starlette, client: httpx2.AsyncClient
) -> None:
    record = await register_account(client)
    opaque = await token(client, record)
    plain = "urn:ietf:params:oauth:token-type:"
    signed = await token(client, record, requested_token_type=f"{plain}jwt")
    assert opaque.startswith(api_keys.BEARER_PREFIX)
    assert signed.count(".") == 2
    narrow = await token(client, record, scope="tools:read")
    assert all([await is_accepted(client, each) for each in (opaque, signed, narrow)])
    refused(await buy_token(client, record, requested_token_type=f"{plain}saml2"), 400, "invalid_request")
    await client.post(REVOKE, json={"token": record["api_key"]})
    async with connect(application) as elsewhere:
        assert not any([await is_accepted(elsewhere, each) for each in (opaque, signed, narrow)])
    refused(await buy_token(client, record), 401, "invalid_client")


async def test_one_token_can_be_ended_alone(client: httpx2.AsyncClient) -> None:
    record = await register_account(client)
    first, second = await token(client, record), await token(client, record)
    assert (await client.post(REVOKE, data={"token": first})).json() == {"status": "revoked"}
    assert [await is_accepted(client, each) for each in (first, second, record["api_key"])] == [False, True, True]


async def test_an_agent_that_is_ended_takes_keys_and_tokens_along(client: httpx2.AsyncClient, change: Change) -> None:
    record = await register_account(client)
    derived = await token(client, record)
    await change(lambda tx: accounts_queries.revoke(tx, record["client_id"], actor="operator"))
    assert not await is_accepted(client, record["api_key"])
    assert not await is_accepted(client, derived)


async def test_use_is_noted_every_five_minutes_by_network_only(
    application: Starlette, client: httpx2.AsyncClient, change: Change, clock: Clock
) -> None:
    record = await register_account(client)

    def note(tx: Transaction) -> api_keys.ApiKeyRow:
        found = api_keys.find(tx, PEPPER.encode(), record["api_key"])
        assert found
        return found

    assert (await change(note)).last_used_at is None
    async with connect(application, "2001:db8:7:8:9::1") as visitor:
        first = clock.at
        for _ in range(3):
            await is_accepted(visitor, record["api_key"])
            clock.advance(100)
        await _settled(change, note, first)
        clock.advance(1)
        await is_accepted(visitor, record["api_key"])
    noted = await _settled(change, note, clock.at)
    assert noted.last_used_from == "2001:db8:7::/48"


async def _settled(change: Change, note: Any, at: int) -> api_keys.ApiKeyRow:
    """The row once its note, which is written beside the request, has come to rest."""
    for _ in range(100):
        found: api_keys.ApiKeyRow = await change(note)
        if found.last_used_at == at:
            return found
    raise AssertionError("the use was never noted")


DID = "did:web:agents.example"
DOCUMENT = "https://agents.example/.well-known/did.json"


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
    idle, busy = [await register_account(client) for _ in range(2)]
    known = await prove_did(client, StatementSigner())
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
    record = await prove_did(client, signer)
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
    record = await prove_did(client, signer)
    await client.post(REVOKE, json={"token": record["api_key"]})
    await prove_did(client, signer)


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
