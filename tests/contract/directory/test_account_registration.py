"""Registration at the directory (docs/contract 9.1)."""

from pathlib import Path
from typing import Any

import httpx2
import pytest

from negotiator.base import values
from negotiator.base.scopes import DIRECTORY
from negotiator.config.settings import Settings
from negotiator.tokens.api_keys import KEY_UNUSED
from tests.conftest import connect, running
from tests.contract.requirements import covers
from tests.helpers.answer_checks import is_instant, limited, refused
from tests.helpers.directory_identity import (
    READS,
    REGISTER,
    StatementSigner,
    is_accepted,
    key_header,
    register_account,
    registration_body,
    sent_mails,
)

pytestmark = pytest.mark.asyncio


@covers("9.1:self-registration", "9.1:record", "9.1:automatic", "9.1:created", "9.1:required", "9.1:default-scopes")
async def test_the_record_has_six_members_and_the_key_works_at_once(client: httpx2.AsyncClient) -> None:
    answer = await client.post(REGISTER, json=registration_body())
    assert answer.status_code == 201
    assert answer.headers["cache-control"] == "no-store"
    limited(answer)
    record = answer.json()
    assert list(record) == ["status", "client_id", "api_key", "scopes", "rate_limit", "created_at", "identity"]
    assert record["status"] == "registered"
    assert record["client_id"].startswith("agt_")
    assert record["scopes"] == READS
    assert list(record["rate_limit"]) == ["requests_per_minute", "burst"]
    assert is_instant(record["created_at"])
    assert record["identity"] == {"type": "agent_id", "verified": False, "trust_level": 1, "challenge": None}
    assert await is_accepted(client, record["api_key"])


@covers("9.2:types", "9.2:unsupported")
@pytest.mark.parametrize(
    ("kind", "value", "method"),
    [
        ("did", "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK", "jws"),
        ("did", "did:key:zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169", "jws"),
        ("did", "did:web:agents.example", "jws"),
        ("did", "did:web:agents.example:teams:one", "jws"),
        ("did", "did:plc:ewvi7nxzyoun6zhxrhs64oiz", None),
        ("did", "did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme", None),
        ("did", "did:web:127.0.0.1", None),
        ("agent_id", "https://agents.example/.well-known/agent.json", "jws"),
        ("agent_id", "https://agents.example", None),
        ("agent_id", "spiffe://agents.example/one", None),
        ("agent_id", "whatever it is", None),
        ("email", "ada@example.com", "email_code"),
    ],
)
async def test_every_identity_type_registers_and_says_how_it_could_be_proven(
    client: httpx2.AsyncClient, kind: str, value: str, method: str | None
) -> None:
    identity = (await register_account(client, kind, value))["identity"]
    assert (identity["type"], identity["verified"], identity["trust_level"]) == (kind, False, 1)
    asked = identity["challenge"]
    assert (asked and asked["method"]) == method
    if method == "jws":
        assert set(asked) == {"id", "method", "nonce", "audience", "expires_at"}
        assert asked["audience"] == "https://negotiator.example"
    if asked:
        assert asked["id"].startswith("chl_")
        assert is_instant(asked["expires_at"])


@covers("9.1:granted", "1.14:five-scopes")
async def test_what_is_asked_for_and_known_is_granted_and_never_more(client: httpx2.AsyncClient) -> None:
    every = [*DIRECTORY]
    assert len(every) == 5
    for asked, granted in (
        (every, every),
        (["bookmarks:write", "tools:read", "tools:read"], ["tools:read", "bookmarks:write"]),
        (["tools:write", "negotiations:write", "openid", "root"], ["tools:write"]),
    ):
        assert (await register_account(client, requested_scopes=asked))["scopes"] == granted


@covers("9.1:invalid-scope")
async def test_nothing_known_among_the_scopes_is_refused(client: httpx2.AsyncClient) -> None:
    for asked in ([], ["root"], ["negotiations:read", "TOOLS:READ"]):
        answer = await client.post(REGISTER, json=registration_body(requested_scopes=asked))
        refused(answer, 400, "invalid_scope")


@covers("9.1:required", "1.2:media-type-directory")
@pytest.mark.parametrize(
    "sent",
    [
        {},
        registration_body() | {"agent_name": None},
        registration_body() | {"agent_name": ""},
        registration_body() | {"agent_name": "a\u202eb"},
        registration_body() | {"identity_type": "anonymous"},
        registration_body() | {"identity_value": ""},
        registration_body() | {"identity_value": "x" * 513},
        registration_body() | {"identity_value": "ab"},
        registration_body() | {"identity_value": "a\u0007bc"},
        registration_body("did", "not a did"),
        registration_body("did", "did:key:"),
        registration_body("email", "nobody"),
        registration_body("email", "a@b.example\nbcc: c@d.example"),
        registration_body(contact_email="nobody"),
        registration_body(requested_scopes="tools:read"),
        registration_body(requested_scopes=["tools:read"] * 21),
        {"identity_type": "identity_assertion", "assertion": "a@b.example"},
        {"type": "identity_assertion", "identity_type": "did", "identity_value": "did:web:a.b"},
    ],
)
async def test_a_body_that_is_none_is_400(client: httpx2.AsyncClient, sent: dict[str, Any]) -> None:
    refused(await client.post(REGISTER, json=sent), 400, "invalid_request")


@covers("1.2:media-type-directory")
async def test_registration_reads_json_of_8_kib_and_ignores_what_it_does_not_know(client: httpx2.AsyncClient) -> None:
    form = {"agent_name": "a", "identity_type": "agent_id", "identity_value": "abc"}
    refused(await client.post(REGISTER, data=form), 415, "invalid_request")
    refused(await client.post(REGISTER, json=registration_body(more="x" * 9000)), 413, "invalid_request")
    assert (await register_account(client, more="x" * 100))["status"] == "registered"


@covers("9.1:alias")
@pytest.mark.parametrize("name", ["type", "identity_type"])
async def test_auth_md_s_verified_email_is_an_e_mail_identity(
    client: httpx2.AsyncClient, settings: Settings, name: str
) -> None:
    sent = {name: "identity_assertion", "assertion_type": "verified_email"}
    answer = await client.post(REGISTER, json={**sent, "assertion": "Ada@Example.com"})
    assert answer.status_code == 201
    assert answer.json()["identity"]["type"] == "email"
    assert answer.json()["identity"]["challenge"]["method"] == "email_code"
    assert [to for to, _ in sent_mails(settings.data_dir)] == ["ada@example.com"]


@covers("9.1:idempotency")
async def test_an_idempotency_key_repeats_no_registration(client: httpx2.AsyncClient) -> None:
    once = {"idempotency-key": "1"}
    sent = registration_body("did", StatementSigner().did)
    records = [(await client.post(REGISTER, json=sent, headers=once)).json() for _ in range(2)]
    assert records[0]["client_id"] != records[1]["client_id"]
    assert records[0]["api_key"] != records[1]["api_key"]
    assert [await is_accepted(client, record["api_key"]) for record in records] == [True, True]


@covers("9.1:budgets", "1.10:429-directory")
async def test_five_an_hour_and_twenty_a_day_register_from_one_address(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for hourly, daily, policy in ((5, 20, '"accounts";q=5;w=3600'), (1000, 5, '"daily";q=5;w=86400')):
        monkeypatch.setattr(Settings, "register_limit_directory_daily", daily)
        async with running(settings.model_copy(update={"register_limit_directory": hourly})) as application:
            async with connect(application, f"192.0.2.{len(policy)}") as client:
                for _ in range(5):
                    await register_account(client)
                answer = await client.post(REGISTER, json=registration_body())
                refused(answer, 429, "rate_limit_exceeded")
                assert answer.headers["ratelimit-policy"] == policy
                assert int(answer.headers["retry-after"]) > 600
            async with connect(application, "198.51.100.9") as elsewhere:
                await register_account(elsewhere)


async def test_the_defaults_are_the_reference_s(tmp_path: Path) -> None:
    settings = Settings.model_validate({"data_dir": tmp_path, "keys_dir": tmp_path})
    assert (settings.register_limit_directory, settings.register_limit_directory_daily) == (5, 20)
    assert KEY_UNUSED == 90 * values.DAY
    assert (settings.limit_directory_rpm, *settings.level_rates) == (30, 60, 120, 600)


@covers("9.1:paths", "9.1:unversioned")
async def test_versioned_paths_register_nobody(client: httpx2.AsyncClient) -> None:
    for path in ("/api/v1/auth/register", "/api/v1/auth/revoke", "/api/v1/health"):
        assert (await client.post(path, json=registration_body())).status_code == 404
    assert (await client.get("/api/health", headers=key_header(await register_account(client)))).status_code == 200
