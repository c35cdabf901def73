"""Delegation codes under attack: guessed, reused, fixated, and what pages give away."""

import asyncio
import hashlib
import json
import re
import sqlite3
import time
from email import message_from_bytes
from typing import Any

import httpx2
import pytest

from negotiator.agents import delegation
from negotiator.config.settings import Settings
from negotiator.users import user_queries
from tests.conftest import Change, Clock, Mint, Register, bearer, connect, make_settings, running
from tests.contract.requirements import covers
from tests.helpers.answer_checks import CHALLENGE
from tests.helpers.forger import IDP, Forger, Forgery, refused

CLAIM = "/api/agent/claim"
ANONYMOUS = {"agent_name": "g", "identity_type": "anonymous"}
NEWER = {"type": "anonymous"}
WRONG = (400, "invalid_claim_token")
PASSWORD = "correct horse battery"


async def _claim(client: httpx2.AsyncClient, agent: dict[str, Any] | None, code: Any) -> httpx2.Response:
    headers = bearer(agent) if agent else {}
    return await client.post(CLAIM, json={"claim_token": code}, headers=headers)


@pytest.mark.asyncio
@covers("2.7:bearer", "2.7:claim-token")
async def test_a_claim_needs_the_agent_s_own_token(forger: Forger, register: Register, mint: Mint) -> None:
    """86, 87: without a credential a plain challenge, with a bad one invalid_token; the code stays good."""
    _, code = await mint()
    agent = await register()
    silent = await _claim(forger.client, None, code)
    assert silent.status_code == 401
    assert silent.headers["www-authenticate"] == CHALLENGE
    for token in (agent["access_token"][:-4] + "AAAA", "a.b.c"):
        broken = await _claim(forger.client, {"access_token": token}, code)
        refused(broken, (401, "invalid_token"), code)
        assert broken.headers["www-authenticate"] == f'{CHALLENGE}, error="invalid_token"'
    basic = await forger.client.post(CLAIM, json={"claim_token": code}, auth=forger.basic)
    assert basic.status_code == 401
    assert (await _claim(forger.client, agent, code)).status_code == 200


@pytest.mark.asyncio
@covers("2.7:claim-only-agents")
async def test_a_client_is_no_agent(forger: Forger, mint: Mint) -> None:
    _, code = await mint()
    form = {"grant_type": "client_credentials"}
    token = (await forger.client.post("/oauth/token", data=form, auth=forger.basic)).json()
    refused(await _claim(forger.client, token, code), (403, "access_denied"))


BAD_CODES: list[Any] = [
    "BBBB-BBBB-BBBB",
    "",
    "B",
    "AEIO-UAEI-OUAE",
    "х" * 12,
    "B" * 12 + "\u0000",
    "\ud800",
    "B" * 201,
    "' OR '1'='1",
    ["BBBB-BBBB-BBBB"],
    {"$ne": ""},
    7,
    None,
]


@pytest.mark.asyncio
@pytest.mark.parametrize("code", BAD_CODES, ids=repr)
async def test_a_code_that_is_none_is_refused_and_binds_nothing(
    forger: Forger, register: Register, mint: Mint, code: Any
) -> None:
    """89: what could be a code gets one answer, what could not a malformed request's."""
    _, good = await mint()
    agent = await register()
    before = forger.counts()
    body = json.dumps({"claim_token": code}).encode()
    headers = {**bearer(agent), "content-type": "application/json"}
    answer = await forger.client.post(CLAIM, headers=headers, content=body)
    assert answer.status_code == 400
    assert answer.json()["error"] in {"invalid_claim_token", "invalid_request"}
    assert forger.counts() == before
    assert (await _claim(forger.client, agent, good)).status_code == 200


@pytest.mark.asyncio
@covers("2.7:invalid_claim_token")
async def test_every_unknown_code_gets_the_same_words(
    forger: Forger, register: Register, mint: Mint, change: Change
) -> None:
    """89, 95: unknown, malformed, and bound to somebody else's agent cannot be told apart."""
    first = await register()
    _, bound = await mint(agent_id=first["client_id"])
    codes = (bound, "BBBB-BBBB-BBBB", "zzz", "BBBB-BBBB", "ABCD-EFGH-IJKL", "BBBB-BBBB-BBBB-BBBB", " ")
    answers = [await _claim(forger.client, await register(), code) for code in codes]
    for answer in answers:
        refused(answer, WRONG, bound)
    assert len({answer.json()["error_description"] for answer in answers}) == 1
    assert (await _claim(forger.client, first, bound)).status_code == 200


@pytest.mark.asyncio
@covers("2.7:claim_used")
async def test_a_code_works_once_and_the_first_binding_stays(forger: Forger, register: Register, mint: Mint) -> None:
    """92, 88: a second agent, the same agent, and another user's code for a bound agent."""
    user, code = await mint()
    _, others = await mint("eve@example.com")
    first, second = await register(), await register()
    claimed = (await _claim(forger.client, first, code)).json()
    assert claimed["identity"]["user_id"] == user
    refused(await _claim(forger.client, second, code), (409, "claim_used"), code)
    for word in (code, others):
        refused(await _claim(forger.client, claimed, word), (409, "already_claimed"))
    assert (await _claim(forger.client, second, others)).status_code == 200


@pytest.mark.asyncio
@covers("2.7:claim_revoked")
async def test_a_code_dies_by_time_by_revocation_and_with_its_user(
    forger: Forger, register: Register, mint: Mint, change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    """90, 94: each after its own manner; an open one still works."""
    user, revoked = await mint()
    rows = await change(lambda tx: delegation.of_user(tx, user))
    await change(lambda tx: delegation.revoke(tx, rows[0].id, actor=user))
    refused(await _claim(forger.client, await register(), revoked), (410, "claim_revoked"))
    _, orphan = await mint("gone@example.com")
    await change(lambda tx: user_queries.disable(tx, "gone@example.com"))
    refused(await _claim(forger.client, await register(), orphan), (410, "claim_revoked"))
    _, short = await mint(ttl=60)
    _, long = await mint(ttl=600)
    clock = Clock()
    clock.at = int(time.time() * 1000) + 61_000
    first, second = await register(), await register()
    monkeypatch.setattr("negotiator.base.values.now", clock)
    refused(await _claim(forger.client, first, short), (410, "claim_expired"))
    assert (await _claim(forger.client, second, long)).status_code == 200


@pytest.mark.asyncio
async def test_a_token_seen_before_the_claim_is_worth_nothing_after_it(
    forger: Forger, register: Register, mint: Mint
) -> None:
    """96, 98: no fixation, and no more scopes than the user granted."""
    _, code = await mint(scopes=["negotiations:read"])
    before = await register()
    assert (await forger.client.get("/api/negotiations", headers=bearer(before))).status_code == 200
    wish = {"claim_token": code, "scopes": ["memories:write"], "scope": "openid", "user_id": "usr_x"}
    after = (await forger.client.post(CLAIM, json=wish, headers=bearer(before))).json()
    dead = await forger.client.get("/api/negotiations", headers=bearer(before))
    assert dead.status_code == 401
    assert after["scopes"] == ["negotiations:read"]
    assert after["client_id"] == before["client_id"]
    assert (await forger.client.get("/api/negotiations", headers=bearer(after))).status_code == 200


@pytest.mark.asyncio
@covers("2.7:too_many_attempts")
async def test_five_guesses_at_once_or_in_a_row_are_all_an_agent_has(
    forger: Forger, register: Register, mint: Mint
) -> None:
    _, code = await mint()
    guesser, other = await register(), await register()
    tries = [_claim(forger.client, guesser, f"BBBB-BBBB-{'BCDFGHJKLM'[n] * 4}") for n in range(10)]
    errors = [answer.json()["error"] for answer in await asyncio.gather(*tries)]
    assert sorted(errors) == ["invalid_claim_token"] * 5 + ["too_many_attempts"] * 5
    late = await _claim(forger.client, guesser, code)
    refused(late, (429, "too_many_attempts"), code)
    assert int(late.headers["retry-after"]) > 0
    assert (await _claim(forger.client, other, code)).status_code == 200


@pytest.mark.asyncio
@pytest.mark.parametrize("door", ["claim", "complete"])
@covers("2.7:global-budget")
async def test_a_crowd_that_guesses_keeps_no_honest_agent_from_its_user(
    settings: Settings, mint: Mint, door: str
) -> None:
    """Wrong codes are 429 once a budget is empty, from one address or from many; a right one is always taken."""
    narrow = make_settings(
        settings.data_dir, settings.keys_dir, claim_failures_per_hour=12, claim_failures_per_address=5
    )
    async with running(narrow) as application:

        async def guess(address: str, code: str) -> httpx2.Response:
            async with connect(application, address) as client:
                if door == "claim":
                    agent = (await client.post("/api/agent/register", json=ANONYMOUS)).json()
                    return await _claim(client, agent, code)
                made = (await client.post("/api/agent/identity", json=NEWER)).json()
                body = {"claim_token": made["claim_token"], "user_code": code}
                return await client.post("/api/agent/identity/claim/complete", json=body)

        async def statuses(address: str, count: int) -> list[int]:
            return [(await guess(address, "BBBB-BBBB-BBBB")).status_code for _ in range(count)]

        wrong = 400 if door == "claim" else 409
        assert await statuses("203.0.113.1", 7) == [wrong] * 5 + [429] * 2
        _, code = await mint()
        assert (await guess("203.0.113.1", code)).status_code == 200, "the address is spent"
        # The first address took five of the twelve that everybody shares, however often it went on.
        assert await statuses("203.0.113.2", 5) == [wrong] * 5
        assert await statuses("203.0.113.3", 4) == [wrong] * 2 + [429] * 2
        late = await guess("203.0.113.4", "BBBB-BBBB-BBBB")
        refused(late, (429, "too_many_attempts"))
        assert 1 <= int(late.headers["retry-after"]) <= 3600
        _, another = await mint("eve@example.com")
        assert (await guess("203.0.113.5", another)).status_code == 200, "everybody's is spent"


@pytest.mark.asyncio
async def test_a_dead_code_is_no_guess_and_spends_nobody_s_budget(settings: Settings, mint: Mint) -> None:
    narrow = make_settings(settings.data_dir, settings.keys_dir, claim_failures_per_address=5)
    _, code = await mint()
    async with running(narrow) as application, connect(application) as client:
        for status in (200, *(409,) * 8):
            agent = (await client.post("/api/agent/register", json=ANONYMOUS)).json()
            assert (await _claim(client, agent, code)).status_code == status


@pytest.mark.asyncio
async def test_the_database_gives_no_code_away(forger: Forger, mint: Mint) -> None:
    """102: neither the code nor its plain digest is anywhere in the file."""
    _, code = await mint()
    with sqlite3.connect(forger.database) as connection:
        dump = "\n".join(connection.iterdump())
    bare = code.replace("-", "")

    for secret in (code, bare, *(hashlib.sha256(t.encode()).hexdigest() for t in (code, bare))):
        assert secret not in dump


async def _mailed_link(forger: Forger, settings: Settings, change: Change) -> tuple[str, dict[str, Any]]:
    hashed = user_queries.hash_password(PASSWORD)
    await change(lambda tx: user_queries.add(tx, "ada@example.com", password_hash=hashed, actor="operator"))
    body = {
        "agent_name": "<script>alert(1)</script>",
        "identity_type": "identity_assertion",
        "assertion_type": "verified_email",
        "assertion": "ada@example.com",
    }
    agent = (await forger.client.post("/api/agent/register", json=body)).json()
    mail = message_from_bytes(next((settings.data_dir / "outbox").glob("*.eml")).read_bytes())
    text = mail.get_payload(decode=True)
    assert isinstance(text, bytes)
    found = re.search(rb"/approve/\S+", text)
    assert found is not None
    return found[0].decode(), agent


@pytest.mark.asyncio
@covers("2.4:approve")
async def test_looking_at_an_approval_grants_nothing_and_the_page_cannot_be_framed(
    forger: Forger, settings: Settings, change: Change
) -> None:
    """101, 103: GET and HEAD by a link scanner, a wrong password, then the owner."""
    link, agent = await _mailed_link(forger, settings, change)
    before = forger.counts()
    await forger.client.head(link)
    page = await forger.client.get(link)
    assert page.status_code == 200
    assert "alert(1)" in page.text
    assert "<script>alert" not in page.text
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["cache-control"] == "no-store"
    grant = {"purpose": "own", "scope:negotiations:read": "on", "scope:openid": "on", "scope:root": "on"}
    wrong = await forger.client.post(link, data={**grant, "password": "guess"})
    assert wrong.status_code == 403
    assert forger.counts() == before
    right = await forger.client.post(link, data={**grant, "password": PASSWORD})
    assert right.status_code == 200
    code = re.search(r"[B-Z]{4}-[B-Z]{4}-[B-Z]{4}", right.text)
    assert code is not None
    body = {"agent_name": "thief", "identity_type": "anonymous"}
    thief = (await forger.client.post("/api/agent/register", json=body)).json()
    refused(await _claim(forger.client, thief, code[0]), WRONG, code[0])
    claimed = (await _claim(forger.client, agent, code[0])).json()
    assert claimed["scopes"] == ["openid", "negotiations:read"]
    assert claimed["identity"]["email"] == "ada@example.com"
    assert (await forger.client.get(link)).status_code == 410
    assert (await forger.client.post(link, data={**grant, "password": PASSWORD})).status_code == 410


@pytest.mark.asyncio
async def test_five_wrong_passwords_end_an_approval(forger: Forger, settings: Settings, change: Change) -> None:
    link, _ = await _mailed_link(forger, settings, change)
    for _ in range(5):
        assert (await forger.client.post(link, data={"password": "guess"})).status_code in {403, 410}
    grant = {"purpose": "own", "scope:negotiations:read": "on", "password": PASSWORD}
    assert (await forger.client.post(link, data=grant)).status_code == 410


@pytest.mark.asyncio
@covers("2.5:replay-undone", "2.3:link")
async def test_the_address_of_an_account_links_nothing_by_itself(
    forger: Forger, settings: Settings, change: Change
) -> None:
    """59: an unknown identity with a known address waits for the owner's approval and belongs to them only after it."""
    await _mailed_link(forger, settings, change)
    claims = {"email": "ADA@example.com", "email_verified": True, "sub": "u-new"}
    before = forger.counts()
    text = forger.forge(Forgery(claims=claims), "register")
    asked = await forger.present("register", text)
    refused(asked, (401, "interaction_required"), text)
    assert asked.headers["www-authenticate"] == 'AgentAuth error="interaction_required"'
    assert asked.json()["interaction"].keys() == {"verification_uri", "expires_in"}
    assert asked.json()["interaction"]["expires_in"] == 3600
    at_token = forger.forge(Forgery(claims=claims), "token")
    refused(await forger.present("token", at_token), (400, "invalid_grant"), at_token)
    assert forger.counts() == before
    link = asked.json()["interaction"]["verification_uri"]
    assert IDP in (await forger.client.get(link)).text
    assert (await forger.client.post(link, data={"password": "guess"})).status_code == 403
    assert forger.counts() == before
    refused(await forger.present("register", text), (401, "interaction_required"), text)
    assert (await forger.client.post(link, data={"password": PASSWORD})).status_code == 200
    let_in = await forger.present("register", text)
    assert let_in.status_code == 201
    assert let_in.json()["identity"]["email"] == "ada@example.com"
    assert (await forger.client.post(link, data={"password": PASSWORD})).status_code == 410
