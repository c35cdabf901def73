"""Limits through the application: GCRA's arithmetic in the headers, and whom they are kept by."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from structlog.testing import CapturingLogger

from negotiator.config.settings import Settings
from negotiator.http import limit_stores
from tests.conftest import bearer, connect, make_settings, running

START = 1_800_000_000


class Hand:
    """The limiters' clock, in microseconds, turned by hand."""

    def __init__(self) -> None:
        self.at = START * 1_000_000

    def __call__(self) -> int:
        return self.at

    def advance(self, seconds: float) -> None:
        self.at += int(seconds * 1_000_000)


@pytest.fixture
def limit_clock(monkeypatch: pytest.MonkeyPatch) -> Hand:
    """A clock for rate limits that moves when told."""
    turned = Hand()
    monkeypatch.setattr(limit_stores, "_microseconds", turned)
    return turned


@asynccontextmanager
async def served(
    settings: Settings, address: str = "203.0.113.7", **overrides: Any
) -> AsyncGenerator[httpx2.AsyncClient]:
    """A client of the application with these settings, whose budgets are not in Redis: it has a clock of its own."""
    made = make_settings(settings.data_dir, settings.keys_dir, redis_url="", **overrides)
    async with running(made) as application, connect(application, address) as client:
        yield client


def said(answer: httpx2.Response) -> tuple[int, int, int]:
    """Status, what remains, and in how many seconds the budget is whole again."""
    reset = int(answer.headers["x-ratelimit-reset"]) - START
    return answer.status_code, int(answer.headers["x-ratelimit-remaining"]), reset


@pytest.mark.asyncio
async def test_remaining_and_reset_follow_the_arrival_time_exactly(settings: Settings, limit_clock: Hand) -> None:
    # With SQLite, whose budgets are in a file: PostgreSQL allows for clocks that differ.
    async with served(settings, limit_rpm=6, limit_burst=3, database_url="") as client:
        body = {"agent_name": "a", "identity_type": "anonymous"}
        agent = bearer((await client.post("/api/agent/register", json=body)).json())

        async def call() -> httpx2.Response:
            return await client.get("/api/negotiations", headers=agent)

        assert [said(await call()) for _ in range(3)] == [(200, 2, 10), (200, 1, 20), (200, 0, 30)]
        empty = await call()
        assert said(empty) == (429, 0, 30)
        assert empty.headers["retry-after"] == "10"
        assert empty.headers["ratelimit"] == '"default";r=0;t=10'
        assert empty.headers["ratelimit-policy"] == '"default";q=6;w=60'
        limit_clock.advance(9.999_999)
        late = await call()
        assert (late.status_code, late.headers["retry-after"]) == (429, "1")
        limit_clock.advance(0.000_001)
        assert said(await call()) == (200, 0, 40)
        limit_clock.advance(25)
        assert said(await call()) == (200, 1, 50)
        limit_clock.advance(3600)
        assert said(await call())[:2] == (200, 2)


async def probes(client: httpx2.AsyncClient, *forwarded: str) -> list[int]:
    """One reading of the directory for each forwarded header; an empty one sends none."""
    return [
        (await client.get("/api/v1/categories", headers={"x-forwarded-for": value} if value else {})).status_code
        for value in forwarded
    ]


@pytest.mark.asyncio
async def test_a_forwarded_header_counts_from_a_configured_proxy_only(settings: Settings, limit_clock: Hand) -> None:
    del limit_clock
    async with served(settings, limit_directory_rpm=1) as client:
        assert await probes(client, "198.51.100.1", "198.51.100.2") == [200, 429]
    proxied: dict[str, Any] = {"limit_directory_rpm": 1, "trusted_proxies": "10.0.0.0/8"}
    async with served(settings, "10.0.0.1", **proxied) as client:
        assert await probes(client, "198.51.100.1", "198.51.100.2") == [200, 200]
        assert await probes(client, "198.51.100.1", "198.51.100.2") == [429, 429]
        # What a client wrote itself stands left of what the proxies added.
        assert await probes(client, "1.1.1.1, 198.51.100.1", "2.2.2.2, 198.51.100.2") == [429, 429]
        assert await probes(client, "198.51.100.3, 10.9.9.9", "198.51.100.3") == [200, 429]
        assert await probes(client, "", "nonsense", "unknown, 10.9.9.9") == [200, 429, 200]
    async with served(settings, "192.0.2.55", **proxied) as client:
        assert await probes(client, "198.51.100.8", "198.51.100.9") == [200, 429]


@pytest.mark.asyncio
async def test_a_forwarded_address_counts_without_port_brackets_and_empty_elements(
    settings: Settings, limit_clock: Hand
) -> None:
    del limit_clock
    proxied: dict[str, Any] = {"limit_directory_rpm": 1, "trusted_proxies": "10.0.0.0/8"}
    async with served(settings, "10.0.0.1", **proxied) as client:
        assert await probes(client, "203.0.113.10:51234", "203.0.113.10:51235", "203.0.113.10") == [200, 429, 429]
        assert await probes(client, "203.0.113.11:51234", "203.0.113.12, ", ",203.0.113.13, ,") == [200, 200, 200]
        assert await probes(client, "[2001:db8::1]:443", '"[2001:db8::2]"', "2001:db8::3") == [200, 429, 429]
        assert await probes(client, "203.0.113.14:1, 10.9.9.9:80", "203.0.113.14") == [200, 429]


@pytest.mark.asyncio
async def test_a_hop_that_is_no_address_is_logged_once(
    settings: Settings, limit_clock: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    del limit_clock
    log = CapturingLogger()
    monkeypatch.setattr("negotiator.http.guard.log", log)
    async with served(settings, "10.0.0.1", trusted_proxies="10.0.0.0/8") as client:
        await probes(client, "junk, 203.0.113.10", "")
        assert log.calls == []
        await probes(client, "unknown", "_hidden", "unknown")
    assert [call.kwargs for call in log.calls] == [{"proxy": "10.0.0.1", "hop": "unknown"}]


@pytest.mark.asyncio
async def test_ipv6_is_counted_by_its_64_and_mapped_ipv4_as_ipv4(settings: Settings, limit_clock: Hand) -> None:
    del limit_clock
    proxied: dict[str, Any] = {"limit_directory_rpm": 1, "trusted_proxies": "10.0.0.0/8"}
    async with served(settings, "10.0.0.1", **proxied) as client:
        household = ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", "2001:DB8:1:2::1")
        assert await probes(client, *household) == [200, 429, 429]
        assert await probes(client, "2001:db8:1:3::1") == [200]
        assert await probes(client, "198.51.100.1", "::ffff:198.51.100.1") == [200, 429]
