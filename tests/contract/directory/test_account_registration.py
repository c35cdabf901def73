"""Registration at the directory, its keys and tokens, and the limits that were promised (docs/contract 9.1, 9.3)."""

import json
import time
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest
from starlette.applications import Starlette

from negotiator.base import values
from negotiator.base.scopes import DIRECTORY
from negotiator.config.settings import Settings
from negotiator.directory import accounts_queries
from negotiator.tokens.api_keys import KEY_UNUSED
from tests.conftest import Change, connect, running
from tests.contract.requirements import covers
from tests.helpers.answer_checks import CHALLENGE as HEADER
from tests.helpers.answer_checks import is_instant, limited, refused
from tests.helpers.directory_identity import (
    CHALLENGE,
    READS,
    REGISTER,
    REVOKE,
    ROTATE,
    TOKEN,
    StatementSigner,
    buy_token,
    is_accepted,
    key_header,
    prove,
    register_account,
    registration_body,
    sent_mails,
)

pytestmark = pytest.mark.asyncio
_BODIES: Final[dict[str, Any]] = json.loads(Path(__file__).with_name("registrations.json").read_text())
"""Identities with the way by which each is proven, and bodies that are refused."""


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
@pytest.mark.parametrize(("kind", "value", "method"), _BODIES["identities"])
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
@pytest.mark.parametrize("sent", _BODIES["refused"])
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


JWT = "urn:ietf:params:oauth:token-type:jwt"


async def bought(client: httpx2.AsyncClient, record: dict[str, Any], **more: str) -> dict[str, Any]:
    answer = await buy_token(client, record, **more)
    assert answer.status_code == 200, answer.text
    assert answer.headers["cache-control"] == "no-store"
    return answer.json()


@covers("9.3:bearer", "9.3:credentials", "9.3:client-credentials")
async def test_a_key_an_opaque_bearer_and_a_jwt_go_into_the_same_header(client: httpx2.AsyncClient) -> None:
    record = await register_account(client, "did", StatementSigner().did, requested_scopes=["tools:write"])
    opaque, signed = (await bought(client, record), await bought(client, record, requested_token_type=JWT))
    assert opaque["token_type"] == signed["token_type"] == "Bearer"
    assert opaque["expires_in"] == 3600
    assert opaque["scope"] == signed["scope"] == "tools:write"
    assert signed["access_token"].count(".") == 2
    assert opaque["access_token"].count(".") == 0
    for credential in (record["api_key"], opaque["access_token"], signed["access_token"]):
        headers = {"authorization": f"bearer {credential}"}
        answer = await client.post(CHALLENGE, headers=headers)
        assert (answer.status_code, answer.json()["client_id"]) == (200, record["client_id"])
    posted = {"client_id": record["client_id"], "client_secret": record["api_key"]}
    answer = await client.post(TOKEN, data={"grant_type": "client_credentials", **posted})
    assert answer.status_code == 200


@covers("1.4:401", "9.3:public-credential", "1.13:health-open")
async def test_without_or_with_a_bad_credential_it_is_401(client: httpx2.AsyncClient) -> None:
    record = await register_account(client)
    answer = await client.post(ROTATE, json={})
    refused(answer, 401, "invalid_token")
    assert answer.headers["www-authenticate"] == HEADER
    assert (await client.get("/api/health")).status_code == 200
    wrong = record["api_key"][:-1] + ("a" if record["api_key"][-1] != "a" else "b")
    for method, path in (("GET", "/api/health"), ("POST", ROTATE), ("POST", REVOKE)):
        headers = {"authorization": f"Bearer {wrong}"}
        answer = await client.request(method, path, json={"token": "x"}, headers=headers)
        refused(answer, 401, "invalid_token")
        assert answer.headers["www-authenticate"] == f'{HEADER}, error="invalid_token"'
        assert wrong not in answer.text


@covers("9.3:revocation", "9.3:revoke")
async def test_revocation_says_the_same_of_everything(application: Starlette, client: httpx2.AsyncClient) -> None:
    record = await register_account(client)
    told: set[tuple[int, bytes]] = set()
    for token in (record["api_key"], record["api_key"], "unknown", "ngt_live_x", "a.b.c", " "):
        hinted = {"token": token, "token_type_hint": "api_key"}
        sendings: list[dict[str, Any]] = [{"json": hinted}, {"data": {"token": token}}]
        for sent in sendings:
            answer = await client.post(REVOKE, **sent)
            told.add((answer.status_code, answer.content))
            limited(answer)
    assert told == {(200, b'{"status":"revoked"}')}
    async with connect(application) as elsewhere:
        assert not await is_accepted(elsewhere, record["api_key"])


@covers("9.3:revoke")
async def test_any_hint_will_do_and_a_credential_may_come_along(client: httpx2.AsyncClient) -> None:
    record, other = await register_account(client), await register_account(client)
    for hint in ("api_key", "access_token", "nonsense", 7, None, ["x"]):
        sent = {"token": "unknown", "token_type_hint": hint}
        assert (await client.post(REVOKE, json=sent)).status_code == 200
    answer = await client.post(REVOKE, json={"token": record["api_key"]}, headers=key_header(other))
    assert answer.json() == {"status": "revoked"}
    assert [await is_accepted(client, each["api_key"]) for each in (record, other)] == [False, True]


@covers("9.3:revoke-malformed")
async def test_revocation_without_a_token_is_400(client: httpx2.AsyncClient) -> None:
    bodies: list[dict[str, Any]] = [{}, {"token": ""}, {"token": 1}]
    for body in bodies:
        refused(await client.post(REVOKE, json=body), 400, "invalid_request")
    refused(await client.post(REVOKE, data={"token": ""}), 400, "invalid_request")
    refused(await client.post(REVOKE, data={"token_type_hint": "api_key"}), 400, "invalid_request")
    plain = {"content-type": "text/plain"}
    refused(await client.post(REVOKE, content=b"token=x", headers=plain), 415, "invalid_request")


@covers("9.3:rotate")
async def test_rotation_answers_the_new_key_and_when_the_old_one_ends(client: httpx2.AsyncClient) -> None:
    record = await register_account(client)
    answer = await client.post(ROTATE, json={"overlap_seconds": 60}, headers=key_header(record))
    told = answer.json()
    assert answer.headers["cache-control"] == "no-store"
    assert (told["status"], told["client_id"]) == ("rotated", record["client_id"])
    assert (told["scopes"], told["rate_limit"]) == (record["scopes"], record["rate_limit"])
    assert told["previous_key_expires_at"] > told["created_at"]
    assert await is_accepted(client, told["api_key"])
    old = await client.get("/api/health", headers=key_header(record))
    assert old.headers["sunset"].endswith(" GMT")
    assert old.headers["deprecation"].startswith("@")


@covers("9.1:rate-limit", "1.10:headers-meaning", "1.10:retry-after")
async def test_the_promised_rate_is_the_one_that_holds(settings: Settings) -> None:
    async with (
        running(settings.model_copy(update={"limit_unproven_rpm": 3})) as application,
        connect(application) as client,
    ):
        record = await register_account(client)
        assert record["rate_limit"] == {"requests_per_minute": 3, "burst": 3}
        for left in (2, 1, 0):
            answer = await client.post(CHALLENGE, headers=key_header(record))
            limited(answer)
            assert answer.headers["x-ratelimit-limit"] == "3"
            assert answer.headers["x-ratelimit-remaining"] == str(left)
            reset = int(answer.headers["x-ratelimit-reset"])
            assert time.time() <= reset <= time.time() + 61
        answer = await client.post(CHALLENGE, headers=key_header(record))
        refused(answer, 429, "rate_limit_exceeded")
        assert 1 <= int(answer.headers["retry-after"]) <= 20
        assert answer.headers["x-ratelimit-remaining"] == "0"


@covers("1.10:baseline", "1.10:429-directory")
async def test_health_and_revocation_have_budgets_of_their_own(settings: Settings) -> None:
    small = {"limit_rpm": 2, "limit_directory_rpm": 1}
    async with running(settings.model_copy(update=small)) as application, connect(application) as client:
        health = [(await client.get("/api/health")).status_code for _ in range(1000)]
        assert health.index(429) >= 600
        reads = [(await client.get("/api/v1/categories")).status_code for _ in range(2)]
        assert reads == [200, 429]
        answer = await client.post(REVOKE, json={"token": "x"})
        assert (answer.status_code, answer.headers["ratelimit-policy"]) == (200, '"revocations";q=600;w=60')
        await register_account(client)


@covers("9.2:levels")
async def test_proof_and_vetting_raise_the_same_client_on_every_worker_at_once(
    settings: Settings, change: Change
) -> None:
    rates = {"limit_unproven_rpm": 60, "limit_rpm": 600}
    other_settings = settings.model_copy(update=rates)
    async with (
        running(other_settings) as one,
        running(other_settings) as other,
        connect(one) as client,
        connect(other) as elsewhere,
    ):
        signer = StatementSigner()
        record = await register_account(client, "did", signer.did)
        opaque = (await bought(elsewhere, record))["access_token"]
        bearer = {"authorization": f"Bearer {opaque}"}

        async def limits() -> list[str]:
            answers = [
                await each.post(CHALLENGE, headers=headers)
                for each in (client, elsewhere)
                for headers in (key_header(record), bearer)
            ]
            return [answer.headers["x-ratelimit-limit"] for answer in answers]

        answer = await prove(client, record, signer.statement(record))
        assert answer.json()["rate_limit"] == {"requests_per_minute": 120, "burst": 120}
        assert await limits() == ["120"] * 4
        agent = record["client_id"]
        await change(lambda tx: accounts_queries.vet(tx, agent, vetted=True))
        assert await limits() == ["600"] * 4
        await change(lambda tx: accounts_queries.vet(tx, agent, vetted=False))
        assert await limits() == ["120"] * 4
