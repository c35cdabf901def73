"""Proofs that prove something else, to somebody else, or by somebody else's key."""

import asyncio
from typing import Any

import httpx2
import jwt
import pytest
from starlette.applications import Starlette

from negotiator.base import values
from negotiator.directory import accounts_queries
from tests.conftest import Change, connect
from tests.helpers.answer_checks import refused
from tests.helpers.directory_identity import (
    CHALLENGE,
    VERIFY,
    FakeWeb,
    StatementSigner,
    key_header,
    prove,
    register_account,
)
from tests.helpers.form_browser import BASE

pytestmark = pytest.mark.asyncio
URL = "https://agents.example/agent.json"
DID = "did:web:agents.example"
DOCUMENT = "https://agents.example/.well-known/did.json"


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> FakeWeb:
    """The rest of the world."""
    return FakeWeb(monkeypatch)


async def unproven(change: Change, record: dict[str, Any]) -> None:
    assert await change(lambda tx: accounts_queries.proven_identities(tx, record["client_id"])) == []


NOW = 1_000_000_000
FORGERIES: list[tuple[dict[str, Any], str]] = [
    ({"aud": "https://other.example"}, "invalid_audience"),
    ({"aud": [BASE, "https://other.example"]}, "invalid_audience"),
    ({"aud": f"{BASE}/"}, "invalid_audience"),
    ({"aud": None}, "invalid_audience"),
    ({"sub": "agt_01jd3v9q1wz0b6x5y8c7e2k4mn"}, "invalid_proof"),
    ({"sub": None}, "invalid_proof"),
    ({"nonce": "another"}, "invalid_proof"),
    ({"nonce": ""}, "invalid_proof"),
    ({"nonce": None}, "invalid_proof"),
    ({"iss": "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"}, "invalid_proof"),
    ({"iss": None}, "invalid_proof"),
    ({"exp": None}, "invalid_proof"),
    ({"exp": "soon"}, "invalid_proof"),
    ({"iat": None}, "invalid_proof"),
    ({"iat": NOW, "exp": NOW + 300}, "expired"),
    ({"exp": 4_000_000_000}, "expired"),
    ({"iat": 4_000_000_000, "exp": 4_000_000_300}, "expired"),
    ({"typ": "JWT"}, "invalid_proof"),
    ({"typ": "at+jwt"}, "invalid_proof"),
    ({"typ": None}, "invalid_proof"),
    ({"crit": ["exp"]}, "invalid_proof"),
    ({"kid": "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"}, "invalid_proof"),
    ({"kid": "#other"}, "invalid_signature"),
    ({"kid": "a\u0007b"}, "invalid_proof"),
]


@pytest.mark.parametrize(("forged", "error"), FORGERIES, ids=str)
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


LIES: list[dict[str, Any]] = [
    {"id": "did:web:victim.example"},
    {"id": None},
    {"authentication": []},
    {"authentication": None},
    {"authentication": ["did:web:victim.example#one"]},
    {"authentication": "#one"},
    {"verificationMethod": None},
    {"authentication": [], "assertionMethod": ["#one"]},
    {"authentication": [7, {}, [], {"id": f"{DID}#one", "controller": "did:web:victim.example"}]},
]


@pytest.mark.parametrize("changes", LIES)
async def test_a_did_document_that_does_not_say_so_proves_nothing(
    client: httpx2.AsyncClient, change: Change, web: FakeWeb, changes: dict[str, Any]
) -> None:
    signer = StatementSigner()
    web.documents[DOCUMENT] = signer.did_document(DID, **changes)
    record = await register_account(client, "did", DID)
    answer = await prove(client, record, signer.statement(record, DID))
    assert answer.status_code == 400
    await unproven(change, record)


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "https://victim.example/agent.json"},
        {"client_id": f"{URL}/"},
        {"token_endpoint_auth_method": "client_secret_basic"},
        {"client_secret": "known to all"},
        {"jwks_uri": "https://keys.example/jwks"},
        {"jwks": None},
        {"jwks": []},
        {"jwks": {"keys": [{"kty": "oct", "k": "c2VjcmV0", "kid": "one"}]}},
        {"jwks": {"keys": "all"}},
    ],
)
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
