"""Keys: guessed, mistyped, bought with, read out of the database, or asked for with borrowed scopes."""

import sqlite3
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette

from negotiator.base.scopes import ASSISTANT, DIRECTORY
from negotiator.config.settings import Settings
from negotiator.store.sqlite import SqliteStore
from negotiator.tokens import api_keys
from tests.conftest import connect, running
from tests.helpers.answer_checks import refused
from tests.helpers.directory_identity import (
    CHALLENGE,
    REVOKE,
    ROTATE,
    TOKEN,
    VERIFY,
    StatementSigner,
    buy_token,
    code_in,
    is_accepted,
    key_header,
    prove,
    register_account,
    sent_mails,
)

pytestmark = pytest.mark.asyncio


def database(settings: Settings) -> bytes:
    """Every byte of the database, as a thief of the file would have it."""
    connection = sqlite3.connect(f"{settings.data_dir}/negotiator.db")
    try:
        return "\n".join(connection.iterdump()).encode()
    finally:
        connection.close()


async def test_a_key_with_a_wrong_checksum_costs_no_look_at_the_database(
    client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (await register_account(client))["api_key"]
    reads: list[object] = []
    plain = SqliteStore.read

    async def counted(store: SqliteStore, unit: Any) -> Any:
        reads.append(unit)
        return await plain(store, unit)

    monkeypatch.setattr(SqliteStore, "read", counted)
    for place in (9, 15, 25, 40, 58):
        other = "A" if text[place] != "A" else "B"
        assert not await is_accepted(client, text[:place] + other + text[place + 1 :])
    for wrong in (text[:-1], text + "A", text.swapcase(), api_keys.KEY_PREFIX, f"{api_keys.BEARER_PREFIX}{text[9:]}"):
        assert not await is_accepted(client, wrong)
    assert reads == []


async def test_a_guessed_secret_is_as_unknown_as_a_guessed_id(client: httpx2.AsyncClient) -> None:
    record = await register_account(client)
    key_id = record["api_key"].split("_")[2]
    answers = [
        await client.post(CHALLENGE, headers={"authorization": f"Bearer {guess}"})
        for guess in (
            api_keys.write_key(key_id, api_keys.new_secret()),
            api_keys.write_key(api_keys.new_id(), api_keys.new_secret()),
        )
    ]
    told = [{**refused(answer, 401, "invalid_token"), "request_id": ""} for answer in answers]
    assert told[0] == told[1]


async def test_an_opaque_bearer_cannot_be_made_up(client: httpx2.AsyncClient) -> None:
    record = await register_account(client)
    token = (await buy_token(client, record)).json()["access_token"]
    jti = token.split("_")[2]
    assert await is_accepted(client, token)
    assert not await is_accepted(client, api_keys.write_bearer(jti, b"another pepper"))


async def test_a_key_is_no_secret_of_another_client(client: httpx2.AsyncClient) -> None:
    mine, other = await register_account(client), await register_account(client)
    for client_id in (other["client_id"], "agt_nobody", "cli_nobody"):
        refused(await buy_token(client, {**mine, "client_id": client_id}), 401, "invalid_client")
    for grant in ("urn:ietf:params:oauth:grant-type:jwt-bearer", "refresh_token", "password"):
        answer = await client.post(
            TOKEN,
            data={"grant_type": grant, "assertion": "a.b.c", "refresh_token": "x"},
            auth=(mine["client_id"], mine["api_key"]),
        )
        # Agents renew their access by `client_id` alone, so that a key at that grant is a method they do not have.
        assert answer.status_code == (401 if grant == "refresh_token" else 400), answer.text


async def test_nothing_in_the_database_opens_anything(client: httpx2.AsyncClient, settings: Settings) -> None:
    sent = {"agent_name": "a", "identity_type": "email", "identity_value": "ada@example.com"}
    record = (await client.post("/api/auth/register", json=sent)).json()
    plain = await register_account(client)
    token = await buy_token(client, plain)
    code = code_in(sent_mails(settings.data_dir)[0][1])
    rotated = (await client.post(ROTATE, json={}, headers=key_header(plain))).json()
    kept = database(settings)
    assert record["client_id"].encode() in kept
    secrets = [each["api_key"][22:] for each in (record, plain, rotated)]
    for secret in (*secrets, token.json()["access_token"][36:], code):
        assert secret.encode() not in kept


async def test_no_scope_of_the_other_service_is_ever_given(client: httpx2.AsyncClient) -> None:
    every = [*ASSISTANT, *DIRECTORY]
    record = await register_account(client, requested_scopes=every)
    assert record["scopes"] == list(DIRECTORY)
    narrow = await register_account(client, requested_scopes=["tools:read"])
    for scope in ("tools:write", "tools:write negotiations:read", "negotiations:read"):
        refused(await buy_token(client, narrow, scope=scope), 400, "invalid_scope")
    granted = await buy_token(client, narrow, scope=" ".join(every))
    assert granted.json()["scope"] == "tools:read"
    refused(await client.get("/api/negotiations", headers=key_header(record)), 403, "insufficient_scope")
    answer = await client.post("/api/agent/claim", json={"claim_token": "BCDF-GHJK-LMNP"}, headers=key_header(record))
    assert answer.status_code in {400, 403, 409}


async def test_many_tokens_of_one_client_share_one_rate(settings: Settings) -> None:
    async with (
        running(settings.model_copy(update={"limit_unproven_rpm": 4})) as application,
        connect(application) as client,
        connect(application, "198.51.100.9") as elsewhere,
    ):
        record = await register_account(client)
        bearers = [(await buy_token(client, record)).json()["access_token"] for _ in range(5)]
        statuses = [
            (await each.post(CHALLENGE, headers={"authorization": f"Bearer {bearer}"})).status_code
            for bearer in bearers
            for each in (client, elsewhere)
        ]
        assert statuses.count(429) == 6


async def test_probing_with_bad_keys_costs_the_prober_not_the_owner(settings: Settings) -> None:
    limits = {"limit_baseline_rpm": 3, "limit_unproven_rpm": 2}
    async with (
        running(settings.model_copy(update=limits)) as application,
        connect(application) as client,
        connect(application, "198.51.100.9") as thief,
    ):
        record = await register_account(client)
        key_id = record["api_key"].split("_")[2]
        bad = {"authorization": f"Bearer {api_keys.write_key(key_id, api_keys.new_secret())}"}
        statuses = [(await thief.post(ROTATE, json={}, headers=bad)).status_code for _ in range(5)]
        assert statuses == [401, 401, 401, 429, 429]
        assert (await client.post(CHALLENGE, headers=key_header(record))).headers["x-ratelimit-remaining"] == "1"


async def test_a_key_is_revoked_from_an_address_whose_reads_are_used_up(settings: Settings) -> None:
    limits = {"limit_baseline_rpm": 1, "limit_directory_rpm": 1}
    async with running(settings.model_copy(update=limits)) as application, connect(application) as client:
        keys = [(await register_account(client))["api_key"] for _ in range(2)]
        read = [(await client.get("/api/v1/categories")).status_code for _ in range(3)]
        assert read[-1] == 429
        assert (await client.post(REVOKE, json={"token": keys[0]})).status_code == 200
        assert (await client.post("/oauth/revoke", data={"token": keys[1]})).status_code == 200
        assert not await is_accepted(client, keys[0])


async def test_a_stranger_learns_nothing_from_revocation_and_ends_nothing(client: httpx2.AsyncClient) -> None:
    record = await register_account(client)
    key_id = record["api_key"].split("_")[2]
    for guess in (key_id, record["client_id"], api_keys.write_key(key_id, api_keys.new_secret())):
        answer = await client.post(REVOKE, json={"token": guess})
        assert (answer.status_code, answer.json()) == (200, {"status": "revoked"})
    assert await is_accepted(client, record["api_key"])


async def test_another_agent_s_challenge_looks_like_none(application: Starlette, client: httpx2.AsyncClient) -> None:
    del application
    signer = StatementSigner()
    owner, thief = await register_account(client, "did", signer.did), await register_account(client)
    answers = [
        await client.post(VERIFY, json={"challenge_id": name, "proof": "x"}, headers=key_header(thief))
        for name in (owner["identity"]["challenge"]["id"], "chl_00000000000000000000000000", "x")
    ]
    told = [{**refused(answer, 404, "not_found"), "request_id": ""} for answer in answers]
    assert told[0] == told[1] == told[2]
    assert (await prove(client, owner, signer.statement(owner))).status_code == 200
