"""Rate limits as a client sees them."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from negotiator.config.settings import Settings
from tests.conftest import bearer, connect, make_settings, running
from tests.contract.requirements import covers
from tests.helpers.answer_checks import OPENING, limited, refused

NEGOTIATIONS = "/api/negotiations"
BODY = {"agent_name": "a", "identity_type": "anonymous"}


@asynccontextmanager
async def both(settings: Settings, **limits: Any) -> AsyncGenerator[tuple[httpx2.AsyncClient, httpx2.AsyncClient]]:
    """Clients at two addresses of the application with these limits."""
    strict = make_settings(settings.data_dir, settings.keys_dir, **limits)
    async with (
        running(strict) as application,
        connect(application) as here,
        connect(application, "203.0.113.8") as there,
    ):
        yield here, there


async def token(client: httpx2.AsyncClient) -> dict[str, str]:
    """The header of a fresh agent."""
    return bearer((await client.post("/api/agent/register", json=BODY)).json())


@pytest.mark.asyncio
@covers("1.10:headers")
async def test_every_answer_of_an_api_path_says_what_is_left(client: httpx2.AsyncClient) -> None:
    headers = await token(client)
    answers = [
        await client.post("/api/agent/register", json=BODY),
        await client.post("/api/agent/register", json={}),
        await client.get(NEGOTIATIONS, headers=headers),
        await client.get(NEGOTIATIONS),
        await client.post(NEGOTIATIONS, json=OPENING, headers=headers),
        await client.post(NEGOTIATIONS, json={}, headers=headers),
        await client.post(NEGOTIATIONS, content=b"x", headers=headers),
        await client.get("/api/health"),
        await client.get("/api/nothing"),
        await client.put(NEGOTIATIONS),
        await client.post("/oauth/token", data={"grant_type": "x"}),
    ]
    for answer in answers:
        limited(answer)


@pytest.mark.asyncio
@covers("1.10:429", "1.10:key")
async def test_a_credential_has_a_minute_s_worth_and_then_waits(settings: Settings) -> None:
    async with both(settings, limit_rpm=6) as (client, _):
        first, second = await token(client), await token(client)
        left = [(await client.get(NEGOTIATIONS, headers=first)).headers["x-ratelimit-remaining"] for _ in range(6)]
        assert left == ["5", "4", "3", "2", "1", "0"]
        answer = await client.get(NEGOTIATIONS, headers=first)
        refused(answer, 429, "rate_limit_exceeded")
        limited(answer)
        assert 1 <= int(answer.headers["retry-after"]) <= 10
        assert answer.headers["ratelimit"].endswith(f"t={answer.headers['retry-after']}")
        assert (await client.get(NEGOTIATIONS, headers=second)).status_code == 200


@pytest.mark.asyncio
@covers("1.10:429")
async def test_no_number_of_calls_at_once_gets_more(settings: Settings) -> None:
    async with both(settings, limit_rpm=20) as (client, _):
        headers = await token(client)
        answers = await asyncio.gather(*(client.get(NEGOTIATIONS, headers=headers) for _ in range(60)))
        statuses = sorted(answer.status_code for answer in answers)
        assert statuses == [200] * 20 + [429] * 40


@pytest.mark.asyncio
@covers("1.10:key")
async def test_nobody_is_counted_by_address_and_never_at_a_credential_s_expense(settings: Settings) -> None:
    async with both(settings, limit_baseline_rpm=5, limit_rpm=100) as (client, other):
        headers = await token(client)
        probes = [NEGOTIATIONS, "/api/nothing", "/api/other", NEGOTIATIONS, "/api/nothing"]
        for path in probes:
            assert (await client.get(path)).status_code != 429
        for path in (NEGOTIATIONS, "/api/nothing", "/api/other"):
            refused(await client.get(path), 429, "rate_limit_exceeded")
        refused(await client.put(NEGOTIATIONS), 429, "rate_limit_exceeded")
        forged = {"authorization": "Bearer a.b.c"}
        answer = await client.get(NEGOTIATIONS, headers=forged)
        refused(answer, 429, "rate_limit_exceeded")
        assert (await client.get(NEGOTIATIONS, headers=headers)).status_code == 200
        assert (await other.get("/api/health")).status_code == 200


@pytest.mark.asyncio
@covers("2.5:rate_limit_exceeded")
async def test_registrations_are_budgeted_per_hour_and_address(settings: Settings) -> None:
    limits = {"register_limit_anonymous": 3, "register_limit_assertion": 2}
    asserted = {
        **BODY,
        "identity_type": "identity_assertion",
        "assertion_type": "urn:ietf:params:oauth:token-type:id-jag",
        "assertion": "a.b.c",
    }
    async with both(settings, **limits) as (client, other):
        for _ in range(3):
            answer = await client.post("/api/agent/register", json=BODY)
            assert answer.status_code == 201
            assert answer.headers["ratelimit-policy"] == '"registrations";q=3;w=3600'
        answer = await client.post("/api/agent/register", json=BODY)
        refused(answer, 429, "rate_limit_exceeded")
        assert 1 <= int(answer.headers["retry-after"]) <= 1200
        limited(answer)
        for status in (400, 400, 429):
            answer = await client.post("/api/agent/register", json=asserted)
            assert answer.status_code == status
        mailed = {**asserted, "assertion_type": "verified_email", "assertion": "a@b.example"}
        answer = await client.post("/api/agent/register", json=mailed)
        refused(answer, 429, "rate_limit_exceeded")
        assert (await other.post("/api/agent/register", json=BODY)).status_code == 201
