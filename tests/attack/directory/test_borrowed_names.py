"""Names of others, and proofs that prove something else, to somebody else, or by somebody else's key."""

import asyncio
import json
import tomllib
from pathlib import Path
from typing import Any, Final

import httpx2
import jwt
import pytest
from starlette.applications import Starlette

from negotiator.base import values
from negotiator.config.settings import Settings
from negotiator.directory import accounts_queries
from negotiator.directory.identity_proof import ClaimedIdentity, did_web_url, is_document_url
from negotiator.store import audit
from tests.conftest import Change, Clock, connect
from tests.helpers.answer_checks import refused
from tests.helpers.directory_identity import (
    CHALLENGE,
    VERIFY,
    FakeWeb,
    StatementSigner,
    code_in,
    key_header,
    prove,
    register_account,
    sent_mails,
)
from tests.helpers.directory_identity import web as web
from tests.helpers.loopback_server import answering, serving

pytestmark = pytest.mark.asyncio
VICTIM = "ada@example.com"
NAMES: Final[dict[str, list[str]]] = tomllib.loads(Path(__file__).with_name("borrowed_names.toml").read_text())


async def test_a_mailbox_hears_from_us_once_in_ten_minutes_and_thrice_a_day(
    client: httpx2.AsyncClient, settings: Settings, clock: Clock
) -> None:
    for _ in range(20):
        await register_account(client, "email", VICTIM)
        await register_account(client, "email", VICTIM.upper())
        bare = {"identity_type": "identity_assertion", "assertion_type": "verified_email"}
        other_door = {**bare, "agent_name": "x", "assertion": VICTIM}
        assert (await client.post("/api/agent/register", json=other_door)).status_code == 201
    assert len(sent_mails(settings.data_dir)) == 1
    for _ in range(20):
        clock.advance(601)
        await register_account(client, "email", VICTIM)
    assert len(sent_mails(settings.data_dir)) == 3


async def test_whether_others_wrote_to_a_mailbox_is_not_told(client: httpx2.AsyncClient, settings: Settings) -> None:
    first, second = [await register_account(client, "email", VICTIM) for _ in range(2)]
    for record in (first, second):
        asked = record["identity"]["challenge"]
        assert set(asked) == {"id", "method", "expires_at"}
        answer = await client.post(CHALLENGE, headers=key_header(record))
        assert answer.json()["identity"]["challenge"] == asked
    (mail,) = sent_mails(settings.data_dir)
    refused(await prove(client, second, code_in(mail[1])), 400, "invalid_proof")
    assert (await prove(client, first, code_in(mail[1]))).status_code == 200


async def test_a_challenge_without_a_mail_has_no_code_to_guess(client: httpx2.AsyncClient, change: Change) -> None:
    await register_account(client, "email", VICTIM)
    silent = await register_account(client, "email", VICTIM)
    for guess in ("", "None", "00000000"):
        sent = {"challenge_id": silent["identity"]["challenge"]["id"], "proof": guess}
        answer = await client.post("/api/auth/verify", json=sent, headers=key_header(silent))
        assert answer.status_code in {400, 422}
    assert await change(lambda tx: accounts_queries.proven_identities(tx, silent["client_id"])) == []


async def test_a_stranger_s_words_in_a_mail_point_nowhere(client: httpx2.AsyncClient, settings: Settings) -> None:
    name = "Win big! https://evil.example/prize <a href=x> call +1 (555) now or lose it all"
    sent = {"agent_name": name, "identity_type": "email", "identity_value": VICTIM}
    await client.post("/api/auth/register", json={**sent, "contact_email": "eve@example.net"})
    ((to, text),) = sent_mails(settings.data_dir)
    assert to == VICTIM
    assert "evil.example" not in text
    assert "://evil" not in text
    assert "<" not in text
    assert "lose it all" not in text


async def test_a_squatter_of_a_name_gains_nothing_and_hinders_nobody(
    client: httpx2.AsyncClient, change: Change
) -> None:
    signer = StatementSigner()
    squatters = [await register_account(client, "did", signer.did) for _ in range(3)]
    for squatter in squatters:
        forged = StatementSigner().statement(squatter, signer.did)
        refused(await prove(client, squatter, forged), 400, "invalid_signature")
        assert await change(lambda tx, s=squatter: accounts_queries.proven_identities(tx, s["client_id"])) == []
    owner = await register_account(client, "did", signer.did)
    assert (await prove(client, owner, signer.statement(owner))).status_code == 200
    rows = await change(lambda tx: accounts_queries.newest(tx, 10))
    assert [row["verified"] for row in rows] == [True, False, False, False]


async def test_names_that_lead_inside_are_not_followed_and_all_look_alike(
    client: httpx2.AsyncClient, change: Change
) -> None:
    async with serving(answering(b'{"id": "secret"}')) as (port, heads):
        names = ["did:web:localhost", f"did:web:localhost%3A{port}", "did:web:localtest.invalid"]
        told: list[dict[str, Any]] = []
        signer = StatementSigner()
        for did in names:
            record = await register_account(client, "did", did)
            answer = await prove(client, record, signer.statement(record, did))
            told.append({**refused(answer, 400, "identity_unreachable"), "request_id": ""})
        url = f"https://localhost:{port}/agent.json"
        record = await register_account(client, "agent_id", url)
        answer = await prove(client, record, signer.statement(record, url))
        told.append({**refused(answer, 400, "identity_unreachable"), "request_id": ""})
        assert all(each == told[0] for each in told)
        assert heads == []
    events = await change(lambda tx: audit.latest_events(tx, 50))
    assert [event.event for event in events].count("identity.refused") == 4


@pytest.mark.parametrize("did", NAMES["did_webs"])
async def test_a_did_web_that_could_be_read_in_two_ways_leads_nowhere(did: str) -> None:
    assert did_web_url(did) is None


@pytest.mark.parametrize("url", NAMES["agent_urls"])
async def test_an_agent_url_that_could_be_read_in_two_ways_is_only_a_word(url: str) -> None:
    assert not is_document_url(url)
    assert ClaimedIdentity("agent_id", url).document_url is None


URL = "https://agents.example/agent.json"
DID = "did:web:agents.example"
DOCUMENT = "https://agents.example/.well-known/did.json"
FORGED: Final[dict[str, Any]] = json.loads(Path(__file__).with_name("forged_proofs.json").read_text())
"""One change each to a good statement or document; null leaves the member out."""


async def unproven(change: Change, record: dict[str, Any]) -> None:
    assert await change(lambda tx: accounts_queries.proven_identities(tx, record["client_id"])) == []


@pytest.mark.parametrize(("forged", "error"), FORGED["statements"], ids=str)
async def test_a_statement_with_one_word_changed_proves_nothing(
    client: httpx2.AsyncClient, change: Change, forged: dict[str, Any], error: str
) -> None:
    signer = StatementSigner()
    record = await register_account(client, "did", signer.did)
    refused(await prove(client, record, signer.statement(record, **forged)), 400, error)
    await unproven(change, record)
    good = await prove(client, record, signer.statement(record))
    assert good.status_code == 200, "a refusal must leave the challenge as it was"


async def test_an_unsigned_one_and_one_signed_with_a_public_key_are_refused(
    client: httpx2.AsyncClient, change: Change
) -> None:
    signer = StatementSigner()
    record = await register_account(client, "did", signer.did)
    none = signer.statement(record, alg="none", key=None)
    secret = signer.jwk()["x"] + "-made-longer-than-the-library-asks"
    symmetric = signer.statement(record, alg="HS256", key=secret)
    for forged in (none, symmetric):
        refused(await prove(client, record, forged), 400, "invalid_signature")
    await unproven(change, record)


async def test_a_key_that_the_statement_brings_along_is_not_looked_at(
    client: httpx2.AsyncClient, change: Change, web: FakeWeb
) -> None:
    victim, thief = StatementSigner(), StatementSigner()
    web.documents["https://thief.example/jwks"] = {"keys": [thief.jwk()]}
    record = await register_account(client, "did", victim.did)
    for lure in ({"jwk": thief.jwk()}, {"jku": "https://thief.example/jwks"}):
        forged = thief.statement(record, victim.did, **lure)
        refused(await prove(client, record, forged), 400, "invalid_signature")
    assert web.asked == []
    await unproven(change, record)


async def test_a_statement_relayed_from_another_client_is_refused(client: httpx2.AsyncClient, change: Change) -> None:
    victim = StatementSigner()
    honest, thief = [await register_account(client, "did", victim.did) for _ in range(2)]
    relayed = victim.statement(honest)
    refused(await prove(client, thief, relayed), 400, "invalid_proof")
    sent = {"challenge_id": honest["identity"]["challenge"]["id"], "proof": relayed}
    answer = await client.post(VERIFY, json=sent, headers=key_header(thief))
    refused(answer, 404, "not_found")
    await unproven(change, thief)
    assert (await prove(client, honest, relayed)).status_code == 200
    refused(await prove(client, honest, relayed), 409, "challenge_used")


async def test_a_curve_s_name_does_not_make_a_key_of_it(client: httpx2.AsyncClient) -> None:
    signer, other = StatementSigner("P-256"), StatementSigner("Ed25519")
    record = await register_account(client, "did", signer.did)
    crossed = other.statement(record, signer.did)
    refused(await prove(client, record, crossed), 400, "invalid_signature")


@pytest.mark.parametrize("changes", FORGED["did_documents"])
async def test_a_did_document_that_does_not_say_so_proves_nothing(
    client: httpx2.AsyncClient, change: Change, web: FakeWeb, changes: dict[str, Any]
) -> None:
    signer = StatementSigner()
    web.documents[DOCUMENT] = signer.did_document(DID, **changes)
    record = await register_account(client, "did", DID)
    answer = await prove(client, record, signer.statement(record, DID))
    assert answer.status_code == 400
    await unproven(change, record)


@pytest.mark.parametrize("changes", FORGED["client_documents"])
async def test_a_client_document_that_does_not_say_so_proves_nothing(
    client: httpx2.AsyncClient, change: Change, web: FakeWeb, changes: dict[str, Any]
) -> None:
    signer = StatementSigner()
    web.documents[URL] = signer.client_document(URL, **changes)
    record = await register_account(client, "agent_id", URL)
    answer = await prove(client, record, signer.statement(record, URL))
    assert answer.status_code == 400
    await unproven(change, record)


async def test_of_fifty_proofs_of_one_identity_by_two_agents_one_agent_wins(
    application: Starlette, client: httpx2.AsyncClient, change: Change
) -> None:
    signer = StatementSigner()
    records = [await register_account(client, "did", signer.did) for _ in range(2)]
    async with connect(application, "198.51.100.9") as elsewhere:
        answers = await asyncio.gather(
            *(
                prove(each, record, signer.statement(record))
                for _ in range(25)
                for each, record in zip((client, elsewhere), records, strict=True)
            )
        )
    words = [answer.json().get("error", "verified") for answer in answers]
    assert words.count("verified") == 1
    assert set(words) <= {"verified", "identity_taken", "challenge_used", "too_many_attempts"}
    held = [await change(lambda tx, r=r: accounts_queries.proven_identities(tx, r["client_id"])) for r in records]
    assert sorted(map(len, held)) == [0, 1]


async def test_fifty_guesses_at_once_are_five(client: httpx2.AsyncClient) -> None:
    record = await register_account(client, "email", "ada@example.com")
    answers = await asyncio.gather(*(prove(client, record, f"{n:08}") for n in range(50)))
    words = [answer.json()["error"] for answer in answers]
    assert words.count("invalid_proof") == 5
    assert words.count("too_many_attempts") == 45


async def test_a_foreign_bearer_cannot_be_challenged(client: httpx2.AsyncClient, register: Any) -> None:
    stranger = await register()
    headers = {"authorization": f"Bearer {stranger['access_token']}"}
    refused(await client.post(CHALLENGE, headers=headers), 403, "access_denied")


async def test_texts_that_are_no_statement_are_refused_by_name(client: httpx2.AsyncClient) -> None:
    signer = StatementSigner()
    record = await register_account(client, "did", signer.did)
    whole = signer.statement(record)
    head, payload, signature = whole.split(".")
    now = values.now() // 1000
    twice = jwt.encode({"iat": now}, signer.private, "EdDSA") + "." + signature
    for broken in (f"{whole}=", f"{head}.{payload}", f"{head}.{payload}.", twice, "é" * 9):
        answer = await prove(client, record, broken)
        assert answer.status_code == 400
        assert answer.json()["error"] in {"invalid_proof", "invalid_signature"}
        record = {**record, **(await client.post(CHALLENGE, headers=key_header(record))).json()}
