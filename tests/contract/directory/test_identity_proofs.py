"""Proof of identity: what each type takes, and what it gives (docs/contract 9.2)."""

from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette

from negotiator.config.settings import Settings
from negotiator.directory import accounts_queries
from negotiator.directory.identity_proof import ClaimedIdentity
from tests.conftest import Change, Clock, connect
from tests.contract.requirements import covers
from tests.helpers.answer_checks import refused
from tests.helpers.directory_identity import (
    CHALLENGE,
    FakeWeb,
    StatementSigner,
    code_in,
    is_accepted,
    key_header,
    prove,
    register_account,
    sent_mails,
)
from tests.helpers.directory_identity import web as web

pytestmark = pytest.mark.asyncio
URL = "https://agents.example/.well-known/agent.json"


def believed(answer: httpx2.Response, record: dict[str, Any]) -> None:
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert (told["status"], told["client_id"]) == ("verified", record["client_id"])
    kind = record["identity"]["type"]
    assert told["identity"] == {"type": kind, "verified": True, "trust_level": 2, "challenge": None}


@covers("9.2:did-key")
@pytest.mark.parametrize("curve", ["Ed25519", "P-256"])
async def test_a_did_key_is_proven_by_its_own_signature(client: httpx2.AsyncClient, change: Change, curve: str) -> None:
    signer = StatementSigner(curve)
    record = await register_account(client, "did", signer.did)
    believed(await prove(client, record, signer.statement(record)), record)
    found = await change(lambda tx: accounts_queries.proven_identities(tx, record["client_id"]))
    assert [(each.type, each.value, each.domain) for each in found] == [("did", signer.did, None)]


@covers("9.2:did-key")
async def test_the_kid_may_be_the_did_alone_or_missing(client: httpx2.AsyncClient) -> None:
    for kid in (None, "did"):
        signer = StatementSigner()
        record = await register_account(client, "did", signer.did)
        statement = signer.statement(record, kid=kid and signer.did)
        believed(await prove(client, record, statement), record)


@covers("9.2:did-web")
@pytest.mark.parametrize(
    ("did", "url", "domain"),
    [
        ("did:web:agents.example", "https://agents.example/.well-known/did.json", "agents.example"),
        ("did:web:agents.example:a:b", "https://agents.example/a/b/did.json", None),
    ],
)
@pytest.mark.parametrize("embedded", [True, False])
async def test_a_did_web_is_proven_by_a_key_of_its_document(
    client: httpx2.AsyncClient, change: Change, web: FakeWeb, did: str, url: str, domain: str | None, embedded: bool
) -> None:
    signer = StatementSigner("P-256")
    document = signer.did_document(did)
    if embedded:
        method = {"id": f"{did}#one", "controller": did, "publicKeyMultibase": signer.multikey}
        document = {"id": did, "authentication": [method]}
    web.documents[url] = document
    record = await register_account(client, "did", did)
    believed(await prove(client, record, signer.statement(record, did)), record)
    proven: list[ClaimedIdentity] = await change(lambda tx: accounts_queries.proven_identities(tx, record["client_id"]))
    assert [each.domain for each in proven] == [domain]


@covers("9.2:agent-url")
@pytest.mark.parametrize("by_link", [True, False])
async def test_an_agent_url_is_proven_by_a_key_of_its_client_document(
    client: httpx2.AsyncClient, change: Change, web: FakeWeb, by_link: bool
) -> None:
    signer, keys = StatementSigner(), "https://keys.example/jwks"
    document = signer.client_document(URL)
    if by_link:
        web.documents[keys] = document["jwks"]
        document = {"client_id": URL, "jwks_uri": keys}
    web.documents[URL] = document
    record = await register_account(client, "agent_id", URL)
    believed(await prove(client, record, signer.statement(record, URL)), record)
    proven: list[ClaimedIdentity] = await change(lambda tx: accounts_queries.proven_identities(tx, record["client_id"]))
    assert [each.domain for each in proven] == ["agents.example"]


@covers("9.2:email")
async def test_an_address_is_proven_by_the_code_that_was_mailed_to_it(
    client: httpx2.AsyncClient, settings: Settings, change: Change
) -> None:
    record = await register_account(client, "email", " Ada@Example.com ")
    ((to, text),) = sent_mails(settings.data_dir)
    assert to == "ada@example.com"
    assert "http" not in text.replace("https://negotiator.example", "")
    code = code_in(text)
    assert len(code) == 8
    assert code.isdecimal()
    believed(await prove(client, record, code), record)
    proven: list[ClaimedIdentity] = await change(lambda tx: accounts_queries.proven_identities(tx, record["client_id"]))
    assert [(each.value, each.domain) for each in proven] == [("ada@example.com", None)]


@covers("9.2:unsupported")
async def test_there_is_no_challenge_for_what_cannot_be_proven(client: httpx2.AsyncClient) -> None:
    for kind, value in (("did", "did:plc:abc"), ("agent_id", "opaque")):
        record = await register_account(client, kind, value)
        answer = await client.post(CHALLENGE, headers=key_header(record))
        refused(answer, 400, "unsupported_identity")


async def test_only_the_newest_challenge_counts_once_for_ten_minutes(client: httpx2.AsyncClient, clock: Clock) -> None:
    signer = StatementSigner()
    record = await register_account(client, "did", signer.did)
    newer = (await client.post(CHALLENGE, headers=key_header(record))).json()
    newer["api_key"] = record["api_key"]
    refused(await prove(client, record, signer.statement(record)), 404, "not_found")
    clock.advance(600)
    answer = await prove(client, newer, signer.statement(newer))
    refused(answer, 410, "challenge_expired")
    newest = {**record, **(await client.post(CHALLENGE, headers=key_header(record))).json()}
    believed(await prove(client, newest, signer.statement(newest)), newest)
    answer = await prove(client, newest, signer.statement(newest))
    refused(answer, 409, "challenge_used")


async def test_a_challenge_takes_five_tries_and_a_refusal_costs_nothing_else(client: httpx2.AsyncClient) -> None:
    signer = StatementSigner()
    record = await register_account(client, "did", signer.did)
    for _ in range(4):
        refused(await prove(client, record, "a.b.c"), 400, "invalid_proof")
    believed(await prove(client, record, signer.statement(record)), record)
    again = {**record, **(await client.post(CHALLENGE, headers=key_header(record))).json()}
    assert again["identity"]["verified"]
    for _ in range(5):
        refused(await prove(client, again, "a.b.c"), 400, "invalid_proof")
    answer = await prove(client, again, signer.statement(again))
    refused(answer, 429, "too_many_attempts")
    after = (await client.post(CHALLENGE, headers=key_header(record))).json()
    assert (after["identity"]["verified"], after["identity"]["trust_level"]) == (True, 2)


async def test_who_saw_the_weak_key_does_not_inherit_the_proof_when_it_is_rotated(
    application: Starlette, client: httpx2.AsyncClient
) -> None:
    signer = StatementSigner()
    record = await register_account(client, "did", signer.did)
    answer = await prove(client, record, signer.statement(record), rotate=True)
    believed(answer, record)
    async with connect(application) as elsewhere:
        assert not await is_accepted(elsewhere, record["api_key"])
        assert await is_accepted(elsewhere, answer.json()["api_key"])


@covers("9.2:exclusive")
async def test_a_proven_identity_is_one_agent_s_and_a_claimed_one_nobody_s(
    client: httpx2.AsyncClient, change: Change
) -> None:
    signer = StatementSigner()
    squatter, owner = [await register_account(client, "did", signer.did) for _ in range(2)]
    believed(await prove(client, owner, signer.statement(owner)), owner)
    second = await prove(client, squatter, signer.statement(squatter))
    refused(second, 409, "identity_taken")
    assert await change(lambda tx: accounts_queries.proven_identities(tx, squatter["client_id"])) == []
    await change(lambda tx: accounts_queries.revoke(tx, owner["client_id"], actor="operator"))
    believed(await prove(client, squatter, signer.statement(squatter)), squatter)
