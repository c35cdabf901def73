"""Names of others: squatted, shouted into mailboxes, or pointed at what is not public."""

from typing import Any

import httpx2
import pytest

from negotiator.config.settings import Settings
from negotiator.directory import accounts_queries
from negotiator.directory.claimed_identity import ClaimedIdentity, did_web_url, is_document_url
from negotiator.store import audit
from tests.conftest import Change, Clock
from tests.helpers.answer_checks import refused
from tests.helpers.directory_identity import (
    CHALLENGE,
    StatementSigner,
    code_in,
    key_header,
    prove,
    register_account,
    sent_mails,
)
from tests.helpers.loopback_server import answering, serving

pytestmark = pytest.mark.asyncio
VICTIM = "ada@example.com"


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


@pytest.mark.parametrize(
    "did",
    [
        "did:web:127.0.0.1",
        "did:web:169.254.169.254",
        "did:web:2130706433",
        "did:web:0x7f.1",
        "did:web:0x7f000001",
        "did:web:%5B%3A%3A1%5D",
        "did:web:[::1]",
        "did:web:user%40host.example",
        "did:web:host.example%2Fpath",
        "did:web:host.example%3A443%2Fx",
        "did:web:host.example%3Aabc",
        "did:web:host.example%3A",
        "did:web:HOST.example",
        "did:web:host.example:..:..:x",
        "did:web:host.example:%2e%2e",
        "did:web:host.example:a%2Fb",
        "did:web:host.example:a%0d%0ab",
        "did:web:host.example:",
        "did:web:",
        "did:web:host.example#x",
        "did:web:host.example?x",
        "did:webs:host.example",
    ],
)
async def test_a_did_web_that_could_be_read_in_two_ways_leads_nowhere(did: str) -> None:
    assert did_web_url(did) is None


@pytest.mark.parametrize(
    "url",
    [
        "http://agents.example/a",
        "https://agents.example",
        "https://agents.example/",
        "https://agents.example/a#b",
        "https://agents.example/a#",
        "https://agents.example/a?b",
        "https://agents.example/a?",
        "https://agents.example/../a",
        "https://agents.example/%2e%2e/a",
        "https://agents.example/a/./b",
        "https://user@agents.example/a",
        "https://user:pass@agents.example/a",
        "https://127.0.0.1/a",
        "https://[::1]/a",
        "https://2130706433/a",
        "https://AGENTS.example/a",
        "https://agents.example:/a",
        "https://agents.example:99999/a",
        "https://agents.example\\@evil.example/a",
        "https://agents.exämple/a",
        "https://agents.example/a b",
        "HTTPS://agents.example/a",
    ],
)
async def test_an_agent_url_that_could_be_read_in_two_ways_is_only_a_word(url: str) -> None:
    assert not is_document_url(url)
    assert ClaimedIdentity("agent_id", url).document_url is None
